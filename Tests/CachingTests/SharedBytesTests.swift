import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// The same bytes under several keys take the disk space once, and nobody can tell by reading.
@Suite struct SharedBytesTests {
    private let picture = hollowPNG(width: 7, count: 3000)

    private func inode(_ disk: TestDisk, _ key: String) throws -> UInt64? {
        FileStamp(path: try disk.path(key))?.inode
    }

    @Test func tenKeysWithTheSameBytesAreOneFileAndCountOnce() throws {
        let disk = try TestDisk()
        for number in 0..<10 { try disk.store(picture, "\(number)") }
        #expect(Set(try (0..<10).map { try inode(disk, "\($0)") }).count == 1)
        #expect(try disk.disk.totals().count == 10)
        #expect(try disk.disk.totals().bytes == 3000)
        #expect(try disk.disk.totals().allocated == FileStamp(path: try disk.path("3"))?.allocated)
        #expect(try disk.disk.inspect(CacheKey("3"))?.sharers == 10)
        #expect(try disk.check().isClean)
        for number in 0..<9 {
            #expect(try disk.disk.remove(CacheKey("\(number)")).count == 1)
            #expect(try disk.disk.totals().bytes == 3000)
            #expect(try disk.bytes("9") == picture)
        }
        #expect(try disk.disk.inspect(CacheKey("9"))?.sharers == 1)
        #expect(try disk.check().isClean)
        _ = try disk.disk.remove(CacheKey("9"))
        #expect(try disk.disk.totals() == .init())
        #expect(disk.bytesInBlobs == 0)
    }

