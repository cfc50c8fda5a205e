import TestSupport
import Testing

@testable import JSONRPC

/// An owner of calls that sends nothing.
private final class NoOwner: CallOwner {
    func deliver(_ response: [UInt8]?, of call: Call) {}
    func post(_ message: [UInt8]) {}
    let budget = OutputBudget(limit: 1, unsentBytes: { 0 })
}

/// An id is echoed with its type and value, and names one request only.
@Suite struct RequestIDTests {
    @Test func idsThatOnlyLookAlikeAreDifferent() {
        let composed = RequestID.string("\u{E9}")
        let decomposed = RequestID.string("e\u{301}")
        #expect("\u{E9}" == "e\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
        #expect(RequestID.string("1") != .integer(1))
        #expect(RequestID.literal("1.0") != .integer(1))
        #expect(RequestID.string("null") != .null)
    }

    @Test func aTableOfCallsKeepsIdsThatOnlyLookAlikeApart() {
        var table = CallTable()
        let one = Call(id: .string("\u{E9}"), owner: NoOwner())
        let other = Call(id: .string("e\u{301}"), owner: NoOwner())
        table.insert(one)
        table.insert(other)
        #expect(table.call(.string("\u{E9}")) === one)
        #expect(table.call(.string("e\u{301}")) === other)
        table.remove(one)
        #expect(!table.contains(.string("\u{E9}")))
        #expect(table.contains(.string("e\u{301}")))
    }

    @Test func nullNamesNobody() {
        var table = CallTable()
        table.insert(Call(id: .null, owner: NoOwner()))
        #expect(table.count == 1)
        #expect(!table.contains(.null))
        #expect(table.call(.null) == nil)
    }

    static let echoed = [
        "1", "-9223372036854775808", "9223372036854775807", "\"a\"", "\"\"", "\"é\\n\\u0000\"", "null", "1.5", "1e+20",
    ]

    @Test(arguments: echoed)
    func anIdIsEchoedAsItCame(text: String) throws {
        let document = try JSONDocument(parsing: Array(text.utf8))
        let view = document.root
        let found = RequestID(view)
        let id = try #require(found)
        var writer = JSONWriter()
        id.write(to: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
    }

    @Test(arguments: ["true", "[1]", "{}"])
    func whatNoIdMayBeIsNone(text: String) throws {
        let document = try JSONDocument(parsing: Array(text.utf8))
        let id = RequestID(document.root)
        #expect(id == nil)
    }
}
