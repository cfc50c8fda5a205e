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

/// An old image is answered at once and refreshed behind, or stands in while its server is in trouble.
@Suite struct StaleImageTests: RevalidationSuite {
    let scene: RevalidationScene

    init() throws { scene = try RevalidationScene() }

    @Test func staleImageIsAnsweredAtOnceAndRefreshedBehind() async throws {
        set("max-age=10, stale-while-revalidate=60")
        let heard = Heard()
        engine.manager.onChange { heard.add($0) }
        _ = try await image(.http)
        engine.clock.advance(seconds: 10)
        let stale = try await image(.http)
        #expect(stale.isStale && stale.cacheType != .none)
        try await eventually("the confirmation behind the answer") { [web] in web.count == 2 }
        try await eventually("the image being fresh again") {
            try await self.image(.http).isStale == false
        }
        // One that was begun while the first one ended would make it fresh once more, at whatever the clock says then.
        try await eventually("the end of all refreshes") { engine.manager.refreshCount == 0 }
        #expect(heard.all.isEmpty, "nothing has changed")
        engine.clock.advance(seconds: 10)
        set("max-age=10, stale-while-revalidate=60") { [other] in
            $0.picture = other
            $0.etag = "\"2\""
        }
        let old = try await image(.http, bytes: true)
        #expect(old.isStale && old.bytes == hollowPNG(width: 7))
        try await eventually("the event") { heard.all.count == 1 }
        let path = try engine.cache.path(for: CacheKey(web.url), burst: 0, mayWait: true)?.path
        #expect(heard.all == [ImageChange(cache: "default", key: web.url, url: web.url, path: path)])
        #expect(path != nil)
        let new = try await image(.http, bytes: true)
        #expect(!new.isStale && new.bytes == other)
        #expect(web.conditions == [nil, "\"1\"", "\"1\""])
        engine.clock.advance(seconds: 70)
        #expect(try await image(.http).isStale == false, "beyond the window the server is asked first")
    }

    @Test func manyStaleAnswersRefreshOnce() async throws {
        let gate = Gate()
        let count = Counter()
        let picture = hollowPNG(width: 7)
        let server = try LocalServer { _ in
            let reply = Script.reply(
                200, ["ETag": "\"1\"", "Cache-Control": "max-age=10, stale-while-revalidate=99"], picture)
            return count.add() == 1 ? reply : Script.empty.waiting(for: gate).followed(by: reply)
        }
        defer { server.stop() }
        _ = try await engine.image(server.url("/a")) { $0.lookup.revalidate = .http }
        engine.clock.advance(seconds: 20)
        for _ in 1...20 {
            let stale = try await engine.image(server.url("/a")) { $0.lookup.revalidate = .http }
            #expect(stale.isStale)
        }
        try await eventually("the refresh") { server.requests.count == 2 }
        gate.open()
        try await eventually("the end of the refresh") { [engine] in
            try await engine.image(server.url("/a")) { $0.lookup.revalidate = .http }.isStale == false
        }
        #expect(server.requests.count == 2)
    }

    /// An image is fresh before the refresh that confirmed it has come to its end.
    @Test func imageThatIsOldAgainIsRefreshedWhateverBecomesOfTheRefreshBefore() async throws {
        set("max-age=10, stale-while-revalidate=60")
        let old = try await image(.http).record
        engine.clock.advance(seconds: 10)
        _ = try await image(.always)
        engine.manager.services.jobs.startAlone(HashedOnce(RefreshKey("default", old))) { _ in
        } end: { _ in
        }
        #expect(engine.manager.refreshCount == 1)
        engine.clock.advance(seconds: 10)
        #expect(try await image(.http).isStale)
        try await eventually("the image being fresh again") { try await image(.http).isStale == false }
        #expect(web.count == 3)
        try await eventually("the end of that refresh") { [engine] in engine.manager.refreshCount == 1 }
    }

