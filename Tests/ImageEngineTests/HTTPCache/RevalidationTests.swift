import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ImageEngine

/// A web server with one picture whose version, validators and headers the test sets.
final class PictureServer: Sendable {
    struct State: Sendable {
        var picture = hollowPNG(width: 7)
        var etag: String? = "\"1\""
        var lastModified: String?
        var headers: [String: String] = [:]
        /// What comes beside the validators in a 304.
        var confirmation: [String: String] = [:]
        /// Answered instead of anything else.
        var failure: Int?
        /// Whether every conditional request is answered with 304.
        var confirmsAlways = false
        /// The tag of its 304s, if it is another one.
        var otherTag: String?
    }

    private let state: Box
    let server: LocalServer

    private final class Box: Sendable { let state = Mutex(State()) }

    init() throws {
        let box = Box()
        state = box
        server = try LocalServer { request in
            let state = box.state.withLock { $0 }
            if let failure = state.failure { return .reply(failure, [:], []) }
            var headers: [String: String] = [:]
            headers["ETag"] = state.etag
            headers["Last-Modified"] = state.lastModified
            let asked = request.headers["if-none-match"]
            let date = request.headers["if-modified-since"]
            let isSame = asked != nil ? asked == state.etag : date != nil && date == state.lastModified
            guard (asked ?? date) != nil, isSame || state.confirmsAlways else {
                return .reply(200, headers.merging(state.headers) { $1 }, state.picture)
            }
            if let other = state.otherTag { headers["ETag"] = other }
            return .reply(304, headers.merging(state.confirmation) { $1 }, [])
        }
    }

    deinit { server.stop() }

    func set(_ change: @Sendable (inout State) -> Void) { state.state.withLock { change(&$0) } }
    var url: String { server.url("/a.png") }
    var count: Int { server.requests.count }
    var conditions: [String?] { server.requests.map { $0.headers["if-none-match"] ?? $0.headers["if-modified-since"] } }
}

/// A stored image is checked with its server as the request wants it (B-022, C-01, C-02, D-05, A-126, E2-94; reliability C7).
@Suite struct RevalidationTests {
    private let engine: TestEngine
    private let web: PictureServer
    private let other = hollowPNG(width: 8)

    init() throws {
        engine = try TestEngine()
        web = try PictureServer()
    }

