import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// An image in memory lives no longer than its entry on disk, whoever asks and however.
@Suite struct ExpiryTests: RevalidationSuite {
    let scene: RevalidationScene

    init() throws { scene = try RevalidationScene() }

    private func shortLived(_ options: inout ImageOptions) {
        options.storage.diskCacheExpiration = .seconds(100)
        options.storage.diskCacheAccessExtendingExpiration = ExpirationExtension.none
    }

    private func explain(_ mode: Revalidation, on other: TestEngine? = nil) throws -> Explanation {
        let engine = other ?? engine
        return try engine.manager.explain(
            Resource(url: web.url), in: engine.cache,
            options: ImageOptions {
                shortLived(&$0)
                $0.lookup.revalidate = mode
            })
    }

    /// Loads the image, and uses it until the moment of its expiry.
    private func useUp(bytes: Bool) async throws {
        for _ in 0..<4 {
            let image = try await image(.ifExpired, bytes: bytes, shortLived)
            #expect(!image.isStale && !image.record.isExpired)
            engine.clock.advance(seconds: 25)
        }
        #expect(web.count == 1)
    }

    @Test(arguments: [false, true], [true, false])
    func serverIsAskedAboutAnExpiredImageThatMemoryHolds(bytes: Bool, hasChanged: Bool) async throws {
        try await useUp(bytes: bytes)
        if hasChanged {
            set(nil) { ($0.picture, $0.etag) = (hollowPNG(width: 8), "\"2\"") }
        }
        let told = try explain(.ifExpired)
        #expect(told.verdict == .revalidate && told.isStale == true && told.cacheType == .none)
        #expect(try explain(.ifExpired, on: restarted()).verdict == .revalidate, "another process agrees")
        let image = try await image(.ifExpired, bytes: bytes, shortLived)
        #expect(image.isRevalidated == !hasChanged && image.record.header.width == (hasChanged ? 8 : 7))
        #expect(image.record.expiresAt == engine.clock.seconds + 100 && web.conditions == [nil, "\"1\""])
        #expect(try await self.image(.ifExpired, bytes: bytes, shortLived).cacheType == .memory)
    }

    @Test(arguments: [false, true])
    func expiredImageThatMemoryHoldsIsLoadedAnewUnlessTheServerIsAsked(bytes: Bool) async throws {
        try await useUp(bytes: bytes)
        let key = CacheKey(web.url)
        for engine in [engine, try restarted()] {
            #expect(try explain(.never, on: engine).verdict == .load)
            #expect(try engine.cache.cacheType(for: key, burst: 0, mayWait: true).value == nil)
            #expect(try engine.cache.path(for: key, burst: 0, mayWait: true)?.exists == false)
            #expect(try engine.cache.inspect(key) == nil)
            let failure = try await engine.failure(web.url, bytes: bytes) { $0.lookup.onlyFromCache = true }
            #expect(failure == .notCached(key: web.url, url: web.url))
        }
        #expect(try await image(.never, bytes: bytes, shortLived).cacheType == .none && web.count == 2)
    }

    @Test func expiredImageThatMemoryHoldsIsStaleWhereItAnswersAllTheSame() async throws {
        try await useUp(bytes: true)
        let offline = try await image(.never, bytes: true) { $0.lookup.offline = true }
        #expect(offline.isStale && offline.bytes == hollowPNG(width: 7))
        set(nil) { $0.failure = 503 }
        let standIn = try await image(.never) { $0.lookup.staleIfError = 60 }
        #expect(standIn.isStale && web.count == 2)
    }

    @Test func expiredImageThatMemoryHoldsIsReplacedAlsoByWhatOverwritesNothing() async throws {
        func store(_ width: Int) throws -> ImageResult {
            try engine.manager.store(
                hollowPNG(width: width), for: CacheKey("k"), in: engine.cache, options: ImageOptions(shortLived),
                overwrites: false)
        }
        #expect(try store(3).notStored == nil)
        #expect(try store(4).notStored == .occupied)
        engine.clock.advance(seconds: 100)
        #expect(try store(4).notStored == nil)
    }

    @Test func useInAnotherProcessProlongsTheLifeInMemoryToo() async throws {
        func keeping(_ options: inout ImageOptions) { options.storage.diskCacheExpiration = .seconds(100) }
        _ = try await image(.never, keeping)
        engine.clock.advance(seconds: 90)
        let other = try restarted()
        #expect(try await image(.never, on: other, keeping).cacheType == .disk)
        other.cache.disk.flushTouches()
        engine.clock.advance(seconds: 90)
        #expect(try await image(.never, keeping).cacheType == .disk && web.count == 1)
    }

    @Test func imageInMemoryAloneHasNoExpiryOfTheDisk() async throws {
        func inMemory(_ options: inout ImageOptions) {
            shortLived(&options)
            options.storage.cacheMemoryOnly = true
        }
        _ = try await image(.never, bytes: true, inMemory)
        engine.clock.advance(seconds: 200)
        let image = try await image(.never, bytes: true, inMemory)
        #expect(image.cacheType == .memory && image.record.expiresAt == nil)
    }

    @Test(arguments: [false, true])
    func dateIsTheEndHoweverMuchAnImageIsUsed(andMemoryHasIt: Bool) async throws {
        let end = engine.clock.seconds + 100
        func dated(_ options: inout ImageOptions) { options.storage.diskCacheExpiration = .date(end) }
        for _ in 0..<4 {
            if !andMemoryHasIt { _ = engine.cache.clearMemory() }
            #expect(try await image(.never, dated).record.expiresAt == end)
            engine.clock.advance(seconds: 25)
        }
        #expect(web.count == 1)
        #expect(try await image(.never, dated).cacheType == .none)
    }

    @Test func dateIsTheEndInMemoryToo() async throws {
        func inMemory(_ options: inout ImageOptions) {
            options.storage.cacheMemoryOnly = true
            options.storage.memoryCacheExpiration = .date(wallSeconds() + 100)
        }
        for _ in 0..<2 {
            _ = try await image(.never, bytes: true, inMemory)
            engine.clock.advance(seconds: 60)
        }
        #expect(try await image(.never, bytes: true, inMemory).cacheType == .none && web.count == 2)
    }

    @Test func dateIsKnownWhenTheIndexWasLost() throws {
        let end = engine.clock.seconds + 100
        _ = try engine.manager.store(
            hollowPNG(width: 3), for: CacheKey("k"), in: engine.cache,
            options: ImageOptions { $0.storage.diskCacheExpiration = .date(end) })
        engine.cache.disk.close()
        for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
            unlink(engine.cache.configuration.disk.folder + "/" + name)
        }
        engine.clock.advance(seconds: 60)
        let other = try restarted()
        #expect(try other.cache.knownHit(for: CacheKey("k"))?.record.expiresAt == end)
    }
}