    @Test func imageThatIsRemovedDuringItsRefreshStaysRemoved() async throws {
        let gate = Gate()
        let count = Counter()
        let picture = hollowPNG(width: 7)
        let server = try LocalServer { _ in
            let reply = Script.reply(200, ["Cache-Control": "max-age=10, stale-while-revalidate=99"], picture)
            return count.add() == 1 ? reply : Script.empty.waiting(for: gate).followed(by: reply)
        }
        defer { server.stop() }
        let key = CacheKey(server.url("/a"))
        _ = try await engine.image(key.key) { $0.lookup.revalidate = .http }
        engine.clock.advance(seconds: 20)
        #expect(try await engine.image(key.key) { $0.lookup.revalidate = .http }.isStale)
        try await eventually("the refresh") { server.requests.count == 2 }
        _ = try engine.cache.remove(key)
        gate.open()
        try await eventually("the end of the refresh") { [engine] in engine.manager.refreshCount == 0 }
        #expect(try engine.cache.cacheType(for: key, burst: 0, mayWait: true).value == nil)
    }

    /// What a request has stored since then is newer, wherever it came from.
    @Test(arguments: [false, true], [false, true])
    func imageThatIsReplacedDuringItsRefreshStaysReplaced(_ loads: Bool, _ keepsNone: Bool) async throws {
        let (gate, count) = (Gate(), Counter())
        let newest = hollowPNG(width: 9)
        let server = try LocalServer { _ in
            let number = count.add()
            let control = number == 2 && keepsNone ? "no-store" : "max-age=10, stale-while-revalidate=99"
            // With a tag, so that the refresh is conditional, and shares no download with a load.
            let reply = Script.reply(
                200, ["Cache-Control": control, "ETag": "\"\(number)\""],
                number == 3 ? newest : hollowPNG(width: 6 + number))
            return number == 2 ? Script.empty.waiting(for: gate).followed(by: reply) : reply
        }
        defer { server.stop() }
        let key = CacheKey(server.url("/a"))
        _ = try await engine.image(key.key) { $0.lookup.revalidate = .http }
        engine.clock.advance(seconds: 20)
        #expect(try await engine.image(key.key) { $0.lookup.revalidate = .http }.isStale)
        try await eventually("the refresh") { server.requests.count == 2 }
        if loads {
            _ = try await engine.image(key.key) { $0.lookup.forceRefresh = true }
        } else {
            _ = try engine.manager.store(newest, for: key, in: engine.cache, options: ImageOptions())
        }
        gate.open()
        try await eventually("the end of the refresh") { [engine] in engine.manager.refreshCount == 0 }
        let found = try await engine.image(key.key, bytes: true) { $0.lookup.onlyFromCache = true }
        #expect(found.bytes == newest)
    }

    @Test(arguments: [404, 503])
    func refreshRemembersItsFailureAndAsksAgainWhenItsTimeIsOver(_ status: Int) async throws {
        @Sendable func asked(_ options: inout ImageOptions) {
            options.lookup.revalidate = .http
            options.lookup.negativeCache = 50
            options.network.retry = RetryStrategy(maxRetries: 3, interval: .seconds(0))
        }
        func verdict() throws -> Explanation.Verdict {
            let told = try engine.manager.explain(
                engine.cache.resource(web.url, key: nil), in: engine.cache, options: ImageOptions(asked))
            #expect(told.usesNetwork == (told.verdict == .answerAndRefresh) && told.error == nil)
            return told.verdict
        }
        set("max-age=10, stale-while-revalidate=1000")
        _ = try await image(.http)
        engine.clock.advance(seconds: 20)
        web.set { ($0.failure, $0.retryAfter) = (status, status == 503 ? "50" : nil) }
        #expect(try verdict() == .answerAndRefresh)
        for _ in 1...3 {
            #expect(try await engine.image(web.url, asked).isStale)
            try await eventually("the end of the refresh") { [engine] in
                engine.manager.refreshCount == 0 && engine.manager.statistics.rememberedFailures == 1
            }
        }
        #expect(web.count == 2 && engine.manager.refreshCount == 0)
        #expect(try verdict() == .answerStale)
        engine.clock.advance(seconds: 50)
        web.set { $0.failure = nil }
        #expect(try verdict() == .answerAndRefresh)
        #expect(try await engine.image(web.url, asked).isStale)
        try await eventually("the image being fresh again") { try await engine.image(web.url, asked).isStale == false }
        #expect(web.count == 3)
    }

