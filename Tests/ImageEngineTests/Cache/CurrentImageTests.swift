import Foundation
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

/// What is in memory is served only as long as it is what the cache has, although its file may stay for a lease.
@Suite struct CurrentImageTests {
    private let engine: TestEngine
    private let other: TestEngine
    private let key = CacheKey("k")
    private let old = hollowPNG(width: 1, count: 2000)
    private let new = hollowPNG(width: 2, count: 3000)

    init() throws {
        engine = try TestEngine()
        other = try TestEngine(folder: engine.folder, clock: engine.clock)
    }

    private func store(
        _ bytes: [UInt8], in engine: TestEngine, key: String = "k", overwrites: Bool = true,
        _ change: (inout ImageOptions) -> Void = { _ in }
    ) throws -> ImageResult {
        try engine.manager.store(
            bytes, for: CacheKey(key), in: engine.cache, options: ImageOptions(change), overwrites: overwrites)
    }

    /// Has a cache look into another folder after its own.
    private func search(_ folder: String, in engine: TestEngine) {
        var configuration = engine.cache.disk.configuration
        configuration.readOnlyPaths.append(folder)
        engine.cache.disk.configure(configuration)
    }

    private func width(in engine: TestEngine, key: String = "k") throws -> Int? {
        try engine.cache.hit(for: CacheKey(key), options: StorageOptions())?.record.header
            .width
    }

    private func type(in engine: TestEngine, key: String = "k") throws -> CacheType? {
        try engine.cache.cacheType(for: CacheKey(key), burst: 0, mayWait: true).value
    }

    @Test func imageReplacedUnderAnotherExtensionIsNotServedForItsLease() throws {
        _ = try store(old, in: engine)
        #expect(try width(in: other) == 1)
        #expect(try width(in: other) == 1, "from memory now")
        let path = try #require(try store(new, in: engine) { $0.storage.forcedCacheFileExtension = "img" }.record.path)
        #expect(path.hasSuffix(".img"))
        for _ in 0..<3 {
            #expect(try width(in: other) == 2)
            engine.clock.advance(seconds: 30)
        }
        #expect(try other.cache.path(for: key, burst: 0, mayWait: true)?.path == path)
    }

    @Test func imageEvictedWhileItIsLentIsAMiss() throws {
        _ = try store(old, in: engine)
        #expect(try width(in: other) == 1)
        // More is lent than half of it.
        var settings = engine.cache.configuration
        settings.disk.bytesLimit = 3000
        engine.cache.configure(settings)
        for number in 1...5 { _ = try store(hollowPNG(width: 10 + number, count: 2000), in: engine, key: "\(number)") }
        for engine in [engine, other] {
            #expect(try type(in: engine) == nil)
            #expect(try width(in: engine) == nil)
            #expect(try engine.cache.inspect(key) == nil)
        }
    }

    @Test func imageThatExpiredWhileItIsLentIsAMissAfterCleaning() throws {
        _ = try store(old, in: engine) { $0.storage.diskCacheExpiration = .seconds(10) }
        #expect(try width(in: other) == 1)
        #expect(try other.cache.path(for: key, burst: 0, mayWait: true)?.exists == true)
        engine.clock.advance(seconds: 20)
        #expect(try other.cache.removeExpired().keys == ["k"])
        for engine in [engine, other] {
            #expect(try type(in: engine) == nil)
            #expect(try width(in: engine) == nil)
        }
        #expect(try engine.cache.sizes().disk.leasedBytes == 2000, "the file is there, for whoever has its path")
    }

