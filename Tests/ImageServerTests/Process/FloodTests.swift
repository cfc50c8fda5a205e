import Foundation
import TestSupport
import Testing

/// Many messages, long messages, and a client that does not read.
@Suite(.onThreads)
struct FloodTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }
    private static let mebibyte = 1 << 20

    @Test(arguments: ["ping", "isCached"], [false, true])
    func tenThousandRequestsInOneWriteAreAllAnswered(method: String, isFramed: Bool) throws {
        let server = try ServerProcess(cache: folder, isFramed: isFramed)
        let stored = try server.call(-1, "store", #"{"key":"k","path":\#(quoted(Fixtures.folder + "/png-rgb.png"))}"#)
        #expect(stored["result"] != nil)
        try server.requestAll((0..<10_000).map { ($0, method, #"{"key":"\#($0 % 2 == 0 ? "k" : "other")"}"#) })
        let replies = try server.replies(10_000)
        #expect(replies.unexpected.isEmpty)
        #expect(replies.byID.count == 10_000)
        let wrong = (0..<10_000).filter { id in
            if method == "ping" { return replies.result(id) != .null }
            return replies.result(id)?["cached"]?.boolean != (id % 2 == 0)
        }
        #expect(wrong == [])
        #expect(server.finish() == 0)
    }

    @Test(arguments: [false, true])
    func messageBeyondTheLimitGetsOneErrorAndTheNextIsAnswered(isFramed: Bool) throws {
        let server = try ServerProcess(cache: folder, isFramed: isFramed)
        let limits = try server.call(0, "initialize")["result"]?["limits"]
        #expect(limits?["messageBytes"]?.integer == 64 * Self.mebibyte)
        let before = try #require(server.memory("VmHWM"))

        let text = [UInt8](repeating: UInt8(ascii: "a"), count: Self.mebibyte)
        try server.sendRaw(Array((isFramed ? "Content-Length: \(200 * Self.mebibyte)\r\n\r\n" : "").utf8))
        for _ in 0..<200 { try server.sendRaw(text) }
        if !isFramed { try server.sendRaw([UInt8(ascii: "\n")]) }
        let error = try server.next()
        #expect(error?["id"] == .null)
        #expect(error?["error"]?["code"]?.integer == -32600)
        #expect(error?["error"]?["data"]?["limit"]?.string == "messageBytes")

        #expect(try server.call(1, "ping")["id"]?.integer == 1)
        let grown = try #require(server.memory("VmHWM")) - before
        #expect(grown < 2 * 64 * 1024 + 16 * 1024, "the peak grew by \(grown) KB")
        #expect(server.finish() == 0)
    }

    @Test func messageUpToTheLimitIsTaken() throws {
        let server = try ServerProcess(cache: folder)
        let head = Array(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_note":""#.utf8)
        let filler = [UInt8](repeating: UInt8(ascii: "a"), count: 60 * Self.mebibyte)
        try server.sendRaw(head + filler + Array("\"}}\n".utf8))
        #expect(try server.next()?["result"] == .null)
        #expect(server.finish() == 0)
    }

    /// The client sends 130,000 requests and reads nothing. The server may stop reading, but it takes no more memory,
    /// and when the client reads at last every answer comes once.
    @Test func clientThatDoesNotReadCostsNoMemoryAndLosesNoAnswer() throws {
        let count = 130_000
        let server = try ServerProcess(cache: folder)
        let stored = try server.call(-1, "store", #"{"key":"k","path":\#(quoted(Fixtures.folder + "/png-rgb.png"))}"#)
        #expect(stored["result"] != nil)
        let before = try #require(server.memory("VmHWM"))
        let writer = Sender { [server] in
            for start in stride(from: 0, to: count, by: 1000) {
                try server.requestAll((start..<(start + 1000)).map { ($0, "cachePath", #"{"key":"k"}"#) })
            }
        }
        try server.waitUntilStalled(orDone: { writer.isDone })
        let peak = try #require(server.memory("VmHWM")) - before
        #expect(peak < 64 * 1024, "the peak grew by \(peak) KB")

        // Looked at as text: parsing so many takes longer than answering them.
        let (begin, end) = (#"{"jsonrpc":"2.0","id":"#.utf8.count, Array(#","exists":true}}"#.utf8))
        var (answered, wrong) = (Set<Int>(), [String]())
        for _ in 0..<count {
            let reply = try server.nextBytes() ?? []
            let id = reply.dropFirst(begin).prefix { $0 != UInt8(ascii: ",") }
            let rest = reply.dropFirst(begin + id.count)
            if !rest.starts(with: #","result":{"path":""#.utf8) || reply.suffix(end.count) != end[...] {
                wrong.append(String(decoding: reply, as: UTF8.self))
            }
            answered.insert(Int(String(decoding: id, as: UTF8.self)) ?? -1)
        }
        #expect(wrong == [])
        #expect(answered == Set(0..<count))
        try writer.finish()
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
    }

    /// While the client reads nothing and requests pile up, a download is cancelled at once.
    @Test func cancellationGetsThroughWhileTheClientDoesNotRead() throws {
        let gate = Gate()
        let web = try LocalServer(routes: ["/held": Script.empty.waiting(for: gate).closing()])
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        let options = #"{"timeout":600}"#
        try server.request(1, "retrieve", #"{"url":\#(quoted(web.url("/held"))),"options":\#(options)}"#)
        try waitUntil("the request reaching the server", blocking: { web.requestCount("/held") == 1 })
        // Far more answers than a pipe and the server's own buffer hold, and fewer requests than make it stop reading.
        let document = Array((2..<400).map { (id: $0, method: "rpc.discover", params: "{}") })
        try server.requestAll(document)
        try server.notify("$/cancelRequest", #"{"id":1}"#)
        try waitUntil("the transfer being dropped", blocking: { web.droppedCount == 1 })
        let replies = try server.replies(document.count + 1)
        #expect(replies.code(1) == -32800)
        #expect(replies.byID.count == document.count + 1)
        gate.open()
        #expect(server.finish() == 0)
    }
}
