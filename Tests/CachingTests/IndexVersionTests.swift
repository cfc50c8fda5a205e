import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// An index that an older Halcyon wrote is read at once, with all that it knows.
@Suite struct IndexVersionTests {
    private static let first = """
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY, name BLOB NOT NULL, key TEXT NOT NULL, identifier TEXT NOT NULL, extension TEXT NOT NULL,
            format TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, frames INTEGER NOT NULL,
            bytes INTEGER NOT NULL, allocated INTEGER NOT NULL, checksum BLOB, url TEXT, etag TEXT, last_modified TEXT,
            stored_at INTEGER NOT NULL, expires_at INTEGER, lifetime INTEGER, modified INTEGER NOT NULL,
            used INTEGER NOT NULL);
        CREATE INDEX entries_used ON entries(used);
        CREATE INDEX entries_variants ON entries(key) WHERE identifier <> '';
        CREATE TABLE totals(
            count INTEGER NOT NULL, bytes INTEGER NOT NULL, allocated INTEGER NOT NULL, adopting INTEGER NOT NULL);
        INSERT INTO totals SELECT 0, 0, 0, 0;
        CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN
            UPDATE totals SET count = count + 1, bytes = bytes + new.bytes, allocated = allocated + new.allocated;
        END;
        CREATE TRIGGER entry_removed AFTER DELETE ON entries BEGIN
            UPDATE totals SET count = count - 1, bytes = bytes - old.bytes, allocated = allocated - old.allocated;
        END;
        CREATE TRIGGER entry_changed AFTER UPDATE OF bytes, allocated ON entries BEGIN
            UPDATE totals SET bytes = bytes - old.bytes + new.bytes, allocated = allocated - old.allocated + new.allocated;
        END;
        PRAGMA user_version = 1;
        """

    /// Makes an index of the fifth version, which did not know how images are displayed.
    private static let asFifth = """
        ALTER TABLE entries DROP COLUMN orientation; ALTER TABLE entries DROP COLUMN alpha; PRAGMA user_version = 5;
        """

    /// Makes an index of the fourth version, which had no marks.
    private static let asFourth = """
        \(asFifth) ALTER TABLE entries DROP COLUMN mark; ALTER TABLE entries DROP COLUMN life;
        ALTER TABLE totals DROP COLUMN unproven_from; ALTER TABLE totals DROP COLUMN unproven_to; PRAGMA user_version = 4;
        """

    /// Makes an index of the third version, which kept the facts in the column `http`.
    private static let asThird = """
        \(asFourth) ALTER TABLE entries DROP COLUMN preview; ALTER TABLE entries DROP COLUMN timing;
        ALTER TABLE entries DROP COLUMN source; ALTER TABLE entries DROP COLUMN exact;
        ALTER TABLE entries DROP COLUMN verdict; PRAGMA user_version = 3;
        """

    /// Makes an index of the second version, which did not have the column `http` yet.
    private static let asSecond = asThird + "ALTER TABLE entries DROP COLUMN http; PRAGMA user_version = 2;"

    private static let columns = """
        id, name, key, identifier, extension, format, width, height, frames, bytes, allocated, checksum, url, etag, \
        last_modified, stored_at, expires_at, lifetime, modified, used
        """

    private static let query = "SELECT hex(name), \(columns.dropFirst(10)) FROM entries ORDER BY id"