    private func image(
        _ mode: Revalidation, bytes: Bool = false, on other: TestEngine? = nil,
        _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageResult {
        try await (other ?? engine).image(web.url, bytes: bytes) {
            $0.revalidate = mode
            change(&$0)
        }
    }

    private func set(_ control: String?, _ change: @Sendable (inout PictureServer.State) -> Void = { _ in }) {
        web.set { state in
            state.headers["Cache-Control"] = control
            change(&state)
        }
    }

    /// Another engine on the same folder: another process, whose memory is empty.
    private func restarted() throws -> TestEngine { try TestEngine(folder: engine.folder, clock: engine.clock) }

    // MARK: The default

    @Test func byDefaultNoServerIsAsked() async throws {
        set("no-store, max-age=0")
        #expect(try await engine.image(web.url).cacheType == .none)
        engine.clock.advance(seconds: 86_400)
        #expect(try await engine.image(web.url).cacheType == .disk)
        #expect(try await engine.image(web.url).isStale == false)
        #expect(web.count == 1)
    }

    // MARK: http

    @Test func freshImageIsAnsweredWithoutAsking() async throws {
        set("max-age=60")
        _ = try await image(.http)
        engine.clock.advance(seconds: 59)
        for engine in [engine, try restarted()] {
            let again = try await image(.http, on: engine)
            #expect(again.cacheType != .none && !again.isStale && !again.isRevalidated)
        }
        #expect(web.count == 1)
    }

    @Test func staleImageIsConfirmedAndLivesAgain() async throws {
        set("max-age=60")
        let path = try await image(.http).record.path
        for (round, engine) in [engine, try restarted(), engine].enumerated() {
            engine.clock.advance(seconds: 60)
            let again = try await image(.http, on: engine)
            #expect(again.cacheType != .none && again.isRevalidated && !again.isStale && again.record.path == path)
            #expect(again.record.expiresAt == engine.clock.seconds + 7 * 86_400)
            #expect(web.count == round + 2)
            #expect(try await image(.http, on: engine).isRevalidated == false)
            #expect(web.count == round + 2, "confirmed is fresh again")
        }
        #expect(web.conditions == [nil, "\"1\"", "\"1\"", "\"1\""])
        #expect(try await image(.http, bytes: true).bytes == hollowPNG(width: 7))
    }

    @Test func changedImageReplacesTheOld() async throws {
        set("max-age=60")
        _ = try await image(.http)
        engine.clock.advance(seconds: 61)
        set("max-age=60") { [other] in
            $0.picture = other
            $0.etag = "\"2\""
        }
        let new = try await image(.http, bytes: true)
        #expect(new.cacheType == .none && new.bytes == other && new.record.etag == "\"2\"" && !new.isRevalidated)
        #expect(try await image(.http, bytes: true, on: restarted()).bytes == other)
        #expect(web.conditions == [nil, "\"1\""])
        #expect(engine.blobs.count == 1)
    }

    @Test func headersOfAConfirmationReplaceTheOld() async throws {
        set("max-age=10")
        _ = try await image(.http)
        engine.clock.advance(seconds: 10)
        web.set { $0.confirmation = ["Cache-Control": "max-age=1000", "Age": "5"] }
        #expect(try await image(.http).isRevalidated)
        engine.clock.advance(seconds: 994)
        #expect(try await image(.http, on: restarted()).isRevalidated == false)
        #expect(web.count == 2)
        engine.clock.advance(seconds: 1)
        #expect(try await image(.http).isRevalidated)
        #expect(web.count == 3)
    }

    @Test func dateOfLastChangeServesWhereThereIsNoTag() async throws {
        set("max-age=0") {
            $0.etag = nil
            $0.lastModified = "Mon, 13 Nov 2023 22:13:20 GMT"
        }
        _ = try await image(.http)
        #expect(try await image(.http).isRevalidated)
        #expect(web.conditions == [nil, "Mon, 13 Nov 2023 22:13:20 GMT"])
    }

    @Test func imageWithoutValidatorsIsLoadedAnew() async throws {
        set("max-age=0") { $0.etag = nil }
        _ = try await image(.http)
        let again = try await image(.http)
        #expect(again.cacheType == .none && web.conditions == [nil, nil])
    }

    @Test(arguments: ["no-cache", "no-cache, max-age=60", "max-age=0, must-revalidate"])
    func whatMustBeAskedForIsAskedForEachTime(_ control: String) async throws {
        set(control)
        for round in 1...3 {
            #expect(try await image(.http).isRevalidated == (round > 1))
            #expect(web.count == round)
        }
    }

    @Test func storedBytesOfUnknownFreshnessAreLoaded() async throws {
        set("max-age=60")
        _ = try engine.manager.store(other, for: CacheKey(web.url), in: engine.cache, options: ImageOptions())
        #expect(try await image(.never).cacheType == .memory)
        let loaded = try await image(.http, bytes: true)
        #expect(loaded.cacheType == .none && loaded.bytes == hollowPNG(width: 7) && web.conditions == [nil])
        #expect(try await image(.http).cacheType == .memory)
    }

    /// A lost index loses how fresh an image is, and nothing else.
    @Test func imageOfALostIndexIsLoadedAnew() async throws {
        set("max-age=60")
        _ = try await image(.http)
        for suffix in ["", "-wal", "-shm"] { unlink(engine.cache.configuration.disk.folder + "/index.sqlite" + suffix) }
        let after = try restarted()
        #expect(try await image(.never, on: after).cacheType == .disk)
        #expect(try await image(.http, on: after).cacheType == .none)
        #expect(web.conditions == [nil, nil])
    }

    // MARK: no-store

    @Test func whatMustNotBeStoredIsAnsweredAsDataAndKeptNowhere() async throws {
        set("max-age=60")
        let before = try await image(.http)
        set("no-store")
        engine.clock.advance(seconds: 3600)
        web.set { $0.etag = "\"2\"" }
        let answered = try await image(.http, bytes: true)
        #expect(answered.bytes == hollowPNG(width: 7) && answered.record.path == nil && answered.cacheType == .none)
        #expect(try engine.cache.cacheType(for: before.record.key, burst: 0, mayWait: true) == CacheType.none)
        #expect(try engine.cache.sizes().disk.count == 0 && engine.cache.sizes().memory.count == 0)
        let error = try await engine.failure(web.url) { $0.revalidate = .http }
        #expect(error?.description.contains("no-store") == true && error?.description.contains("revalidate") == true)
        #expect(web.count == 3)
    }

    @Test func whatAnotherRequestStoredAgainstTheServersWishIsLoadedAnew() async throws {
        set("no-store, max-age=60")
        _ = try await image(.never)
        #expect(try await image(.never).cacheType == .memory)
        #expect(try await image(.http, bytes: true).cacheType == .none)
        #expect(try await image(.never).cacheType == .none, "and now is forgotten")
    }

    // MARK: stale-while-revalidate

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
        _ = try await engine.image(server.url("/a")) { $0.revalidate = .http }
        engine.clock.advance(seconds: 20)
        for _ in 1...20 {
            let stale = try await engine.image(server.url("/a")) { $0.revalidate = .http }
            #expect(stale.isStale)
        }
        try await eventually("the refresh") { server.requests.count == 2 }
        gate.open()
        try await eventually("the end of the refresh") { [engine] in
            try await engine.image(server.url("/a")) { $0.revalidate = .http }.isStale == false
        }
        #expect(server.requests.count == 2)
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
        _ = try await engine.image(key.key) { $0.revalidate = .http }
        engine.clock.advance(seconds: 20)
        #expect(try await engine.image(key.key) { $0.revalidate = .http }.isStale)
        try await eventually("the refresh") { server.requests.count == 2 }
        _ = try engine.cache.remove(key)
        gate.open()
        try await eventually("the end of the refresh") { [engine] in
            guard engine.manager.refreshes.begin("default", key) else { return false }
            engine.manager.refreshes.end("default", key)
            return true
        }
        #expect(try engine.cache.cacheType(for: key, burst: 0, mayWait: true) == CacheType.none)
    }