    @Test func imageOfAFolderOfOthersGivesWayToTheCachesOwn() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/" + Digest(of: "k").hex
        try Data(old).write(to: URL(fileURLWithPath: file))
        search(folder.path, in: other)
        #expect(try width(in: other) == 1)
        #expect(try width(in: other) == 1, "from memory now")
        _ = try store(new, in: engine)
        #expect(try width(in: other) == 2)
        _ = try engine.cache.remove(key)
        #expect(try width(in: other) == 1)
        other.cache.disk.configure(engine.cache.disk.configuration)
        #expect(try width(in: other) == nil, "the folder is no longer searched")
    }

    @Test func imageInMemoryOnlyDoesNotReplaceALaterFile() async throws {
        _ = try store(old, in: other) { $0.storage.cacheMemoryOnly = true }
        _ = try store(new, in: engine)
        #expect(try await other.image("http://127.0.0.1:1/", key: "k").record.header.width == 2)
        #expect(try width(in: engine) == 2)
        #expect(try width(in: other) == 2)
    }

    @Test func imageInMemoryOnlyReplacesAnEarlierFile() async throws {
        _ = try store(old, in: other)
        _ = try store(new, in: other) { $0.storage.cacheMemoryOnly = true }
        let found = try await other.image("http://127.0.0.1:1/", key: "k")
        #expect(found.record.header.width == 2 && found.record.path != nil)
        #expect(try width(in: engine) == 2)
    }

    // MARK: overwrite: false

    @Test func whatIsOnlyInMemoryIsNotOverwritten() throws {
        _ = try store(old, in: engine) { $0.storage.cacheMemoryOnly = true }
        let kept = try store(new, in: engine, overwrites: false)
        #expect(kept.record.header.width == 1 && kept.record.path == nil && kept.admission == .occupied)
        #expect(try width(in: engine) == 1)
    }

    @Test func whatIsOnDiskIsNotHiddenByMemory() throws {
        _ = try store(old, in: engine)
        let kept = try store(new, in: other, overwrites: false) { $0.storage.cacheMemoryOnly = true }
        #expect(kept.record.header.width == 1 && kept.record.path != nil && kept.admission == .occupied)
        #expect(try width(in: other) == 1)
    }

    @Test func theCachesOwnIsDescribedBeforeThatOfOthers() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/" + Digest(of: "k").hex
        try Data(new).write(to: URL(fileURLWithPath: file))
        _ = try store(old, in: engine)
        search(folder.path, in: engine)
        let other = hollowPNG(width: 3)
        #expect(try store(other, in: engine, overwrites: false).record.header.width == 1)
        _ = try engine.cache.remove(key)
        #expect(try store(other, in: engine, overwrites: false).record.path == file)
    }

    // MARK: The limit

    @Test func imageLargerThanTheLimitIsAnsweredForItsLeaseAndNotCached() async throws {
        let web = try LocalServer { [new] _ in .reply(200, [:], new) }
        defer { web.stop() }
        _ = try store(old, in: engine)
        var settings = engine.cache.configuration
        settings.disk.bytesLimit = 2500
        engine.cache.configure(settings)
        let found = try await engine.image(web.url("/"), key: "k") { $0.lookup.forceRefresh = true }
        #expect(content(found.record.path ?? "") == new)
        #expect(try type(in: engine) == nil, "what the key had before is old")
        #expect(try engine.cache.sizes().disk.count == 0)
        #expect(try engine.cache.sizes().disk.leasedBytes == new.count + old.count, "each for its lease")
        #expect(try await engine.image(web.url("/"), key: "k", bytes: true).bytes == new)
        #expect(try await engine.image(web.url("/"), key: "k").record.path == found.record.path)
        let another = "data:image/png;base64," + base64(hollowPNG(width: 4, count: 3000))
        await #expect(throws: ImageError.self) { try await engine.image(another, key: "k") }
        #expect(content(found.record.path ?? "") == new, "the disk is bounded, and the path lent")
        engine.clock.advance(seconds: 70)
        engine.cache.clean()
        #expect(content(found.record.path ?? "") == nil)
        #expect(try engine.cache.sizes().disk.leasedBytes == 0)
        #expect(try engine.cache.verify(repairs: false).isClean)
        await #expect(throws: ImageError.self, "nobody to lend it to") {
            try await engine.image(web.url("/"), key: "k") { $0.storage.lease = 0 }
        }
    }

    @Test func clearCountsEveryImageOnce() throws {
        _ = try store(old, in: engine)
        _ = try store(new, in: engine, key: "memory") { $0.storage.cacheMemoryOnly = true }
        let gone = try engine.cache.clear()
        #expect(gone.count == 2 && gone.bytes == 5000)
        #expect(try type(in: engine) == nil)
        #expect(try type(in: engine, key: "memory") == nil)
    }
}
