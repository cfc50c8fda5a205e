import TestSupport
import Testing

/// What `stats` tells of how long requests took.
@Suite(.onThreads)
struct LatencyTests {
    @Test func everyAnswerIsCountedWhetherAtOnceOrLaterAndWellOrNot() throws {
        let cache = try TemporaryFolder()
        let gate = Gate()
        let web = try LocalServer { _ in Script.empty.waiting(for: gate).followed(by: .reply(404, [:], [])) }
        defer { web.stop() }
        let server = try ServerProcess(cache: cache.path)
        for id in 1...3 { _ = try server.call(id, "ping") }
        _ = try server.call(4, "isCached", "{}")
        try server.request(5, "retrieve", #"{"url":\#(quoted(web.url("/a")))}"#)
        func latency() throws -> JSON? { try server.call(6, "stats")["result"]?["latency"] }
        // One that is not answered has taken no time yet.
        let before = try latency()
        #expect(before?["ping"]?["count"] == .integer(3) && before?["isCached"]?["count"] == .integer(1))
        #expect(before?["retrieve"] == nil && before?["store"] == nil)
        gate.open()
        #expect(try server.next()?["error"]?["code"] == .integer(10002))
        try server.stats("that the image was answered") { $0["latency"]?["retrieve"] != nil }
        let retrieve = try #require(try latency()?["retrieve"])
        #expect(
            retrieve["count"] == .integer(1) && retrieve["p50"] == retrieve["max"] && retrieve["p99"] == retrieve["max"]
        )
        #expect(server.finish() == 0)
    }
}
