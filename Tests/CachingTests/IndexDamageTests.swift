import CSQLite
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// An index that is gone, cut off, garbage or of another version: nothing fails for ever.
@Suite struct IndexDamageTests {
    private func index(_ disk: TestDisk) -> String { disk.root + "/index.sqlite" }

    private func execute(_ sql: String, _ path: String) {
        var database: OpaquePointer?
        sqlite3_open(path, &database)
        sqlite3_busy_timeout(database, 10_000)
        #expect(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK, "\(sql)")
        sqlite3_close(database)
    }

    /// Every call answers, and what is stored from now on is found by this storage and the next.
    private func expectUsable(_ disk: TestDisk, _ what: String, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        for key in ["1", "2", "new"] {
            if let bytes = try disk.bytes(key) {
                #expect(bytes == hollowPNG(width: Int(key) ?? 0), "\(what)", sourceLocation: sourceLocation)
            }
        }
        _ = try disk.disk.totals()
        try disk.store(hollowPNG(width: 9), "new")
        #expect(try disk.bytes("new") == hollowPNG(width: 9), "\(what)", sourceLocation: sourceLocation)
        #expect(try disk.reopened().bytes("new") == hollowPNG(width: 9), "\(what)", sourceLocation: sourceLocation)
        #expect(try disk.disk.totals().count >= 1, "\(what)", sourceLocation: sourceLocation)
        #expect(try disk.disk.remove(CacheKey("new")).count == 1, "\(what)", sourceLocation: sourceLocation)
        _ = try disk.disk.removeAll()
        #expect(try disk.disk.totals() == CacheIndex.Totals(), "\(what)", sourceLocation: sourceLocation)
        #expect(disk.blobs.isEmpty, "\(what)", sourceLocation: sourceLocation)
    }

