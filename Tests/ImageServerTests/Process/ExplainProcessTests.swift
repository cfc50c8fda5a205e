import TestSupport
import Testing

/// Explanations, remembered failures, pauses and priorities as a client sees them.
@Suite(.onThreads)
struct ExplainProcessTests {
    private let cache = try? TemporaryFolder()

    private func server(_ arguments: [String] = []) throws -> ServerProcess {
        try ServerProcess(cache: cache?.path ?? "", arguments)
    }

    private func web() throws -> LocalServer {
        let picture = try Fixtures.bytes("png-rgb.png")
        return try LocalServer { request in
            request.path.hasPrefix("/gone") ? .reply(404, [:], []) : .reply(200, [:], picture)
        }
    }

    private func url(_ web: LocalServer, _ path: String, _ options: String = "{}") -> String {
        #"{"url":\#(quoted(web.url(path))),"options":\#(options)}"#
    }

    @Test func requestIsExplainedBeforeAndAfterItIsMade() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let before = try server.call(1, "explain", url(web, "/a.png"))["result"]
        #expect(before?["verdict"]?.string == "load" && before?["network"]?.boolean == true)
        #expect(before?["url"]?.string == web.url("/a.png") && before?["error"] == .null && before?["stale"] == .null)
        #expect(before?["reasons"]?.elements?.isEmpty == false)
        let image = try server.call(2, "retrieve", url(web, "/a.png"))["result"]
        let after = try server.call(3, "explain", url(web, "/a.png"))["result"]
        #expect(after?["verdict"]?.string == "answer" && after?["network"]?.boolean == false)
        #expect(after?["path"] == image?["path"] && after?["cacheType"]?.string == "memory")
        #expect(after?["hash"]?.string.map { image?["path"]?.string?.contains($0) == true } == true)
        #expect(after?["expiresAt"] == image?["expiresAt"] && after?["storedAt"]?.string != nil)
        let forbidden = try server.call(4, "explain", #"{"url":"http://169.254.169.254/latest"}"#)["result"]
        #expect(forbidden?["verdict"]?.string == "fail" && forbidden?["error"]?["code"]?.integer == 20004)
        let absent = try server.call(5, "explain", url(web, "/b", #"{"onlyFromCache":true}"#))["result"]
        #expect(absent?["error"]?["code"]?.integer == 10003)
        #expect(try server.call(6, "explain")["error"]?["code"]?.integer == -32602)
        #expect(web.requests.count == 1)
        #expect(server.finish() == 0)
    }

    /// A condition is about what the same method got, also where the entry may answer as that of another source.
    @Test(arguments: [false, true]) func anotherMethodAsksWithoutCondition(hasOtherSource: Bool) throws {
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { _ in .reply(200, ["ETag": "\"1\""], picture) }
        defer { web.stop() }
        let server = try server()
        let credentials = #""authorization":{"bearer":"t"}"#
        _ = try server.call(1, "retrieve", url(web, "/a", "{\(credentials)}"))
        let others = hasOtherSource ? #","alternativeSources":[\#(quoted(web.url("/b")))]"# : ""
        let post = #"{"method":"POST","revalidate":"always",\#(credentials)\#(others)}"#
        let told = try server.call(2, "explain", url(web, "/a", post))["result"]
        #expect(told?["verdict"]?.string == "load", "\(told?.text ?? "")")
        _ = try server.call(3, "retrieve", url(web, "/a", post))
        #expect(web.requests.map(\.method) == ["GET", "POST"] && web.requests[1].headers["if-none-match"] == nil)
        #expect(server.finish() == 0)
    }

    /// What is remembered can be looked at.
    @Test func rememberedFailuresAreListed() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        #expect(try server.call(1, "listFailures")["result"]?["failures"]?.elements?.isEmpty == true)
        for (id, path) in [(2, "/gone/1"), (3, "/gone/2")] {
            _ = try server.call(id, "retrieve", url(web, path, #"{"negativeCache":60}"#))
        }
        let failures = try server.call(4, "listFailures")["result"]?["failures"]?.elements ?? []
        #expect(failures.map { $0["url"]?.string } == [web.url("/gone/1"), web.url("/gone/2")])
        #expect(failures.first?["key"]?.string == web.url("/gone/1"))
        #expect(failures.first?["error"]?["data"]?["statusCode"]?.integer == 404)
        _ = try server.call(5, "forgetFailures", #"{"url":\#(quoted(web.url("/gone/1")))}"#)
        #expect(try server.call(6, "listFailures")["result"]?["failures"]?.elements?.count == 1)
        #expect(server.finish() == 0)
    }

    @Test func pausedDownloadsWaitAndCachedImagesDoNot() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        _ = try server.call(1, "retrieve", url(web, "/cached.png"))
        let paused = try server.call(2, "pause")["result"]
        #expect(paused?["paused"]?.string == "all" && paused?["running"]?.integer == 0)
        try server.request(3, "retrieve", url(web, "/a.png"))
        #expect(try server.call(4, "retrieve", url(web, "/cached.png"))["result"]?["cacheType"]?.string == "memory")
        try server.stats("the other waits") { $0["waitingDownloads"]?.integer == 1 }
        #expect(try server.call(5, "pause", #"{"what":"prefetch"}"#)["id"]?.integer != nil)
        let replies = try server.replies(1)
        #expect(replies.result(3) != nil || replies.result(5) != nil)
        #expect(try server.call(6, "resume")["result"]?["paused"]?.string == "none")
        #expect(try server.call(7, "pause", #"{"what":"some"}"#)["error"]?["code"]?.integer == -32602)
        #expect(web.requests.count == 2)
        #expect(server.finish() == 0)
    }

    /// What is only prefetched waits, what somebody asks for does not.
    @Test func pausedPrefetchHoldsUpNoRequest() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        _ = try server.call(1, "pause", #"{"what":"prefetch"}"#)
        try server.request(2, "prefetch", #"{"urls":[\#(quoted(web.url("/a.png"))),\#(quoted(web.url("/b.png")))]}"#)
        try server.stats("both wait") { $0["waitingDownloads"]?.integer == 2 }
        #expect(try server.call(3, "retrieve", url(web, "/a.png"))["result"] != nil, "it is asked for")
        #expect(web.requests.map(\.path) == ["/a.png"])
        try server.request(4, "resume")
        let replies = try server.replies(2)
        #expect(replies.result(2)?["completed"]?.elements?.count == 2)
        #expect(server.finish() == 0)
    }

    @Test func prioritiesHaveNames() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        _ = try server.call(1, "pause")
        for (id, priority) in [(2, #""veryLow""#), (3, "0.3"), (4, #""normal""#), (5, #""low""#), (6, #""veryHigh""#)] {
            try server.request(id, "retrieve", url(web, "/\(id).png", #"{"downloadPriority":\#(priority)}"#))
        }
        try server.stats("all wait") { $0["waitingDownloads"]?.integer == 5 }
        _ = try server.call(7, "setPriority", #"{"id":4,"priority":"high"}"#)
        _ = try server.call(8, "configure", #"{"downloader":{"maxConcurrentDownloads":1}}"#)
        try server.request(9, "resume")
        _ = try server.replies(6)
        #expect(web.requests.map(\.path) == ["/6.png", "/4.png", "/3.png", "/5.png", "/2.png"])
        let bad = try server.call(10, "setPriority", #"{"id":4,"priority":"hihg"}"#)
        #expect(bad["error"]?["data"]?["suggestion"]?.string == "high")
        #expect(server.finish() == 0)
    }

    /// The flag, and that it counts.
    @Test func rateOfAHostIsASetting() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--downloads-per-second-per-host", "1000", "--download-burst", "1"])
        #expect(
            try server.call(1, "configure")["result"]?["downloader"]?["downloadsPerSecondPerHost"]?.integer == 1000)
        for id in 2...9 { try server.request(id, "retrieve", url(web, "/\(id).png")) }
        #expect(try server.replies(8).byID.values.allSatisfy { $0["result"] != nil })
        #expect(server.finish() == 0)
    }

    /// A cookie file of the configuration.
    @Test func cookiesOfAFileAreSent() throws {
        let web = try web()
        defer { web.stop() }
        let folder = try #require(cache)
        let result = try Command.shell(
            #"printf '127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue\n' > \#(folder.path)/cookies.txt"#)
        #expect(result.status == 0)
        let server = try server(["--cookie-file", folder.path + "/cookies.txt"])
        #expect(try server.call(1, "retrieve", url(web, "/a.png"))["result"] != nil)
        #expect(web.requests.map { $0.headers["cookie"] } == ["name=value"])
        #expect(server.finish() == 0)
    }
}
