import Foundation
import Glibc
import TestSupport
import Testing

/// Telling messages apart, at the real binary.
@Suite(.onThreads)
struct FramingTests {
    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
    private static let pong = #"{"jsonrpc":"2.0","id":1,"result":null}"#

    /// What the server writes in answer to an input, byte for byte.
    private func converse(_ input: String, _ arguments: String = "") throws -> Command {
        let cache = try TemporaryFolder()
        return try Command.shell(
            "exec \"$HALCYON\" serve --cache-dir \(cache.path) \(arguments)", input: Array(input.utf8))
    }

    @Test(arguments: [
        "Content-Length: #\r\n\r\n", "content-length: #\r\n\r\n", "CONTENT-LENGTH:#\r\n\r\n",
        "cOnTeNt-LeNgTh:   #  \r\n\r\n",
        "Content-Length: #\n\n", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: #\r\n\r\n",
        "Content-Length: #\r\nX-Other: 1\r\n\r\n", "\u{FEFF}Content-Length: #\r\n\r\n",
        "\r\n\r\nContent-Length: #\r\n\r\n",
        "Content-Length: #\r\ncontent-length: #\r\n\r\n", "Content-Length: 0000#\r\n\r\n",
    ])
    func headerIsReadInAnySpellingAndWrittenInOne(header: String) throws {
        let run = try converse(header.replacingOccurrences(of: "#", with: "\(Self.ping.utf8.count)") + Self.ping)
        let expected = "Content-Length: \(Self.pong.utf8.count)\r\n\r\n\(Self.pong)"
        #expect(String(decoding: run.output, as: UTF8.self) == expected)
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
    }

    @Test(arguments: ["\(ping)", "\(ping)\n", "\(ping)\r\n", "\n \r\n\t\(ping)\n\n", "\u{FEFF}\(ping)"])
    func lineIsAnsweredByALine(input: String) throws {
        let run = try converse(input)
        #expect(String(decoding: run.output, as: UTF8.self) == Self.pong + "\n")
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
    }

    @Test(arguments: ["", "\n", " \r\n\t", "\u{FEFF}"])
    func emptyInputIsNoErrorAndGetsNoAnswer(input: String) throws {
        let run = try converse(input)
        #expect(run.output.isEmpty)
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
    }

    @Test(arguments: [
        "Content-Length: -1\r\n\r\n", "Content-Length: 99999999999999999999\r\n\r\n", "Content-Length: 4e1\r\n\r\n",
        "Content-Length: \r\n\r\n", "Content-Length: 40 40\r\n\r\n", "Content-Length: 40\r\nContent-Length: 41\r\n\r\n",
        "Content-Length: 0x28\r\n\r\n", "Content-Type: text/plain\r\n\r\n",
        "Content-Length: 40\r\nno colon here\r\n\r\n",
    ])
    func lengthThatCannotBeTrustedGetsOneErrorAndEndsTheServer(header: String) throws {
        let run = try converse(header + Self.ping + "Content-Length: 40\r\n\r\n" + Self.ping)
        let output = String(decoding: run.output, as: UTF8.self)
        #expect(output.components(separatedBy: "Content-Length: ").count == 2, "\(output)")
        #expect(output.contains(#""id":null,"error":{"code":-32700"#), "\(output)")
        #expect(run.status == 2)
        #expect(run.errors.isEmpty)
    }

    @Test func headerWithoutEndGetsOneErrorAndEndsTheServer() throws {
        let run = try converse("Content-Length: 40\r\n" + String(repeating: "X-Filler: 0123456789\r\n", count: 100_000))
        #expect(run.status == 2)
        #expect(String(decoding: run.output, as: UTF8.self).components(separatedBy: "-32700").count == 2)
    }

    @Test func bodyThatIsCutOffGetsOneError() throws {
        let run = try converse("Content-Length: 41\r\n\r\n" + Self.ping)
        #expect(String(decoding: run.output, as: UTF8.self).components(separatedBy: "-32700").count == 2)
        #expect(run.status == 0)
    }

    @Test func flagForcesTheFraming() throws {
        let lines = try converse("Content-Length: 40\r\n\r\n\(Self.ping)", "--framing lines")
        #expect(try lines.lines.map { $0["error"]?["code"]?.integer } == [-32700, nil])
        let framed = try converse(Self.ping + "\n\n", "--framing content-length")
        #expect(framed.status == 2)
        #expect(String(decoding: framed.output, as: UTF8.self).hasPrefix("Content-Length: "))
        let wrong = try converse("", "--framing telegram")
        #expect(wrong.status == 2)
        #expect(wrong.output.isEmpty)
        #expect(wrong.errors.contains("--framing must be auto, lines or content-length"))
    }

    @Test(arguments: [false, true])
    func inputMayBeSplitAnywhere(isFramed: Bool) throws {
        let cache = try TemporaryFolder()
        let server = try ServerProcess(cache: cache.path, isFramed: isFramed)
        func message(_ id: Int) -> String { #"{"jsonrpc":"2.0","id":"\#(id) é🖼","method":"ping"}"# }
        let length = server.frame(message(1000)).count + server.frame(message(1001)).count
        for split in 1..<length {
            let stream = server.frame(message(1000 + split)) + server.frame(message(2000 + split))
            try server.sendRaw(Array(stream[..<split]))
            try server.waitUntilRead()
            try server.sendRaw(Array(stream[split...]))
            #expect(try server.next()?["id"]?.string == "\(1000 + split) é🖼")
            #expect(try server.next()?["id"]?.string == "\(2000 + split) é🖼")
        }
        #expect(server.finish() == 0)
    }

    @Test(arguments: [false, true])
    func framingIsDetectedFromSingleBytes(isFramed: Bool) throws {
        let cache = try TemporaryFolder()
        let server = try ServerProcess(cache: cache.path, isFramed: isFramed)
        for byte in Array("\u{FEFF}\r\n".utf8) + server.frame(Self.ping) {
            try server.sendRaw([byte])
            try server.waitUntilRead()
        }
        #expect(try server.next() == JSON(Self.pong))
        #expect(server.finish() == 0)
    }
}
