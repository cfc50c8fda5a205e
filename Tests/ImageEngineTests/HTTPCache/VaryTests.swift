import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// An image is a hit for requests like the one that it answered, with its header fields, credentials and source.
@Suite struct VaryTests: RevalidationSuite {
    let scene: RevalidationScene

    init() throws { scene = try RevalidationScene() }

    @Test func anotherVariantIsNoHit() async throws {
        set("max-age=60") { $0.headers["Vary"] = "Accept-Language" }
        _ = try await image(.http) { $0.network.request.headers = ["Accept-Language": "fr"] }
        #expect(
            try await image(.http) { $0.network.request.headers = ["accept-language": "fr", "X-A": "1"] }.cacheType
                == .memory)
        #expect(try await image(.http) { $0.network.request.headers = ["Accept-Language": "en"] }.cacheType == .none)
        #expect(try await image(.http) { $0.network.request.headers = ["Accept-Language": "en"] }.cacheType == .memory)
        #expect(
            try await image(.http, on: restarted()) { $0.network.request.headers = ["Accept-Language": "fr"] }.cacheType
                == .none)
        #expect(web.conditions == [nil, nil, nil], "a replaced variant is not asked about")
    }

    @Test func whatTheConfigurationAddsIsPartOfTheRequest() async throws {
        set("max-age=60") { $0.headers["Vary"] = "Accept-Language, User-Agent" }
        func isHit(language: String?, agent: String = "halcyon") async throws -> Bool {
            var rule = HostRule(hosts: ["127.0.0.1"])
            if let language { rule.headers = ["Accept-LANGUAGE": language] }
            let hosts = [rule]
            let other = try TestEngine(folder: engine.folder, clock: engine.clock) {
                $0.downloader.rules.hosts = hosts
                $0.downloader.userAgent = agent
            }
            return try await image(.http, on: other).cacheType != .none
        }
        #expect(try await !isHit(language: "de"))
        #expect(try await isHit(language: "de"))
        #expect(try await !isHit(language: "fr"))
        #expect(try await !isHit(language: nil))
        #expect(try await !isHit(language: nil, agent: "other"))
        #expect(try await isHit(language: nil, agent: "other"))
        #expect(web.conditions.compactMap(\.self).isEmpty)
    }

    @Test func imageOfOtherCredentialsIsAskedAboutByWhoHasSomeAndIsNothingToNobody() async throws {
        set("max-age=60")
        _ = try await image(.http) { $0.network.request.authorization = .bearer("ann") }
        #expect(try await image(.http) { $0.network.request.authorization = .bearer("ann") }.cacheType == .memory)
        #expect(
            try await image(.http, on: restarted()) { $0.network.request.authorization = .bearer("bob") }.isRevalidated)
        #expect(try await image(.http).cacheType == .none)
        #expect(try await image(.always) { $0.network.request.headers = ["Authorization": "Bearer ann"] }.isRevalidated)
        #expect(web.conditions == [nil, "\"1\"", nil, "\"1\""])
    }

    /// What a delegate adds is part of what the answer was given to.
    @Test func requestThatADelegateChangedIsJudgedAsItIsSent() async throws {
        set("max-age=10") { $0.headers["Vary"] = "X-A" }
        web.set { $0.confirmation = ["Cache-Control": "max-age=10"] }
        let delegate = HeaderDelegate()
        func load() async throws -> ImageResult {
            try await image(.http) { $0.network.delegates = DownloadDelegates(delegate, questions: [.modifyRequest]) }
        }
        #expect(try await load().cacheType == .none)
        #expect(try await load().cacheType == .memory)
        #expect(web.conditions == [nil])
        engine.clock.advance(seconds: 10)
        #expect(try await load().isRevalidated)
        #expect(web.conditions == [nil, "\"1\""])
        engine.clock.advance(seconds: 10)
        web.set { $0.failure = 500 }
        let old = try await image(.http) {
            $0.network.delegates = DownloadDelegates(delegate, questions: [.modifyRequest])
            $0.lookup.staleIfError = 60
        }
        #expect(old.isStale)
        #expect(delegate.count == 4, "asked once for each request that is not answered at once")
    }

    @Test func conditionsOfTheClientAreItsOwnBusiness() async throws {
        set("max-age=0")
        _ = try await image(.http)
        let error = try await engine.failure(web.url) {
            $0.lookup.revalidate = .http
            $0.network.request.headers = ["If-None-Match": "\"1\""]
        }
        #expect(error == .notModified(url: web.url))
        // Fresh, and yet asked about.
        set("max-age=60")
        _ = try await image(.http) { $0.lookup.forceRefresh = true }
        #expect(try await image(.http).cacheType == .memory)
        for mode in [Revalidation.http, nil] {
            let anew = try await engine.image(web.url) {
                $0.lookup.revalidate = mode
                $0.network.request.headers = ["Cache-Control": "no-cache"]
            }
            #expect(anew.isRevalidated == (mode == .http), "headers count where they are asked for")
        }
    }

    @Test func whatCameFromAnotherSourceIsNotAskedAboutAtTheFirst() async throws {
        let first = try PictureServer()
        first.set { $0.failure = 500 }
        set("max-age=0")
        let load = { [engine, web] in
            try await engine.image(first.url) {
                $0.lookup.revalidate = .http
                $0.network.alternativeSources = [web.url]
            }
        }
        _ = try await load()
        #expect(try await load().cacheType == .none)
        #expect(first.conditions == [nil, nil] && web.conditions == [nil, nil])
    }
}

/// Adds a header field to every request.
private final class HeaderDelegate: DownloadDelegate {
    private let asked = Atomic(0)
    var count: Int { asked.load(ordering: .relaxed) }

    func modify(_ request: DownloadDraft) async throws -> DownloadDraft? {
        asked.add(1, ordering: .relaxed)
        var request = request
        request.headers["X-A"] = "1"
        return request
    }
    func redirect(_ request: DownloadDraft, from url: String, status: Int) async throws -> DownloadDraft? { request }
    func accepts(status: Int, contentType: String?, url: String) async throws -> Bool? { nil }
    func answer(_ challenge: AuthenticationChallenge) async throws -> ChallengeAnswer { .useDefault }
}
