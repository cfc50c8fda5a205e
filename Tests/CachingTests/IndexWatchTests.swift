import Foundation
import Glibc
import TestSupport
import Synchronization
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A folder is checked when somebody has changed its index, and only then.
@Suite struct IndexWatchTests {
    private func filled() throws -> TestDisk {
        let disk = try TestDisk()
        for number in 1...20 { try disk.store(hollowPNG(width: number, count: 500), "\(number)") }
        return disk
    }

    private var sound: String { "index.sound" }

    /// Changes one byte in the middle of a file.
    private func damage(_ path: String) throws {
        let file = try Descriptor(path, O_RDWR)
        let size = file.stamp?.size ?? 0
        var byte: UInt8 = 0
        #expect(pread(file.number, &byte, 1, off_t(size / 2)) == 1)
        byte ^= 4
        #expect(pwrite(file.number, &byte, 1, off_t(size / 2)) == 1)
    }

    @Test func oneFlippedBitInTheLogOfSQLiteHidesNothing() throws {
        let first = try filled()
        try damage(first.index + "-wal")
        let disk = try first.reopened()
        disk.disk.checkIndex()
        for number in 1...20 { #expect(try disk.bytes("\(number)") == hollowPNG(width: number, count: 500)) }
        #expect(try disk.disk.totals().count == 20)
        #expect(try disk.disk.list(ListQuery()).entries.compactMap(\.key).count == 20)
        #expect(try disk.check().isClean)
    }

    @Test func aChangeUnderAnOpenIndexIsNoticed() throws {
        let disk = try filled()
        disk.disk.checkIndex()
        try damage(disk.index + "-wal")
        disk.disk.checkIndex()
        #expect(try disk.disk.totals().count == 20)
        #expect(try disk.check().isClean)
    }

    @Test func aChangeThatIsNoticedWhileNoCheckMayBeginIsNotForgotten() throws {
        let first = try filled()
        first.disk.close()
        unlink(IndexFiles(in: StorageFolder(path: first.root)).mark)
        let disk = try first.reopened()
        try disk.store(hollowPNG(width: 49), "first")
        disk.disk.watch.look { disk.clock.advance(seconds: 1) }
        try damage(disk.index + "-wal")
        disk.disk.watch.look { Issue.record("a twentieth of the time at most") }
        try disk.store(hollowPNG(width: 50), "new")
        disk.clock.advance(seconds: 30)
        var isChecked = false
        disk.disk.watch.look { isChecked = true }
        #expect(isChecked)
    }

    /// As a backup that is copied back into the folder of a running server.
    @Test(arguments: [["-wal", "-shm"], ["", "-wal", "-shm"]], [false, true])
    func anOlderStateThatIsCopiedOverTheIndexIsNoticed(_ suffixes: [String], ofAnEarlierLog: Bool) throws {
        let disk = try filled()
        disk.disk.checkIndex()
        let copies = try suffixes.map { ($0, try #require(content(disk.index + $0))) }
        for number in 21...30 { try disk.store(hollowPNG(width: number, count: 500), "\(number)") }
        _ = try disk.disk.remove(CacheKey("7"))
        disk.disk.checkIndex()
        if ofAnEarlierLog {
            disk.disk.index.closeAll()
            for number in 31...40 { try disk.store(hollowPNG(width: number, count: 500), "\(number)") }
            disk.disk.checkIndex()
        }
        for (suffix, bytes) in copies {
            let file = try Descriptor(disk.index + suffix, O_RDWR | O_TRUNC)
            try file.write(bytes)
        }
        disk.disk.checkIndex()
        let expected = Set((1...(ofAnEarlierLog ? 40 : 30)).map(String.init)).subtracting(["7"])
        #expect(try disk.disk.totals().count == expected.count)
        let keys = try disk.disk.list(ListQuery()).entries.compactMap(\.key)
        #expect(Set(keys) == expected)
        #expect(try disk.check().isClean)
    }

    @Test func aRemovalFindsAlsoAFileThatTheIndexHasLost() throws {
        let disk = try filled()
        let (path, number) = (try disk.path("3"), try #require(try disk.record("3")?.number))
        try disk.disk.index.write { try $0.remove(number) }
        let removal = try disk.disk.remove(CacheKey("3"))
        #expect(removal == DiskStorage.Removal(count: 1, bytes: hollowPNG(width: 3, count: 500).count))
        #expect(FileStamp(path: path) == nil)
        #expect(try disk.check().isClean)
    }

    @Test func whatSQLiteFindsDamagedIsCheckedAtOnce() throws {
        let disk = try filled()
        let count = Mutex(0)
        disk.disk.index.onDamage.set { count.withLock { $0 += 1 } }
        _ = try disk.record("1")
        #expect(count.withLock { $0 } == 0)
        try #require(truncate(disk.index + "-shm", 0) == 0)
        for number in 1...20 { _ = try? disk.record("\(number)") }
        #expect(count.withLock { $0 } == 1, "once until the check")
        #expect(try disk.disk.index.wasChangedByOthers())
    }

    /// Neither what it copies out of the log of SQLite, nor the log of entries that it writes anew.
    /// - Parameter isLast: `true` when the process that has cut the log is not the next to write.
    @Test(arguments: [false, true]) func whatAProcessDoesToTheFilesIsNoChangeByOthers(isLast: Bool) throws {
        let disk = try filled()
        let other = try disk.reopened()
        _ = try other.record("1")
        try other.store(hollowPNG(width: 90), "first")
        for round in 0..<3 {
            try disk.store(hollowPNG(width: 91 + round), "\(round)")
            disk.disk.index.checkpoint()
            disk.disk.rewriteLog()
            disk.disk.index.shrinkLog()
            for each in isLast ? [other, disk] : [disk, other] {
                try each.store(hollowPNG(width: 95 + round), "\(round)")
                #expect(try each.record("missing") == nil)
                #expect(!each.disk.index.isChanged)
                #expect(try !each.disk.index.wasChangedByOthers())
            }
        }
    }

    /// A closure that is kept alone in a lock is wrapped at each access, and called through all of its wrappers: 64 bytes of
    /// stack for each opening.
    @Test func anIndexThatIsOpenedAgainAndAgainIsOpenedAsAtFirst() async throws {
        let disk = try filled()
        for _ in 0..<3000 {
            disk.disk.index.closeAll()
            _ = try disk.record("1")
        }
        disk.disk.index.closeAll()
        let isFound = await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: (try? disk.record("1")) != nil) }
            thread.stackSize = 128 << 10
            thread.start()
        }
        #expect(isFound)
    }

    @Test func afterItsEndAStorageLeavesTheFolderAlone() throws {
        let disk = try filled()
        disk.disk.checkIndex()
        disk.disk.close()
        for name in try Files.names(in: disk.root) where name.hasPrefix("index") { unlink("\(disk.root)/\(name)") }
        let names = try Files.names(in: disk.root).sorted()
        disk.disk.checkIndex()
        #expect(try Files.names(in: disk.root).sorted() == names)
    }

    /// SQLite looks up in it which frames of its log hold a page, and takes an old page where it finds none.
    @Test(arguments: [136, 140, 16384, 20000], [4, 1000, 8000])
    func aWrongIndexOfTheLogIsNoticedAndMadeAgain(_ place: Int, _ length: Int) throws {
        let disk = try filled()
        disk.disk.checkIndex()
        let other = try disk.reopened()
        #expect(try other.record("1") != nil)
        // In the log, and not in the file yet.
        for number in 21...40 { try disk.store(hollowPNG(width: number, count: 500), "\(number)") }
        let file = try Descriptor(disk.index + "-shm", O_RDWR)
        let before = file.stamp
        #expect(pwrite(file.number, [UInt8](repeating: 0, count: length), length, off_t(place)) == length)
        #expect(file.stamp != before)
        for disk in [other, disk] {
            disk.disk.checkIndex()
            #expect(try disk.disk.totals().count == 40)
            #expect(try disk.disk.list(ListQuery()).entries.compactMap(\.key).count == 40)
        }
        for number in 1...40 { #expect(try other.bytes("\(number)") == hollowPNG(width: number, count: 500)) }
        #expect(try disk.check().isClean)
    }

    /// What is looked up by it is wrong then, and the index is not: it is not put aside, and nothing has to be found anew.
    @Test(arguments: [136, 16384, 20000, 24576], [false, true])
    func aSoundIndexIsNotPutAsideForAWrongIndexOfTheLog(_ place: Int, _ isCut: Bool) throws {
        let disk = try filled()
        disk.disk.checkIndex()
        let other = try disk.reopened()
        #expect(try other.record("1") != nil)
        for number in 21...60 { try disk.store(hollowPNG(width: number, count: 500), "\(number)") }
        let path = disk.index + "-shm"
        if isCut {
            #expect(truncate(path, place) == 0)
        } else {
            let zeros = [UInt8](repeating: 0, count: 8000)
            let file = try Descriptor(path, O_RDWR)
            #expect(pwrite(file.number, zeros, zeros.count, off_t(place)) == zeros.count)
        }
        for disk in [other, disk] { _ = try disk.check() }
        #expect(FileStamp(path: disk.index + ".damaged") == nil)
        for disk in [other, disk] {
            disk.disk.checkIndex()
            #expect(try disk.disk.totals().count == 60)
            #expect(try disk.check().isClean)
        }
    }

    @Test func whatTheIndexItselfWritesIsNoReasonForACheck() throws {
        let disk = try filled()
        disk.disk.checkIndex()
        try disk.store(hollowPNG(width: 77), "new")
        let other = try disk.reopened()
        try other.store(hollowPNG(width: 78), "newer")
        // A file without an entry is what a check would take in.
        let stranger = disk.disk.folder.blob(Digest(of: "stranger").hex, "png")
        try Files.makeFolder(String(stranger.dropLast(69)))
        overwrite(stranger, hollowPNG(width: 9))
        disk.disk.checkIndex()
        #expect(try disk.disk.totals().count == 22)
        disk.disk.close()
        let next = try disk.reopened()
        _ = try next.record("1")
        next.disk.checkIndex()
        #expect(try next.disk.totals().count == 22, "nobody has touched it since")
        try damage(next.index)
        next.disk.checkIndex()
        #expect(try next.disk.totals().count == 23)
    }

    @Test func anIndexThatThisProcessHasMadeIsNoReasonForACheck() throws {
        let disk = try filled()
        // What a check would take in.
        let stranger = disk.disk.folder.blob(Digest(of: "stranger").hex, "png")
        try Files.makeFolder(String(stranger.dropLast(69)))
        overwrite(stranger, hollowPNG(width: 9))
        disk.disk.checkIndex()
        #expect(try disk.disk.totals().count == 20)
        try damage(disk.index + "-wal")
        disk.disk.checkIndex()
        #expect(try disk.disk.totals().count == 21)
    }

    /// The log of SQLite is gone when a process ends, and the next one draws the number of its own.
    @Test func theFirstChangeAfterALookIsNoReasonForACheck() throws {
        let first = try filled()
        first.disk.close()
        let disk = try first.reopened()
        _ = try disk.record("1")
        try disk.store(hollowPNG(width: 77), "new")
        #expect(try disk.record("missing") == nil)
        #expect(!disk.disk.index.isChanged)
    }

    /// The last connection to go writes SQLite's log into the index, which changes both files.
    /// - Parameter isShort: `true` when the process that began the folder ended before its first look.
    @Test(arguments: [false, true]) func aProcessThatEndsLeavesNothingToCheck(isShort: Bool) throws {
        let first = try filled()
        if !isShort { first.disk.checkIndex() }
        first.disk.close()
        let files = IndexFiles(in: StorageFolder(path: first.root))
        #expect(FileStamp(path: files.log) == nil)
        #expect(IndexMark(savedIn: files) == IndexMark(of: files, bootNumber: 1))
        for number in 21...23 {
            let next = try first.reopened()
            try next.store(hollowPNG(width: number, count: 500), "\(number)")
            next.disk.close()
            #expect(FileStamp(path: files.log) == nil, "no connection is left")
            #expect(IndexMark(savedIn: files) == IndexMark(of: files, bootNumber: 1))
        }
    }

    @Test func aProcessThatDoesNotKnowWhetherTheIndexIsSoundClosesItAndSaysNothing() throws {
        let first = try filled()
        let files = IndexFiles(in: StorageFolder(path: first.root))
        first.disk.close()
        unlink(files.mark)
        let next = try first.reopened()
        try next.store(hollowPNG(width: 21, count: 500), "21")
        next.disk.close()
        #expect(FileStamp(path: files.log) == nil)
        #expect(IndexMark(savedIn: files) == nil)
    }

    @Test func theNoteOfASoundIndexEndsWithTheStartOfTheMachine() throws {
        let first = try filled()
        first.disk.checkIndex()
        let files = IndexFiles(in: StorageFolder(path: first.root))
        #expect(IndexMark(savedIn: files) == IndexMark(of: files, bootNumber: 1))
        #expect(IndexMark(savedIn: files) != IndexMark(of: files, bootNumber: 2))
    }

    enum Obstacle: CaseIterable { case folder, link, otherName }

    @Test(arguments: ["-wal", "-shm", "-journal"], Obstacle.allCases)
    func anObstacleBesideTheIndexIsPutAside(_ suffix: String, _ obstacle: Obstacle) throws {
        let first = try filled()
        first.disk.index.closeAll()
        let (victim, side) = (first.folder.path + "/victim", first.index + suffix)
        let bytes = [UInt8](repeating: 7, count: 40_000)
        overwrite(victim, bytes)
        for aside in [".foreign", ".foreign-2"] {
            unlink(first.index + "-wal")
            unlink(first.index + "-shm")
            switch obstacle {
            case .folder:
                mkdir(side, 0o700)
                overwrite(side + "/file", bytes)
            case .link: symlink(victim, side)
            case .otherName: link(victim, side)
            }
            let disk = try first.reopened()
            try disk.store(hollowPNG(width: 50), aside)
            #expect(try disk.bytes(aside) == hollowPNG(width: 50))
            disk.disk.checkIndex()
            #expect(try disk.disk.totals().count == (aside == ".foreign" ? 21 : 22))
            #expect(content(victim) == bytes)
            var status = stat()
            #expect(lstat(side + aside, &status) == 0, "it is not lost")
            if obstacle == .folder { #expect(content(side + aside + "/file") == bytes) }
            disk.disk.index.closeAll()
        }
    }

    /// As a backup by hard links makes it: whoever has the index open would go on with the one that was moved.
    @Test(arguments: ["-wal", "-shm"])
    func anotherNameOfAFileThatSQLiteUsesMakesItNoObstacle(_ suffix: String) throws {
        let first = try filled()
        let side = first.index + suffix
        try #require(link(side, first.folder.path + "/copy") == 0)
        let inode = FileStamp(path: side)?.inode
        let other = try first.reopened()
        try other.store(hollowPNG(width: 50), "new")
        #expect(try first.bytes("new") == hollowPNG(width: 50))
        #expect(inode != nil && FileStamp(path: side)?.inode == inode)
        #expect(!FileManager.default.fileExists(atPath: side + ".foreign"))
    }
}