    /// A folder with ten images and a variant, and an index of the first version.
    private func oldFolder() throws -> (disk: TestDisk, rows: [String]) {
        let disk = try TestDisk()
        for number in 1...10 {
            try disk.store(hollowPNG(width: number, count: 100 * number), "http://h\(number % 2)/\(number).png") {
                $0.origin = ImageOrigin(
                    url: "http://h\(number % 2)/é\(number)", etag: "\"\(number)\"", lastModified: "x")
            }
        }
        try disk.store(hollowPNG(width: 11), "http://h1/1.png", identifier: "blur", expiration: .never)
        try disk.store(hollowPNG(width: 12), "short", expiration: .seconds(10))
        // The least recently used is the second.
        disk.wait(100)
        disk.disk.touch(try #require(try disk.record("http://h1/1.png")), lease: 0)
        disk.disk.flushTouches()
        let old = disk.root + "/old.sqlite"
        IndexFile.execute(
            """
            PRAGMA journal_mode = WAL; \(Self.first)
            ATTACH '\(disk.index)' AS new; INSERT INTO entries SELECT \(Self.columns) FROM new.entries;
            """, old)
        for suffix in ["", "-wal", "-shm"] { unlink(disk.index + suffix) }
        rename(old, disk.index)
        for suffix in ["-wal", "-shm"] { unlink(old + suffix) }
        return (try disk.reopened(), IndexFile.rows(Self.query, disk.index))
    }

    enum First: CaseIterable {
        case lookUp, inspect, list, totals, verify, check, remove, removeExpired, store, data, clean
    }

    @Test(arguments: First.allCases)
    func everyCallReadsAnOlderIndexAtOnce(_ call: First) throws {
        let (disk, rows) = try oldFolder()
        #expect(rows.count == 12)
        let key = CacheKey("http://h1/3.png")
        switch call {
        case .lookUp: #expect(try disk.record(key.key)?.etag == "\"3\"")
        case .inspect: #expect(try disk.disk.inspect(key)?.header.width == 3)
        case .list: #expect(try disk.disk.list(ListQuery()).entries.count == 11)
        case .totals: #expect(try disk.disk.totals().count == 12)
        case .verify: #expect(try disk.disk.verify(repairs: true).checked == 12)
        case .check: #expect(try disk.check().checked == 12)
        case .remove: #expect(try disk.disk.remove(CacheKey("http://h1/1.png"), allVariants: true).count == 2)
        case .removeExpired: #expect(try disk.disk.removeExpired().map(\.key) == ["short"])
        case .store: try disk.store(hollowPNG(width: 99), "new")
        case .data: #expect(try disk.bytes(key.key) == hollowPNG(width: 3, count: 300))
        case .clean: disk.disk.clean()
        }
        #expect(try disk.bytes(key.key) == hollowPNG(width: 3, count: 300))
        #expect(try disk.check().isClean)
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs)
        #expect(try disk.disk.totals().count == disk.blobs.count)
        #expect(IndexFile.rows("PRAGMA user_version", disk.index) == ["\(IndexSchema.version)"])
    }

    @Test func nothingThatTheOlderIndexKnewIsLost() throws {
        let (disk, rows) = try oldFolder()
        #expect(try disk.record("http://h1/1.png") != nil)
        #expect(IndexFile.rows(Self.query, disk.index) == rows)
        #expect(disk.disk.index.isAdopting == false)
        #expect(!FileManager.default.fileExists(atPath: disk.index + ".damaged"))
        #expect(try disk.record("http://h1/1.png", identifier: "blur")?.expiresAt == nil)
        let details = try #require(try disk.disk.inspect(CacheKey("http://h0/4.png")))
        #expect(details.origin == ImageOrigin(url: "http://h0/é4", etag: "\"4\"", lastModified: "x"))
        #expect(details.sharers == 1)
        #expect(details.usedAt == details.storedAt, "the time of use was not kept")
        #expect(try disk.check().isClean)
    }

