import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What the index knows is kept twice: in the log of entries too, and the checksum in the file of the image itself.
@Suite struct EntryLogTests {
    private func log(_ disk: TestDisk) -> String { disk.root + "/entries.log" }

    private func loseIndex(_ disk: TestDisk) { for suffix in ["", "-wal", "-shm"] { unlink(disk.index + suffix) } }

    /// Three images with all that an entry can know.
    private func filled() throws -> TestDisk {
        let disk = try TestDisk()
        for number in 1...3 {
            try disk.store(hollowPNG(width: number, count: 100), "http://h/\(number).png", expiration: .seconds(1000)) {
                $0.origin = ImageOrigin(url: "http://h/\(number)", etag: "\"\(number)\"", lastModified: "x")
                $0.origin.http = "r5"
                $0.origin.facts.preview = "#fff x"
                $0.metadata = "{\"n\":\(number)}"
            }
        }
        return disk
    }

    private func expectAll(_ disk: TestDisk, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for number in 1...3 {
            let key = "http://h/\(number).png"
            #expect(try disk.bytes(key) == hollowPNG(width: number, count: 100), sourceLocation: sourceLocation)
            let details = try #require(try disk.disk.inspect(CacheKey(key)), sourceLocation: sourceLocation)
            #expect(details.key == key && details.metadata == "{\"n\":\(number)}", sourceLocation: sourceLocation)
            #expect(details.origin.etag == "\"\(number)\"" && details.host == "h", sourceLocation: sourceLocation)
            #expect(details.origin.http == "r5", sourceLocation: sourceLocation)
            #expect(details.origin.facts.preview == "#fff x", sourceLocation: sourceLocation)
        }
        #expect(try disk.disk.totals().count == 3, sourceLocation: sourceLocation)
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs, sourceLocation: sourceLocation)
        #expect(try disk.check().isClean, sourceLocation: sourceLocation)
    }

    @Test func aLostIndexIsMadeAgainWithAllThatItKnew() async throws {
        let first = try filled()
        loseIndex(first)
        let disk = try first.reopened()
        #expect(try disk.record("http://h/2.png")?.etag == "\"2\"", "at once")
        try await eventually("all are adopted") { !disk.disk.index.isAdopting }
        try expectAll(disk)
        #expect(try disk.disk.list(ListQuery()).entries.compactMap(\.key).count == 3)
    }

    /// The log has been read for a check of the folder that still goes on.
    @Test func aKeyThatIsWrittenAfterTheLogWasReadIsKnownWhenTheIndexIsLost() async throws {
        let disk = try filled()
        _ = try disk.disk.logContents()
        try disk.store(hollowPNG(width: 4), "the fourth")
        loseIndex(disk)
        try disk.disk.index.write { _ in }
        try await eventually("all are adopted") { !disk.disk.index.isAdopting }
        #expect(try disk.disk.list(ListQuery()).entries.compactMap(\.key).count == 4)
    }

    @Test(
        arguments: [
            { disk in try disk.disk.totals().count }, { disk in try disk.disk.list(ListQuery()).entries.count },
            { disk in try disk.disk.verify(repairs: true).isClean ? disk.disk.totals().count : -1 },
        ] as [@Sendable (TestDisk) throws -> Int])
    func countsListsAndChecksOfALostIndexWaitUntilItIsWhole(_ count: @Sendable (TestDisk) throws -> Int) throws {
        for isOpen in [false, true] {
            let first = try filled()
            loseIndex(first)
            let disk = try first.reopened()
            disk.disk.index.onAdopting.set(nil)
            if isOpen { try disk.disk.index.write { _ in } }
            #expect(try count(disk) == 3)
            #expect(!disk.disk.index.isAdopting)
        }
    }

    /// Its files were entered into the one that was lost.
    @Test func anIndexThatIsLostWhileItAdoptsGoesOnAdopting() throws {
        let disk = try filled()
        disk.disk.index.onAdopting.set(nil)
        loseIndex(disk)
        try disk.disk.index.write { _ in }
        let generation = disk.disk.lending.generation
        loseIndex(disk)
        #expect(try !disk.disk.index.endAdopting(of: generation))
        #expect(disk.disk.index.isAdopting)
        #expect(disk.disk.repairer.adoptAll())
        #expect(!disk.disk.index.isAdopting)
        try expectAll(disk)
    }

    @Test func anIndexThatDoesNotKnowAllImagesYetIsNotTakenForTheLog() throws {
        let disk = try filled()
        disk.disk.index.onAdopting.set(nil)
        loseIndex(disk)
        try disk.disk.index.write { _ in }
        #expect(try !EntryLogRewriting(disk: disk.disk).run())
        disk.disk.repairer.adoptAll()
        try expectAll(disk)
    }

    @Test func aLostLogIsWrittenAgain() throws {
        let first = try filled()
        unlink(log(first))
        let disk = try first.reopened()
        _ = try disk.disk.verify(repairs: true)
        loseIndex(disk)
        let last = try disk.reopened()
        _ = try last.disk.verify(repairs: true)
        try expectAll(last)
    }

    @Test func aRemovedImageDoesNotComeBackFromTheLog() throws {
        let first = try filled()
        #expect(try first.disk.remove(CacheKey("http://h/2.png")).count == 1)
        loseIndex(first)
        let disk = try first.reopened()
        _ = try disk.disk.verify(repairs: true)
        #expect(try disk.record("http://h/2.png") == nil)
        #expect(try disk.disk.totals().count == 2)
    }

    @Test func clearingForgetsTheKeysToo() throws {
        let disk = try filled()
        _ = try disk.disk.removeAll()
        let text = (try? Data(contentsOf: URL(fileURLWithPath: log(disk)))) ?? Data()
        #expect(text.range(of: Data("http://h/".utf8)) == nil)
    }

    /// The index is lost, and the file is not what was stored: no format can tell.
    @Test(arguments: [true, false])
    func aDamagedImageIsNotTakenForTheTruth(_ hasLog: Bool) throws {
        let first = try filled()
        let path = try first.path("http://h/2.png")
        let stamp = try #require(FileStamp(path: path))
        let file = try Descriptor(path, O_WRONLY)
        var byte: UInt8 = 0xA5
        #expect(pwrite(file.number, &byte, 1, 90) == 1)
        if hasLog { setModified(path, stamp.modified / 1_000_000_000) } else { unlink(log(first)) }
        loseIndex(first)
        let disk = try first.reopened()
        #expect(try disk.record("http://h/2.png") == nil)
        _ = try disk.disk.verify(repairs: true)
        #expect(try disk.record("http://h/2.png") == nil)
        #expect(try disk.bytes("http://h/1.png") == hollowPNG(width: 1, count: 100))
        #expect(try disk.disk.totals().count == 2)
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs)
    }

    @Test func eachByteOfTheLogMayBeDamaged() throws {
        let first = try filled()
        let sound = [UInt8](try Data(contentsOf: URL(fileURLWithPath: log(first))))
        loseIndex(first)
        var generator = SeededGenerator(seed: 1)
        for place in stride(from: 0, to: sound.count, by: 37) {
            var bytes = sound
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            overwrite(log(first), bytes)
            let contents = try EntryLogContents(of: StorageFolder(path: first.root))
            let found = (1...3).compactMap { contents.record(Digest(of: "http://h/\($0).png"))?.row.key }
            #expect(found.count >= 2, "byte \(place)")
            #expect(Set(found).isSubset(of: (1...3).map { "http://h/\($0).png" }))
        }
        for count in stride(from: 0, to: sound.count, by: 61) {
            overwrite(log(first), Array(sound.prefix(count)))
            _ = try EntryLogContents(of: StorageFolder(path: first.root)).record(Digest(of: "http://h/1.png"))
        }
    }

    @Test func theLogIsWrittenAnewAsTheFolderChanges() throws {
        let disk = try TestDisk()
        for number in 0..<2000 { try disk.store(hollowPNG(width: 1 + number % 5, count: 100), "\(number % 10)") }
        let size = try #require(FileStamp(path: log(disk))?.size)
        #expect(size < 100 << 10, "2,000 records take 500 KB")
        let contents = try EntryLogContents(of: StorageFolder(path: disk.root))
        for number in 0..<10 { #expect(contents.record(Digest(of: "\(number)"))?.row.key == "\(number)") }
        #expect(try disk.check().isClean)
    }

    /// Nobody may write into a program that runs.
    @Test func whatCannotBeAppendedToTheLogIsInTheNextOne() throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "a")
        let path = log(disk)
        unlink(path)
        try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: path)
        let process = Process()
        (process.executableURL, process.arguments) = (URL(fileURLWithPath: path), ["600"])
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        // A thread that holds signals back hands that on.
        defer { kill(process.processIdentifier, SIGKILL) }
        try disk.store(hollowPNG(width: 2), "b")
        // What somebody has changed is checked before a log is written by it.
        disk.disk.checkIndex()
        disk.wait(10)
        try disk.store(hollowPNG(width: 3), "c")
        let contents = try EntryLogContents(of: StorageFolder(path: disk.root))
        for key in ["a", "b", "c"] { #expect(contents.record(Digest(of: key))?.row.key == key) }
        #expect(try disk.check().isClean && !disk.disk.index.wantsNewLog)
    }

    /// It stays for its lease only.
    @Test func anImageThatExpiredInAnIndexBegunAnewIsNotAdoptedAgain() throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "a", expiration: .seconds(100))
        let path = try disk.lend("a", for: 1000)
        disk.disk.index.onAdopting.set(nil)
        loseIndex(disk)
        #expect(try disk.bytes("a") != nil)
        disk.wait(200)
        disk.disk.clean()
        #expect(try disk.bytes("a") == nil)
        disk.disk.repairer.adoptAll()
        #expect(try disk.bytes("a") == nil)
        #expect(FileStamp(path: path) != nil)
        #expect(try disk.check().isClean)
    }

    /// Its index does not know all images yet, and is not taken for the log.
    @Test func aLogThatCannotBeWrittenAnewIsTriedAgainLater() throws {
        let disk = try filled()
        disk.disk.index.onAdopting.set(nil)
        loseIndex(disk)
        try disk.disk.index.write { _ in }
        disk.disk.index.logFailures.add(1, ordering: .relaxed)
        try disk.store(hollowPNG(width: 4), "4")
        disk.disk.repairer.adoptAll()
        try disk.store(hollowPNG(width: 5), "5")
        #expect(disk.disk.index.wantsNewLog)
        disk.wait(10)
        try disk.store(hollowPNG(width: 6), "6")
        #expect(!disk.disk.index.wantsNewLog)
    }

    @Test func aLogWithOneRecordForEachEntryIsNotWrittenAnew() throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1, count: 100), "0")
        let inode = try #require(FileStamp(path: log(disk))?.inode)
        for number in 1..<1000 { try disk.store(hollowPNG(width: 1 + number, count: 100), "\(number)") }
        let stamp = try #require(FileStamp(path: log(disk)))
        #expect(stamp.size > 200 << 10)
        #expect(stamp.inode == inode)
    }

    /// A column of an entry is damaged where SQLite cannot see it.
    @Test(arguments: [
        "key = 'http://h/x.png'", "etag = 'other'", "checksum = x'00'", "bytes = 101", "stored_at = stored_at + 4096",
        "expires_at = 5", "expires_at = NULL", "metadata = '{}'", "http = NULL", "content = 77", "width = 9",
        "name = x'0000000000000000000000000000000000000000000000000000000000000000'", "extension = 'gif'",
        "modified = modified + 1", "mark = 1", "life = 7", "format = 'gif'", "lifetime = 3", "identifier = 'x'",
    ])
    func aDamagedEntryIsPutRight(_ change: String) throws {
        let first = try filled()
        IndexFile.execute("UPDATE entries SET \(change) WHERE key = 'http://h/2.png'", first.index)
        let disk = try first.reopened()
        disk.disk.checkIndex()
        try expectAll(disk)
        #expect(try disk.record("http://h/2.png")?.expiresAt != nil)
    }
}
