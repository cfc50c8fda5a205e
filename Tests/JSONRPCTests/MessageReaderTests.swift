import JSONRPC
import Testing

/// How a stream becomes messages.
@Suite struct MessageReaderTests {
    // MARK: Detection

    static let detected: [(text: String, framing: MessageFraming)] = [
        ("{\"a\":1}\n", .lines), ("[1]\n", .lines), (" \t\r\n\n {}\n", .lines), ("\u{FEFF}{}\n", .lines),
        ("\u{FEFF} \n[]\n", .lines), ("Content-Length: 2\r\n\r\n{}", .contentLength),
        ("content-length: 2\r\n\r\n{}", .contentLength), ("CONTENT-LENGTH:2\r\n\r\n{}", .contentLength),
        ("\u{FEFF}\r\n Content-Length: 2\n\n{}", .contentLength),
        ("Content-Type: text/x\r\nContent-Length: 2\r\n\r\n{}", .contentLength),
        ("X-Anything: 1\nContent-Length: 2\n\n{}", .contentLength), ("hello world\n", .lines),
        ("GET / HTTP/1.1\r\n", .lines),
        ("\"text\"\n", .lines), ("17\n", .lines), ("true\n", .lines), (": 5\n", .lines), ("\u{00}\u{01}\n", .lines),
        ("é: 5\n", .lines),
    ]

    @Test(arguments: detected.indices)
    func theFirstBytesChooseTheFraming(index: Int) {
        let (text, framing) = Self.detected[index]
        var reader = MessageReader()
        reader.append(Array(text.utf8))
        _ = reader.drain()
        #expect(reader.framing == framing)
    }

    @Test func nothingIsDecidedWhileTheBytesMayBeEither() {
        var reader = MessageReader()
        for piece in ["\u{FEFF}", " \r\n", "Content", "-Length"] {
            reader.append(Array(piece.utf8))
            #expect(reader.drain() == [])
            #expect(reader.framing == nil)
        }
        reader.append([UInt8(ascii: ":")])
        #expect(reader.drain() == [])
        #expect(reader.framing == .contentLength)
    }