    @Test func otherExtensionsAndVariantsShareToo() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        try disk.store(picture, "b", fileExtension: "img")
        try disk.store(picture, "a", identifier: "blur")
        #expect(disk.blobs.count == 3)
        #expect(disk.bytesInBlobs == 3000)
        #expect(try disk.disk.totals().bytes == 3000)
        try disk.store(picture, "a", fileExtension: "img")
        #expect(try disk.disk.totals().bytes == 3000)
        #expect(disk.bytesInBlobs == 3000)
    }

    @Test func bytesAreSharedAmongStorages() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        try disk.reopened().store(picture, "b")
        #expect(try inode(disk, "a") == inode(disk, "b"))
        #expect(try disk.disk.totals().bytes == 3000)
    }

    @Test func replacingOneOfThemLeavesTheOthers() throws {
        let disk = try TestDisk()
        for key in ["a", "b", "c"] { try disk.store(picture, key) }
        try disk.store(hollowPNG(width: 9, count: 500), "b")
        #expect(try disk.bytes("a") == picture)
        #expect(try disk.bytes("b") == hollowPNG(width: 9, count: 500))
        #expect(try disk.disk.totals().bytes == 3500)
        try disk.store(picture, "b")
        #expect(try disk.disk.totals().bytes == 3000)
        #expect(try inode(disk, "a") == inode(disk, "b"))
        #expect(try disk.check().isClean)
    }

    /// The other keys keep what they have when a twin is damaged.
    @Test func aDamagedTwinIsNotSharedWith() throws {
        let disk = try TestDisk()
        let path = try #require(try disk.store(picture, "a").path)
        overwrite(path, [picture[1500] ^ 1], at: 1500, truncates: false)
        setModified(path, 1_700_000_000)
        try disk.store(picture, "b")
        #expect(try disk.bytes("b") == picture)
        #expect(try inode(disk, "b") != FileStamp(path: path)?.inode)
        #expect(try disk.bytes("a") == nil)
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs)
        #expect(try disk.check().isClean)
    }

    @Test func aTwinThatIsGoneIsNotSharedWith() throws {
        let disk = try TestDisk()
        unlink(try #require(try disk.store(picture, "a").path))
        try disk.store(picture, "b")
        #expect(try disk.bytes("b") == picture)
        #expect(try disk.bytes("a") == nil)
        #expect(try disk.disk.totals().bytes == 3000)
        #expect(try disk.check().isClean)
    }

    @Test(arguments: [3000, 300_000]) func storingTheSameAgainLeavesTheFileAlone(_ count: Int) throws {
        let (disk, picture) = (try TestDisk(), hollowPNG(width: 7, count: count))
        try disk.store(picture, "a")
        let before = FileStamp(path: try disk.path("a"))
        disk.wait(50)
        let stored = try disk.put(picture, "a")
        #expect(stored.isNew)
        #expect(stored.record.storedAt == disk.clock.seconds, "but its life begins anew")
        #expect(FileStamp(path: try disk.path("a")) == before)
        #expect(disk.partials.isEmpty)
    }

    @Test(arguments: [3000, 300_000]) func storingTheSameAgainReplacesADamagedFile(_ count: Int) throws {
        let (disk, picture) = (try TestDisk(), hollowPNG(width: 7, count: count))
        let path = try #require(try disk.store(picture, "a").path)
        let stamp = try #require(FileStamp(path: path))
        overwrite(path, [picture[1500] ^ 1], at: 1500, truncates: false)
        let time = timespec(tv_sec: stamp.modified / 1_000_000_000, tv_nsec: stamp.modified % 1_000_000_000)
        _ = [time, time].withUnsafeBufferPointer { utimensat(AT_FDCWD, path, $0.baseAddress, 0) }
        try disk.store(picture, "a")
        #expect(try content(disk.path("a")) == picture)
        #expect(disk.partials.isEmpty)
        #expect(try disk.check().isClean)
    }

    /// What is told of the image changes, and its bytes are still those of others.
    @Test func storingTheSameAgainWithAnotherLifeOrOriginKeepsSharing() throws {
        let disk = try TestDisk()
        for key in ["a", "b"] { try disk.store(picture, key) }
        try disk.store(picture, "a", expiration: .seconds(60))
        #expect(try disk.disk.totals().bytes == 3000)
        #expect(disk.bytesInBlobs == 3000)
        try disk.store(picture, "b") { $0.origin = ImageOrigin(url: "http://h/b", etag: "\"2\"") }
        #expect(try disk.record("b")?.etag == "\"2\"")
        #expect(try disk.disk.totals().bytes == 3000)
        #expect(disk.bytesInBlobs == 3000)
        #expect(disk.partials.isEmpty)
        #expect(try disk.check().isClean)
        disk.wait(60)
        #expect(try disk.record("a") == nil)
        #expect(try disk.bytes("b") == picture)
    }

    @Test func sharedBytesAreEvictedOnlyWithTheirLastKey() throws {
        let disk = try TestDisk {
            $0.bytesLimit = 4000
            $0.purgeRatio = 1
        }
        for key in ["a", "b", "c"] { try disk.store(picture, key) }
        try disk.store(hollowPNG(width: 1, count: 1000), "d")
        #expect(try disk.disk.totals().count == 4)
        try disk.store(hollowPNG(width: 2, count: 1000), "e")
        #expect(try ["a", "b", "c"].allSatisfy { try disk.record($0) == nil }, "one alone frees nothing")
        #expect(try disk.disk.totals().bytes == 2000)
        #expect(try disk.check().isClean)
    }

    @Test func overwritingIsLeftUndoneWhenNotWanted() throws {
        let disk = try TestDisk()
        #expect(try disk.put(picture, "a", expiration: .seconds(60)) { $0.overwrites = false }.isNew)
        let kept = try disk.put(hollowPNG(width: 2), "a") { $0.overwrites = false }
        #expect(!kept.isNew)
        #expect(kept.record.header.width == 7)
        #expect(try disk.bytes("a") == picture)
        #expect(disk.partials.isEmpty)
        disk.wait(60)
        #expect(try disk.put(hollowPNG(width: 3), "a") { $0.overwrites = false }.isNew, "what is over is not there")
        #expect(try disk.bytes("a") == hollowPNG(width: 3))
        unlink(try disk.path("a"))
        #expect(try disk.put(hollowPNG(width: 4), "a") { $0.overwrites = false }.isNew, "nor what has no file")
        #expect(try disk.bytes("a") == hollowPNG(width: 4))
        #expect(try disk.check().isClean)
    }
}
