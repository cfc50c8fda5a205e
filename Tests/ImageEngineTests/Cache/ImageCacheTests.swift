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

/// Both tiers together.
@Suite struct ImageCacheTests {
    private let engine: TestEngine
    private let picture = hollowPNG(width: 7, count: 300)
    private let key = CacheKey("a")
    private var cache: ImageCache { engine.cache }

    init() throws { engine = try TestEngine() }

    @discardableResult
    private func store(
        _ bytes: [UInt8], in cache: ImageCache? = nil, keepsBytes: Bool = false,
        _ change: (inout ImageOptions) -> Void = { _ in }
    ) throws -> ImageRecord {
        let header = try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
        let (cache, options) = (cache ?? self.cache, ImageOptions(change).storage)
        var request = StoreRequest(key: key, header: header)
        request.expiration = options.diskCacheExpiration
        return try BlockingWait.wait { [request] queue, then in
            cache.store(.bytes(bytes), request, options, keepsBytes: keepsBytes, in: queue, then: then)
        }.get().entry.record
    }

    private func hit(burst: UInt64 = 0, _ change: (inout ImageOptions) -> Void = { _ in }) throws -> ImageCache.Hit? {
        let options = ImageOptions(change).storage
        let found = try cache.look(for: key, options: options, burst: burst, mayWait: true).value
        return found.map { cache.used($0, options) }
    }

    @Test func imageIsFoundInNoneThenDiskThenMemory() throws {
        #expect(try cache.cacheType(for: key, burst: 0, mayWait: true).value == nil)
        try store(picture)
        #expect(try hit()?.cacheType == .memory)
        #expect(cache.clearMemory().count == 1)
        #expect(try cache.cacheType(for: key, burst: 0, mayWait: true).value == .disk)
        #expect(try hit()?.cacheType == .disk)
        #expect(try hit()?.cacheType == .memory, "a hit on disk is promoted")
    }