    // MARK: stale-if-error

    @Test func staleImageStandsInWhileItsServerIsInTrouble() async throws {
        set("max-age=10, stale-if-error=60")
        _ = try await image(.http)
        engine.clock.advance(seconds: 20)
        web.set { $0.failure = 503 }
        #expect(try await image(.http).isStale)
        #expect(try await image(.http, on: restarted()).isStale)
        engine.clock.advance(seconds: 50)
        #expect(try await engine.failure(web.url) { $0.revalidate = .http } == .invalidStatusCode(503, url: web.url))
        let old = try await image(.http) { $0.staleIfError = 61 }
        #expect(old.isStale)
        web.set { $0.failure = 404 }
        let error = try await engine.failure(web.url) {
            $0.revalidate = .http
            $0.staleIfError = 1000
        }
        #expect(error == .invalidStatusCode(404, url: web.url), "that it has gone is no trouble")
    }

    // MARK: Vary and credentials

    @Test func anotherVariantIsNoHit() async throws {
        set("max-age=60") { $0.headers["Vary"] = "Accept-Language" }
        _ = try await image(.http) { $0.headers = ["Accept-Language": "fr"] }
        #expect(try await image(.http) { $0.headers = ["accept-language": "fr", "X-A": "1"] }.cacheType == .memory)
        #expect(try await image(.http) { $0.headers = ["Accept-Language": "en"] }.cacheType == .none)
        #expect(try await image(.http) { $0.headers = ["Accept-Language": "en"] }.cacheType == .memory)
        #expect(try await image(.http, on: restarted()) { $0.headers = ["Accept-Language": "fr"] }.cacheType == .none)
        #expect(web.conditions == [nil, nil, nil], "a replaced variant is not asked about")
    }

    /// C-10.
    @Test func imageOfOtherCredentialsIsNoHitAndIsNotAskedAbout() async throws {
        set("max-age=60")
        _ = try await image(.http) { $0.authorization = .bearer("ann") }
        #expect(try await image(.http) { $0.authorization = .bearer("ann") }.cacheType == .memory)
        #expect(try await image(.http, on: restarted()) { $0.authorization = .bearer("bob") }.cacheType == .none)
        #expect(try await image(.http).cacheType == .none)
        #expect(try await image(.always) { $0.headers = ["Authorization": "Bearer ann"] }.cacheType == .none)
        #expect(try await image(.always) { $0.headers = ["Authorization": "Bearer ann"] }.isRevalidated)
        #expect(web.conditions == [nil, nil, nil, nil, "\"1\""])
    }

    // MARK: always and ifExpired

    @Test func alwaysAsksEachTime() async throws {
        set("max-age=60")
        for round in 1...3 {
            let image = try await image(.always)
            #expect(image.isRevalidated == (round > 1))
            #expect(image.cacheType == [.none, .memory, .memory][round - 1])
        }
        #expect(try await image(.always, on: restarted()).cacheType == .disk)
        #expect(web.conditions == [nil, "\"1\"", "\"1\"", "\"1\""])
    }

