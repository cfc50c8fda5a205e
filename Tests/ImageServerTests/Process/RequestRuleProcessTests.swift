import Foundation
import TestSupport
import Testing

/// The rules for requests and keys as a client sees them.
@Suite(.onThreads)
struct RequestRuleProcessTests {
    private let scratch: TemporaryFolder
    private let web: LocalServer

    init() throws {
        scratch = try TemporaryFolder()
        let picture = try Fixtures.bytes("png-rgb.png")
        web = try LocalServer { request in
            request.path.hasPrefix("/redirect") ? .redirect(to: "/b") : .reply(200, [:], picture)
        }
    }

    private func server(_ arguments: [String] = []) throws -> ServerProcess {
        try ServerProcess(cache: scratch.path + "/cache", arguments)
    }

    private func retrieve(_ path: String, _ options: String = "{}") -> String {
        #"{"url":\#(quoted(web.url(path))),"options":\#(options)}"#
    }

    /// With two signatures at once there is one download.
    @Test func signedURLsShareAnImageWhereARuleSaysSo() throws {
        let server = try server()
        let rules = #"[{"hosts":["127.0.0.1"],"dropQuery":["X-Amz-*"]}]"#
        let configured = try server.call(1, "configure", #"{"disk":{"keyRules":\#(rules)}}"#)
        #expect(try configured["result"]?["disk"]?["keyRules"] == JSON(rules))
        for id in 2...5 { try server.request(id, "retrieve", retrieve("/a.png?v=1&X-Amz-Signature=\(id)")) }
        let replies = try server.replies(4)
        let key = web.url("/a.png?v=1")
        #expect((2...5).allSatisfy { replies.result($0)?["key"]?.string == key })
        #expect(web.requests.count == 1 && web.requests[0].path.hasPrefix("/a.png?v=1&X-Amz-Signature="))
        let other = #"{"key":\#(quoted(web.url("/a.png?v=1&X-Amz-Signature=9")))}"#
        #expect(try server.call(6, "isCached", other)["result"]?["cached"]?.boolean == true)
        #expect(try server.call(7, "cachePath", other)["result"]?["exists"]?.boolean == true)
        #expect(try server.call(8, "inspect", other)["result"]?["key"]?.string == key)
        let prefetch = try server.call(9, "prefetch", #"{"urls":[\#(quoted(web.url("/a.png?v=1&X-Amz-Date=1")))]}"#)
        #expect(prefetch["result"]?["skipped"]?.elements?.count == 1)
        #expect(try server.call(10, "remove", other)["result"]?["removed"]?.boolean == true)
        let path = Fixtures.repository + "/Tests/Fixtures/png-rgb.png"
        let stored = try server.call(11, "store", #"{"path":\#(quoted(path)),\#(other.dropFirst())"#)
        #expect(stored["result"]?["key"]?.string == key)
        #expect(try server.call(12, "retrieve", retrieve("/a.png?v=1"))["result"]?["cacheType"]?.string != "none")
        #expect(try server.call(13, "retrieve", retrieve("/a.png?v=2"))["result"]?["cacheType"]?.string == "none")
        #expect(server.finish() == 0)
    }

    @Test func hostRulesAndRewritesAreConfiguredAndTheirSecretsNotShown() throws {
        let rules = #"""
            {"hostRules":[{"hosts":["127.0.0.1"],"headers":{"X-Key":"hush-1"},"authorization":{"bearer":"hush-2"}},
             {"hosts":["*.example"],"authorization":{"basic":{"user":"ann","password":"hush-3"}}}],
             "urlRewrites":[{"from":"http://pictures.example/","to":\#(quoted(web.url("/m/")))}]}
            """#.split(separator: "\n").joined()
        let file = scratch.path + "/config.json"
        try Data(#"{"downloader":\#(rules)}"#.utf8).write(to: URL(fileURLWithPath: file))
        let listing = String(decoding: try Command.shell("$HALCYON config --config \(file)").output, as: UTF8.self)
        #expect(listing.contains("downloader.hostRules") && listing.contains("\"user\":\"ann\""))
        #expect(!listing.contains("hush"))
        for server in [try server(["--config", file]), try server(), try server()].enumerated() {
            let (number, server) = (server.offset, server.element)
            switch number {
            case 1: _ = try server.call(1, "configure", #"{"downloader":\#(rules)}"#)
            case 2: _ = try server.call(1, "initialize", #"{"initializationOptions":{"downloader":\#(rules)}}"#)
            default: break
            }
            let reply = try server.call(
                2, "retrieve", #"{"url":"http://pictures.example/\#(number).png","options":{"headers":{"X-Mine":"1"}}}"#
            )
            #expect(reply["result"]?["url"]?.string == web.url("/m/\(number).png"), "\(reply.text)")
            #expect(reply["result"]?["key"]?.string == "http://pictures.example/\(number).png")
            let shown = try server.call(3, "configure")
            #expect(shown["result"]?["downloader"]?["hostRules"]?.elements?.count == 2 && !shown.text.contains("hush"))
            #expect(server.finish() == 0)
        }
        #expect(web.requests.map { $0.headers["x-key"] } == ["hush-1", "hush-1", "hush-1"])
        #expect(
            web.requests.allSatisfy { $0.headers["authorization"] == "Bearer hush-2" && $0.headers["x-mine"] == nil })
    }

    @Test func redirectsThatAreNotWantedAreAnErrorThatNamesTheOption() throws {
        let server = try server()
        let refused = try server.call(1, "retrieve", retrieve("/redirect", #"{"redirect":"none"}"#))
        #expect(refused["error"]?["code"]?.integer == 10005)
        #expect(refused["error"]?["data"]?["limit"]?.string == "redirect")
        let followed = try server.call(2, "retrieve", retrieve("/redirect", #"{"redirect":"same-origin"}"#))
        #expect(followed["result"]?["url"]?.string == web.url("/b"))
        #expect(server.finish() == 0)
    }

    /// The scheme that counts is that of what is really requested.
    @Test func aMirrorOfAnotherSchemeIsJudgedByItsOwn() throws {
        let server = try server(["--allowed-schemes", "https"])
        let mirror = #"{"from":"https://pictures.example/","to":\#(quoted(web.url("/m/")))}"#
        let mirrored = #"{"downloader":{"urlRewrites":[\#(mirror)]}}"#
        _ = try server.call(1, "configure", mirrored)
        let refused = try server.call(2, "retrieve", #"{"url":"https://pictures.example/a.png"}"#)
        #expect(refused["error"]?["message"]?.string?.contains("allowedSchemes") == true, "\(refused.text)")
        let told = try server.call(3, "explain", #"{"url":"https://pictures.example/a.png"}"#)
        #expect(told["result"]?["verdict"]?.string == "fail")
        #expect(server.finish() == 0)
        let other = try self.server(["--allowed-schemes", "http"])
        _ = try other.call(1, "configure", mirrored)
        let loaded = try other.call(2, "retrieve", #"{"url":"https://pictures.example/b.png"}"#)
        #expect(loaded["result"]?["url"]?.string == web.url("/m/b.png"), "\(loaded.text)")
        let direct = try other.call(3, "retrieve", #"{"url":"https://elsewhere.example/b.png"}"#)
        #expect(direct["error"]?["message"]?.string?.contains("allowedSchemes") == true, "\(direct.text)")
        #expect(other.finish() == 0)
    }

    /// A stranger's document cannot have files of this machine loaded.
    @Test func filesAreNotLoadedWhereThatIsSwitchedOff() throws {
        let path = Fixtures.repository + "/Tests/Fixtures/png-rgb.png"
        let server = try server(["--allowed-schemes", "http,https"])
        let refused = try server.call(1, "retrieve", #"{"url":\#(quoted("file://" + path))}"#)
        #expect(refused["error"]?["code"]?.integer == 20000)
        #expect(refused["error"]?["message"]?.string?.contains("allowedSchemes") == true)
        #expect(try server.call(2, "retrieve", retrieve("/a"))["result"]?["width"]?.integer == 61)
        #expect(
            try server.call(3, "store", #"{"key":"k","path":\#(quoted(path))}"#)["result"] != nil,
            "a path that is given as such is no URL")
        #expect(server.finish() == 0)
        let bad = try self.server(["--allowed-schemes", "http,gopher"])
        #expect(bad.finish() != 0)
        #expect(bad.complaints().contains("must be some of http, https, file and data"))
    }
}
