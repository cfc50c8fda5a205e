import TestSupport
import Testing

@testable import ImageServer

/// What a caller wants kept with an image, as an index gives it back.
@Suite struct MetadataTests {
    @Test func whatWasKeptIsToldAgain() throws {
        let text = #"{"author":"é \"x\"","n":""}"#
        #expect(try JSON(#require(Metadata(kept: text)).text) == JSON(text))
    }

    /// Another program may write into the index: a line break in it would end the line that the answer is.
    @Test(arguments: ["{\n\"a\"\r\n:\t\"b\"}", "\n{\"a\":\"b\"}\n"])
    func itIsAlwaysOnOneLine(_ text: String) throws {
        let kept = try #require(Metadata(kept: text)).text
        #expect(kept == #"{"a":"b"}"#)
    }

    @Test(arguments: ["", "{", "[]", "1", "null", #"{"a":1}"#, #"{"a":"b"}{}"#, "{\"a\":\"b\"}\0"])
    func whatIsNoneIsNotTold(_ text: String) { #expect(Metadata(kept: text) == nil) }

    @Test func whatIsTooLongIsNotTold() {
        #expect(Metadata(kept: "{\"a\":\"\(String(repeating: "x", count: 5000))\"}") == nil)
    }
}