    @Test func whatDoesNotChangeIsNotAskedAboutWhileItIsFresh() async throws {
        set("max-age=60, immutable")
        _ = try await image(.always)
        #expect(try await image(.always).isRevalidated == false)
        #expect(web.count == 1)
        engine.clock.advance(seconds: 60)
        #expect(try await image(.always).isRevalidated)
    }

    @Test func expiredImageIsConfirmedAndLivesAgain() async throws {
        let keeping: @Sendable (inout ImageOptions) -> Void = {
            $0.diskCacheExpiration = .seconds(100)
            $0.keepsInMemory = false
            $0.diskCacheAccessExtendingExpiration = ExpirationExtension.none
        }
        _ = try await image(.ifExpired, keeping)
        engine.clock.advance(seconds: 99)
        #expect(try await image(.ifExpired, keeping).isRevalidated == false)
        #expect(web.count == 1)
        engine.clock.advance(seconds: 1)
        let again = try await image(.ifExpired, keeping)
        #expect(again.isRevalidated && again.cacheType == .disk)
        #expect(again.record.expiresAt == engine.clock.seconds + 100)
        engine.clock.advance(seconds: 99)
        #expect(try await image(.ifExpired, keeping).isRevalidated == false)
        #expect(web.conditions == [nil, "\"1\""])
        engine.clock.advance(seconds: 1)
        #expect(try await image(.never, keeping).cacheType == .none, "without asking, what is over is gone")
    }

    /// An option is never ignored: what may stand in does, in every mode.
    @Test(arguments: [.never, .ifExpired, .always, .http] as [Revalidation])
    func imageStandsInAsLongAsTheRequestAllowsIt(_ mode: Revalidation) async throws {
        set("max-age=10")
        _ = try await image(mode)
        engine.clock.advance(seconds: 7 * 86_400 + 50)
        web.set { $0.failure = 503 }
        let allowed = mode == .http ? 8.0 * 86_400 : 51
        let old = try await image(mode, bytes: true) { $0.staleIfError = allowed }
        #expect(old.isStale && old.bytes == hollowPNG(width: 7))
        for seconds in [nil, 50.0] {
            let error = try await engine.failure(web.url) {
                $0.revalidate = mode
                $0.staleIfError = seconds
            }
            #expect(error == .invalidStatusCode(503, url: web.url))
        }
        web.set { $0.failure = 404 }
        #expect(try await engine.failure(web.url) { $0.staleIfError = 1e7 } != nil, "that it has gone is no trouble")
        web.set { $0.failure = nil }
        #expect(try await image(mode) { $0.staleIfError = allowed }.isStale == false)
    }

    /// What a delegate adds is part of what the answer was given to.
    @Test func requestThatADelegateChangedIsJudgedAsItIsSent() async throws {
        set("max-age=10") { $0.headers["Vary"] = "X-A" }
        web.set { $0.confirmation = ["Cache-Control": "max-age=10"] }
        let delegate = HeaderDelegate()
        func load() async throws -> ImageResult {
            try await image(.http) { $0.delegates = DownloadDelegates(delegate, questions: [.modifyRequest]) }
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
            $0.delegates = DownloadDelegates(delegate, questions: [.modifyRequest])
            $0.staleIfError = 60
        }
        #expect(old.isStale)
        #expect(delegate.count == 4, "asked once for each request that is not answered at once")
    }

    // MARK: Races

    /// A-126, reliability C7.
    @Test func confirmationOfAnImageThatIsGoneMeanwhileLoadsItOnce() async throws {
        let gate = Gate()
        let count = Counter()
        let picture = hollowPNG(width: 7)
        let server = try LocalServer { request in
            let tag = ["ETag": "\"1\""]
            if request.headers["if-none-match"] == nil { return .reply(200, tag, picture) }
            return count.add() == 1
                ? Script.empty.waiting(for: gate).followed(by: .reply(304, tag, [])) : .reply(304, tag, [])
        }
        defer { server.stop() }
        let url = server.url("/a")
        _ = try await engine.image(url)
        let asked = Task { [engine] in
            try await engine.image(url, bytes: true) { $0.revalidate = .always }
        }
        try await eventually("the question") { server.requests.count == 2 }
        _ = try engine.cache.remove(CacheKey(url))
        gate.open()
        let loaded = try await asked.value
        #expect(loaded.bytes == picture && loaded.cacheType == .none && !loaded.isRevalidated)
        #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, "\"1\"", nil])
        #expect(engine.blobs.count == 1)
    }

