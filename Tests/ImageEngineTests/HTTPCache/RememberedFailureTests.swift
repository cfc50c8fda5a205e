import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A failure that would come again is not asked for again for a while.
@Suite struct RememberedFailureTests {
    private let engine: TestEngine
    private let web: PictureServer

    init() throws {
        engine = try TestEngine()
        web = try PictureServer()
        web.set { $0.failure = 404 }
    }

    private func failure(
        _ seconds: Double? = 60, _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageError? {
        try await engine.failure(web.url) {
            $0.lookup.negativeCache = seconds
            change(&$0)
        }
    }

    private var plain: ImageError { .invalidStatusCode(404, url: web.url) }

    @Test func failureIsRepeatedForItsTimeAndThenAskedForAgain() async throws {
        #expect(try await failure() == plain)
        #expect(try await failure() == .remembered(plain))
        #expect(try await failure()?.description == plain.description)
        #expect(web.count == 1)
        engine.clock.advance(seconds: 60)
        #expect(try await failure() == plain)
        #expect(web.count == 2)
        web.set { $0.failure = nil }
        engine.clock.advance(seconds: 60)
        #expect(try await failure() == nil)
    }

    @Test func byDefaultNothingIsRemembered() async throws {
        for round in 1...3 {
            #expect(try await failure(nil) == plain)
            #expect(web.count == round)
        }
        #expect(try await failure() == plain, "nor for others")
    }

    @Test func whoeverInsistsAsksAgain() async throws {
        _ = try await failure()
        #expect(try await failure { $0.lookup.forceRefresh = true } == plain)
        #expect(try await failure(0) == plain)
        #expect(try await failure { $0.network.request.headers = ["X-A": "1"] } == plain)
        #expect(web.count == 4)
    }

    @Test func brokenPictureIsRememberedToo() async throws {
        web.set {
            $0.failure = nil
            $0.picture = Array("<html>".utf8)
        }
        guard case .badData = try await failure() else {
            Issue.record("it was taken for a picture")
            return
        }
        guard case .remembered(.badData) = try await failure() else {
            Issue.record("it was asked for again")
            return
        }
        #expect(web.count == 1)
    }

    @Test(arguments: [500, 503, 429, 408])
    func passingTroubleIsNotRemembered(_ status: Int) async throws {
        web.set { $0.failure = status }
        for _ in 1...2 { #expect(try await failure() == .invalidStatusCode(status, url: web.url)) }
        #expect(web.count == 2)
    }

    /// Only the last attempt counts: before it, the failure is not final.
    @Test(arguments: [429, 503], ["0", "100"])
    func waitThatAServerAsksForIsRememberedOnceThereIsNoFurtherAttempt(_ status: Int, _ wait: String) async throws {
        web.set { ($0.failure, $0.retryAfter) = (status, wait) }
        func asked(_ options: inout ImageOptions) {
            options.network.retry = RetryStrategy(maxRetries: 2, interval: .seconds(0))
        }
        _ = try await failure(60, asked)
        let count = wait == "0" ? 3 : 1
        #expect(web.count == count, "a longer wait than a minute is not waited for")
        let repeated = try await failure(60, asked)
        #expect(web.count == (wait == "0" ? 2 * count : count))
        if case .remembered = repeated {} else { #expect(wait == "0") }
    }

    /// An image that is not the one whose digest was given says nothing about the URL.
    @Test func otherDigestIsAnotherMatter() async throws {
        web.set { $0.failure = nil }
        let wrong = Integrity("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        for _ in 1...2 { #expect(try await failure { $0.lookup.integrity = wrong } != nil) }
        #expect(web.count == 1, "the same digest is not tried again")
        #expect(try await failure() == nil)
        #expect(web.count == 2)
    }

    @Test func failuresAreSeenAndForgotten() async throws {
        _ = try await failure()
        _ = try await failure { $0.network.request.headers = ["X-A": "1"] }
        #expect(engine.manager.statistics.rememberedFailures == 2)
        #expect(engine.manager.failures.forget(web.server.url("/b"), in: engine.cache) == 0)
        #expect(engine.manager.failures.forget(web.url, in: engine.cache) == 2)
        #expect(engine.manager.statistics.rememberedFailures == 0)
        #expect(try await failure() == plain)
        #expect(engine.manager.failures.forget(nil, in: engine.cache) == 1)
        #expect(try await failure() == plain)
        _ = try engine.cache.remove(CacheKey(web.url))
        #expect(try await failure() == plain)
        #expect(web.count == 5)
        engine.clock.advance(seconds: 60)
        #expect(engine.manager.statistics.rememberedFailures == 0)
    }

    @Test func clearingForgets() async throws {
        _ = try await failure()
        _ = engine.cache.clearMemory()
        #expect(try await failure() == plain)
        #expect(web.count == 2)
    }

    @Test func settingOfTheCacheCountsUnlessTheRequestSaysOtherwise() async throws {
        var settings = engine.cache.configuration
        settings.negativeCache = 60
        try engine.manager.caches.configure(CacheRegistry.defaultName, settings)
        #expect(try await failure(nil) == plain)
        #expect(try await failure(nil) == .remembered(plain))
        #expect(try await failure(0) == plain)
    }

    @Test func storedImageComesBeforeARememberedFailure() async throws {
        _ = try await failure()
        _ = try engine.manager.store(
            hollowPNG(width: 3), for: CacheKey(web.url), in: engine.cache, options: ImageOptions())
        #expect(try await failure() == nil)
    }

    @Test(arguments: [true, false]) func successForgetsTheFailureOfTheSameRequest(_ isProbe: Bool) async throws {
        _ = try await failure()
        _ = try await failure { $0.network.request.headers = ["X-A": "1"] }
        web.set { $0.failure = nil }
        if isProbe {
            _ = try await engine.manager.probe(Resource(url: web.url), in: engine.cache, options: ImageOptions())
        } else {
            #expect(try await failure(0) { $0.storage.diskCacheExpiration = .seconds(1) } == nil)
        }
        #expect(engine.manager.failures.list(in: engine.cache).count == 1, "that of other headers stays")
        engine.clock.advance(seconds: 2)
        #expect(try await failure() == nil)
        #expect(web.count == 4)
    }

    @Test func successOfARequestThatInsistsForgetsTheFailure() async throws {
        _ = try await failure()
        web.set { $0.failure = nil }
        #expect(
            try await failure {
                ($0.lookup.forceRefresh, $0.storage.diskCacheExpiration) = (true, .seconds(1))
            } == nil)
        engine.clock.advance(seconds: 2)
        #expect(try await failure() == nil)
        #expect(web.count == 3)
    }
}
