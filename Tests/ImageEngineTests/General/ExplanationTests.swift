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

/// What a request would be answered with, told before it is made.
@Suite struct ExplanationTests {
    private let web: LocalServer
    private let engine: TestEngine

    init() throws {
        web = try LocalServer { request in
            switch request.path {
            case "/gone": .reply(404, [:], [])
            case "/secret": .reply(200, ["Cache-Control": "no-store, max-age=9"], hollowPNG(width: 7))
            case "/expires":
                .reply(
                    200, ["Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Expires": "Tue, 14 Nov 2023 22:14:20 GMT"],
                    hollowPNG(width: 7))
            case "/guessed":
                .reply(
                    200, ["Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Last-Modified": "Tue, 14 Nov 2023 22:05:00 GMT"],
                    hollowPNG(width: 7))
            case "/checked": .reply(200, ["Cache-Control": "no-cache, max-age=9"], hollowPNG(width: 7))
            case "/from": .reply(302, ["Location": "/fresh", "Cache-Control": "max-age=5"], [])
            case "/silent": .reply(200, [:], hollowPNG(width: 7))
            case "/fresh": .reply(200, ["Cache-Control": "max-age=100", "ETag": "\"1\""], hollowPNG(width: 7))
            default: .reply(200, ["Cache-Control": "max-age=0"], hollowPNG(width: 7))
            }
        }
        engine = try TestEngine {
            $0.downloader.proxy = .none
            $0.downloader.policy.allowedSchemes = ["http", "file"]
            $0.downloader.policy.allowedHosts = ["127.0.0.1"]
        }
    }

    private func explain(
        _ path: String, key: String? = nil, _ change: (inout ImageOptions) -> Void = { _ in }
    ) throws -> Explanation {
        let url = path.hasPrefix("/") ? web.url(path) : path
        return try engine.manager.explain(
            engine.cache.resource(url, key: key), in: engine.cache, options: ImageOptions(change))
    }

    @Test(arguments: ["socks5://u:p@Proxy.test:1080", "proxy.test:3128", "u:p@proxy.test", "https://proxy.test"])
    func proxyIsNamedWhateverItsSchemeAndWithoutItsPassword(_ proxy: String) throws {
        let engine = try TestEngine { $0.downloader.proxy = .url(proxy) }
        let told = try engine.manager.explain(
            engine.cache.resource("http://example.test/a"), in: engine.cache, options: ImageOptions())
        #expect(told.reasons.last == "It goes through the proxy proxy.test.")
    }

    @Test func whatIsNotStoredWouldBeLoaded() throws {
        let told = try explain("/a")
        #expect(told.verdict == .load && told.usesNetwork && told.url == web.url("/a"))
        #expect(told.cacheType == .none && told.storedAt == nil && told.isStale == nil && told.error == nil)
        #expect(told.key == web.url("/a") && told.path.hasPrefix(engine.folder.path))
        #expect(told.reasons == ["Nothing is stored under the key."])
        #expect(web.requests.isEmpty, "nobody was asked")
    }

    @Test func anImageThatNoTierWouldKeepIsForetold() throws {
        let nowhere = try explain("/a") { ($0.storage.cacheMemoryOnly, $0.storage.keepsInMemory) = (true, false) }
        #expect(nowhere.reasons.last?.contains("the options name none") == true, "\(nowhere.reasons)")
        func inMemory() throws -> Explanation { try explain("/a") { $0.storage.cacheMemoryOnly = true } }
        #expect(try inMemory().reasons.count == 1)
        var settings = engine.cache.memory.configuration
        settings.isEnabled = false
        engine.cache.memory.configure(settings)
        #expect(try inMemory().reasons.last?.contains("memory is off") == true)
        #expect(try explain("/a").reasons.count == 1, "there is the disk")
    }

    @Test func whatForbidsToKeepAnImageIsForetoldAsFarAsItIsKnown() async throws {
        func last(_ path: String, _ change: (inout ImageOptions) -> Void = { _ in }) throws -> String? {
            try explain(path) {
                $0.lookup.revalidate = .http
                change(&$0)
            }.reasons.last
        }
        let asked = try last("/a") { $0.network.request.headers = ["Cache-Control": "no-store"] }
        #expect(asked == "No tier keeps it: the request forbids that (Cache-Control no-store).")
        _ = try await engine.image(web.url("/secret"))
        #expect(try last("/secret") == "No tier keeps it: what is stored came with Cache-Control no-store.")
        _ = try await engine.image(web.url("/a"))
        // Limits from the beginning: lower ones would evict it.
        let count = hollowPNG(width: 7).count
        let limited = try TestEngine(folder: engine.folder) {
            ($0.defaults.disk.bytesLimit, $0.defaults.memory.entryCostLimit) = (count - 1, count - 1)
        }
        for (isInMemory, limit) in [(false, "bytesLimit"), (true, "entryBytesLimit")] {
            let told = try limited.manager.explain(
                limited.cache.resource(web.url("/a")), in: limited.cache,
                options: ImageOptions {
                    $0.lookup.forceRefresh = true
                    $0.storage.cacheMemoryOnly = isInMemory
                })
            #expect(told.reasons.last?.hasSuffix("\(count) bytes, more than \(limit) allows.") == true)
        }
    }

