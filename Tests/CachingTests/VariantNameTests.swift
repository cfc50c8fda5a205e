import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A key that reads like the text of another key's variant is another entry than that.
@Suite struct VariantNameTests {
    private let identifier = "resize.1(width=10,mode=none,upscale=true)"
    private let picture = hollowPNG(width: 1)
    private let made = hollowPNG(width: 2)
    private var bare: String { "K@" + identifier }

    private func check(_ disk: TestDisk) throws {
        #expect(try disk.bytes(bare) == picture && disk.bytes("K", identifier: identifier) == made)
        #expect(try disk.disk.inspect(CacheKey(bare))?.processorIdentifier == "")
        #expect(try disk.disk.inspect(CacheKey("K", identifier: identifier))?.key == "K")
        let listed = try disk.disk.list(ListQuery()).entries.map { "\($0.key ?? "-") \($0.processorIdentifier)" }
        #expect(listed.sorted() == ["K \(identifier)", "\(bare) "])
        #expect(try disk.check().isClean && disk.disk.totals().count == 2)
    }

    private func lose(_ disk: TestDisk, _ names: [String]) throws -> TestDisk {
        disk.disk.close()
        for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] + names { unlink(disk.root + "/" + name) }
        return try disk.reopened()
    }

    /// A folder that an older version wrote: the key has the file that its variant's text names.
    private func older() throws -> TestDisk {
        let disk = try TestDisk()
        try disk.store(picture, "K", identifier: identifier)
        disk.disk.close()
        IndexFile.execute(
            "UPDATE entries SET key = '\(bare)', identifier = '', mark = NULL, life = NULL, metadata = '{\"a\":1}'",
            disk.index)
        unlink(disk.root + "/entries.log")
        return try disk.reopened()
    }

    @Test func textsOfKeysAndVariantsAreAllDifferent() {
        let long = "K@a.1(b=c)|>frame.1(number=0)"
        let keys = [bare, bare + "@", bare + "@@", long, "x" + bare, "K", identifier].map { CacheKey($0) }
        let variants = [
            ("K", identifier), ("K", "a.1(b=c)|>frame.1(number=0)"), ("xK", identifier), (bare, identifier),
        ]
        .map { CacheKey($0, identifier: $1) }
        #expect(Set((keys + variants).map(\.computed)).count == keys.count + variants.count)
        for plain in ["K", "http://me@host/a_(1)", "a@2x.png", "a@b.c(d)", "a@1.1(d)", "@.1()", "K@a.1(b=c).png", ")"] {
            #expect(CacheKey(plain).computed == plain)
        }
    }

    @Test(arguments: [DiskStorage.FileNames.sha256, .md5], [false, true])
    func eachHasItsOwnFile(_ names: DiskStorage.FileNames, _ isVariantFirst: Bool) throws {
        let disk = try TestDisk { $0.fileNames = names }
        if isVariantFirst { try disk.store(made, "K", identifier: identifier) }
        try disk.store(picture, bare)
        #expect(try (disk.record("K", identifier: identifier) != nil) == isVariantFirst)
        if !isVariantFirst { try disk.store(made, "K", identifier: identifier) }
        try check(disk)
        try check(disk.reopened { $0.fileNames = names })
        #expect(try disk.disk.remove(CacheKey("K", identifier: identifier)).count == 1)
        #expect(try disk.bytes(bare) == picture && disk.record("K", identifier: identifier) == nil)
        try disk.store(made, "K", identifier: identifier)
        #expect(try disk.disk.remove(CacheKey(bare)).count == 1)
        #expect(try disk.record(bare) == nil && disk.bytes("K", identifier: identifier) == made)
    }

    @Test(arguments: [[], ["entries.log"]])
    func theyAreToldApartWhenTheIndexWasLost(_ names: [String]) throws {
        let disk = try TestDisk()
        try disk.store(picture, bare)
        try disk.store(made, "K", identifier: identifier)
        try check(lose(disk, names))
        let other = try lose(disk, names)
        other.disk.repairer.adoptAll()
        try check(other)
    }

    @Test(arguments: [[], ["entries.log"]])
    func whatIsThereAloneIsNotTakenForTheOther(_ names: [String]) throws {
        let first = try TestDisk()
        try first.store(made, "K", identifier: identifier)
        let one = try lose(first, names)
        #expect(try one.record(bare) == nil && one.bytes("K", identifier: identifier) == made)
        let second = try TestDisk()
        try second.store(picture, bare)
        let other = try lose(second, names)
        #expect(try other.record("K", identifier: identifier) == nil && other.bytes(bare) == picture)
    }

    @Test func entryOfAnOlderVersionUnderTheNameOfAnotherIsAnsweredToNeitherAndGivesWay() throws {
        let disk = try older()
        #expect(try disk.record(bare) == nil && disk.record("K", identifier: identifier) == nil)
        #expect(try disk.put(made, "K", identifier: identifier) { $0.overwrites = false }.isNew)
        try disk.store(picture, bare)
        try check(disk)
        #expect(disk.blobs.count == 2)
    }

    @Test func theEntriesOfUsersComeInTheOrderOfTheirStoresAlsoWithinASecond() throws {
        let disk = try TestDisk()
        let users = ["a", "b", "c"].map {
            CacheKey("K", indexedIdentifier: "user.1(\(String(repeating: $0, count: 32)))")
        }
        var (last, width) = (0, 0)
        for user in [users[1], users[0], users[2]] {
            // Until the clock of the file system has gone on.
            var modified = last
            while modified == last {
                width += 1
                let bytes = hollowPNG(width: width)
                let header = try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
                let stored = try disk.disk.store(.bytes(bytes), StoreRequest(key: user, header: header))
                modified = stored.record.stamp?.modified ?? last
            }
            last = modified
        }
        #expect(try disk.disk.entriesOfUsers(CacheKey("K")) == [users[2], users[0], users[1]])
    }
}
