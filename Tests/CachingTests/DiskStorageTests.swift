import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What the disk tier keeps, and for how long.
@Suite struct DiskStorageTests {
    private let picture = hollowPNG(width: 7)

    @Test func storedBytesAreThereAfterARestart() throws {
        let before = try TestDisk()
        let stored = try before.store(picture, "a")
        let after = try before.reopened()
        let record = try #require(try after.record("a"))
        #expect(try after.disk.data(of: record) == picture)
        #expect(record.path == stored.path)
        #expect(record.header == stored.header)
        #expect(record.storedAt == stored.storedAt)
        #expect(record.expiresAt == stored.storedAt + 7 * 86_400)
        #expect(try after.disk.totals().count == 1)
    }

    @Test func originIsKeptAcrossARestart() throws {
        let disk = try TestDisk()
        let origin = ImageOrigin(url: "http://h/é?\u{0}", etag: "", lastModified: "yesterday")
        try disk.store(picture, "a") { $0.origin = origin }
        let record = try #require(try disk.reopened().record("a"))
        #expect(record.url == origin.url)
        #expect(record.etag == "")
        #expect(record.lastModified == "yesterday")
    }

    @Test func anotherIdentifierIsAnotherEntry() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a", identifier: "blur")
        #expect(try disk.record("a") == nil)
        #expect(try disk.record("a", identifier: "round") == nil)
        #expect(try disk.record("a", identifier: "blur") != nil)
        try disk.store(hollowPNG(width: 8), "a")
        #expect(try disk.record("a")?.header.width == 8)
        #expect(try disk.record("a", identifier: "blur")?.header.width == 7)
        #expect(try disk.disk.remove(CacheKey("a"), allVariants: true).count == 2)
        #expect(disk.blobs.isEmpty)
    }

    @Test func removingAKeyLeavesItsVariantsUnlessAsked() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        try disk.store(picture, "a", identifier: "blur")
        #expect(try disk.disk.remove(CacheKey("a")) == .init(count: 1, bytes: picture.count))
        #expect(try disk.record("a", identifier: "blur") != nil)
        #expect(try disk.disk.remove(CacheKey("a")) == .init())
    }

    @Test func entryExpiresAtItsMomentUnlessUsed() throws {
        let disk = try TestDisk { $0.expiration = .seconds(100) }
        try disk.store(picture, "used")
        try disk.store(picture, "unused")
        try disk.store(picture, "ever", expiration: .never)
        try disk.store(picture, "short", expiration: .seconds(10))
        disk.clock.advance(seconds: 60)
        #expect(try disk.record("short") == nil)
        let record = try #require(try disk.record("used"))
        record.extend(.cacheTime, at: disk.clock.seconds)
        disk.disk.touch(record, lease: 60)
        disk.disk.flushTouches()
        disk.clock.advance(seconds: 60)
        #expect(try disk.record("unused") == nil)
        #expect(try disk.record("used") != nil, "the use gave it 100 s more")
        #expect(try disk.reopened().record("used") != nil)
        disk.clock.advance(seconds: 1e9)
        #expect(try disk.record("used") == nil)
        #expect(try disk.record("ever") != nil)
    }

    @Test func storingAgainGivesAnExpiredEntryNewLife() throws {
        let disk = try TestDisk { $0.expiration = .seconds(100) }
        try disk.store(picture, "a")
        disk.clock.advance(seconds: 100)
        #expect(try disk.record("a") == nil)
        try disk.store(hollowPNG(width: 9), "a")
        #expect(try disk.record("a")?.header.width == 9)
        #expect(try disk.disk.totals().count == 1)
    }

    @Test func changedExtensionLeavesNoFileBehind() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        try disk.store(picture, "a", fileExtension: "img")
        #expect(disk.blobs.count == 1)
        #expect(try disk.path("a").hasSuffix(".img"))
        try disk.store(try Fixtures.bytes("gif-static.gif"), "a")
        #expect(disk.blobs.count == 1)
        #expect(try disk.path("a").hasSuffix(".gif"))
    }

    @Test(arguments: ["a/b", "../../x", "a\u{0}", " ", "\n", String(repeating: "x", count: 33)])
    func extensionThatLeadsElsewhereIsRefused(_ text: String) throws {
        let disk = try TestDisk()
        #expect(throws: ImageError.self) { try disk.store(picture, "a", fileExtension: text) }
        #expect(disk.blobs.isEmpty && disk.partials.isEmpty)
    }

    @Test func purgeRemovesTheLeastRecentlyUsedDownToHalf() throws {
        let disk = try TestDisk { $0.bytesLimit = 10_000 }
        for number in 0..<10 { try disk.store(hollowPNG(width: number + 1, count: 1000), "\(number)") }
        #expect(try disk.disk.totals().bytes == 10_000, "the limit itself is allowed")
        disk.clock.advance(seconds: 1000)
        for key in ["0", "3"] { disk.disk.touch(try #require(try disk.record(key)), lease: 60) }
        disk.clock.advance(seconds: 1000)
        try disk.store(hollowPNG(width: 99, count: 1000), "new")
        let left = try (0..<10).map(String.init).filter { try disk.record($0) != nil }
        #expect(left == ["0", "3", "8", "9"], "the used ones and the youngest, and not one fewer")
        #expect(try disk.record("new") != nil)
        #expect(try disk.disk.totals().bytes == 5000)
        #expect(disk.bytesInBlobs == 5000)
        #expect(disk.disk.evictionCount == 6)
    }

    /// What was handed out within the last minute stays.
    @Test func purgeSparesWhatWasJustHandedOut() throws {
        let disk = try TestDisk { $0.bytesLimit = 10_000 }
        for number in 0..<10 { try disk.store(hollowPNG(width: number + 1, count: 1000), "\(number)") }
        disk.clock.advance(seconds: 100)
        for number in 0..<8 { disk.disk.touch(try #require(try disk.record("\(number)")), lease: 60) }
        try disk.store(hollowPNG(width: 99, count: 1000), "new")
        let left = try (0..<10).map(String.init).filter { try disk.record($0) != nil }
        #expect(left == (0..<8).map(String.init))
        #expect(try disk.disk.totals().bytes == 9000)
    }

    @Test func belowTheLimitNothingIsPurged() throws {
        let disk = try TestDisk { $0.bytesLimit = 100_000 }
        for number in 0..<50 { try disk.store(hollowPNG(width: number + 1, count: 1000), "\(number)") }
        #expect(disk.blobs.count == 50)
        let unlimited = try TestDisk { $0.bytesLimit = 0 }
        for number in 0..<50 { try unlimited.store(hollowPNG(width: number + 1, count: 1000), "\(number)") }
        #expect(unlimited.blobs.count == 50)
    }

    @Test func imageLargerThanTheLimitIsRefusedAndEvictsNothing() throws {
        let disk = try TestDisk { $0.bytesLimit = 1000 }
        try disk.store(hollowPNG(width: 1, count: 900), "small")
        disk.clock.advance(seconds: 1000)
        #expect(throws: ImageError.self) { try disk.store(hollowPNG(width: 2, count: 5000), "large") }
        #expect(try disk.record("large") == nil)
        #expect(try disk.record("small") != nil)
        #expect(disk.partials.isEmpty)
    }

    @Test func longestKeyCanBeStoredFoundAndRemoved() throws {
        let disk = try TestDisk()
        let long = String(repeating: "ключ", count: 1 << 17)
        try disk.store(picture, long)
        #expect(try disk.reopened().bytes(long) == picture)
        #expect(try disk.record(long + "x") == nil)
        #expect(try disk.disk.remove(CacheKey(long)).count == 1)
        #expect(try disk.record(long) == nil)
        try disk.store(picture, long, identifier: "blur")
        #expect(try disk.disk.remove(CacheKey(long), allVariants: true).count == 1)
    }

    @Test func twoStoragesOnOneFolderSeeEachOther() throws {
        let one = try TestDisk()
        let other = try one.reopened()
        #expect(try other.record("a") == nil)
        try one.store(picture, "a")
        #expect(try other.bytes("a") == picture)
        try other.store(hollowPNG(width: 9), "a")
        #expect(try one.record("a")?.header.width == 9)
        try one.store(picture, "b")
        #expect(try other.disk.totals().count == 2)
        #expect(try one.disk.remove(CacheKey("a")).count == 1)
        #expect(try other.record("a") == nil)
        #expect(try other.disk.removeAll().count == 1)
        #expect(try one.record("b") == nil)
        #expect(try one.disk.totals() == CacheIndex.Totals())
        try one.store(picture, "b")
        #expect(try other.bytes("b") == picture)
        #expect(one.folder.files.filter { $0.contains("cleared") }.isEmpty)
    }
}