    @Test func confirmationOfAnotherVersionIsNotBelieved() async throws {
        _ = try await image(.always)
        set(nil) { [other] in
            $0.picture = other
            $0.confirmsAlways = true
            $0.otherTag = "\"3\""
        }
        let loaded = try await image(.always, bytes: true)
        #expect(loaded.bytes == other && !loaded.isRevalidated)
        #expect(web.conditions == [nil, "\"1\"", nil])
        web.set { $0.otherTag = "W/\"1\"" }
        #expect(try await image(.always).isRevalidated, "the same but for its weakness")
    }

    @Test func manyWhoAskAtOnceAskOnce() async throws {
        let gate = Gate()
        let picture = hollowPNG(width: 7)
        let server = try LocalServer { request in
            let tag = ["ETag": "\"1\"", "Cache-Control": "max-age=10"]
            if request.headers["if-none-match"] == nil { return .reply(200, tag, picture) }
            return Script.empty.waiting(for: gate).followed(by: .reply(304, tag, []))
        }
        defer { server.stop() }
        let url = server.url("/a")
        _ = try await engine.image(url)
        engine.clock.advance(seconds: 10)
        let callers = (1...10).map { _ in
            Task { [engine] in try await engine.image(url) { $0.revalidate = .http } }
        }
        try await eventually("the callers") { [engine] in engine.manager.statistics.merged == 9 }
        gate.open()
        for caller in callers { #expect(try await caller.value.isRevalidated) }
        #expect(server.requests.count == 2)
    }

    @Test func conditionsOfTheClientAreItsOwnBusiness() async throws {
        set("max-age=0")
        _ = try await image(.http)
        let error = try await engine.failure(web.url) {
            $0.revalidate = .http
            $0.headers = ["If-None-Match": "\"1\""]
        }
        #expect(error == .notModified(url: web.url))
    }

    @Test func whatCameFromAnotherSourceIsNotAskedAboutAtTheFirst() async throws {
        let first = try PictureServer()
        first.set { $0.failure = 500 }
        set("max-age=0")
        let load = { [engine, web] in
            try await engine.image(first.url) {
                $0.revalidate = .http
                $0.alternativeSources = [web.url]
            }
        }
        _ = try await load()
        #expect(try await load().cacheType == .none)
        #expect(first.conditions == [nil, nil] && web.conditions == [nil, nil])
    }

    @Test func imageInMemoryOnlyIsConfirmedThere() async throws {
        set("max-age=10")
        for round in 1...3 {
            let image = try await image(.http, bytes: true) { $0.cacheMemoryOnly = true }
            #expect(image.isRevalidated == (round > 1) && image.bytes == hollowPNG(width: 7))
            #expect(try await self.image(.http) { $0.cacheMemoryOnly = true }.cacheType == .memory)
            engine.clock.advance(seconds: 10)
        }
        #expect(web.conditions == [nil, "\"1\"", "\"1\""] && engine.blobs.isEmpty)
    }

    /// D-23: what one process has heard of a server is heard by all.
    @Test func otherProcessKnowsWhatThisOneHasHeard() async throws {
        set("max-age=10")
        let second = try restarted()
        _ = try await image(.http)
        #expect(try await image(.http, on: second).cacheType == .disk)
        engine.clock.advance(seconds: 10)
        #expect(try await image(.http).isRevalidated)
        let there = try await image(.http, on: second)
        #expect(there.cacheType == .memory && !there.isRevalidated && !there.isStale)
        #expect(web.count == 2)
    }

    @Test func localFilesAndDataAreNotAskedAbout() async throws {
        for mode in Revalidation.allCases {
            let url = "data:image/png;base64," + base64(hollowPNG(width: 5))
            _ = try await engine.image(url) { $0.revalidate = mode }
            #expect(try await engine.image(url) { $0.revalidate = mode }.cacheType == .memory)
        }
    }

    /// E2-70.
    @Test func settingOfTheCacheCountsUnlessTheRequestSaysOtherwise() async throws {
        set("max-age=10")
        var settings = engine.cache.configuration
        settings.revalidate = .http
        try engine.manager.configure(ImageManager.defaultCacheName, settings)
        _ = try await engine.image(web.url)
        engine.clock.advance(seconds: 10)
        #expect(try await image(.never).isRevalidated == false)
        #expect(try await engine.image(web.url).isRevalidated)
        #expect(web.count == 2)
    }
}

private final class Heard: Sendable {
    private let changes = Mutex<[ImageChange]>([])
    var all: [ImageChange] { changes.withLock { $0 } }
    func add(_ change: ImageChange) { changes.withLock { $0.append(change) } }
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
