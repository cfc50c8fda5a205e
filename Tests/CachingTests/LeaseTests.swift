import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A path that was handed out stays valid for its lease, whatever cleaning, limits or another process do; only who
/// removes or clears wins over it, and is told so.
@Suite struct LeaseTests {
    private let picture = hollowPNG(width: 1, count: 1000)

    @Test func evictionSparesALentImageAsLongAsOthersCanGo() throws {
        let disk = try TestDisk(small)
        try disk.store(picture, "lent")
        let path = try disk.lend("lent", for: 60)
        for number in 2...9 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        #expect(try disk.bytes("lent") == picture)
        #expect(content(path) == picture)
        #expect(try disk.disk.totals().bytes == 2000)
        disk.wait(62)
        try disk.store(hollowPNG(width: 10, count: 1000), "10")
        #expect(try disk.record("lent") == nil)
        #expect(content(path) == nil)
    }

    @Test func fileOfALentImageOutlivesItsEviction() throws {
        let disk = try TestDisk(small)
        try disk.store(picture, "1")
        try disk.store(hollowPNG(width: 2, count: 1000), "2")
        let path = try disk.lend("1", for: 60)
        try disk.lend("2", for: 600)
        try disk.store(hollowPNG(width: 3, count: 1000), "3")
        #expect(try disk.record("1") == nil, "the limit holds")
        #expect(try disk.disk.totals().bytes == 2000)
        #expect(disk.reports.keys(.sizeLimit) == ["1"])
        try disk.expectKept(path, picture, for: 60)
    }

    @Test func fileOfALentImageOutlivesItsEvictionByAnotherStorage() throws {
        let disk = try TestDisk { $0.bytesLimit = 0 }
        try disk.store(picture, "1")
        let path = try disk.lend("1", for: 60)
        let other = try disk.reopened { $0.bytesLimit = 1000 }
        try other.store(hollowPNG(width: 2, count: 1000), "2")
        #expect(try disk.record("1") == nil)
        #expect(try other.disk.totals().bytes == 1000)
        try other.expectKept(path, picture, for: 60)
    }