    @Test func whereTheLimitOfTheAgeComesFromIsTold() async throws {
        func limit(_ path: String, _ control: String? = nil) async throws -> String {
            _ = try await engine.image(web.url(path))
            let told = try explain(path) {
                $0.lookup.revalidate = .http
                if let control { $0.network.request.headers = ["Cache-Control": control] }
            }
            let sentence = try #require(told.reasons.first { $0.contains("s old, ") })
            return String(sentence.split(separator: "s old, ")[1].split(separator: ", and revalidate")[0])
        }
        #expect(try await limit("/fresh") == "fresh for 100 s (Cache-Control max-age)")
        #expect(try await limit("/fresh", "max-age=7") == "fresh for 7 s (max-age of the request)")
        #expect(try await limit("/fresh", "no-cache") == "never fresh (no-cache of the request)")
        let lessFresh = "fresh for 100 s (Cache-Control max-age, but min-fresh 5 of the request)"
        #expect(try await limit("/fresh", "min-fresh=5") == lessFresh)
        #expect(try await limit("/expires") == "fresh for 60 s (Expires)")
        #expect(try await limit("/guessed") == "fresh for 50 s (guessed by Last-Modified)")
        #expect(try await limit("/checked") == "never fresh (Cache-Control no-cache)")
        #expect(try await limit("/from") == "fresh for 5 s (as the redirect to it says)")
        #expect(try await limit("/silent") == "fresh for 0 s (no header field says how long)")
    }

    @Test func whatIsStoredWouldBeAnswered() async throws {
        let image = try await engine.image(web.url("/a"))
        let told = try explain("/a")
        #expect(told.verdict == .answer && !told.usesNetwork && told.url == nil && told.isStale == false)
        #expect(told.path == image.record.path && told.cacheType == .memory)
        #expect(told.storedAt == engine.clock.seconds && told.expiresAt == engine.clock.seconds + 7 * 86_400)
        _ = engine.cache.clearMemory()
        #expect(try explain("/a").cacheType == .disk)
        #expect(try explain("/a") { $0.storage.fromMemoryCacheOrRefresh = true }.verdict == .load)
        #expect(try explain("/a") { $0.lookup.forceRefresh = true }.verdict == .load)
        #expect(try explain("/a") { $0.network.request.authorization = .bearer("x") }.verdict == .load)
        #expect(try explain("/a", key: "k").verdict == .load)
        engine.clock.advance(seconds: 8 * 86_400)
        let over = try explain("/a")
        #expect(over.verdict == .load && over.cacheType == .none && over.isStale == true)
        #expect(over.reasons.first?.contains("86400 s") == true, "\(over.reasons)")
        #expect(try explain("/a") { $0.lookup.offline = true }.verdict == .answerStale)
    }

    @Test func checksWithTheServerAreForetold() async throws {
        _ = try await engine.image(web.url("/fresh"))
        func verdict(_ mode: Revalidation) throws -> Explanation.Verdict {
            try explain("/fresh") { $0.lookup.revalidate = mode }.verdict
        }
        #expect(try verdict(.http) == .answer && verdict(.always) == .revalidate && verdict(.never) == .answer)
        engine.clock.advance(seconds: 101)
        #expect(try verdict(.http) == .revalidate)
        let told = try explain("/fresh") { $0.lookup.revalidate = .http }
        #expect(told.usesNetwork && told.reasons.contains { $0.contains("is asked whether it has changed") })
        #expect(web.requests.count == 1)
    }

    /// What it says is what is done.
    @Test(arguments: [false, true], [nil, .http, .always] as [Revalidation?])
    func retrievingDoesWhatWasTold(_ isLate: Bool, _ mode: Revalidation?) async throws {
        for path in ["/a", "/fresh"] {
            _ = try await engine.image(web.url(path))
            if isLate { engine.clock.advance(seconds: 200) }
            let told = try explain(path) { $0.lookup.revalidate = mode }
            let before = web.requests.count
            _ = try await engine.image(web.url(path)) { $0.lookup.revalidate = mode }
            #expect(web.requests.count - before == (told.usesNetwork ? 1 : 0), "\(path): \(told)")
        }
    }