    /// A storage with two images whose index is a single file; closed, so that nothing of it is in memory.
    private func closedFolder() async throws -> TemporaryFolder {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "1")
        try disk.store(hollowPNG(width: 2), "2")
        try await eventually("nothing works on the index any more") { !disk.disk.index.isAdopting }
        execute("PRAGMA wal_checkpoint(TRUNCATE)", index(disk))
        return disk.folder
    }

    @Test(arguments: [0, 1, 15, 16, 100, 512, 4095, 4096, 4097, 8192, 12_288, 20_000])
    func truncatedIndexIsBegunAnewAfterARestart(_ count: Int) async throws {
        let folder = try await closedFolder()
        let path = folder.path + "/cache/index.sqlite"
        #expect(FileStamp(path: path)?.size ?? 0 > count)
        unlink(path + "-wal")
        unlink(path + "-shm")
        truncate(path, count)
        try expectUsable(TestDisk(folder: folder), "cut to \(count) bytes")
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func randomlyDamagedIndexNeverFailsForEver(_ seed: UInt64) async throws {
        let folder = try await closedFolder()
        let path = folder.path + "/cache/index.sqlite"
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var generator = SeededGenerator(seed: seed)
        switch seed % 3 {
        case 0: bytes = bytes.map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        case 1: bytes = zeros(bytes.count)
        default:
            for _ in 0..<200 {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
            }
        }
        overwrite(path, bytes)
        try expectUsable(TestDisk(folder: folder), "seed \(seed)")
    }

    @Test func indexDeletedUnderAnOpenStorageIsBegunAnew() async throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "1")
        try await eventually("nothing works on the index") { !disk.disk.index.isAdopting }
        for suffix in ["", "-wal", "-shm"] { unlink(index(disk) + suffix) }
        try expectUsable(disk, "deleted")
    }

    /// Another process may put the index aside at any time; its file is still open here, and can be read.
    @Test func whatIsStoredInTheNextIndexIsFoundByThoseThatHaveTheOneBeforeOpen() throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "1")
        guard case .found(let old) = try disk.disk.lookUp(CacheKey("1"), lease: 60) else {
            Issue.record("not found")
            return
        }
        #expect(rename(index(disk), index(disk) + ".damaged") == 0)
        for suffix in ["-wal", "-shm"] { unlink(index(disk) + suffix) }
        let other = try disk.reopened()
        try other.store(hollowPNG(width: 9), "1")
        #expect(old.path.map { access($0, F_OK) } == 0, "it is lent")
        #expect(try disk.bytes("1") == hollowPNG(width: 9))
        try disk.store(hollowPNG(width: 5), "1")
        #expect(try disk.bytes("1") == hollowPNG(width: 5))
        #expect(try other.bytes("1") == hollowPNG(width: 5))
    }

    @Test func indexTruncatedUnderAnOpenStorageIsBegunAnew() async throws {
        for count in [0, 100, 4096, 6000] {
            let disk = try TestDisk()
            try disk.store(hollowPNG(width: 1), "1")
            _ = try disk.record("1")
            try await eventually("nothing works on the index") { !disk.disk.index.isAdopting }
            execute("PRAGMA wal_checkpoint(TRUNCATE)", index(disk))
            truncate(index(disk), count)
            try expectUsable(disk, "cut to \(count) bytes while open")
        }
    }

    @Test(arguments: [0, 1, 99, 100, 4095, 4096], [false, true])
    func truncatedIndexIsVerifiedUnderAnOpenStorage(_ count: Int, isMerged: Bool) async throws {
        let disk = try TestDisk()
        for number in 1..<9 { try disk.store(hollowPNG(width: number), "\(number)") }
        _ = try disk.disk.verify(repairs: true)
        if isMerged { execute("PRAGMA wal_checkpoint(TRUNCATE)", index(disk)) }
        truncate(index(disk), count)
        _ = try disk.disk.verify(repairs: true)
        #expect(try disk.disk.verify(repairs: true).isClean)
        for number in 1..<9 { #expect(try disk.bytes("\(number)") == hollowPNG(width: number)) }
        #expect(try disk.disk.totals().count == 8)
    }

    @Test(arguments: [
        "DROP TABLE entries", "DROP TABLE totals",
        "DROP TABLE entries; CREATE TABLE entries(id INTEGER PRIMARY KEY, other TEXT)",
        "PRAGMA user_version = -5", "PRAGMA user_version = 0",
        "UPDATE entries SET name = 'x'", "UPDATE entries SET name = NULL, key = NULL",
        "UPDATE entries SET bytes = 'many'", "UPDATE entries SET key = hex(zeroblob(10000000))",
    ])
    func foreignIndexIsBegunAnew(_ sql: String) async throws {
        let folder = try await closedFolder()
        execute("PRAGMA ignore_check_constraints = 1;", folder.path + "/cache/index.sqlite")
        var database: OpaquePointer?
        sqlite3_open(folder.path + "/cache/index.sqlite", &database)
        sqlite3_exec(database, sql, nil, nil, nil)
        sqlite3_close(database)
        try expectUsable(TestDisk(folder: folder), sql)
    }

    @Test func somethingElseInTheIndexsPlaceIsMovedAway() throws {
        for kind in ["folder", "link", "fifo"] {
            let disk = try TestDisk()
            mkdir(disk.root, 0o700)
            switch kind {
            case "folder": mkdir(index(disk), 0o700)
            case "link": symlink(disk.folder.path + "/victim", index(disk))
            default: mkfifo(index(disk), 0o600)
            }
            try expectUsable(disk, kind)
            #expect(FileStamp(path: disk.folder.path + "/victim") == nil, "nothing is made outside")
        }
    }

    /// Numbers in the index are calculated with, and the extension becomes part of a path.
    @Test(arguments: [
        "stored_at = 9223372036854775807", "stored_at = -9223372036854775808", "lifetime = 9223372036854775807",
        "lifetime = -9223372036854775808", "expires_at = 9223372036854775807", "bytes = -1",
        "bytes = 9223372036854775807", "width = 0", "width = 9223372036854775807", "frames = -1",
        "modified = 9223372036854775807", "format = 'exe'", "extension = '/../../../victim'", "checksum = x''",
        "checksum = NULL, modified = 1", "used = 9223372036854775807", "allocated = 9223372036854775807",
    ])
    func plantedRowsAreMissesAndNeverTrap(_ change: String) async throws {
        let folder = try await closedFolder()
        overwrite(folder.path + "/victim", hollowPNG(width: 1))
        execute("DROP TRIGGER entry_changed; UPDATE entries SET \(change)", folder.path + "/cache/index.sqlite")
        let disk = try TestDisk(folder: folder)
        for extending in [ExpirationExtension.cacheTime, .expiration(.never), .expiration(.seconds(1e300))] {
            guard let record = try disk.record("1") else { continue }
            _ = record.use(at: disk.clock.seconds)
            record.extend(extending, at: disk.clock.seconds)
            disk.disk.touch(record, lease: 60)
            disk.disk.flushTouches()
            _ = try? disk.disk.data(of: record)
        }
        try disk.store(hollowPNG(width: 1), "1")
        #expect(try disk.bytes("1") == hollowPNG(width: 1))
        _ = try disk.disk.remove(CacheKey("2"))
        _ = try disk.disk.removeAll()
        #expect(FileStamp(path: folder.path + "/victim") != nil)
    }
}
