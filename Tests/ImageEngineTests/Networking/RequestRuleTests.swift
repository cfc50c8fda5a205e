import Foundation
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What the configuration adds to requests, where it sends them, and what it forbids.
@Suite struct RequestRuleTests {
    private let picture = hollowPNG(width: 7)
    private let web: LocalServer

    init() throws { web = try LocalServer { [picture] _ in .reply(200, [:], picture) } }

    private func engine(
        _ folder: TemporaryFolder? = nil, _ change: (inout ImageDownloader.Configuration) -> Void = { _ in }
    ) throws -> TestEngine {
        try TestEngine(folder: folder) {
            $0.downloader.proxy = .none
            change(&$0.downloader)
        }
    }

    private func rule(_ host: String, _ change: (inout HostRule) -> Void) -> RequestRules {
        var rule = HostRule(hosts: [host])
        change(&rule)
        var rules = RequestRules()
        rules.hosts = [rule]
        return rules
    }

    private func header(_ name: String, _ server: LocalServer? = nil) -> [String?] {
        (server ?? web).requests.map { $0.headers[name] }
    }

    // MARK: Hosts

    @Test func headersAndCredentialsOfAHostAreSentToItAlone() async throws {
        let other = try LocalServer(host: 2) { [web] _ in .redirect(to: web.url("/b")) }
        defer { other.stop() }
        let engine = try engine {
            $0.rules = rule("127.0.0.1") {
                $0.headers = ["X-Key": "k", "Accept": "image/png"]
                $0.authorization = .basic(user: "u", password: "p")
            }
        }
        _ = try await engine.image(web.url("/a"))
        _ = try await engine.image(other.url("/redirect"))
        #expect(header("x-key") == ["k", "k"] && header("accept") == ["image/png", "image/png"])
        #expect(header("authorization") == ["Basic dTpw", "Basic dTpw"])
        #expect(header("x-key", other) == [nil] && header("authorization", other) == [nil])
    }

    @Test func whatARequestSaysItselfComesBeforeTheRules() async throws {
        let engine = try engine {
            $0.rules = rule("127.0.0.1") {
                $0.headers = ["X-Key": "k", "X-Other": "o", "User-Agent": "rules"]
                $0.authorization = .bearer("rule")
            }
        }
        _ = try await engine.image(web.url("/a")) {
            $0.network.request.headers = ["x-key": "mine"]
            $0.network.request.authorization = .bearer("mine")
        }
        _ = try await engine.image(web.url("/b")) { $0.network.request.headers = ["Authorization": "Custom"] }
        #expect(header("x-key") == ["mine", "k"] && header("x-other") == ["o", "o"])
        #expect(header("authorization") == ["Bearer mine", "Custom"])
        #expect(header("user-agent") == ["rules", "rules"])
    }

    @Test func ofSeveralRulesForAHostTheFirstThatNamesSomethingCounts() throws {
        var (first, second) = (HostRule(hosts: ["*.example.com"]), HostRule(hosts: ["a.example.com"]))
        first.headers = ["A": "1"]
        second.headers = ["a": "2", "B": "2"]
        second.authorization = .bearer("t")
        var rules = RequestRules()
        rules.hosts = [first, second]
        let hop = try WebURL("https://a.example.com/x").hop.applying(rules)
        #expect(hop.draft.headers == ["A": "1", "B": "2"])
        #expect(hop.authorization == .bearer("t"))
        #expect(try WebURL("https://example.com/x").hop.applying(rules).fields.isEmpty)
    }