    @Test func fileOfALentImageOutlivesItsLife() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a", expiration: .seconds(10))
        let path = try disk.lend("a", for: 60)
        disk.wait(11)
        let other = try disk.reopened()
        #expect(try other.disk.removeExpired().map(\.key) == ["a"])
        #expect(try disk.record("a") == nil)
        #expect(try disk.disk.totals().count == 0)
        try disk.expectKept(path, picture, for: 49)
    }

    @Test func fileOfALentImageOutlivesItsReplacementUnderAnotherName() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        let path = try disk.lend("a", for: 60)
        try disk.store(hollowPNG(width: 2), "a", fileExtension: "img")
        #expect(try disk.path("a") != path)
        #expect(try disk.bytes("a") == hollowPNG(width: 2))
        try disk.expectKept(path, picture, for: 60)
        #expect(try disk.bytes("a") == hollowPNG(width: 2))
    }

    @Test(arguments: ["png", "", "img"])
    func fileOfALentImageOutlivesItsReplacementUnderTheSameExtension(_ text: String) throws {
        let disk = try TestDisk()
        try disk.store(picture, "a", fileExtension: text)
        let path = try disk.lend("a", for: 60)
        let other = try disk.reopened()
        let replaced = try #require(try other.store(hollowPNG(width: 2), "a", fileExtension: text).path)
        #expect(replaced != path && (text.isEmpty || replaced.hasSuffix("." + text)))
        for disk in [disk, other] {
            #expect(try disk.bytes("a") == hollowPNG(width: 2))
            #expect(try disk.path("a") == replaced)
        }
        try disk.expectKept(path, picture, for: 60)
        // Nobody has the old path any more, and nobody the new one: each has its own bytes to the end.
        let again = try #require(try disk.store(hollowPNG(width: 3), "a", fileExtension: text).path)
        #expect(again == path && content(path) == hollowPNG(width: 3) && content(replaced) == nil)
        #expect(try disk.store(hollowPNG(width: 4), "a", fileExtension: text).path == path)
        #expect(disk.blobs.count == 1)
    }

    @Test func lentPathsOfManyReplacementsEachKeepTheirBytes() throws {
        let disk = try TestDisk()
        var paths: [String] = []
        for width in 1...5 {
            try disk.store(hollowPNG(width: width), "a") { $0.lease = 60 }
            paths.append(try disk.path("a"))
        }
        #expect(Set(paths).count == 5)
        for (index, path) in paths.enumerated() { #expect(content(path) == hollowPNG(width: index + 1)) }
        #expect(try disk.check().isClean)
        disk.wait(62)
        disk.disk.clean()
        #expect(disk.blobs.count == 1)
        #expect(try disk.bytes("a") == hollowPNG(width: 5))
    }

    /// The lease of what a key has now keeps no file that it had before.
    @Test func fileThatWasReplacedGoesWhenItsOwnLeaseEndsHoweverMuchTheNewOneIsLent() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        let path = try disk.lend("a", for: 60)
        try disk.store(hollowPNG(width: 2), "a")
        for _ in 0..<7 {
            disk.wait(10)
            try disk.lend("a", for: 60)
            disk.disk.clean()
        }
        #expect(content(path) == nil && disk.blobs.count == 1)
        #expect(try disk.bytes("a") == hollowPNG(width: 2))
    }

    @Test func sameBytesUnderALentPathStayThere() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        let path = try disk.lend("a", for: 60)
        #expect(try disk.store(picture, "a").path == path && disk.blobs.count == 1)
        try disk.store(hollowPNG(width: 2), "a")
        let numbered = try disk.lend("a", for: 60)
        #expect(try disk.store(hollowPNG(width: 2), "a").path == numbered && disk.blobs.count == 2)
    }

    @Test(arguments: [false, true])
    func latestOfTwoFilesIsTheImageWhenTheIndexWasLost(_ isLogLost: Bool) throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        let path = try disk.lend("a", for: 60)
        try disk.store(hollowPNG(width: 2), "a")
        disk.disk.close()
        for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] + (isLogLost ? ["entries.log"] : []) {
            unlink(disk.root + "/" + name)
        }
        let other = try disk.reopened()
        #expect(try other.bytes("a") == hollowPNG(width: 2))
        #expect(content(path) == picture)
        other.disk.repairer.adoptAll()
        #expect(try other.bytes("a") == hollowPNG(width: 2))
    }

    /// The lost index knew of the files that its images had before.
    @Test func anImageIsRemovedWithItsLentFilesWhenTheIndexWasLost() throws {
        let disk = try TestDisk()
        for width in 1...3 {
            try disk.store(hollowPNG(width: width), "a")
            try disk.lend("a", for: 60)
        }
        #expect(disk.blobs.count == 3)
        disk.disk.close()
        for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] { unlink(disk.root + "/" + name) }
        let other = try disk.reopened()
        #expect(try other.disk.remove(CacheKey("a")).count == 1)
        other.disk.repairer.adoptAll()
        #expect(try other.record("a") == nil)
        #expect(other.blobs.isEmpty)
    }

    /// The file that waits for its lease keeps its name and its bytes until then.
    @Test func replacementUnderTheOldNameLeavesTheWaitingFileAsItIs() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        let path = try disk.lend("a", for: 60)
        try disk.store(hollowPNG(width: 2), "a", fileExtension: "img")
        try disk.store(hollowPNG(width: 3), "a")
        #expect(content(path) == picture)
        #expect(try disk.check().isClean)
        disk.wait(100)
        disk.disk.clean()
        #expect(try disk.bytes("a") == hollowPNG(width: 3))
        #expect(disk.blobs.count == 1)
        #expect(try disk.disk.totals().lent == 0)
    }

    @Test func leasesOutliveTheRemovalOfTheirFile() throws {
        let disk = try TestDisk { $0.bytesLimit = 1000 }
        try disk.store(hollowPNG(width: 1, count: 400), "a")
        let path = try disk.lend("a", for: 60)
        unlink(disk.root + "/leases/table")
        disk.wait(2)
        // It goes on in a file that others find.
        try disk.lend("a", for: 1)
        let other = try disk.reopened { $0.bytesLimit = 1000 }
        for number in 2...6 { try other.store(hollowPNG(width: number, count: 400), "\(number)") }
        #expect(content(path) == hollowPNG(width: 1, count: 400))
    }

    @Test func theLongerLeaseWins() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a", expiration: .seconds(1))
        let path = try disk.lend("a", for: 600)
        try disk.lend("a", for: 10)
        try disk.reopened().lend("a", for: 0.5)
        disk.wait(100)
        disk.disk.clean()
        try disk.expectKept(path, picture, for: 500)
    }

    @Test func leaseBeginsWithTheStore() throws {
        let disk = try TestDisk(small)
        let path = try #require(try disk.store(picture, "a") { $0.lease = 60 }.path)
        for number in 2...3 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") { $0.lease = 60 } }
        #expect(content(path) == picture)
    }

    /// Otherwise one lease would keep all files of its image, and the bytes of only one of them would count.
    @Test func eachFileOfAnImageHasALeaseOfItsOwn() throws {
        let disk = try TestDisk()
        let lent = try ["png", "img", "png"].enumerated().map { number, fileExtension in
            let bytes = hollowPNG(width: 1 + number, count: 1000)
            let record = try disk.store(bytes, "a", fileExtension: fileExtension) { $0.lease = 60 }
            return (path: try #require(record.path), bytes: bytes)
        }
        #expect(disk.disk.lending.lentBytes == 3000)
        let path = try #require(try disk.store(hollowPNG(width: 4, count: 1000), "a", fileExtension: "png").path)
        try disk.store(hollowPNG(width: 5, count: 1000), "a", fileExtension: "png")
        #expect(content(path) == hollowPNG(width: 5, count: 1000), "what is not lent is replaced in its place")
        try disk.disk.evictor.evict(to: 0)
        #expect(content(path) == nil)
        #expect(lent.allSatisfy { content($0.path) == $0.bytes })
        #expect(try disk.disk.remove(CacheKey("a")).leased == 3)
        #expect(disk.disk.lending.lentBytes == 0 && disk.blobs.isEmpty)
    }

    /// A new lease of the key may keep the old file, too; its bytes count once.
    @Test func leaseThatIsProlongedAfterAReplacementCountsItsFileOnce() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        try disk.lend("a", for: 60)
        try disk.store(hollowPNG(width: 2), "a", fileExtension: "img")
        for _ in 0..<3 {
            disk.wait(50)
            try disk.lend("a", for: 60)
            disk.disk.clean()
            #expect(try disk.disk.totals().lent <= 1000)
            #expect(try disk.check().isClean)
        }
        disk.wait(100)
        disk.disk.clean()
        #expect(try disk.disk.totals().lent == 0)
        #expect(disk.blobs.count == 1)
    }

    // MARK: Who wins

    @Test func removingALentImageSaysSoAndTakesTheFile() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        try disk.store(picture, "b")
        let path = try disk.lend("a", for: 60)
        #expect(try disk.reopened().disk.remove(CacheKey("a")) == .init(count: 1, bytes: 1000, leased: 1))
        #expect(content(path) == nil)
        #expect(try disk.disk.remove(CacheKey("b")).leased == 0)
    }

    @Test func removingAnImageWhoseOldFileIsLentSaysSoAndTakesBoth() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a", identifier: "blur")
        disk.disk.lend(try #require(try disk.record("a", identifier: "blur")), for: 60)
        try disk.store(hollowPNG(width: 2), "a", identifier: "blur", fileExtension: "img")
        #expect(disk.blobs.count == 2)
        #expect(try disk.disk.remove(CacheKey("a"), allVariants: true).leased > 0)
        #expect(disk.blobs.isEmpty, "that of a variant as well")
        #expect(try disk.disk.totals() == .init())
    }

    @Test func removingWhatWasEvictedWhileLentSaysSoAndTakesTheFile() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a", expiration: .seconds(1))
        let path = try disk.lend("a", for: 60)
        disk.wait(2)
        #expect(try disk.disk.removeExpired().count == 1)
        #expect(try disk.disk.remove(CacheKey("a")) == .init(count: 0, bytes: 0, leased: 1))
        #expect(content(path) == nil)
        #expect(try disk.check().isClean)
    }

    @Test func clearingLeavesNothingThatCountsAsLent() throws {
        let disk = try TestDisk { $0.bytesLimit = 4000 }
        for number in 1...2 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") { $0.lease = 60 } }
        _ = try disk.disk.removeAll()
        #expect(try disk.store(picture, "3") { $0.lease = 60 }.isLent)
        #expect(disk.disk.lending.lentBytes == 1000)
    }

    @Test func clearingTakesLentFilesAndSaysHowMany() throws {
        let disk = try TestDisk()
        for number in 1...5 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        let paths = try ["1", "2"].map { try disk.lend($0, for: 60) }
        #expect(try disk.disk.removeAll() == .init(count: 5, bytes: 5000, leased: 2))
        #expect(paths.compactMap(content).isEmpty)
        #expect(disk.blobs.isEmpty)
    }

    @Test func clearingCountsTheFilesThatOutlivedTheirEntries() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a", expiration: .seconds(1))
        let path = try disk.lend("a", for: 60)
        disk.wait(2)
        _ = try disk.disk.removeExpired()
        #expect(try disk.disk.removeAll() == .init(count: 0, bytes: 0, leased: 1))
        #expect(content(path) == nil)
        #expect(try disk.disk.totals() == .init())
    }

    @Test func clearingDoesNotCountLeasesOfWhatIsGone() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        try disk.lend("a", for: 60)
        _ = try disk.disk.remove(CacheKey("a"))
        try disk.store(hollowPNG(width: 2), "b")
        #expect(try disk.disk.removeAll().leased == 0)
    }

    // MARK: Beside the entries

    /// Lends a new file of a thousand bytes; `nil` when it is refused.
    private func lendFile(_ disk: TestDisk, in folder: String? = nil) throws -> String? {
        let source = "\(folder ?? disk.folder.path)/source-\(getpid())"
        overwrite(source, picture)
        defer { unlink(source) }
        let share = disk.disk.lentShare.load(ordering: .relaxed)
        return try disk.disk.lending.lend(beside: source, bytes: picture.count, "", for: 60, share: share)
    }

    @Test func filesBesideTheEntriesAreLentWithinTheShareAndGoWithTheNextOne() throws {
        let disk = try TestDisk { $0.bytesLimit = 3000 }
        let lent = try [lendFile(disk), lendFile(disk)].map { try #require($0) }
        #expect(try lendFile(disk) == nil, "the second one has gone beyond the share")
        try disk.store(picture, "a")
        let record = try #require(try disk.record("a"))
        disk.disk.lend(record, for: 60)
        #expect(!record.isLent, "the share is that of all")
        #expect(disk.disk.folder.bytesLentBeside == 2000)
        #expect(lent.allSatisfy { content($0) == picture })
        disk.wait(62)
        #expect(try lendFile(disk) != nil)
        #expect(lent.allSatisfy { content($0) == nil })
        #expect(disk.partials.count == 1)
    }

    /// Memory is another file system than that of the test's folder, as a rule.
    @Test func aFileThatCannotBeLinkedIsCopied() throws {
        let disk = try TestDisk()
        let path = try #require(try lendFile(disk, in: "/dev/shm"))
        #expect(content(path) == picture)
        #expect(disk.partials.count == 1)
    }
}

extension TestDisk {
    /// The entry at that path is gone, the file is there until its lease ends, and then cleaning takes it.
    func expectKept(_ path: String, _ bytes: [UInt8], for seconds: Double) throws {
        #expect(content(path) == bytes)
        #expect(try disk.totals().lent == bytes.count)
        wait(seconds)
        disk.clean()
        #expect(content(path) == bytes, "to the last second")
        #expect(try check().isClean)
        wait(2)
        disk.clean()
        #expect(content(path) == nil, "and no longer")
        #expect(try disk.totals().lent == 0)
        #expect(try check().isClean)
        #expect(try disk.totals().bytes == bytesInBlobs)
    }
}