    @Test func theFramingIsKeptForTheConnection() {
        #expect(
            cuts(of: "{}\nContent-Length: 2\r\n\r\n[]\n") == [
                .message("{}"), .message("Content-Length: 2\r"), .message("[]"),
            ])
    }

    @Test func aFramingThatIsGivenIsNotDetected() {
        #expect(cuts(of: "Content-Length: 2\n", framing: .lines) == [.message("Content-Length: 2")])
        #expect(cuts(of: "{}\n", framing: .contentLength) == [.lost("A header line has no colon: \"{}\".")])
    }

    @Test(arguments: ["", " ", "\r\n\r\n", "\u{FEFF}", "\u{FEFF}\n"])
    func aStreamWithoutContentHoldsNoMessage(text: String) {
        #expect(cuts(of: text) == [])
    }

    // MARK: Lines

    @Test func aLastLineWithoutItsNewlineIsAMessage() {
        #expect(cuts(of: "{}\n[1]") == [.message("{}"), .message("[1]")])
        #expect(cuts(of: "{}\n  \t") == [.message("{}")])
        #expect(cuts(of: "7") == [.message("7")])
    }

    @Test func aLineAsLongAsTheLimitIsAccepted() {
        let line = String(repeating: "x", count: 40)
        #expect(cuts(of: "{}\n\(line)\n\(line)", limit: 40) == [.message("{}"), .message(line), .message(line)])
    }

    @Test func anOversizedLineIsReportedOnceAndTheStreamIsInStep() {
        let line = String(repeating: "x", count: 200_000)
        var reader = MessageReader(limit: 1000)
        reader.append(Array("{}\n".utf8))
        var cuts = reader.drain()
        for _ in 0..<10 {
            reader.append(Array(line.utf8))
            cuts += reader.drain()
        }
        reader.append(Array("\n[1]\n".utf8))
        cuts += reader.drain()
        #expect(cuts == [.message("{}"), .oversized, .message("[1]")])
    }

    @Test func anOversizedLineThatEndsWithTheStreamIsReportedOnce() {
        #expect(cuts(of: "{}\n" + String(repeating: "x", count: 2000)) == [.message("{}"), .oversized])
    }

    // MARK: Bodies

    @Test func anOversizedBodyIsSkippedByItsLength() {
        let body = String(repeating: "Content-Length: 3\r\n\r\n123", count: 1000)
        #expect(cuts(of: framed(body) + framed("{}")) == [.oversized, .message("{}")])
    }

    @Test func anOversizedBodyNeedNotArriveToBeRefused() {
        var reader = MessageReader(limit: 1000)
        reader.append(Array("Content-Length: 999999999999999999\r\n\r\n".utf8))
        #expect(reader.drain() == [.oversized])
        var space = 0
        _ = reader.fill {
            space = $0.count
            return 0
        }
        #expect(space <= 1 << 16)
    }

    static let untrusted = [
        "-1", "+2", "100000000000000000000", "9223372036854775808", "two", "", "2.0", "0x2", "2 2", "2,2", "٢",
    ]

    @Test(arguments: untrusted)
    func aLengthThatCannotBeTrustedLosesTheStream(length: String) {
        let found = cuts(of: framed("[]") + "Content-Length: \(length)\r\n\r\n{}" + framed("[]"))
        #expect(found == [.message("[]"), .lost("The Content-Length \"\(length)\" cannot be trusted.")])
    }

    @Test func aHeaderWithoutALengthLosesTheStream() {
        #expect(cuts(of: "Content-Type: x\r\n\r\n{}") == [.lost("The header has no Content-Length.")])
    }

    @Test func twoLengthsThatDifferLoseTheStream() {
        #expect(
            cuts(of: "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x")
                == [.lost("The Content-Length \"3\" cannot be trusted.")])
        #expect(cuts(of: "Content-Length: 2\r\ncontent-length: 2\r\n\r\n{}") == [.message("{}")])
    }

    @Test(arguments: ["Content-Length: 9\r\n\r\n{}", "Content-Length: 9\r\n", "Content-Length: 9\r\n\r\n"])
    func aBodyCutOffByTheEndLosesTheStream(text: String) {
        #expect(
            cuts(of: framed("{}") + text) == [.message("{}"), .lost("The input ended in the middle of a message.")])
    }

    @Test func nothingComesAfterALoss() {
        var reader = MessageReader()
        reader.append(Array("X: 1\r\n\r\n".utf8))
        #expect(reader.drain().count == 1)
        reader.append(Array(framed("{}").utf8))
        #expect(reader.drain() == [])
        #expect(reader.finish() == nil)
    }

    // MARK: Space

    @Test(arguments: [MessageFraming.lines, .contentLength])
    func aLargeMessageGrowsTheBufferAndItsEndShrinksIt(framing: MessageFraming) {
        let body = String(repeating: "z", count: 3_000_000)
        let bytes = Array((framing == .lines ? body + "\n" : framed(body)).utf8)
        var reader = MessageReader(framing: framing)
        var most = 0
        var place = 0
        var cuts: [Cut] = []
        while place < bytes.count {
            place += reader.fill { space in
                most = max(most, space.count)
                let part = bytes[place..<min(place + 50_000, bytes.count, place + space.count)]
                space.copyBytes(from: part)
                return part.count
            }
            cuts += reader.drain()
        }
        #expect(cuts == [.message(body)])
        #expect(most > 500_000)
        var space = 0
        _ = reader.fill {
            space = $0.count
            return 0
        }
        #expect(space == 1 << 16)
        reader.append(Array((framing == .lines ? "{}\n" : framed("{}")).utf8))
        #expect(reader.drain() == [.message("{}")])
    }
}