    @Test func refusalsAreForetoldWithoutAsking() async throws {
        func error(_ url: String, _ change: (inout ImageOptions) -> Void = { _ in }) throws -> String? {
            let told = try explain(url, change)
            #expect((told.verdict == .fail) == (told.error != nil) && !told.usesNetwork, "\(told)")
            return told.error?.name
        }
        #expect(try error("https://127.0.0.1/") == "invalidURL")
        #expect(try error("data:,x") == "invalidURL")
        #expect(try error("gopher://a/") == "invalidURL")
        #expect(try error("http://example.com/") == "forbiddenAddress")
        #expect(try error("/a") { $0.lookup.onlyFromCache = true } == "notCached")
        #expect(try error("/a") { $0.lookup.offline = true } == "notCached")
        #expect(try await engine.failure(web.url("/gone")) { $0.lookup.negativeCache = 60 } != nil)
        #expect(try error("/gone") { $0.lookup.negativeCache = 60 } == "invalidStatusCode")
        #expect(try explain("/gone").verdict == .load)
        let other = try explain("http://example.com/") { $0.network.alternativeSources = [web.url("/a")] }
        #expect(other.verdict == .load && other.error?.name == "forbiddenAddress")
        #expect(try explain("file:///a.png").verdict == .load)
        #expect(try explain("file:///a.png").usesNetwork == false)
        #expect(web.requests.count == 1)
    }

    @Test func anothersImageIsNone() async throws {
        _ = try await engine.image(web.url("/a")) { $0.network.request.authorization = .bearer("ann") }
        #expect(try explain("/a") { $0.network.request.authorization = .bearer("ann") }.verdict == .answer)
        let told = try explain("/a") { $0.network.request.authorization = .bearer("bob") }
        #expect(told.verdict == .load && told.reasons.contains { $0.contains("credentials") })
    }

    @Test func explainingChangesNothing() async throws {
        _ = try await engine.image(web.url("/a"))
        _ = engine.cache.clearMemory()
        let before = try engine.cache.inspect(CacheKey(web.url("/a")))
        let counts = engine.manager.statistics
        engine.clock.advance(seconds: 10)
        for _ in 0..<3 { _ = try explain("/a") }
        let after = try engine.cache.inspect(CacheKey(web.url("/a")))
        #expect(after?.usedAt == before?.usedAt && after?.expiresAt == before?.expiresAt)
        #expect(after?.leasedUntil == before?.leasedUntil)
        #expect(engine.manager.statistics == counts)
        #expect(try engine.cache.sizes().memory.count == 0, "nothing was promoted")
    }

    /// What the engine does with a request, as far as an explanation foretells it.
    private func outcome(
        _ path: String, _ change: (inout ImageOptions) -> Void
    ) async throws -> (sent: [String], error: ImageError?, isStale: Bool) {
        let before = web.requests.count
        do {
            let image = try await engine.image(web.url(path), change)
            return (web.requests.dropFirst(before).map(\.path), nil, image.isStale)
        } catch let error as ImageError {
            return (web.requests.dropFirst(before).map(\.path), error, false)
        }
    }

    /// Other sources are judged as the first one is.
    @Test func sourceIsNamedThatIsTheFirstToBeAsked() async throws {
        let remembers: (inout ImageOptions) -> Void = { $0.lookup.negativeCache = 100 }
        _ = try await outcome("/gone", remembers)
        func told(_ others: [String]) throws -> Explanation {
            try explain("/gone") {
                remembers(&$0)
                $0.network.alternativeSources = others
            }
        }
        let next = try told(["http://forbidden.test/a", web.url("/gone"), web.url("/a"), web.url("/b")])
        #expect(next.verdict == .load && next.usesNetwork && next.url == web.url("/a"))
        let none = try told(["http://forbidden.test/a", web.url("/gone")])
        #expect(none.verdict == .fail && !none.usesNetwork && none.url == nil)
        #expect(none.error?.name == "invalidStatusCode", "the first one's")
        let got = try await outcome("/gone") {
            remembers(&$0)
            $0.network.alternativeSources = [web.url("/gone")]
        }
        #expect(got.sent.isEmpty && got.error != nil)
    }

    @Test(arguments: [true, false]) func standInIsNotDownloadedWhereNothingMayBe(_ isOption: Bool) async throws {
        func options(_ options: inout ImageOptions) {
            options.network.onFailureImage = web.url("/standin")
            options.lookup.onlyFromCache = isOption
            options.lookup.revalidate = .http
            if !isOption { options.network.request.headers = ["Cache-Control": "only-if-cached"] }
        }
        for (isStored, path) in [(false, "/standin"), (true, "/standin"), (false, "/fresh"), (true, "/fresh")] {
            func own(_ own: inout ImageOptions) {
                options(&own)
                own.network.onFailureImage = web.url(path)
            }
            if isStored { _ = try await engine.image(web.url(path)) { $0.lookup.revalidate = .http } }
            let told = try explain("/a", own)
            let asks = !isOption && !(isStored && path == "/fresh")
            #expect(told.verdict == .fail && told.usesNetwork == asks && (told.url == nil) != asks)
            let word = isStored || !isOption ? "is answered instead" : "cannot be answered either"
            #expect(told.reasons.last == "The onFailureImage \(word).")
            let got = try await outcome("/a", own)
            #expect((got.error == nil) == (isStored || !isOption))
            #expect(got.sent == (asks ? [path] : []))
            _ = try engine.cache.remove(CacheKey(web.url(path)))
        }
    }
}
