import JSONRPC
import TestSupport
import Testing

/// Where a stream is cut on its way must not matter.
@Suite struct MessageReaderSplitTests {
    private static let long = String(repeating: "x", count: 60)
    private static let longName = String(repeating: "N", count: 70)

    /// Streams in every framing, with what must come out for a limit of 40 bytes.
    static let streams: [(text: String, cuts: [Cut])] = [
        (
            "{\"a\":1}\r\n\n  \t\r\n[1,2]\n\"\(long)\"\n\"é😀\"\n{}",
            [.message("{\"a\":1}\r"), .message("[1,2]"), .oversized, .message("\"é😀\""), .message("{}")]
        ),
        (
            " \r\n{\"a\":1}\nnonsense\n\(long)\(long)\n7",
            [.message("{\"a\":1}"), .message("nonsense"), .oversized, .message("7")]
        ),
        ("\u{FEFF} {\"a\":1}\n", [.message("{\"a\":1}")]),
        (
            framed("{\"a\":\"é😀\"}") + framed("") + "content-LENGTH:2\n\n{}\r\n" + framed(long) + framed("[]"),
            [.message("{\"a\":\"é😀\"}"), .message(""), .message("{}"), .oversized, .message("[]")]
        ),
        (
            "\u{FEFF}\r\nContent-Type: application/x; charset=utf-8\r\nX-Other: a: b\r\n" + framed("{}")
                + framed("[1]"),
            [.message("{}"), .message("[1]")]
        ),
        (
            framed("{}") + "Content-Length: -1\r\n\r\n{}",
            [.message("{}"), .lost("The Content-Length \"-1\" cannot be trusted.")]
        ),
        (
            framed("{}") + "no colon here\r\n\r\n",
            [.message("{}"), .lost("A header line has no colon: \"no colon here\".")]
        ),
        (
            framed("{}") + "Content-Length: 5\r\n\r\n{}",
            [.message("{}"), .lost("The input ended in the middle of a message.")]
        ),
        ("\(longName): 1\r\n" + framed("{}"), [.oversized, .message("Content-Length: 2\r"), .message("{}")]),
    ]

    @Test(arguments: streams.indices)
    func everySplitIntoTwoPiecesGivesTheSameEvents(index: Int) {
        let (text, expected) = Self.streams[index]
        let bytes = Array(text.utf8)
        for place in 0...bytes.count {
            #expect(cuts(of: [bytes[..<place], bytes[place...]], limit: 40) == expected, "cut at \(place)")
        }
    }

    @Test(arguments: streams.indices)
    func oneByteAtATimeGivesTheSameEvents(index: Int) {
        let (text, expected) = Self.streams[index]
        let bytes = Array(text.utf8)
        #expect(cuts(of: bytes.indices.map { bytes[$0...$0] }, limit: 40) == expected)
    }

    @Test(arguments: streams.indices)
    func randomPiecesGiveTheSameEvents(index: Int) {
        let (text, expected) = Self.streams[index]
        let bytes = Array(text.utf8)
        for seed in 0..<50 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var pieces: [ArraySlice<UInt8>] = []
            var place = 0
            while place < bytes.count {
                let end = min(bytes.count, place + Int.random(in: 1...20, using: &random))
                pieces.append(bytes[place..<end])
                place = end
            }
            #expect(cuts(of: pieces, limit: 40) == expected, "seed \(seed)")
        }
    }

    /// Whatever comes in, the pieces it came in change nothing, and nothing traps.
    @Test func randomStreamsAreCutAlikeInOnePieceAndInMany() {
        let words = [
            "Content-Length: ", "content-length:", "5", "2", "99999999999999999999", "-1", "\r\n", "\n", "\r",
            "\r\n\r\n",
            "{}", "[1,2]", "x", ":", " ", "\u{FEFF}", "\"é\"", "X-A: b\r\n", String(repeating: "y", count: 50),
        ]
        for seed in 0..<400 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 0...12, using: &random)
            let text = (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined()
            let bytes = Array(text.utf8)
            let whole = cuts(of: [bytes[...]], limit: 30)
            #expect(
                cuts(of: bytes.indices.map { bytes[$0...$0] }, limit: 30) == whole,
                "seed \(seed): \(text.debugDescription)")
        }
    }

    /// A header may be 8192 bytes, not more, whether or not its end has come.
    @Test(arguments: [8192, 8193, 20_000])
    func aLongHeaderIsJudgedAlikeHoweverItArrives(size: Int) {
        let rest = framed("{}")
        let name = "X-Filler: "
        let header = rest.utf8.count - 2
        let filler = name + String(repeating: "f", count: size - header - name.utf8.count - 2) + "\r\n"
        let bytes = Array((filler + rest).utf8)
        let expected: [Cut] = size <= 8192 ? [.message("{}")] : [.lost("The header is longer than 8192 bytes.")]
        #expect(cuts(of: [bytes[...]]) == expected)
        #expect(cuts(of: [bytes[..<9], bytes[9...]]) == expected)
        #expect(cuts(of: [bytes[..<8192], bytes[8192...]]) == expected)
        let pieces = stride(from: 0, to: bytes.count, by: 97).map { bytes[$0..<min($0 + 97, bytes.count)] }
        #expect(cuts(of: pieces) == expected)
    }
}