    /// Basic credentials of the configuration answer a digest challenge like those of a request.
    @Test(arguments: ["rules", "netrc", "netrc of another"]) func credentialsOfAHostAnswerAChallenge(_ place: String)
        async throws
    {
        let digest = try LocalServer { [picture] request in
            request.headers["authorization"]?.hasPrefix("Digest username=\"u\"") == true
                ? .reply(200, [:], picture)
                : .reply(401, ["WWW-Authenticate": #"Digest realm="r", nonce="n", qop="auth""#], [])
        }
        defer { digest.stop() }
        let folder = try TemporaryFolder()
        let netrc = folder.path + "/netrc"
        let host = place == "netrc" ? "127.0.0.1" : "example.com"
        overwrite(netrc, Array("machine \(host) login u password p\n".utf8))
        let engine = try engine {
            if place == "rules" {
                $0.rules = rule("127.0.0.1") { $0.authorization = .basic(user: "u", password: "p") }
            } else {
                $0.netrc = netrc
            }
        }
        let failure = try await engine.failure(digest.url("/a"))
        #expect((failure == nil) == (place != "netrc of another"))
        // libcurl waits for a challenge of its own.
        #expect(digest.requests.count == ["rules": 2, "netrc": 3][place, default: 1])
    }

    /// What came with the configuration's credentials is answered to those who would send the same.
    @Test func imageFetchedWithConfiguredCredentialsIsAnsweredOnlyWithThem() async throws {
        let configured: (inout ImageDownloader.Configuration) -> Void = {
            $0.rules = rule("127.0.0.1") { $0.headers = ["X-Key": "k"] }
        }
        let first = try engine(nil, configured)
        _ = try await first.image(web.url("/a"))
        for (name, engine) in [("the same", first), ("another process", try engine(first.folder, configured))] {
            #expect(try await engine.image(web.url("/a")).cacheType != .none, "\(name)")
        }
        let stranger = try engine(first.folder)
        #expect(
            try await stranger.failure(web.url("/a")) { $0.lookup.onlyFromCache = true }
                == .notCached(key: web.url("/a"), url: web.url("/a")))
        #expect(web.requests.count == 1)
    }

    /// Headers that say nothing about who asks make no image personal.
    @Test func imageFetchedWithAHarmlessHeaderIsEverybodys() async throws {
        let first = try engine { $0.rules = rule("127.0.0.1") { $0.headers = ["Accept-Language": "de"] } }
        _ = try await first.image(web.url("/a"))
        #expect(try await engine(first.folder).image(web.url("/a")).cacheType == .disk)
    }

    @Test func rulesMayChangeWhileTheDownloaderRuns() async throws {
        let engine = try engine()
        _ = try await engine.image(web.url("/a"))
        var changed = engine.manager.configuration.downloader
        changed.rules = rule("127.0.0.1") { $0.headers = ["X-Key": "k"] }
        engine.manager.downloader.configure(changed)
        _ = try await engine.image(web.url("/b"))
        #expect(header("x-key") == [nil, "k"])
    }

    // MARK: Mirrors

    @Test func aRequestAfterAChangeOfTheRulesTakesNoPartInATransferFromBefore() async throws {
        let gate = Gate()
        let mirrors = try LocalServer { request in
            request.path.hasPrefix("/old/")
                ? Script.empty.waiting(for: gate).followed(by: .reply(200, [:], hollowPNG(width: 1)))
                : .reply(200, [:], hollowPNG(width: 2))
        }
        defer { mirrors.stop() }
        func rules(_ name: String) -> RequestRules {
            var rules = RequestRules()
            rules.rewrites = [URLRewrite(from: "http://pictures.example/", to: mirrors.url("/\(name)/"))]
                .compactMap(\.self)
            return rules
        }
        let engine = try engine { $0.rules = rules("old") }
        let first = Task { try await engine.image("http://pictures.example/a.png") }
        try await eventually("the old mirror is asked") { mirrors.requests.count == 1 }
        var changed = engine.manager.configuration.downloader
        changed.rules = rules("new")
        engine.manager.downloader.configure(changed)
        let second = Task { try await engine.image("http://pictures.example/a.png", key: "another") }
        try await eventually("the new mirror is asked") { mirrors.requests.count == 2 }
        gate.open()
        #expect(try await first.value.record.header.width == 1)
        #expect(try await second.value.record.header.width == 2)
    }

    @Test func rewrittenRequestGoesToTheMirrorWithoutCredentialsAndKeepsItsKey() async throws {
        let engine = try engine {
            $0.rules.rewrites = [
                URLRewrite(from: "https://Pictures.example", to: web.url("/mirror"))
            ].compactMap(\.self)
        }
        let url = "https://pictures.example:443/a.png?x=1"
        func secret(_ options: inout ImageOptions) {
            options.network.request.authorization = .bearer("secret")
            options.network.request.headers = ["X-Key": "k", "Accept-Language": "de"]
        }
        let image = try await engine.image(url, secret)
        #expect(image.record.key.key == url)
        #expect(image.record.origin.url == web.url("/mirrora.png?x=1"))
        #expect(web.requests.map(\.path) == ["/mirrora.png?x=1"])
        #expect(header("authorization") == [nil] && header("x-key") == [nil] && header("accept-language") == ["de"])
        #expect(try await engine.image(url, secret).cacheType != .none)
        #expect(web.requests.count == 1)
    }

    // MARK: Schemes

    @Test func schemesThatAreSwitchedOffAreNotLoadedFrom() async throws {
        let redirecting = try LocalServer { [web] _ in
            .redirect(to: "https" + web.url("/a").dropFirst(4))
        }
        defer { redirecting.stop() }
        let folder = try TemporaryFolder()
        try Data(picture).write(to: URL(fileURLWithPath: folder.path + "/a.png"))
        let file = "file://\(folder.path)/a.png"
        let data = "data:image/png;base64,\(Data(picture).base64EncodedString())"
        for url in [file, data, web.url("/a")] { #expect(try await engine().failure(url) == nil) }
        let engine = try engine { $0.policy.allowedSchemes = ["http"] }
        for url in [file, "FILE" + file.dropFirst(4), data, "https://127.0.0.1:1/", redirecting.url("/a")] {
            let error = try await engine.failure(url)
            guard case .invalidURL(_, let reason)? = error else {
                Issue.record("\(url.prefix(40)): \(String(describing: error))")
                continue
            }
            #expect(reason.contains("switched off") && reason.contains("allowedSchemes"))
        }
        #expect(try await engine.failure(web.url("/b")) == nil)
        let stranger = try await engine.failure(web.url("/c")) {
            $0.network.limits.validStatusCodes = [299]
            $0.network.alternativeSources = [file]
            $0.network.onFailureImage = folder.path + "/a.png"
        }
        #expect(stranger?.first.name == "invalidStatusCode", "no file stands in")
        let none = try self.engine { $0.policy.allowedSchemes = ["https", "data"] }
        #expect(try await none.failure(data) == nil)
        #expect(try await none.failure(web.url("/d"))?.name == "invalidURL")
        #expect(web.requestCount("/d") == 0)
    }
}

extension WebURL {
    /// A plain request for it.
    fileprivate var hop: HTTPRequest { HTTPRequest(self, RequestContent()) }
}
