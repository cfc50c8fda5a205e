import Testing

@testable import RemoteStorage

@Suite struct RESPReaderTests {
    /// What a reader makes of pieces, with the error that ends them.
    private func read(_ pieces: [ArraySlice<UInt8>], maxBytes: Int = 100_000) -> (
        values: [RESPValue], error: RemoteError?
    ) {
        var reader = RESPReader(maxBytes: maxBytes)
        var values: [RESPValue] = []
        for piece in pieces {
            var rest = piece
            while !rest.isEmpty {
                reader.fill { room in
                    let count = min(room.count, rest.count)
                    room.copyBytes(from: rest.prefix(count))
                    rest = rest.dropFirst(count)
                    return count
                }
                do throws(RemoteError) {
                    while let value = try reader.next() { values.append(value) }
                } catch {
                    return (values, error)
                }
            }
        }
        return (values, nil)
    }

    private static let replies: [(text: String, values: [RESPValue])] = [
        ("+OK\r\n", [.status("OK")]),
        ("-ERR no\r\n", [.error("ERR no")]),
        (":0\r\n:-7\r\n:9223372036854775807\r\n", [.integer(0), .integer(-7), .integer(.max)]),
        ("$0\r\n\r\n", [.bytes([])]),
        ("$5\r\na\r\nb\n\r\n", [.bytes(Array("a\r\nb\n".utf8))]),
        ("$-1\r\n*-1\r\n", [.null, .null]),
        ("*0\r\n", [.array([])]),
        (
            "*2\r\n$2\r\n17\r\n$1\r\n5\r\n+\r\n",
            [.array([.bytes(Array("17".utf8)), .bytes(Array("5".utf8))]), .status("")]
        ),
        ("*3\r\n:1\r\n$-1\r\n-E\r\n", [.array([.integer(1), .null, .error("E")])]),
        ("+A\r\n$3\r\nxyz\r\n-B\r\n:1\r\n", [.status("A"), .bytes(Array("xyz".utf8)), .error("B"), .integer(1)]),
    ]

    @Test(arguments: replies) func everySplitOfAReplyIntoReadsGivesTheSameValues(
        _ reply: (text: String, values: [RESPValue])
    ) {
        let bytes = Array(reply.text.utf8)
        for split in 0...bytes.count {
            let result = read([bytes[..<split], bytes[split...]])
            #expect(result.values == reply.values && result.error == nil, "split at \(split)")
        }
        let single = read(bytes.indices.map { bytes[$0...$0] })
        #expect(single.values == reply.values && single.error == nil)
    }

    @Test func aLongValueIsTheSameHoweverItComes() {
        let value = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 * 31 >> 3) }
        let bytes = Array("+before\r\n$\(value.count)\r\n".utf8) + value + Array("\r\n+after\r\n".utf8)
        let expected: [RESPValue] = [.status("before"), .bytes(value), .status("after")]
        for split in [
            1, 8, 9, 12, 17, 18, 1000, 16_384, 16_385, 40_000, bytes.count - 11, bytes.count - 10, bytes.count - 9,
        ] {
            #expect(read([bytes[..<split], bytes[split...]]).values == expected, "split at \(split)")
        }
        for size in [1, 2, 1000, 16_383, 16_384, 20_000] {
            let pieces = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
            #expect(read(pieces).values == expected, "pieces of \(size)")
        }
    }

    @Test func manyRepliesInOneReadAreAllFound() {
        let bytes = Array(String(repeating: "+OK\r\n$3\r\nabc\r\n", count: 5000).utf8)
        #expect(read([bytes[...]]).values.count == 10_000)
    }

    @Test(arguments: [
        "hello\r\n", "\r\n", "$-2\r\n", "$x\r\n", "$\r\n", "$100001\r\n", "$9223372036854775807\r\n",
        "$99999999999999999999\r\n", ":1.5\r\n", ":\r\n", "+OK\rX", "*-2\r\n", "*17\r\n", "*1000000000\r\n",
        "*1\r\n*1\r\n", "*2\r\n:1\r\n*0\r\n", "$3\r\nabcde", "$3\r\nabc\rX", "_\r\n", "#t\r\n", "%1\r\n", "~1\r\n",
        ">1\r\n",
        ",1.5\r\n", "(1\r\n", "=3\r\n", "|1\r\n", "!3\r\n",
        "*2\r\n$60000\r\n" + String(repeating: "x", count: 60_000) + "\r\n$60000\r\n",
        "+" + String(repeating: "x", count: 5000), "$" + String(repeating: "0", count: 5000),
        "HTTP/1.1 400 Bad Request\r\n\r\n", "\u{15}\u{3}\u{3}\0\u{2}\u{2}\r\n",
    ]) func whatIsNoReplyIsAnErrorHoweverItIsSplit(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(read([bytes[...]]).error == .malformed)
        #expect(read(bytes.indices.map { bytes[$0...$0] }).error == .malformed)
    }

    @Test func aValueOfTheLargestSizeIsReadAndOneByteMoreIsNot() {
        #expect(read([Array("$4\r\nabcd\r\n$4\r\nabcd\r\n".utf8)[...]], maxBytes: 4).error == nil)
        #expect(read([Array("$5\r\n".utf8)[...]], maxBytes: 4).error == .malformed)
    }

    @Test func theRestOfALongValueIsReadToItsOwnPlace() {
        var reader = RESPReader(maxBytes: 100_000)
        reader.fill { room in
            let head = Array("$100000\r\nabc".utf8)
            room.copyBytes(from: head)
            return head.count
        }
        #expect((try? reader.next()) == .some(nil))
        reader.fill { room in
            #expect(room.count == 100_000 - 3 + 2)
            return 0
        }
    }
}
