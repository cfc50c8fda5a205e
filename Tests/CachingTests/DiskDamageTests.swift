import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Files changed, removed or replaced behind the storage's back: a miss, never wrong bytes, and healed by the next
/// store.
@Suite struct DiskDamageTests {
    enum Damage: CaseIterable {
        case bitFlipped, truncated, emptied, grown, replaced, deleted, link, danglingLink, fifo, folder, fullFolder
    }

    private let picture = hollowPNG(width: 7, count: 3000)

    private func inflict(_ damage: Damage, on path: String, _ folder: TemporaryFolder) throws {
        let victim = folder.path + "/victim"
        switch damage {
        case .bitFlipped: overwrite(path, [picture[1500] ^ 1], at: 1500, truncates: false)
        case .truncated: truncate(path, 2999)
        case .emptied: truncate(path, 0)
        case .grown: overwrite(path, [0], at: 3000, truncates: false)
        case .replaced:
            overwrite(victim, hollowPNG(width: 8, count: 3000))
            rename(victim, path)
        case .deleted: unlink(path)
        case .link:
            overwrite(victim, picture)
            unlink(path)
            symlink(victim, path)
        case .danglingLink:
            unlink(path)
            symlink(folder.path + "/nowhere", path)
        case .fifo:
            unlink(path)
            mkfifo(path, 0o600)
        case .folder:
            unlink(path)
            mkdir(path, 0o700)
        case .fullFolder:
            unlink(path)
            mkdir(path, 0o700)
            overwrite(path + "/file", [1])
        }
        if damage != .deleted, lstatExists(path), ![.link, .danglingLink, .fifo].contains(damage) {
            // A file system may keep times in coarse steps: the change is made visible.
            setModified(path, 1_700_000_000)
        }
    }

