import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Whether and when the server is asked is said by the request, else by the cache.
@Suite struct RevalidationModeTests: RevalidationSuite {
    let scene: RevalidationScene

    init() throws { scene = try RevalidationScene() }

    @Test func byDefaultNoServerIsAsked() async throws {
        set("no-store, max-age=0")
        #expect(try await engine.image(web.url).cacheType == .none)
        engine.clock.advance(seconds: 86_400)
        #expect(try await engine.image(web.url).cacheType == .disk)
        #expect(try await engine.image(web.url).isStale == false)
        #expect(web.count == 1)
    }

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

    /// The `cacheType` is where it was before, however that was found out.
    @Test(arguments: [Revalidation.http, .always, .ifExpired])
    func confirmedImageOfAnotherProcessWasOnDisk(_ mode: Revalidation) async throws {
        set("max-age=0")
        _ = try await image(mode)
        let other = try restarted()
        #expect(try other.cache.cacheType(for: CacheKey(web.url), burst: 0, mayWait: true).value == .disk)
        // As the server does before anything else.
        let glance = try other.manager.cachedImage(
            other.cache.resource(web.url), in: other.cache, options: ImageOptions { $0.lookup.revalidate = mode },
            needs: .file, burst: 1)
        #expect(glance?.cacheType == (mode == .ifExpired ? .disk : nil))
        guard glance == nil else { return }
        let first = try await image(mode, on: other)
        #expect(first.cacheType == .disk && first.isRevalidated == (mode != .ifExpired))
        #expect(try await image(mode, on: other).cacheType == .memory)
    }

    /// Whether the cache says to go by headers, or the request: what that asks for in its own counts alike.
    @Test(arguments: [Revalidation.http, nil])
    func aRequestsOwnCacheControlCountsAtTheFirstLook(_ mode: Revalidation?) async throws {
        set("max-age=60")
        let engine = try TestEngine { $0.defaults.revalidate = .http }
        _ = try await engine.image(web.url)
        for (wanted, isFresh) in [("", true), ("max-age=60", true), ("no-cache", false)] {
            let options = ImageOptions {
                $0.lookup.revalidate = mode
                $0.network.request.headers = wanted.isEmpty ? [:] : ["Cache-Control": wanted]
            }
            let found = try engine.manager.cachedImage(
                engine.cache.resource(web.url), in: engine.cache, options: options, needs: .file, burst: 1)
            #expect((found != nil) == isFresh, "\(wanted)")
        }
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
            $0.storage.diskCacheExpiration = .seconds(100)
            $0.storage.keepsInMemory = false
            $0.storage.diskCacheAccessExtendingExpiration = ExpirationExtension.none
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

    @Test func settingOfTheCacheCountsUnlessTheRequestSaysOtherwise() async throws {
        set("max-age=10")
        var settings = engine.cache.configuration
        settings.revalidate = .http
        try engine.manager.caches.configure(CacheRegistry.defaultName, settings)
        _ = try await engine.image(web.url)
        engine.clock.advance(seconds: 10)
        #expect(try await image(.never).isRevalidated == false)
        #expect(try await engine.image(web.url).isRevalidated)
        #expect(web.count == 2)
    }

    @Test func localFilesAndDataAreNotAskedAbout() async throws {
        for mode in Revalidation.allCases {
            let url = "data:image/png;base64," + base64(hollowPNG(width: 5))
            _ = try await engine.image(url) { $0.lookup.revalidate = mode }
            #expect(try await engine.image(url) { $0.lookup.revalidate = mode }.cacheType == .memory)
        }
    }
}
