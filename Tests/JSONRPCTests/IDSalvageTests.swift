import TestSupport
import Testing

@testable import JSONRPC

/// The id of a message that the parser refused.
@Suite struct IDSalvageTests {
    static let table: [(text: String, id: RequestID?)] = [
        (#"{"id":7,"x":tru}"#, .integer(7)), (#"{"x":tru,"id":7}"#, .integer(7)), (#" {"id" : 7 , "#, .integer(7)),
        (#"{"id":-9223372036854775808,"#, .integer(.min)),
        (#"{"id":9223372036854775808}"#, .literal("9223372036854775808")),
        (#"{"id":123456789012345678901234567890}"#, .literal("123456789012345678901234567890")),
        (#"{"id":1.50,"#, .literal("1.50")), (#"{"id":-1e999,"#, .literal("-1e999")), (#"{"id":-0}"#, .literal("-0")),
        (#"{"id":"abc","#, .string("abc")), (#"{"id":"","#, .string("")), (#"{"id":"é😀","#, .string("é😀")),
        (#"{"id":"a\"}{\\","x":}"#, .literal(#""a\"}{\\""#)), (#"{"id":"\ud800"}"#, .literal(#""\ud800""#)),
        (#"{"id":null,"x":}"#, .null), (#"{"id":"}","x":{"y":"{"},"id2":1,}"#, .string("}")),
        (#"{"x":{"id":1},"y":[{"id":2}],"id":3,}"#, .integer(3)), (#"{"x":"id","id":3,}"#, .integer(3)),
        (#"{"x":{"id":1},}"#, nil), (#"{"x":"\"id\":5,","id":4,}"#, .integer(4)),
        (#"{"a":1,"a":2,"id":5}"#, .integer(5)),
        (#"{"id":5}trailing"#, .integer(5)), (#"{"id":5,"id":6}"#, nil), (#"{"id":5,"id":5}"#, nil),
        (#"{"id":true,"id":6}"#, nil), (#"{"id":{"a":1},"id":6}"#, nil), (#"{"id":[1,2],"id":6}"#, nil),
        (#"[{"id":5},}]"#, nil), (#""id""#, nil), ("", nil), ("{", nil), (#"{"id""#, nil), (#"{"id":"#, nil),
        (#"{"id":"open"#, nil), (#"{"id":true,"#, nil), (#"{"id":{"id":5},"#, nil), (#"{"id":[5],"#, nil),
        (#"{"id":01}"#, nil), (#"{"id":1.}"#, nil), (#"{"id":-}"#, nil), (#"{"id":+1}"#, nil), (#"{"id":0x10}"#, nil),
        (#"{"id":19"#, nil), (#"{"id":-"#, nil), (#"{"id":1.5"#, nil), (#"{"id":1e3"#, nil), (#"{"id":null"#, nil),
        (#"{"id":19 "#, .integer(19)), (#"{"id":19,"#, .integer(19)), (#"{"id":19]"#, .integer(19)),
        (#"{"id":nul}"#, nil), (#"{"id":"\q"}"#, nil), (#"{"id":"\u12g4"}"#, nil), (#"{"id":"\u12"}"#, nil),
        ("{\"id\":\"a\tb\"}", nil), (#"{id:5}"#, nil), ("{\"id\":\u{0665}}", nil),
    ]

    @Test(arguments: table.indices)
    func theIdIsFoundWhereTheMessageIsAnObjectThatHasOne(index: Int) {
        let (text, id) = Self.table[index]
        #expect(salvage(Array(text.utf8)) == id, "\(text)")
    }

    @Test(arguments: [
        (#"{"method":"$/cancelRequest","params":{"id":1e999}}"#, true), (#"{"params":{"id":1, "method":"$/x"#, false),
        (#"{"jsonrpc":"2.0","method" : "notifications/cancelled","params":{"a":1,"a":2}}"#, true),
        (#"{"method":"$/cancelRequest","para"#, true), (#"{"method":"$/cancelRequest","id":tru}"#, false),
        (#"{"method":"ping","x":1e999}"#, false), (#"{"x":"method","y":"$/x",}"#, false),
    ])
    func aNotificationIsKnownByItsNameAlsoWhenItIsRefused(_ text: String, _ isNotification: Bool) {
        let sender = Array(text.utf8).withUnsafeBytes { IDSalvage.sender(of: $0) }
        #expect((sender == .notification) == isNotification && sender.id == nil)
    }

    @Test func bytesThatAreNoUTF8AreNoId() {
        #expect(salvage(Array("{\"id\":\"".utf8) + [0xFF] + Array("\"}".utf8)) == nil)
    }

    @Test func aDepthBeyondTheParsersIsSteppedOver() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(salvage(Array("{\"x\":\(deep),\"id\":9}".utf8)) == .integer(9))
    }

    /// Whatever comes, nothing traps, and what is echoed is JSON.
    @Test func garbageNeverTrapsAndAnEchoIsAlwaysJSON() {
        let words = [
            "{", "}", "[", "]", ":", ",", "\"", "\\", "\"id\"", "\"id\":", "{\"id\":", "1", "-", "0", ".", "e", "+",
            "null", "\\u",
            "d8", "\\q", "\\\"", " ", "\n", "\t", "\u{00}", "é", "x", "12345678901234567890",
        ].map { Array($0.utf8) }
        var found = 0
        for seed in 0..<10_000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var text = Array((Bool.random(using: &random) ? "{\"id\":" : "").utf8)
            for _ in 0..<Int.random(in: 0...10, using: &random) {
                if Int.random(in: 0..<12, using: &random) == 0 {
                    text.append(.random(in: 0...255, using: &random))
                } else {
                    text += words.randomElement(using: &random) ?? []
                }
            }
            guard let id = salvage(text) else { continue }
            found += 1
            #expect(isEcho(id), "seed \(seed): \(String(decoding: text, as: UTF8.self))")
        }
        #expect(found > 500)
    }

    @Test func aBrokenByteElsewhereDoesNotHideTheId() {
        let message = Array(
            #"{"jsonrpc":"2.0","id":"call-1","method":"retrieve","params":{"url":"http://x/{","n":[1,{"id":2}]}}"#.utf8)
        let structure = Set("\"\\{}[],:".utf8)
        for place in message.indices.dropFirst(32) where !structure.contains(message[place]) {
            for byte in 0...31 as ClosedRange<UInt8> {
                var broken = message
                broken[place] = byte
                #expect(salvage(broken) == .string("call-1"), "byte \(byte) at \(place)")
            }
        }
    }

    @Test func aBrokenByteAnywhereNeverTraps() {
        let message = Array(#"{"a":[{"b":"\"\\"}],"id":"x\u0041","c":-1.5e3}"#.utf8)
        for place in message.indices {
            for byte in [0x00, 0x22, 0x5C, 0x7B, 0x7D, 0xFF] as [UInt8] {
                var broken = message
                broken[place] = byte
                for text in [broken, Array(broken[...place])] {
                    if let id = salvage(text) { #expect(isEcho(id), "byte \(byte) at \(place)") }
                }
            }
        }
    }

    // MARK: Helpers

    private func salvage(_ text: [UInt8]) -> RequestID? {
        text.withUnsafeBytes { IDSalvage.sender(of: $0).id }
    }

    /// Whether the id is written as JSON: the parser may only mind the size of a number or a lone surrogate.
    private func isEcho(_ id: RequestID) -> Bool {
        var writer = JSONWriter()
        id.write(to: &writer)
        do {
            _ = try JSONDocument(parsing: writer.bytes)
            return true
        } catch {
            return error.isValid || error.reason.contains("invalid Unicode")
        }
    }
}
