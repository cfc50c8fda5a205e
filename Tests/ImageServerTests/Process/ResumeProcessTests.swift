import Foundation
import TestSupport
import Testing

/// Bodies that broke off, through the real binary.
@Suite(.onThreads)
struct ResumeProcessTests {
    private let cache = try? TemporaryFolder()

    /// The sizes of the bodies that are kept.
    private var sizes: [Int] {
        (cache?.files ?? []).filter { $0.contains("/resume/") && !$0.hasSuffix(".note") }.map { name in
            let path = (cache?.path ?? "") + "/" + name
            return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        }
    }

    @Test(arguments: ["signal", "gone", "exit"])
    func whatHasArrivedIsKeptWhenTheServerEnds(_ end: String) throws {
        let (part, gate) = ([UInt8](repeating: 7, count: 150_000), Gate())
        let web = try LocalServer { _ in
            Script.head(200, ["ETag": "\"1\"", "Accept-Ranges": "bytes"], length: 2 * part.count).raw(part)
                .waiting(for: gate)
        }
        defer {
            gate.open()
            web.stop()
        }
        let server = try ServerProcess(cache: cache?.path ?? "", ["--max-downloads-per-host", "16"])
        for id in 0..<16 {
            try server.request(id, "retrieve", #"{"url":\#(quoted(web.url("/\(id)"))),"workDoneToken":\#(id)}"#)
        }
        var arrived = Set<Int>()
        while arrived.count < 16, let message = try server.next() {
            let params = message["params"]
            if params?["value"]?["receivedBytes"]?.integer == part.count, let id = params?["token"]?.integer {
                arrived.insert(id)
            }
        }
        switch end {
        case "signal": server.signal(SIGTERM)
        case "gone": server.closeOutput()
        default: try server.notify("exit", "{}")
        }
        #expect(server.exitCode() == (end == "signal" ? 128 + SIGTERM : 1))
        #expect(sizes == Array(repeating: part.count, count: 16), "\(sizes)")
    }

    @Test func bodiesThatBrokeOffStayWithinTheirShareOfTheLimit() throws {
        let half = [UInt8](repeating: 7, count: 300_000)
        let long = [UInt8](repeating: 7, count: 1_100_000)
        let web = try LocalServer { request in
            let part = request.path == "/long" ? long : half
            return Script.head(200, ["ETag": "\"1\"", "Accept-Ranges": "bytes"], length: 2 * part.count).raw(part)
                .closing()
        }
        defer { web.stop() }
        let server = try ServerProcess(cache: cache?.path ?? "", ["--disk-limit", "4000000"])
        var id = 0
        func breakOff(_ path: String) throws {
            id += 1
            let reply = try server.call(id, "retrieve", #"{"url":"\#(web.url(path))"}"#)
            #expect(reply["error"]?["data"]?["name"]?.string == "connectionFailed", "\(reply.text)")
        }
        for number in 1...8 {
            try breakOff("/\(number)")
            #expect(sizes == Array(repeating: 300_000, count: min(number, 3)))
        }
        try breakOff("/long")
        #expect(sizes.count == 3, "one that is too large for itself takes no room")
        try breakOff("/8")
        #expect(web.requests.last?.headers["range"] == "bytes=300000-")
        #expect(server.finish() == 0)
    }
}
