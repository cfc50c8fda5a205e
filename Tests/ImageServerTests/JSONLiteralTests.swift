import JSONRPC
import Testing

@testable import ImageServer

/// Small JSON values written in source.
@Suite struct JSONLiteralTests {
    private func text(_ literal: JSONLiteral) -> String {
        var writer = JSONWriter()
        literal.write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func aLiteralIsWrittenAsItReads() {
        let literal: JSONLiteral = ["b": [1, -2, 2.5, true, nil, "\"x\"\n"], "a": [:], "c": []]
        #expect(text(literal) == #"{"b":[1,-2,2.5,true,null,"\"x\"\n"],"a":{},"c":[]}"#)
    }

    @Test func membersAreAddedAtTheEndOfAnObjectOnly() {
        #expect(text(JSONLiteral.object([("a", 1)]).adding([("b", 2)])) == #"{"a":1,"b":2}"#)
        #expect(text(JSONLiteral.array([1]).adding([("b", 2)])) == "[1]")
        #expect(text(.schema("ImageOptions") { .null }) == ##"{"$ref":"#/components/schemas/ImageOptions"}"##)
    }
}
