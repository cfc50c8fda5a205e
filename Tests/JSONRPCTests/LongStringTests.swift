import JSONRPC
import TestSupport
import Testing

/// Long strings, which are not read byte by byte, say what they would say otherwise.
@Suite struct LongStringTests {
    private static let long = String(repeating: "QUJD", count: 5000)

    /// A tree with strings of every kind, long and short, plain and not, as values and as names.
    private func tree(_ generator: inout SeededGenerator, depth: Int = 0) -> Tree {
        func text() -> [UInt8] {
            let count = [0, 1, 20, 4095, 4096, 4097, 30_000].randomElement(using: &generator) ?? 0
            var text = (0..<count).map { _ in UInt8.random(in: 0x20...0x7E, using: &generator) }
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: text += Array("é\u{7F}\"\\\n".utf8)
            case 1: text = text.map { [0x22, 0x5C].contains($0) ? 0x41 : $0 } + [0x5C, 0x5C]
            default: text = text.map { [0x22, 0x5C].contains($0) ? 0x41 : $0 }
            }
            return text
        }
        switch Int.random(in: 0..<(depth < 3 ? 5 : 3), using: &generator) {
        case 0, 1: return .string(text())
        case 2: return .integer(Int.random(in: 0...9, using: &generator))
        case 3:
            return .array(
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in tree(&generator, depth: depth + 1) })
        default:
            return .object(
                (0..<Int.random(in: 0...4, using: &generator)).map { number in
                    Tree.Member(name: Array("\(number)".utf8) + text(), value: tree(&generator, depth: depth + 1))
                })
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func textWithLongStringsMeansWhatWasWritten(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let whole = Tree.array([.string(Array(Self.long.utf8)), tree(&generator), tree(&generator)])
        var writer = JSONWriter()
        whole.write(to: &writer)
        let document = try JSONDocument(parsing: writer.bytes)
        #expect(Tree(document.root) == whole, "seed \(seed)")
    }

    @Test(arguments: JSONDocumentTests.refused.filter { !$0.trimmingPrefix(" ").isEmpty })
    func aLongStringMakesNoWrongTextRight(_ text: String) {
        for whole in ["[\"\(Self.long)\",\(text)", "{\"a\":\"\(Self.long)\",\"b\":\(text)}", "\(text)\"\(Self.long)\""]
        {
            #expect(throws: JSONSyntaxError.self, "\(text)") { _ = try JSONDocument(parsing: Array(whole.utf8)) }
        }
    }

    @Test(arguments: ["\u{1}", "\t", "\n", "\\q", "\\ud800", "\u{0}"])
    func aLongStringWithWhatMayNotBeInOneIsRefused(_ wrong: String) {
        for text in ["\"\(wrong)\(Self.long)\"", "\"\(Self.long)\(wrong)\"", "\"\(Self.long)\(wrong)\(Self.long)\""] {
            #expect(throws: JSONSyntaxError.self, "\(wrong.debugDescription)") {
                _ = try JSONDocument(parsing: Array("[\(text)]".utf8))
            }
        }
    }

    @Test func theRefusalOfATextWithALongStringNamesThePlaceInTheWholeText() {
        let text = "{\"a\":\"\(Self.long)\",\"b\": tru}"
        do {
            _ = try JSONDocument(parsing: Array(text.utf8))
            Issue.record("the text was accepted")
        } catch {
            #expect(error.offset == text.utf8.count - 1)
            #expect(error.reason.contains("tru"))
        }
    }

    @Test func longNamesStayNamesAndAreRefusedTwice() throws {
        let document = try JSONDocument(parsing: Array("{\"\(Self.long)\" : \"\(Self.long)\"}".utf8))
        #expect(
            Tree(document.root) == .object([.init(name: Array(Self.long.utf8), value: .string(Array(Self.long.utf8)))]))
        #expect(throws: JSONSyntaxError.self) {
            _ = try JSONDocument(parsing: Array("{\"\(Self.long)\":\"\(Self.long)\",\"\(Self.long)\":1}".utf8))
        }
    }
}