    private func lstatExists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    @Test(arguments: Damage.allCases, [false, true])
    func damagedFileIsAMissAndHealsWithTheNextStore(_ damage: Damage, _ restarts: Bool) throws {
        let first = try TestDisk()
        let path = try #require(try first.store(picture, "a").path)
        #expect(try first.bytes("a") == picture)
        try inflict(damage, on: path, first.folder)
        let disk = restarts ? try first.reopened() : first
        #expect(try disk.record("a") == nil)
        #expect(try disk.record("a") == nil, "and again")
        #expect(try disk.bytes("a") == nil)
        let isReported = damage != .deleted
        #expect(disk.disk.damageCount == (isReported ? 1 : 0), "a change is reported once")
        try disk.store(picture, "a")
        #expect(try disk.bytes("a") == picture)
        #expect(try disk.reopened().bytes("a") == picture)
        #expect(try disk.disk.totals().count == 1)
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs)
        #expect(disk.partials.isEmpty, "what was in the way is gone")
        if damage == .link {
            #expect(try Data(contentsOf: URL(fileURLWithPath: disk.folder.path + "/victim")) == Data(picture))
        }
    }

    @Test(arguments: Damage.allCases)
    func damagedFileCanBeRemoved(_ damage: Damage) throws {
        let disk = try TestDisk()
        let path = try #require(try disk.store(picture, "a").path)
        try inflict(damage, on: path, disk.folder)
        _ = try disk.disk.remove(CacheKey("a"))
        #expect(try disk.record("a") == nil)
        #expect(try disk.disk.totals() == CacheIndex.Totals())
        if damage == .link { #expect(FileStamp(path: disk.folder.path + "/victim") != nil) }
    }

    @Test func touchedFileOfTheSameContentStaysAHit() throws {
        let disk = try TestDisk()
        let path = try #require(try disk.store(picture, "a").path)
        setModified(path, 1_600_000_000)
        #expect(try disk.bytes("a") == picture)
        #expect(try disk.reopened().bytes("a") == picture)
        setModified(path, 4_000_000_000)
        #expect(try disk.bytes("a") == picture)
    }

    @Test func fileSwappedWithThatOfAnotherKeyIsAMiss() throws {
        let disk = try TestDisk()
        let one = try #require(try disk.store(hollowPNG(width: 1, count: 500), "one").path)
        let two = try #require(try disk.store(hollowPNG(width: 2, count: 500), "two").path)
        setModified(one, 1_700_000_001)
        setModified(two, 1_700_000_002)
        rename(one, one + ".x")
        rename(two, one)
        rename(one + ".x", two)
        #expect(try disk.record("one") == nil)
        #expect(try disk.record("two") == nil)
    }

    @Test func fileSwappedAfterTheLookupIsNotRead() throws {
        let disk = try TestDisk()
        let record = try disk.store(picture, "a")
        let path = try #require(record.path)
        overwrite(path, hollowPNG(width: 8, count: 3000))
        setModified(path, 1_700_000_000)
        #expect(throws: ImageError.notCached(key: "a")) { try disk.disk.data(of: record) }
    }

    /// The image was stored anew by another process while this one judged the old file.
    @Test(arguments: 0..<20)
    func concurrentStoresAndLookupsLoseNoImage(_ round: Int) async throws {
        let disk = try TestDisk()
        let other = try disk.reopened()
        try disk.store(picture, "a")
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for width in 1...20 { _ = try? disk.store(hollowPNG(width: width, count: 300 + width), "a") }
            }
            group.addTask { for _ in 0..<200 { _ = try? other.record("a") } }
        }
        #expect(try disk.record("a")?.header.width == 20)
        #expect(try disk.disk.totals().count == 1)
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs)
    }

    @Test func removingFollowsNoLinkInThePlaceOfAFolder() throws {
        let disk = try TestDisk()
        let path = try #require(try disk.store(picture, "a").path)
        let shard = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex))
        let outside = disk.folder.path + "/outside"
        rename(shard, outside)
        symlink(outside, shard)
        #expect(throws: ImageError.self) { try disk.disk.remove(CacheKey("a")) }
        #expect(content(outside + path.dropFirst(shard.count)) == picture)
    }

    @Test func folderDeletedUnderItIsMadeAnew() throws {
        let disk = try TestDisk()
        #expect(try disk.disk.totals() == CacheIndex.Totals())
        for number in 1...5 { try disk.store(hollowPNG(width: number), "\(number)") }
        #expect(try disk.disk.totals().count == 5)
        try FileManager.default.removeItem(atPath: disk.root)
        #expect(try disk.disk.totals() == CacheIndex.Totals())
        #expect(try disk.record("1") == nil)
        #expect(try disk.disk.remove(CacheKey("1")).count == 0)
        #expect(try disk.disk.removeAll().count == 0)
        #expect(!FileManager.default.fileExists(atPath: disk.root), "only a store makes the folder")
        try disk.store(picture, "a")
        #expect(try disk.bytes("a") == picture)
        #expect(try disk.reopened().bytes("a") == picture)
        #expect(try disk.disk.totals().count == 1)
    }

    @Test(arguments: ["blobs", "partial"])
    func partOfTheFolderDeletedUnderItIsMadeAnew(_ part: String) throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        try FileManager.default.removeItem(atPath: disk.root + "/" + part)
        try disk.store(picture, "b")
        #expect(try disk.bytes("b") == picture)
        #expect(try disk.bytes("a") == (part == "blobs" ? nil : picture))
        _ = try disk.disk.removeAll()
        #expect(disk.blobs.isEmpty)
    }

    @Test(arguments: ["", "/blobs", "/partial"], [true, false])
    func folderThatGoesWhileSeveralAreStoredInARowIsMadeAnew(_ part: String, _ isReplaced: Bool) throws {
        let disk = try TestDisk()
        try disk.store(picture, "first")
        try together {
            try disk.store(picture, "a")
            try FileManager.default.removeItem(atPath: disk.root + part)
            if isReplaced, !part.isEmpty {
                try "no folder".write(toFile: disk.root + part, atomically: false, encoding: .utf8)
            }
            try disk.store(picture, "b")
        }
        #expect(try disk.bytes("b") == picture)
        #expect(try disk.reopened().bytes("b") == picture)
        #expect(disk.partials.isEmpty)
    }

    /// A link leads nowhere outside.
    @Test func shardThatIsALinkIsNotFollowed() throws {
        let disk = try TestDisk()
        let path = try #require(try disk.store(picture, "a").path)
        _ = try disk.disk.remove(CacheKey("a"))
        let shard = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        let outside = disk.folder.path + "/outside"
        mkdir(outside, 0o700)
        rmdir(shard)
        symlink(outside, shard)
        try disk.store(picture, "a")
        #expect(try disk.bytes("a") == picture)
        #expect(disk.folder.files.filter { $0.hasPrefix("outside") }.isEmpty)
        #expect(mode(shard) == 0o700)
    }
}
