import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Two processes whose table of leases, in which they tell each other of changes, is lost for a while.
@Suite struct LostLeaseTableTests {
    private func store(_ bytes: [UInt8], _ key: String, in cache: ImageCache) throws -> ImageRecord {
        let header = try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
        var request = StoreRequest(key: CacheKey(key), header: header)
        request.lease = 60
        return try BlockingWait.wait { [request] queue, then in
            cache.store(.bytes(bytes), request, StorageOptions(), keepsBytes: false, in: queue, then: then)
        }.get().entry.record
    }

    private func hit(_ key: String, in cache: ImageCache) throws -> ImageRecord? {
        try cache.look(for: CacheKey(key), options: StorageOptions(), burst: 0, mayWait: true).value
            .map { cache.used($0, StorageOptions()).record }
    }

    /// The table is removed; for the rest of the second one process counts in the removed one.
    @Test func anImageThatIsReplacedWhileTheTableOfLeasesIsReplacedIsNotServedByAnother() throws {
        let a = try TestEngine()
        let b = try TestEngine(folder: a.folder, clock: a.clock)
        _ = try store(hollowPNG(width: 1, count: 300), "k", in: a.cache)
        #expect(try hit("k", in: b.cache)?.header.width == 1)
        a.clock.advance(seconds: 1)
        #expect(try hit("k", in: a.cache)?.header.width == 1)
        #expect(unlink(a.cache.disk.folder.path + "/leases/table") == 0)
        #expect(try hit("k", in: b.cache)?.header.width == 1)
        _ = try store(hollowPNG(width: 2, count: 300), "k", in: a.cache)
        for _ in 0..<3 {
            a.clock.advance(seconds: 1)
            #expect(try hit("k", in: a.cache)?.header.width == 2)
            #expect(try hit("k", in: b.cache)?.header.width == 2)
        }
    }

    /// The table cannot be opened for a while.
    @Test func anImageThatIsReplacedWhileTheTableOfLeasesCannotBeOpenedIsNotServedByAnotherAfterwards() throws {
        let b = try TestEngine()
        _ = try store(hollowPNG(width: 1, count: 300), "k", in: b.cache)
        #expect(try hit("k", in: b.cache)?.header.width == 1)
        let table = b.cache.disk.folder.path + "/leases/table"
        rename(table, table + ".away")
        symlink(table + ".nowhere", table)
        let a = try TestEngine(folder: b.folder, clock: b.clock)
        #expect(try hit("k", in: a.cache)?.header.width == 1)
        _ = try store(hollowPNG(width: 2, count: 300), "k", in: a.cache)
        rename(table + ".away", table)
        for _ in 0..<3 {
            a.clock.advance(seconds: 1)
            #expect(try hit("k", in: a.cache)?.header.width == 2)
            #expect(try hit("k", in: b.cache)?.header.width == 2)
        }
    }
}