    @Test func refreshForgetsTheFailureOfTheSameRequest() async throws {
        set("max-age=10, stale-while-revalidate=1000")
        _ = try await image(.http)
        web.set { $0.failure = 404 }
        _ = try await engine.failure(web.url) { ($0.lookup.forceRefresh, $0.lookup.negativeCache) = (true, 500) }
        #expect(engine.manager.statistics.rememberedFailures == 1)
        web.set { $0.failure = nil }
        engine.clock.advance(seconds: 20)
        #expect(try await image(.http).isStale, "it does not heed what is remembered")
        try await eventually("the end of the refresh") { [engine] in
            engine.manager.statistics.rememberedFailures == 0
        }
        #expect(web.count == 3)
    }

    @Test func staleImageStandsInWhileItsServerIsInTrouble() async throws {
        set("max-age=10, stale-if-error=60")
        _ = try await image(.http)
        engine.clock.advance(seconds: 20)
        web.set { $0.failure = 503 }
        #expect(try await image(.http).isStale)
        #expect(try await image(.http, on: restarted()).isStale)
        engine.clock.advance(seconds: 50)
        #expect(
            try await engine.failure(web.url) { $0.lookup.revalidate = .http } == .invalidStatusCode(503, url: web.url))
        let old = try await image(.http) { $0.lookup.staleIfError = 61 }
        #expect(old.isStale)
        web.set { $0.failure = 404 }
        let error = try await engine.failure(web.url) {
            $0.lookup.revalidate = .http
            $0.lookup.staleIfError = 1000
        }
        #expect(error == .invalidStatusCode(404, url: web.url), "that it has gone is no trouble")
    }

    /// An option is never ignored: what may stand in does, in every mode.
    @Test(arguments: [.never, .ifExpired, .always, .http] as [Revalidation])
    func imageStandsInAsLongAsTheRequestAllowsIt(_ mode: Revalidation) async throws {
        set("max-age=10")
        _ = try await image(mode)
        engine.clock.advance(seconds: 7 * 86_400 + 50)
        web.set { $0.failure = 503 }
        let allowed = mode == .http ? 8.0 * 86_400 : 51
        let old = try await image(mode, bytes: true) { $0.lookup.staleIfError = allowed }
        #expect(old.isStale && old.bytes == hollowPNG(width: 7))
        for seconds in [nil, 50.0] {
            let error = try await engine.failure(web.url) {
                $0.lookup.revalidate = mode
                $0.lookup.staleIfError = seconds
            }
            #expect(error == .invalidStatusCode(503, url: web.url))
        }
        web.set { $0.failure = 404 }
        #expect(
            try await engine.failure(web.url) { $0.lookup.staleIfError = 1e7 } != nil, "that it has gone is no trouble")
        web.set { $0.failure = nil }
        #expect(try await image(mode) { $0.lookup.staleIfError = allowed }.isStale == false)
    }

    @Test(arguments: [.never, .ifExpired, .always, .http] as [Revalidation])
    func rememberedTroubleLetsTheStaleImageStandInAsFreshTroubleDoes(_ mode: Revalidation) async throws {
        func asked(_ options: inout ImageOptions) {
            options.lookup.revalidate = mode
            options.lookup.negativeCache = 100
            // Of HTTP, the server's word is enough.
            options.lookup.staleIfError = mode == .http ? nil : 1200
        }
        set("max-age=10, stale-if-error=1200") { ($0.failure, $0.retryAfter) = (nil, "900") }
        _ = try await image(mode) { if mode != .http { $0.storage.diskCacheExpiration = .seconds(50) } }
        engine.clock.advance(seconds: 400)
        web.set { $0.failure = 503 }
        for _ in 1...3 { #expect(try await engine.image(web.url, asked).isStale) }
        #expect(web.count == 2, "the server was asked again")
        let told = try engine.manager.explain(
            engine.cache.resource(web.url, key: nil), in: engine.cache, options: ImageOptions(asked))
        #expect(told.verdict == .answerStale && !told.usesNetwork && told.url == nil && told.error == nil, "\(told)")
        #expect(told.reasons.last?.contains("in its place") == true, "\(told.reasons)")
        // What may not stand in does not.
        engine.clock.advance(seconds: 880)
        let error = try await engine.failure(web.url, asked)
        #expect(error == .remembered(.invalidStatusCode(503, url: web.url, retryAfter: 20)) && web.count == 2)
    }
}

private final class Heard: Sendable {
    private let changes = Mutex<[ImageChange]>([])
    var all: [ImageChange] { changes.withLock { $0 } }
    func add(_ change: ImageChange) { changes.withLock { $0.append(change) } }
}