    /// How fresh an image is was not kept then, and nothing else is lost.
    @Test(arguments: First.allCases)
    func indexOfTheSecondVersionIsReadAtOnce(_ call: First) throws {
        let before = try TestDisk()
        for number in 1...10 {
            try before.store(hollowPNG(width: number, count: 100 * number), "\(number)") {
                $0.origin = ImageOrigin(url: "http://h/\(number)", etag: "\"\(number)\"")
                $0.origin.http = "r5"
                $0.metadata = "{\"n\":\(number)}"
            }
        }
        try before.store(hollowPNG(width: 12), "short", expiration: .seconds(10))
        before.wait(100)
        before.disk.close()
        IndexFile.execute(Self.asSecond, before.index)
        let query = "SELECT \(Self.columns), content, host, metadata, used_at FROM entries ORDER BY id"
        let rows = IndexFile.rows(query, before.index)
        #expect(rows.count == 11)
        let disk = try before.reopened()
        let key = CacheKey("3")
        switch call {
        case .lookUp: #expect(try disk.record("3")?.etag == "\"3\"")
        case .inspect: #expect(try disk.disk.inspect(key)?.metadata == "{\"n\":3}")
        case .list: #expect(try disk.disk.list(ListQuery()).entries.count == 10)
        case .totals: #expect(try disk.disk.totals().count == 11)
        case .verify: #expect(try disk.disk.verify(repairs: true).checked == 11)
        case .check: #expect(try disk.check().checked == 11)
        case .remove: #expect(try disk.disk.remove(CacheKey("1")).count == 1)
        case .removeExpired: #expect(try disk.disk.removeExpired().map(\.key) == ["short"])
        case .store: try disk.store(hollowPNG(width: 99), "new")
        case .data: #expect(try disk.bytes("3") == hollowPNG(width: 3, count: 300))
        case .clean: disk.disk.clean()
        }
        let record = try #require(try disk.record("3"))
        #expect(record.etag == "\"3\"" && record.answer == nil)
        #expect(try disk.bytes("3") == hollowPNG(width: 3, count: 300))
        #expect(disk.disk.index.isAdopting == false)
        #expect(!FileManager.default.fileExists(atPath: disk.index + ".damaged"))
        #expect(try disk.check().isClean)
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs)
        #expect(IndexFile.rows("PRAGMA user_version", disk.index) == ["\(IndexSchema.version)"])
        if [.lookUp, .inspect, .list, .totals, .check, .data].contains(call) {
            #expect(IndexFile.rows(query, disk.index) == rows)
        }
    }

    @Test func anEntryOfTheFifthVersionIsAsItWasWrittenButForHowItIsDisplayed() throws {
        let before = try TestDisk()
        try before.store(hollowPNG(width: 7), "a")
        #expect(try before.record("a")?.header.orientation == 1)
        let row = try #require(try before.disk.index.row(Digest(of: "a").rowNumber))
        before.disk.close()
        var older = row
        older.header = try ImageHeader(.png, 7, 1)
        let mark = EntryRecord(row: older, metadata: nil).mark
        IndexFile.execute(Self.asFifth + "UPDATE entries SET mark = \(mark);", before.index)
        unlink(before.root + "/entries.log")
        let disk = try before.reopened()
        let header = try #require(try disk.record("a")?.header)
        #expect(header.orientation == nil && header.hasAlpha == nil && header == row.header)
        #expect(try disk.disk.index.details(row.number)?.isIntact == true)
        #expect(try disk.check().isClean)
        // What is stored now is known, also when only the log of the entries is left.
        try disk.store(hollowPNG(width: 8), "b")
        disk.disk.close()
        for suffix in ["", "-wal", "-shm"] { unlink(disk.index + suffix) }
        let mended = try disk.reopened()
        _ = try mended.disk.verify(repairs: true)
        let found = try #require(try mended.record("b")?.header)
        #expect(found.orientation == 1 && found.hasAlpha == false)
    }

    /// The third version kept the facts about an image as lines behind its server's answer.
    @Test(
        arguments: [
            (nil, nil, ImageFacts()), ("r5\na0\nd5\ncmax-age=9", "r5\na0\nd5\ncmax-age=9", ImageFacts()),
            ("t#0a0b0c AbC/", nil, ImageFacts(preview: "#0a0b0c AbC/")),
            ("r5\nf0 100x3\nksound", "r5", ImageFacts(timing: FrameTiming(text: "0 100x3"), verdict: .sound)),
            (
                "r5\nett\nu-\nm12.34.56\nxpng\nkdamaged\nt#fff x\nf1 20x2,40", "r5\nett\nu-",
                ImageFacts(
                    preview: "#fff x", timing: FrameTiming(text: "1 20x2,40"), sourceMark: "12.34.56",
                    exactSource: .png,
                    verdict: .damaged)
            ),
            ("m1\nxnonsense\nknonsense\nfnonsense", nil, ImageFacts(sourceMark: "1")),
        ] as [(String?, String?, ImageFacts)])
    func factsOfTheThirdVersionBecomeColumns(_ text: String?, _ http: String?, _ facts: ImageFacts) throws {
        let before = try TestDisk()
        try before.store(hollowPNG(width: 1), "a") { $0.origin = ImageOrigin(url: "http://h/a", etag: "\"1\"") }
        try before.store(hollowPNG(width: 2), "b")
        before.disk.close()
        let value = text.map { "'\($0)'" } ?? "NULL"
        IndexFile.execute(Self.asThird + "UPDATE entries SET http = \(value) WHERE key = 'a';", before.index)
        let disk = try before.reopened()
        let record = try #require(try disk.record("a"))
        #expect(record.etag == "\"1\"" && record.origin.http == http && record.origin.facts == facts)
        #expect(try disk.bytes("a") == hollowPNG(width: 1))
        #expect(try disk.record("b")?.origin == ImageOrigin())
        #expect(disk.disk.index.isAdopting == false)
        #expect(!FileManager.default.fileExists(atPath: disk.index + ".damaged"))
        #expect(IndexFile.rows("PRAGMA user_version", disk.index) == ["\(IndexSchema.version)"])
        // They are written as they are read.
        var origin = record.origin
        origin.facts.verdict = .sound
        #expect(try disk.disk.note(origin, of: record)?.origin == origin)
        #expect(try disk.reopened().record("a")?.origin == origin)
        #expect(try disk.check().isClean)
    }

    @Test func orderOfUseOutlivesTheUpgrade() throws {
        let (disk, _) = try oldFolder()
        try disk.disk.evictor.evict(to: try disk.disk.totals().bytes - 1)
        #expect(disk.reports.keys(.sizeLimit) == ["http://h0/2.png"])
    }

    @Test func equalBytesOfAnOlderIndexStayApartUntilTheyAreStoredAnew() throws {
        let (disk, _) = try oldFolder()
        let picture = hollowPNG(width: 3, count: 300)
        try disk.store(picture, "twin")
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs)
        try disk.store(picture, "third")
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs)
        #expect(try disk.check().isClean)
    }

    @Test func totalsRowThatIsGoneIsPutBack() throws {
        let disk = try TestDisk()
        for number in 1...5 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        IndexFile.execute("DELETE FROM totals", disk.index)
        let after = try disk.reopened()
        _ = try after.disk.totals()
        #expect(try after.bytes("1") == hollowPNG(width: 1, count: 1000))
        try after.store(hollowPNG(width: 6, count: 1000), "6")
        #expect(try after.disk.verify(repairs: true).corrected <= 1)
        #expect(try after.disk.totals().count == 6)
        #expect(try after.disk.totals().bytes == 6000)
        #expect(try after.check().isClean)
    }

    /// Another process has just made the file, and not yet the tables; or the file is garbage.
    @Test(arguments: [[], ascii("garbage"), zeros(5000)])
    func surveysOfAnIndexThatIsNoneYetDoNotFail(_ bytes: [UInt8]) throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "a")
        for suffix in ["", "-wal", "-shm"] { unlink(disk.index + suffix) }
        overwrite(disk.index, bytes)
        let after = try disk.reopened()
        // The image may have been adopted by now, or not.
        #expect(try after.disk.list(ListQuery()).entries.count <= 1)
        #expect(try after.disk.inspect(CacheKey("b")) == nil)
        _ = try after.check()
        after.disk.clean()
        #expect(try after.disk.verify(repairs: true).damaged == 0)
        #expect(try after.bytes("a") == hollowPNG(width: 1))
        #expect(try after.disk.list(ListQuery()).entries.count == 1)
    }
}