    /// The index has the others: their records are read again when they are asked for.
    @Test func recordsOfKnownImagesTakeAFewMegabytesHoweverManyThereAre() throws {
        try store(picture)
        let (header, bytes) = (try #require(try hit()).record.header, [UInt8](repeating: 7, count: 1000))
        let content = ImageRecord(key: CacheKey("bytes"), header: header, byteCount: 1000, path: nil, storedAt: 0)
        cache.remember(content, bytes: bytes, StorageOptions())
        for number in 0..<10_000 {
            let (key, path) = (CacheKey("https://example.com/\(number).png"), "/elsewhere/\(number).png")
            let record = ImageRecord(key: key, header: header, byteCount: 1000, path: path, storedAt: 0)
            cache.remember(record, bytes: nil, StorageOptions())
        }
        #expect(cache.memory.totals.count < 3000)
        #expect(cache.memory.totals.cost <= 3 << 20 + 1000)
        #expect(cache.memory.peek(CacheKey("bytes"))?.bytes == bytes, "they take no bytes from memory")
        #expect(try hit()?.cacheType == .disk)
        #expect(try hit()?.cacheType == .memory)
    }

    @Test func askingForTheTierPromotesAndProlongsNothing() throws {
        try store(picture) { $0.storage.memoryCacheExpiration = .seconds(100) }
        engine.clock.advance(seconds: 90)
        #expect(try cache.cacheType(for: key, burst: 0, mayWait: true).value == .memory)
        #expect(try cache.path(for: key, burst: 0, mayWait: true)?.exists == true)
        engine.clock.advance(seconds: 20)
        #expect(try cache.cacheType(for: key, burst: 0, mayWait: true).value == .disk)
        #expect(try cache.cacheType(for: key, burst: 0, mayWait: true).value == .disk)
    }

    /// None of its frames is decoded for memory, and each of them is in the bytes that count.
    @Test(arguments: ["gif-animated.gif", "webp-animated.webp", "png-animated.png"])
    func animationCostsMemoryTheBytesOfAllItsFrames(_ file: String) throws {
        let animation = try Fixtures.bytes(file)
        let record = try store(animation, keepsBytes: true)
        #expect(record.header.frameCount > 1)
        #expect(try cache.sizes().memory.bytes == animation.count)
        try store(picture, keepsBytes: true)
        #expect(try cache.sizes().memory.bytes == picture.count)
    }

    @Test func imageThatAnotherProcessReplacedIsServedAnew() throws {
        try store(picture, keepsBytes: true)
        let other = try TestEngine(folder: engine.folder, clock: engine.clock)
        try store(hollowPNG(width: 8, count: 301), in: other.cache)
        let hit = try #require(try hit())
        #expect(hit.record.header.width == 8)
        #expect(try cache.loadBytes(of: hit.record, options: StorageOptions()).bytes == hollowPNG(width: 8, count: 301))
    }

    @Test func imageThatAnotherProcessRemovedIsNotServed() throws {
        try store(picture, keepsBytes: true)
        let other = try TestEngine(folder: engine.folder, clock: engine.clock)
        #expect(try other.cache.remove(key).disk)
        #expect(try cache.cacheType(for: key, burst: 0, mayWait: true).value == nil)
        #expect(try cache.path(for: key, burst: 0, mayWait: true)?.exists == false)
        #expect(try hit() == nil)
        #expect(cache.memory.totals == (0, 0))
    }

    /// As after a store whose process was killed before it removed the old file.
    @Test func replacedImageIsNotServedFromMemoryThoughItsFileIsThere() throws {
        let path = try #require(try store(picture, keepsBytes: true) { $0.storage.lease = 0 }.path)
        let kept = engine.folder.path + "/kept"
        #expect(link(path, kept) == 0)
        let other = try TestEngine(folder: engine.folder, clock: engine.clock)
        try store(Fixtures.bytes("gif-animated.gif"), in: other.cache)
        #expect(rename(kept, path) == 0)
        #expect(try hit()?.record.header.format == .gif)
    }

    /// As after a removal whose process was killed before it removed the file.
    @Test func imageIsNotServedFromMemoryOnceItsRemovalCountsThoughItsFileIsThere() throws {
        let path = try #require(try store(picture, keepsBytes: true).path)
        let other = try TestEngine(folder: engine.folder, clock: engine.clock).cache.disk
        try other.index.write { [key] writer in
            let row = try #require(try writer.row(other.name(of: key)))
            try writer.retire(row.fileName, bytes: row.byteCount, until: LentFile.atOnce)
            try writer.remove(row.number)
        }
        #expect(try cache.path(for: key, burst: 0, mayWait: true)?.exists == false)
        #expect(try hit() == nil)
        #expect(FileStamp(path: path) != nil)
    }

    /// As after a `clear` whose process was killed before it removed the files.
    @Test func imageIsNotServedFromMemoryOnceTheCacheIsClearedThoughItsFileIsThere() throws {
        let path = try #require(try store(picture, keepsBytes: true).path)
        let other = try TestEngine(folder: engine.folder, clock: engine.clock).cache.disk
        try other.index.write { try $0.removeAll() }
        #expect(FileStamp(path: path) != nil)
        #expect(try hit() == nil)
    }

    /// Within one burst of requests the file is looked at once; the next burst looks again.
    @Test func fileIsLookedAtOnceABurst() throws {
        let path = try #require(try store(picture).path)
        #expect(try hit(burst: 5) != nil)
        unlink(path)
        #expect(try hit(burst: 5) != nil, "the same number is not looked at again")
        #expect(try cache.cacheType(for: key, burst: 5, mayWait: true).value == .memory)
        #expect(try hit(burst: 6) == nil)
        let second = try #require(try store(picture).path)
        #expect(try hit(burst: 0) != nil)
        unlink(second)
        #expect(try hit(burst: 0) == nil, "0 always looks")
    }

    @Test func removingFromMemoryLeavesTheFile() throws {
        try store(picture)
        #expect(try cache.remove(key, fromDisk: false) == .init(memory: true, disk: false))
        #expect(try cache.cacheType(for: key, burst: 0, mayWait: true).value == .disk)
        #expect(try cache.remove(key, fromDisk: false) == .init())
    }

    @Test(arguments: [false, true])
    func removingFromDiskLeavesTheImageInMemory(_ keepsBytes: Bool) throws {
        let path = try #require(try store(picture, keepsBytes: keepsBytes).path)
        #expect(try cache.remove(key, fromMemory: false) == .init(memory: false, disk: true))
        #expect(FileStamp(path: path) == nil)
        let hit = try #require(try hit())
        #expect(hit.cacheType == .memory)
        #expect(hit.record.path == nil)
        #expect(hit.bytes == picture)
        #expect(try cache.path(for: key, burst: 0, mayWait: true)?.exists == false)
    }

    @Test func removingAChangedFileFromDiskPutsNoWrongBytesIntoMemory() throws {
        let path = try #require(try store(picture).path)
        overwrite(path, hollowPNG(width: 8, count: 300))
        setModified(path, 1_700_000_000)
        _ = try cache.remove(key, fromMemory: false)
        #expect(try hit() == nil)
    }

    @Test func clearingTheDiskLeavesWhatMemoryHolds() throws {
        try store(picture)
        #expect(try cache.clearDisk() == .init(count: 1, bytes: 300))
        #expect(engine.blobs.isEmpty)
        #expect(try hit()?.bytes == picture)
        #expect(try cache.sizes().disk.count == 0)
        #expect(cache.clearMemory().count == 1)
        #expect(try hit() == nil)
    }

    @Test func removingVariantsFromMemoryComparesKeysByTheirBytes() throws {
        for text in ["é", "e\u{301}"] {
            let record = ImageRecord(
                key: CacheKey(text, identifier: "blur"), header: try ImageHeader(.png, 1, 1), byteCount: 1, path: nil,
                origin: ImageOrigin(), storedAt: 0, expiresAt: nil, stamp: nil, checksum: nil)
            cache.keep(record, bytes: [1], expiration: nil)
        }
        #expect(try cache.remove(CacheKey("é"), allVariants: true).memory)
        #expect(cache.memory.keys == [CacheKey("e\u{301}", identifier: "blur")])
    }

    @Test func memoryOnlyImageHasNoPathAndBecomesAFileWhenAskedWithoutIt() async throws {
        let url = "data:image/png;base64," + base64(picture)
        let first = try await engine.image(url, key: "a") { $0.storage.cacheMemoryOnly = true }
        #expect(first.record.path == nil)
        #expect(engine.folder.files.isEmpty, "nothing was written")
        let second = try await engine.image(url, key: "a") { $0.storage.cacheMemoryOnly = true }
        #expect(second.cacheType == .memory && second.record.path == nil)
        let resource = Resource(url: url, cacheKey: "a")
        #expect(
            try engine.manager.cachedImage(resource, in: cache, options: ImageOptions(), needs: .file, burst: 0)
                == nil,
            "it takes writing")
        let third = try await engine.image(url, key: "a")
        #expect(third.cacheType == .memory)
        let path = try #require(third.record.path)
        #expect(try Files.read(path, followsLinks: false) == picture)
        #expect(
            try engine.manager.cachedImage(resource, in: cache, options: ImageOptions(), needs: .file, burst: 0)
                != nil)
    }

    @Test func bytesOfAFileAreReadForACallerThatWantsNone() async throws {
        try store(picture)
        _ = cache.clearMemory()
        let result = try await engine.image("http://127.0.0.1:1/", key: "a", bytes: true) {
            $0.storage.cacheMemoryOnly = true
        }
        #expect(result.bytes == picture && result.record.path == nil)
    }

    /// An image too large for memory is answered all the same.
    @Test func imageForMemoryOnlyThatMemoryDoesNotTakeIsAnsweredWithItsBytesOrRefused() async throws {
        let small = try TestEngine { $0.defaults.memory.entryCostLimit = 200 }
        let url = "data:image/png;base64," + base64(picture)
        let result = try await small.image(url, key: "a", bytes: true) { $0.storage.cacheMemoryOnly = true }
        #expect(result.bytes == picture)
        #expect(result.admission == .tooLarge(.entry(200), cost: 300))
        let failure = try await small.failure(url) { $0.storage.cacheMemoryOnly = true }
        guard case .notStored(.tooLarge, .limitExceeded("entryBytesLimit", _, _)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(small.cache.memory.totals == (0, 0))
        #expect(small.folder.files.isEmpty)
    }

    @Test func bytesTooLargeForMemoryLeaveTheRecordThere() throws {
        let small = try TestEngine { $0.defaults.memory.costLimit = 2000 }
        let large = hollowPNG(width: 9, count: 5000)
        try store(large, in: small.cache, keepsBytes: true)
        let hit = try #require(try small.cache.hit(for: key, options: StorageOptions()))
        #expect(hit.cacheType == .memory && hit.bytes == nil)
        #expect(try small.cache.loadBytes(of: hit.record, options: StorageOptions()).bytes == large)
    }

    /// An answer on its way holds what memory had to let go.
    @Test func purgedImageThatAnAnswerHoldsIsStillInMemory() throws {
        let small = try TestEngine { ($0.defaults.memory.costLimit, $0.defaults.memory.preferredCost) = (4000, 1000) }
        func find(_ key: CacheKey) throws -> ImageCache.Hit? {
            try small.cache.hit(
                for: key, options: ImageOptions { $0.storage.fromMemoryCacheOrRefresh = true }.storage)
        }
        try store(picture, in: small.cache, keepsBytes: true)
        var answer = try find(key)
        let record = try #require(answer?.record)
        for number in 0..<20 {
            let other = ImageRecord(
                key: CacheKey("\(number)"), header: try ImageHeader(.png, 1, 1), byteCount: 1, path: nil,
                origin: ImageOrigin(), storedAt: 0, expiresAt: nil, stamp: nil, checksum: nil)
            small.cache.keep(other, bytes: zeros(400), expiration: nil)
        }
        #expect(!small.cache.memory.keys.contains(key))
        #expect(small.cache.holdsBytes(key))
        #expect(try find(key)?.record === record)
        #expect(small.cache.memory.keys.first == key)
        small.cache.memory.configure(ImageCache.Configuration(folder: "").memory)
        try #require(small.cache.remove(key, fromDisk: false).memory)
        answer = nil
        #expect(try find(key) == nil)
    }

    @Test func memoryOrRefreshDoesNotReadTheDisk() throws {
        try store(picture)
        #expect(try hit { $0.storage.fromMemoryCacheOrRefresh = true } != nil)
        _ = cache.clearMemory()
        #expect(try hit { $0.storage.fromMemoryCacheOrRefresh = true } == nil)
        #expect(try hit() != nil)
    }

    @Test func useProlongsTheLifeOnDiskOnlyAsAsked() throws {
        try store(picture) { $0.storage.diskCacheExpiration = .seconds(100) }
        engine.clock.advance(seconds: 60)
        _ = try hit { $0.storage.diskCacheAccessExtendingExpiration = ExpirationExtension.none }
        cache.disk.flushTouches()
        engine.clock.advance(seconds: 30)
        _ = try hit()
        cache.disk.flushTouches()
        _ = cache.clearMemory()
        engine.clock.advance(seconds: 60)
        #expect(try cache.cacheType(for: key, burst: 0, mayWait: true).value == .disk, "150 s old, used 60 s ago")
        engine.clock.advance(seconds: 60)
        #expect(try cache.cacheType(for: key, burst: 0, mayWait: true).value == nil)
    }

    @Test(arguments: [
        ("a", true), ("default", true), ("A-b_c.9", true), (String(repeating: "a", count: 64), true), ("", false),
        (".", false), ("..", false), (".a", false), ("a/b", false), ("a b", false), ("é", false), ("a\u{0}", false),
        (String(repeating: "a", count: 65), false),
    ])
    func cacheNamesStayInsideTheRoot(_ name: String, _ isName: Bool) {
        #expect((engine.manager.cache(name) != nil) == isName)
    }

    @Test func cachesAreSeparate() async throws {
        let other = try #require(engine.manager.cache("other"))
        try store(picture)
        try store(hollowPNG(width: 8), in: other)
        #expect(try hit()?.record.header.width == 7)
        _ = try cache.clearDisk()
        #expect(try other.sizes().disk.count == 1)
        #expect(engine.manager.cache("other") === other)
    }
}

/// The base64 text of bytes.
func base64(_ bytes: [UInt8]) -> String {
    var text = zeros(Base64.encodedCount(bytes.count))
    text.withUnsafeMutableBytes { text in bytes.withUnsafeBytes { Base64.encode($0, into: text) } }
    return String(decoding: text, as: UTF8.self)
}
