import JSONRPC
import TestSupport
import Testing

/// What the parser accepts and refuses.
@Suite struct JSONDocumentTests {
    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    static let accepted = [
        "null", "true", "false", "0", "-0", "-0.0", "9223372036854775807", "-9223372036854775808", "1e5", "1E-2",
        "\"\"",
        "\"\\u0000\"", "\"a\\u0000b\"", "\"\\ud83d\\ude00\"", "\"\u{7F}\u{2028}é😀\"", "{}", "[]", " \t\r\n[1 , 2]\n",
        "{\"a\":{\"a\":{\"a\":[]}}}", "{\"\":1}", "{\"é\":1,\"e\\u0301\":2}", "5e-324", nested(2048), "1e-999",
    ]

    @Test(arguments: accepted)
    func aTextOfTheGrammarIsAccepted(text: String) throws {
        _ = try JSONDocument(parsing: Array(text.utf8))
    }

    static let refused = [
        "", " ", "{", "[1,", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "'a'", "01", "1.", ".5", "+1", "-", "1e", "NaN",
        "Infinity",
        "nul", "True", "{} {}", "[] x", "null,", "\"\\x41\"", "\"\\q\"", "\"tab\tinside\"", "\"line\ninside\"",
        "\"open",
        "{\"a\":1,\"a\":2}", "[{\"x\":{\"a\":1,\"b\":2,\"a\":1}}]", "{\"a\":1,\"\\u0061\":2}", "{\"a\\u0000b\":1}",
        "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\\ud83dx\"", "9223372036854775808",
        "-9223372036854775809",
        "100000000000000000000000", "1e999", nested(2049), "// comment\n1", "[1/**/]", "\u{FEFF}{}",
    ]

    @Test(arguments: refused)
    func aTextOutsideTheGrammarOrTheLimitsIsRefused(text: String) {
        #expect(throws: JSONSyntaxError.self) { _ = try JSONDocument(parsing: Array(text.utf8)) }
    }

    static let notUTF8: [[UInt8]] = [
        [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
        [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xE2, 0x82], [0x80], [0x7B, 0x22, 0xFE, 0x22, 0x3A, 0x31, 0x7D],
        [0x31, 0x00], [0x00],
    ]

    @Test(arguments: notUTF8)
    func bytesThatAreNoUTF8AreRefused(bytes: [UInt8]) {
        #expect(throws: JSONSyntaxError.self) { _ = try JSONDocument(parsing: bytes) }
    }

    @Test func aRefusalSaysWhatAndWhere() {
        do {
            _ = try JSONDocument(parsing: Array("{\"a\": tru}".utf8))
            Issue.record("the text was accepted")
        } catch {
            #expect(error.reason.contains("tru"))
            #expect(error.offset == 9)
            #expect(error.description == "The message is not valid JSON: \(error.reason) (at byte 9).")
        }
        do {
            _ = try JSONDocument(parsing: [])
            Issue.record("the text was accepted")
        } catch {
            #expect(error.description == "The message is not valid JSON: The message is empty (at byte 0).")
        }
    }

    @Test func everyKindOfValueIsSeenAsWhatItIs() throws {
        let text = #"{"o":{"x":1},"a":[1,2],"s":"a\u0000é","i":-7,"r":2.5,"t":true,"f":false,"n":null}"#
        let document = try JSONDocument(parsing: Array(text.utf8))
        let root = document.root
        #expect(root.kind == .object)
        #expect(root.count == 8)
        #expect(root.member("o")?.kind == .object)
        #expect(root.member("o")?.member("x")?.integer == 1)
        #expect(root.member("a")?.kind == .array)
        #expect(root.member("a")?.count == 2)
        #expect(root.member("a")?.element(1)?.integer == 2)
        #expect(root.member("s")?.string == "a\0é")
        #expect(root.member("s")?.withUTF8 { Array($0) } == Array("a\0é".utf8))
        #expect(root.member("i")?.integer == -7)
        #expect(root.member("i")?.number == -7)
        #expect(root.member("r")?.number == 2.5)
        #expect(root.member("t")?.boolean == true)
        #expect(root.member("f")?.boolean == false)
        #expect(root.member("n")?.isNull == true)
    }

    @Test func whatAValueIsNotIsNil() throws {
        let document = try JSONDocument(parsing: Array(#"[1, "s", 2.5, {}]"#.utf8))
        let root = document.root
        let isNoScalar = root.integer == nil && root.string == nil && root.number == nil && root.boolean == nil
        #expect(isNoScalar)
        #expect(root.element(0)?.string == nil)
        #expect(root.element(0)?.count == 0)
        #expect(root.element(0)?.boolean == nil)
        #expect(root.element(1)?.integer == nil)
        #expect(root.element(1)?.number == nil)
        #expect(root.element(2)?.integer == nil)
        #expect(root.element(3)?.withUTF8 { _ in 1 } == nil)
        #expect(root.element(4)?.kind == nil)
        #expect(root.element(-1)?.kind == nil)
        #expect(root.member("s")?.kind == nil)
        #expect(root.element(3)?.member("s")?.kind == nil)
        #expect(root.element(0)?.element(0)?.kind == nil)
    }

    @Test func membersAreVisitedInTheOrderTheyWereWritten() throws {
        let names = (0..<200).map { "name\(($0 * 7919) % 200)" }
        let text = "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        let document = try JSONDocument(parsing: Array(text.utf8))
        var seen: [String] = []
        document.root.forEachMember { name, _ in seen.append(String(decoding: name, as: UTF8.self)) }
        #expect(seen == names)
    }
}
