import ImageRecipes
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What was made of an image that is not kept itself is checked by what it knows of that.
@Suite struct CheckedVariantTests: RevalidationSuite {
    let scene: RevalidationScene
    private let codec: CodecStandIn

    init() throws {
        let codec = try CodecStandIn(making: hollowPNG(width: 3))
        self.codec = codec
        scene = try RevalidationScene { $0.codec.executable = codec.path }
    }

    private func change(
        _ mode: Revalidation, radius: Double = 1, _ change: @escaping (inout ImageOptions) -> Void = { _ in }
    ) throws -> (inout ImageOptions) -> Void {
        let blur = try Blur(radius: radius)
        return { options in
            options.lookup.revalidate = mode
            options.processing.recipe.processors = [.blur(blur)]
            options.processing.cacheOriginalImage = false
            change(&options)
        }
    }

    /// What is made of the server's picture, which is not kept.
    private func made(
        _ mode: Revalidation, radius: Double = 1, bytes: Bool = false,
        _ more: @escaping (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageResult {
        let result = try await engine.image(web.url, bytes: bytes, change(mode, radius: radius, more))
        #expect(result.record.header.width == 3)
        return result
    }

    private func failure(
        _ mode: Revalidation, _ more: @escaping (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageError? {
        try await engine.failure(web.url, change(mode, more))
    }

    @Test func isAskedAboutByTheValidatorsOfItsOriginalAndMadeAnewWhenThatHasChanged() async throws {
        let path = try await made(.always).record.path
        for _ in 1...2 {
            let same = try await made(.always)
            #expect(same.isRevalidated && same.cacheType != .none && same.record.path == path && path != nil)
        }
        #expect(try await made(.always, bytes: true).bytes == hollowPNG(width: 3))
        #expect(codec.requests.count == 1)
        web.set { [other] state in (state.picture, state.etag) = (other, "\"2\"") }
        let new = try await made(.always)
        #expect(new.cacheType == .none && !new.isRevalidated && new.record.etag == "\"2\"")
        #expect(codec.requests.count == 2)
        #expect(try await made(.always).isRevalidated)
        #expect(web.conditions == [nil, "\"1\"", "\"1\"", "\"1\"", "\"1\"", "\"2\""])
        let original = try engine.cache.cacheType(for: CacheKey(web.url), burst: 0, mayWait: true).value
        #expect(original == nil)
    }

    @Test(arguments: [true, false])
    func isHadAndNotKeptWhenTheConfirmationForbidsToKeepIt(_ needsBytes: Bool) async throws {
        set("max-age=0") { $0.confirmation = ["Cache-Control": "no-store"] }
        _ = try await made(.http)
        if needsBytes {
            let had = try await made(.http, bytes: true)
            #expect(had.bytes == hollowPNG(width: 3) && had.notStored == .noStore && had.isRevalidated)
            #expect(had.record.path == nil)
        } else {
            #expect(try await failure(.http)?.name == "storageFailed")
        }
        let sizes = try engine.cache.sizes()
        #expect(sizes.disk.count == 0 && sizes.memory.count == 0)
        #expect(web.conditions == [nil, "\"1\""] && codec.requests.count == 1)
    }

    @Test func isAnsweredUnaskedAsLongAsItsOriginalIsFresh() async throws {
        set("max-age=10, stale-while-revalidate=60")
        _ = try await made(.http)
        engine.clock.advance(seconds: 5)
        let fresh = try await made(.http)
        #expect(fresh.cacheType != .none && !fresh.isRevalidated && !fresh.isStale && web.count == 1)
        #expect(try await made(.ifExpired).cacheType != .none && web.count == 1)
        engine.clock.advance(seconds: 5)
        #expect(try await made(.http).isRevalidated)
        #expect(try await made(.http).isRevalidated == false, "it is fresh again")
        #expect(web.conditions == [nil, "\"1\""])
    }

    @Test func livesAgainWhenItsTimeIsOverAndTheOriginalHasNotChanged() async throws {
        _ = try await made(.ifExpired) { $0.storage.diskCacheExpiration = .seconds(100) }
        engine.clock.advance(seconds: 10_000)
        #expect(try await made(.ifExpired).isRevalidated)
        #expect(try await made(.never).cacheType != .none)
        #expect(web.conditions == [nil, "\"1\""] && codec.requests.count == 1)
    }

    @Test func standsInWhileItsServerCannotBeAsked() async throws {
        set("max-age=10, stale-if-error=60")
        _ = try await made(.http)
        engine.clock.advance(seconds: 20)
        web.set { $0.failure = 503 }
        #expect(try await made(.http).isStale)
        engine.clock.advance(seconds: 60)
        #expect(try await failure(.http) == .invalidStatusCode(503, url: web.url))
        #expect(try await made(.http) { $0.lookup.staleIfError = 100 }.isStale)
        #expect(web.count == 4, "each asks once")
        #expect(try await made(.http) { $0.lookup.offline = true }.isStale)
        #expect(try await made(.always) { $0.lookup.onlyFromCache = true }.isStale)
        #expect(web.count == 4)
    }

    @Test func standsInWhileTheTroubleOfItsServerIsRemembered() async throws {
        func explained(_ mode: Revalidation) throws -> Explanation {
            let asked = ImageOptions(try change(mode) { $0.lookup.negativeCache = 1000 })
            return try engine.manager.explain(
                engine.cache.resource(web.url, key: nil), in: engine.cache, options: asked)
        }
        set("max-age=10, stale-if-error=60")
        _ = try await made(.http)
        engine.clock.advance(seconds: 20)
        web.set { ($0.failure, $0.retryAfter) = (503, "900") }
        #expect(try explained(.http).verdict == .revalidate)
        for _ in 1...2 { #expect(try await made(.http) { $0.lookup.negativeCache = 1000 }.isStale) }
        #expect(web.count == 2)
        let told = try explained(.http)
        #expect(told.verdict == .answerStale && !told.usesNetwork && told.error == nil, "\(told)")
        let failed = try explained(.always)
        #expect(failed.verdict == .fail && failed.error?.name == "invalidStatusCode", "\(failed)")
        #expect(try await failure(.always) { $0.lookup.negativeCache = 1000 }?.name == "invalidStatusCode")
        #expect(web.count == 2)
    }

    @Test func confirmationOfAnotherVersionIsNotBelieved() async throws {
        _ = try await made(.always)
        web.set { [other] state in
            (state.picture, state.etag, state.otherTag) = (other, "\"2\"", "\"2\"")
            state.confirmsAlways = true
        }
        #expect(try await made(.always).cacheType == .none)
        #expect(web.conditions == [nil, "\"1\"", nil] && codec.requests.count == 2)
    }

    @Test func nobodyAsksAboutWhatWasFetchedWithOtherCredentials() async throws {
        for token in ["ann", "ann", "bob"] {
            _ = try await made(.always) { $0.network.request.authorization = .bearer(token) }
        }
        #expect(web.conditions == [nil, "\"1\"", nil])
    }

    @Test func manyAskOnceAndEachGetsItsOwn() async throws {
        let gate = Gate()
        let picture = hollowPNG(width: 7)
        let server = try LocalServer { request in
            let headers = ["ETag": "\"1\""]
            return request.headers["if-none-match"] == nil
                ? .reply(200, headers, picture)
                : Script.empty.waiting(for: gate).followed(by: .reply(304, headers, []))
        }
        defer { server.stop() }
        defer { gate.open() }
        @Sendable func made(_ radius: Double) async throws -> ImageResult {
            try await engine.image(server.url("/a"), change(.always, radius: radius))
        }
        var keys: [CacheKey] = []
        for radius in [1.0, 2] { keys.append(try await made(radius).record.key) }
        #expect(Set(keys).count == 2 && server.requests.count == 2)
        let merged = engine.manager.statistics.merged
        let callers = (0..<20).map { number in Task { try await made(number % 2 == 0 ? 1 : 2) } }
        try await eventually("all waiting") { [engine] in engine.manager.statistics.merged >= merged + 18 }
        gate.open()
        for (number, caller) in callers.enumerated() {
            let result = try await caller.value
            #expect(result.isRevalidated && result.record.key == keys[number % 2])
        }
        #expect(server.requests.count <= 4 && codec.requests.count == 2)
    }
}
