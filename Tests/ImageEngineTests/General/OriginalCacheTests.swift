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

/// An image is taken from another cache before it is loaded.
@Suite struct OriginalCacheTests {
    private let engine: TestEngine
    private let originals: ImageCache
    private let server: LocalServer
    private let picture = hollowPNG(width: 7)

    init() throws {
        engine = try TestEngine()
        originals = try #require(engine.manager.cache("originals"))
        server = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 9)) }
    }

    private var url: String { server.url("/a") }

    private func storeOriginal(_ bytes: [UInt8]) async throws -> ImageResult {
        try engine.manager.store(bytes, for: CacheKey(url), in: originals, options: ImageOptions())
    }

    private func image(
        bytes: Bool = false, _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageResult {
        try await engine.image(url, bytes: bytes) {
            $0.lookup.originalCache = "originals"
            change(&$0)
        }
    }

    @Test(arguments: [100, BodySpool.memoryLimit + 1])
    func whatItHasIsStoredInTheTargetWithoutAnyRequest(size: Int) async throws {
        let bytes = hollowPNG(width: 7, count: size)
        let original = try await storeOriginal(bytes)
        let copy = try await image(bytes: true)
        #expect(copy.bytes == bytes && copy.cache == "default")
        #expect(copy.record.path != nil && copy.record.path != original.record.path)
        #expect(server.requests.isEmpty)
        _ = try originals.clearDisk()
        _ = originals.clearMemory()
        #expect(try await engine.image(url, bytes: true).bytes == bytes)
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [100, BodySpool.memoryLimit + 1], [false, true])
    func oneThatLostItsFileStillGetsTheCallerAnAnswer(size: Int, isDamaged: Bool) async throws {
        let path = try #require(try await storeOriginal(hollowPNG(width: 7, count: size)).record.path)
        _ = originals.clearMemory()
        if isDamaged { overwrite(path, [1, 2, 3]) } else { unlink(path) }
        let loaded = try await image()
        #expect(loaded.record.header.width == 9 && loaded.cacheType == .none)
        #expect(server.requests.count == 1)
    }

    @Test func itIsLeftAloneByARefreshAndByItself() async throws {
        _ = try await storeOriginal(picture)
        #expect(try await image { $0.lookup.forceRefresh = true }.record.header.width == 9)
        _ = try await engine.manager.blocking { [engine, url] in try engine.cache.remove(CacheKey(url)) }
        let own = try await engine.image(url) { $0.lookup.originalCache = "default" }
        #expect(own.cacheType == .none)
        #expect(server.requests.count == 2)
    }

    @Test func onlyItsMemoryIsLookedAtWhenTheDiskIsToBePassedBy() async throws {
        _ = try await storeOriginal(picture)
        #expect(try await image { $0.storage.fromMemoryCacheOrRefresh = true }.record.header.width == 7)
        _ = engine.cache.clearMemory()
        _ = originals.clearMemory()
        #expect(try await image { $0.storage.fromMemoryCacheOrRefresh = true }.record.header.width == 9)
    }

    @Test func lookingNeitherPromotesNorRefreshesTheOriginal() async throws {
        _ = try await storeOriginal(picture)
        _ = originals.clearMemory()
        _ = try await image()
        #expect(originals.memory.totals.count == 0)
    }
}
