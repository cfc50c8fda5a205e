import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// The full check finds every kind of damage, mends it once, and touches nothing unless asked to.
@Suite struct VerifyTests {
    typealias Verification = DiskStorage.Verification

    enum Damage: CaseIterable {
        case nothing, flipped, truncated, emptied, folderInPlace, linkInPlace, deleted, stranger, imageWithoutEntry
        case halfAName, draft, wrongSums, noSums, touched, wrongContent, unreadableFormat, unreadablePath, wrongNumber
        case indexLost
    }

    private func disk(_ count: Int = 6) throws -> TestDisk {
        let disk = try TestDisk()
        for number in 1...count { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        try disk.store(hollowPNG(width: 1, count: 1000), "twin")
        // The index is one file from here on.
        IndexFile.execute("SELECT 1", disk.index)
        return disk
    }

    /// Does it to the third image, and tells what should be found.
    private func inflict(_ damage: Damage, on disk: TestDisk) throws -> Verification {
        let path = try disk.path("3")
        let row = "UPDATE entries SET %@ WHERE key = '3'"
        var found = Verification()
        func sql(_ change: String) { IndexFile.execute(String(format: row, change), disk.index) }
        switch damage {
        case .nothing: break
        case .flipped:
            overwrite(path, [0x55], at: 500, truncates: false)
            found.damaged = 1
        case .truncated:
            truncate(path, 999)
            found.damaged = 1
        case .emptied:
            truncate(path, 0)
            found.damaged = 1
        case .folderInPlace:
            unlink(path)
            mkdir(path, 0o700)
            overwrite(path + "/x", [1])
            found.damaged = 1
        case .linkInPlace:
            rename(path, disk.folder.path + "/victim")
            symlink(disk.folder.path + "/victim", path)
            found.damaged = 1
        case .deleted:
            unlink(path)
            found.missing = 1
        case .stranger:
            overwrite(path + "~", hollowPNG(width: 3))
            overwrite(String(path.dropLast(4)) + ".img", hollowPNG(width: 4))
            found.leftovers = 2
        case .imageWithoutEntry:
            IndexFile.execute("DELETE FROM entries WHERE key = '3'", disk.index)
            found.adopted = 1
        case .halfAName:
            let shard = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
            overwrite(shard + "/\(path.suffix(30))", hollowPNG(width: 3))
            found.leftovers = 1
        case .draft:
            overwrite(disk.root + "/leases/1-dead.session", [])
            overwrite(disk.root + "/partial/body~1-dead~1", [1])
            found.leftovers = 1
        case .wrongSums:
            IndexFile.execute("UPDATE totals SET bytes = 7, count = -3, lent = 9", disk.index)
            found.corrected = 1
        case .noSums:
            IndexFile.execute("DELETE FROM totals", disk.index)
            found.corrected = 1
        case .touched:
            setModified(path, 1_600_000_000)
            found.corrected = 1
        case .wrongContent:
            // As if it shared the bytes of another.
            sql("content = (SELECT content FROM entries WHERE key = '4')")
            found.corrected = 1
        case .unreadableFormat:
            sql("format = 'xyz'")
            (found.damaged, found.adopted) = (1, 1)
        case .unreadablePath:
            sql("extension = '/../../x'")
            (found.damaged, found.adopted) = (1, 1)
        case .wrongNumber:
            sql("id = 12345")
            (found.damaged, found.adopted) = (1, 1)
        case .indexLost:
            for suffix in ["", "-wal", "-shm"] { unlink(disk.index + suffix) }
            found.adopted = 7
        }
        return found
    }

    private func expect(_ found: Verification, _ wanted: Verification, _ what: String) {
        var found = found
        #expect(found.isClean == (wanted == Verification()), "\(what)")
        (found.checked, found.bytes) = (0, 0)
        #expect(found == wanted, "\(what)")
    }

    @Test(arguments: Damage.allCases.filter { $0 != .indexLost })
    func damageIsFoundAndMendedOnce(_ damage: Damage) throws {
        let disk = try disk()
        let wanted = try inflict(damage, on: disk)
        let after = try disk.reopened()
        expect(try after.disk.verify(repairs: true), wanted, "\(damage)")
        let again = try after.disk.verify(repairs: true)
        expect(again, Verification(), "\(damage), the second time")
        let totals = try after.disk.totals()
        #expect(again.checked == totals.count, "\(damage)")
        #expect(totals.count == after.blobs.count, "\(damage)")
        #expect(totals.bytes == after.bytesInBlobs, "\(damage)")
        for number in [1, 2, 4, 5, 6] {
            #expect(try after.bytes("\(number)") == hollowPNG(width: number, count: 1000), "\(damage)")
        }
        let isLost = wanted.damaged + wanted.missing > 0 && wanted.adopted == 0
        #expect(try after.bytes("3") == (isLost ? nil : hollowPNG(width: 3, count: 1000)), "\(damage)")
        if damage == .linkInPlace { #expect(content(disk.folder.path + "/victim")?.count == 1000) }
    }

    @Test(arguments: Damage.allCases)
    func withoutRepairNothingChanges(_ damage: Damage) throws {
        let disk = try disk()
        var wanted = try inflict(damage, on: disk)
        // Drafts belong to the repair.
        if damage == .draft { wanted.leftovers = 0 }
        // Both of the two that seem to share, for neither is put right.
        if damage == .wrongContent { wanted.corrected = 2 }
        let after = try disk.reopened()
        let files = disk.folder.files.filter { $0.contains("/blobs/") || $0.contains("/partial/") }
        let rows = damage == .indexLost ? [] : IndexFile.dump(disk.index)
        expect(try after.check(), wanted, "\(damage)")
        expect(try after.check(), wanted, "\(damage), the second time")
        #expect(disk.folder.files.filter { $0.contains("/blobs/") || $0.contains("/partial/") } == files, "\(damage)")
        if damage == .indexLost {
            #expect(FileStamp(path: disk.index) == nil, "it is not begun anew either")
        } else {
            #expect(IndexFile.dump(disk.index) == rows, "\(damage)")
        }
    }

    /// What was replaced or removed while its path was lent has a file of its own until the lease ends.
    @Test func changedFileThatIsKeptForItsLeaseIsCountedAsItIs() throws {
        let disk = try TestDisk()
        var paths: [String] = []
        for key in ["1", "2", "3"] {
            try disk.store(hollowPNG(width: 1, count: 1000), key)
            let record = try #require(try disk.disk.recordEvenExpired(CacheKey(key), lease: 600))
            paths.append(try #require(record.path))
            try disk.store(hollowPNG(width: 2, count: 3000), key)
        }
        #expect(try disk.disk.totals().lent == 3000)
        overwrite(paths[0], hollowPNG(width: 1, count: 1300))
        unlink(paths[1])
        let wanted = Verification(corrected: 2)
        expect(try disk.check(), wanted, "without repair")
        #expect(try disk.disk.totals().lent == 3000)
        expect(try disk.disk.verify(repairs: true), wanted, "with repair")
        #expect(try disk.disk.totals().lent == 2300)
        expect(try disk.disk.verify(repairs: true), Verification(), "the second time")
        disk.wait(601)
        expect(try disk.disk.verify(repairs: true), Verification(), "after the leases")
        #expect(try disk.disk.totals().lent == 0)
        #expect(disk.blobs.count == 3)
    }

    @Test func aLostIndexIsRebuiltFromTheFiles() async throws {
        let disk = try disk()
        _ = try inflict(.indexLost, on: disk)
        let after = try disk.reopened()
        _ = try after.disk.verify(repairs: true)
        try await eventually("the adoption is over") { !after.disk.index.isAdopting }
        let again = try after.disk.verify(repairs: true)
        #expect(again.isClean && again.checked == 7)
        #expect(try after.disk.totals().bytes == 6000, "who shares bytes is found out as well")
        #expect(try after.bytes("twin") == hollowPNG(width: 1, count: 1000))
    }

    /// Replaced, new and removed entries, between the slices of an adoption.
    @Test func whatIsStoredWhileALostIndexIsRebuiltIsFoundAfterwards() async throws {
        let disk = try TestDisk()
        for number in 1...600 { try disk.store(hollowPNG(width: number, count: 100), "\(number)") }
        disk.disk.close()
        for suffix in ["", "-wal", "-shm"] { unlink(disk.index + suffix) }
        let after = try disk.reopened()
        var stored = 0
        repeat {
            stored += 1
            try after.store(hollowPNG(width: 1, count: 200), "\(stored)")
            try after.store(hollowPNG(width: 2, count: 200), "new \(stored)")
            _ = try after.disk.remove(CacheKey("\(601 - stored)"))
        } while after.disk.index.isAdopting && stored < 300
        try await eventually("the adoption is over") { !after.disk.index.isAdopting }
        for number in 1...stored {
            #expect(try after.bytes("\(number)") == hollowPNG(width: 1, count: 200))
            #expect(try after.bytes("new \(number)") == hollowPNG(width: 2, count: 200))
            #expect(try after.record("\(601 - number)") == nil)
        }
        for number in (stored + 1)..<(601 - stored) {
            #expect(try after.bytes("\(number)") == hollowPNG(width: number, count: 100))
        }
        #expect(try after.disk.totals().count == 600)
        #expect(try after.disk.totals().bytes == after.bytesInBlobs)
    }

    /// The old file waits for its lease, and the index that knew so is lost.
    @Test(arguments: [false, true])
    func ofTwoFilesForOneImageTheLatestIsAdopted(_ isAskedFor: Bool) async throws {
        let disk = try TestDisk()
        for key in ["a", "b"] {
            try disk.store(hollowPNG(width: 1, count: 100), key, fileExtension: key == "a" ? "png" : "gif") {
                $0.lease = 60
            }
            usleep(20_000)
            try disk.store(hollowPNG(width: 2, count: 200), key, fileExtension: key == "a" ? "gif" : "png")
        }
        #expect(disk.blobs.count == 4)
        disk.disk.close()
        for suffix in ["", "-wal", "-shm"] { unlink(disk.index + suffix) }
        let after = try disk.reopened()
        if !isAskedFor {
            _ = try after.record("other")
            try after.store(hollowPNG(width: 3), "other")
            try await eventually("the adoption is over") { !after.disk.index.isAdopting }
        }
        for key in ["a", "b"] { #expect(try after.bytes(key) == hollowPNG(width: 2, count: 200), "\(key)") }
    }

    /// Its path was handed out before the image was replaced, and the index that knew so is lost.
    @Test(arguments: [false, true], [false, true])
    func aFileThatWaitsForItsLeaseOutlivesTheIndex(_ isLogLost: Bool, _ isAdoptedFirst: Bool) async throws {
        let disk = try TestDisk()
        var paths: [String] = []
        for key in ["a", "b"] {
            let fileExtension = key == "a" ? "png" : "gif"
            let record = try disk.store(hollowPNG(width: 1, count: 100), key, fileExtension: fileExtension) {
                $0.lease = 60
            }
            paths.append(try #require(record.path))
            try disk.store(hollowPNG(width: 2, count: 200), key, fileExtension: key == "a" ? "gif" : "png")
        }
        disk.disk.close()
        for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] + (isLogLost ? ["entries.log"] : []) {
            unlink(disk.root + "/" + name)
        }
        let after = try disk.reopened()
        if isAdoptedFirst {
            _ = try after.record("other")
            try after.store(hollowPNG(width: 3), "other")
            try await eventually("the adoption is over") { !after.disk.index.isAdopting }
        }
        #expect(try after.disk.verify(repairs: true).leftovers == 0)
        try await eventually("the adoption is over") { !after.disk.index.isAdopting }
        for path in paths { #expect(content(path) == hollowPNG(width: 1, count: 100)) }
        for key in ["a", "b"] { #expect(try after.bytes(key) == hollowPNG(width: 2, count: 200), "\(key)") }
        #expect(try after.check().isClean)
        after.wait(100)
        after.disk.clean()
        for path in paths { #expect(content(path) == nil, "its lease is over") }
        for key in ["a", "b"] { #expect(try after.bytes(key) == hollowPNG(width: 2, count: 200), "\(key)") }
    }

    /// The image was replaced while its path was lent, and somebody brings the index of before back.
    @Test(arguments: [false, true])
    func theLatestFileCountsWhenTheIndexIsOlder(_ isLogOlder: Bool) throws {
        let disk = try TestDisk()
        let path = try disk.store(hollowPNG(width: 1, count: 100), "a") { $0.lease = 60 }.path
        let index = try #require(content(disk.index + "-wal")), log = try #require(content(disk.root + "/entries.log"))
        usleep(20_000)
        let newer = try disk.store(hollowPNG(width: 2, count: 200), "a") { $0.lease = 60 }.path
        #expect(path != newer)
        disk.disk.close()
        for suffix in ["", "-shm"] { unlink(disk.index + suffix) }
        overwrite(disk.index + "-wal", index)
        if isLogOlder { overwrite(disk.root + "/entries.log", log) }
        let after = try disk.reopened()
        _ = try after.disk.verify(repairs: true)
        #expect(try after.bytes("a") == hollowPNG(width: 2, count: 200))
        #expect(try after.path("a") == newer)
        #expect(path.flatMap(content) == hollowPNG(width: 1, count: 100), "it is lent")
        #expect(try after.check().isClean)
    }

    /// A file of before comes to its place later than the one that replaced it.
    @Test func anOldFileThatIsBroughtBackDoesNotCount() throws {
        let disk = try TestDisk()
        let path = try #require(try disk.store(hollowPNG(width: 1, count: 100), "a") { $0.lease = 60 }.path)
        usleep(20_000)
        try disk.store(hollowPNG(width: 2, count: 200), "a")
        #expect(rename(path, disk.root + "/copy") == 0)
        disk.wait(100)
        disk.disk.clean()
        #expect(rename(disk.root + "/copy", path) == 0)
        #expect(try disk.disk.verify(repairs: true).leftovers == 1)
        #expect(try disk.bytes("a") == hollowPNG(width: 2, count: 200))
        #expect(content(path) == nil)
    }

    /// A row that cannot be read takes its place on a page.
    @Test func anUnreadableRowHidesNoDamageBehindIt() throws {
        let disk = try TestDisk()
        for number in 1...200 { try disk.store(hollowPNG(width: number, count: 100), "\(number)") }
        let keys = IndexFile.rows("SELECT key FROM entries ORDER BY id", disk.index)
        IndexFile.execute("UPDATE entries SET format = 'xyz' WHERE key = '\(keys[10])'", disk.index)
        let victim = try disk.path(keys[190])
        truncate(victim, 50)
        let found = try disk.reopened().check()
        #expect(found.damaged == 2)
        #expect(found.checked == 199)
        var query = ListQuery()
        query.limit = 20
        var listed: [String] = []
        while true {
            let page = try disk.disk.list(query)
            listed += page.entries.compactMap(\.key)
            guard let next = page.next else { break }
            query.cursor = next
        }
        #expect(listed == keys.filter { $0 != keys[10] })
    }

    /// It is no reason to give up the index, and the images in it.
    @Test func anUnreadableRowGivesWayToTheNextStoreOfItsKey() throws {
        let disk = try TestDisk()
        for number in 1...3 { try disk.store(hollowPNG(width: number), "\(number)") }
        IndexFile.execute("UPDATE entries SET format = 'xyz' WHERE key = '2'", disk.index)
        let after = try disk.reopened()
        try after.store(hollowPNG(width: 20), "2")
        #expect(try after.disk.totals().count == 3)
        #expect(try after.bytes("2") == hollowPNG(width: 20))
        #expect(try after.disk.inspect(CacheKey("1"))?.key == "1")
        #expect(!FileManager.default.fileExists(atPath: after.index + ".damaged"))
        #expect(try after.check().isClean)
    }

    /// Another process may remove an image between the listing of its folder and the look at it.
    @Test(arguments: [true, false]) func aListedFileThatIsRemovedMeanwhileIsNoLeftover(_ repairs: Bool) throws {
        let disk = try disk()
        let path = try disk.path("3")
        let parts = path.split(separator: "/").suffix(2).map(String.init)
        _ = try disk.disk.remove(CacheKey("3"))
        var verifier = Verifier(disk: disk.disk, repairs: repairs)
        try verifier.check([parts[1], parts[1] + "~"], of: parts[0])
        #expect(verifier.found == Verification())
    }

    @Test func progressGrowsToTheTotal() throws {
        let disk = try TestDisk()
        for number in 1...130 { try disk.store(hollowPNG(width: number, count: 100), "\(number)") }
        var seen: [(Int, Int)] = []
        let found = try disk.disk.verify(repairs: true, report: { seen.append(($0, $1)) })
        #expect(found.checked == 130)
        #expect(seen.map(\.0) == [6400, 12_800, 13_000])
        #expect(seen.allSatisfy { $0.1 == 13_000 })
    }

    @Test func cancelledCheckEndsBetweenTwoSlices() throws {
        let disk = try TestDisk()
        for number in 1...130 { try disk.store(hollowPNG(width: number, count: 100), "\(number)") }
        var asked = 0
        let found = try disk.disk.verify(
            repairs: true,
            isCancelled: {
                asked += 1
                return asked > 1
            })
        #expect(found.checked == 64)
        #expect(found.isClean)
    }

    @Test func anEmptyFolderIsCleanAndStaysEmpty() throws {
        let disk = try TestDisk()
        #expect(try disk.disk.verify(repairs: true) == Verification())
        #expect(disk.folder.files.isEmpty)
    }

    /// Cleaning reads a few images through each time.
    @Test func cleaningFindsAFlippedBitInTheEnd() throws {
        let disk = try TestDisk()
        for number in 1...40 { try disk.store(hollowPNG(width: number, count: 200), "\(number)") }
        let path = try disk.path("17")
        let modified = FileStamp(path: path)?.modified ?? 0
        overwrite(path, [0x55], at: 100, truncates: false)
        let time = timespec(tv_sec: modified / 1_000_000_000, tv_nsec: modified % 1_000_000_000)
        _ = [time, time].withUnsafeBufferPointer { utimensat(AT_FDCWD, path, $0.baseAddress, 0) }
        #expect(try disk.record("17") != nil, "neither size nor time tell")
        for _ in 0..<3 { disk.disk.clean() }
        #expect(try disk.record("17") == nil)
        #expect(disk.disk.damageCount == 1)
        #expect(try disk.disk.totals().count == 39)
        #expect(try disk.check().isClean)
    }

    @Test func aFolderInThePlaceOfALentFileIsClearedOnce() throws {
        let disk = try TestDisk()
        let path = try #require(try disk.store(hollowPNG(width: 1, count: 1000), "a").path)
        try disk.lend("a", for: 60)
        let other = try #require(try disk.store(hollowPNG(width: 2, count: 1000), "a").path)
        #expect(other != path && FileStamp(path: path) != nil)
        for isNoted in [true, false] {
            unlink(path)
            mkdir(path, 0o700)
            overwrite(path + "/file", [1])
            #expect(try !disk.check().isClean)
            let found = try disk.disk.verify(repairs: true)
            #expect(found.corrected == (isNoted ? 1 : 0) && found.leftovers == (isNoted ? 0 : 1))
            #expect(try Files.kind(path) == nil)
            #expect(try disk.check().isClean && disk.disk.verify(repairs: true).isClean)
        }
        #expect(try disk.bytes("a") == hollowPNG(width: 2, count: 1000))
    }
}
