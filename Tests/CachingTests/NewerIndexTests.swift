import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// An index that a newer Halcyon wrote is left alone by this one, which says so.
@Suite struct NewerIndexTests {
    private static let next = IndexSchema.version + 1
    /// Makes an index of a version to come.
    private static let upgrade = """
        ALTER TABLE entries ADD COLUMN mood TEXT NOT NULL DEFAULT 'fine'; CREATE TABLE moods(id INTEGER PRIMARY KEY);
        PRAGMA user_version = \(next);
        """
    /// Takes that back.
    private static let downgrade = """
        DROP TABLE moods; ALTER TABLE entries DROP COLUMN mood; PRAGMA user_version = \(IndexSchema.version);
        """

    /// A cache with ten images, one of them expired, another made by a processor, and a draft that a dead writer left.
    private func filled() throws -> TestDisk {
        let disk = try TestDisk { $0.bytesLimit = 1_000_000 }
        for number in 1...9 { try disk.store(hollowPNG(width: number, count: 1000), "http://h/\(number).png") }
        try disk.store(hollowPNG(width: 10), "short", expiration: .seconds(10))
        try disk.store(hollowPNG(width: 11), "http://h/1.png", identifier: "blur")
        disk.wait(100)
        overwrite(disk.root + "/partial/draft", [1])
        setModified(disk.root + "/partial/draft", 1)
        return disk
    }

    private func state(_ disk: TestDisk) -> [String] {
        IndexFile.dump(disk.index) + disk.blobs.sorted() + disk.partials.sorted()
            + [String(decoding: content(disk.root + "/entries.log") ?? [], as: UTF8.self)]
    }

    private func expectRefusal(_ call: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) {
        do {
            try call()
            Issue.record("nothing was refused", sourceLocation: sourceLocation)
        } catch let error as ImageError {
            guard case .storageFailed(let reason, let hint, _) = error else {
                Issue.record("\(error)", sourceLocation: sourceLocation)
                return
            }
            #expect(reason.contains("version \(Self.next), made by a newer halcyon"), sourceLocation: sourceLocation)
            #expect(reason.contains("knows version \(IndexSchema.version)"), sourceLocation: sourceLocation)
            #expect(hint.contains("--cache-dir"), sourceLocation: sourceLocation)
            #expect(error.leavesStorageUnused, "images are answered all the same", sourceLocation: sourceLocation)
        } catch {
            Issue.record("\(error)", sourceLocation: sourceLocation)
        }
    }

    enum Call: CaseIterable {
        case lookUp, inspect, list, totals, verify, check, remove, removeExpired, removeAll, store, discard, clean,
            watch
        case limit
    }

    @Test(arguments: Call.allCases)
    func everyCallLeavesANewerIndexAlone(_ call: Call) throws {
        let first = try filled()
        first.disk.close()
        IndexFile.execute(Self.upgrade, first.index)
        let before = state(first)
        let disk = try first.reopened()
        let key = CacheKey("http://h/1.png")
        switch call {
        case .lookUp: expectRefusal { _ = try disk.record(key.key) }
        case .inspect: expectRefusal { _ = try disk.disk.inspect(key) }
        case .list: expectRefusal { _ = try disk.disk.list(ListQuery()) }
        case .totals: expectRefusal { _ = try disk.disk.totals() }
        case .verify: expectRefusal { _ = try disk.disk.verify(repairs: true) }
        case .check: expectRefusal { _ = try disk.check() }
        case .remove: expectRefusal { _ = try disk.disk.remove(key, allVariants: true) }
        case .removeExpired: expectRefusal { _ = try disk.disk.removeExpired() }
        case .removeAll: expectRefusal { _ = try disk.disk.removeAll() }
        case .store: expectRefusal { try disk.store(hollowPNG(width: 99), "new") }
        case .discard: expectRefusal { _ = try disk.disk.discard(key) }
        case .clean: disk.disk.clean()
        case .watch: disk.disk.checkIndex()
        case .limit: disk.disk.configure(DiskStorage.Configuration(folder: disk.root, bytesLimit: 2000))
        }
        disk.disk.close()
        #expect(state(first) == before)
        #expect(!FileManager.default.fileExists(atPath: disk.index + ".damaged"))
        // For the newer one, and after it for this one again, every image is there under its key.
        IndexFile.execute(Self.downgrade, disk.index)
        let after = try disk.reopened()
        #expect(try after.disk.list(ListQuery()).entries.compactMap(\.key).count == 10)
        for number in 1...9 {
            #expect(try after.bytes("http://h/\(number).png") == hollowPNG(width: number, count: 1000))
        }
    }

    @Test(arguments: Call.allCases)
    func aStorageAtWorkStopsWhenItsIndexIsUpgraded(_ call: Call) throws {
        let disk = try filled()
        let key = CacheKey("http://h/1.png")
        #expect(try disk.record(key.key) != nil)
        IndexFile.execute(Self.upgrade, disk.index)
        let before = state(disk)
        switch call {
        case .lookUp:
            // The lookup that comes upon the change, and those after it.
            for _ in 1...3 { expectRefusal { _ = try disk.record(key.key) } }
        case .store: for _ in 1...3 { expectRefusal { try disk.store(hollowPNG(width: 99), "new") } }
        case .remove: expectRefusal { _ = try disk.disk.remove(key, allVariants: true) }
        case .removeAll: expectRefusal { _ = try disk.disk.removeAll() }
        case .verify: expectRefusal { _ = try disk.disk.verify(repairs: true) }
        case .removeExpired: expectRefusal { _ = try disk.disk.removeExpired() }
        case .discard: expectRefusal { _ = try disk.disk.discard(key) }
        case .inspect: expectRefusal { _ = try disk.disk.inspect(key) }
        case .clean: disk.disk.clean()
        case .watch: disk.disk.checkIndex()
        case .limit: disk.disk.configure(DiskStorage.Configuration(folder: disk.root, bytesLimit: 2000))
        case .list, .totals, .check: break
        }
        disk.disk.flushTouches()
        #expect(state(disk) == before)
    }

    @Test func aStorageGoesOnWhenTheNewerIndexIsGone() throws {
        let disk = try filled()
        IndexFile.execute(Self.upgrade, disk.index)
        expectRefusal { try disk.store(hollowPNG(width: 99), "new") }
        IndexFile.execute(Self.downgrade, disk.index)
        try disk.store(hollowPNG(width: 99), "new")
        #expect(try disk.bytes("new") == hollowPNG(width: 99))
        #expect(try disk.bytes("http://h/1.png") == hollowPNG(width: 1, count: 1000))
    }

    /// One bit of the file is enough for it: the tables tell.
    @Test func aHigherNumberAloneIsDamage() async throws {
        let first = try filled()
        first.disk.close()
        IndexFile.execute("PRAGMA user_version = \(Self.next)", first.index)
        let disk = try first.reopened()
        _ = try disk.disk.verify(repairs: true)
        try await eventually("all are adopted") { !disk.disk.index.isAdopting }
        #expect(FileManager.default.fileExists(atPath: disk.index + ".damaged"))
        for number in 1...9 {
            #expect(try disk.bytes("http://h/\(number).png") == hollowPNG(width: number, count: 1000))
        }
        #expect(try disk.disk.inspect(CacheKey("http://h/2.png"))?.key == "http://h/2.png")
    }

    /// A record grows at its end: then an older program can still read it where the newer index is lost.
    @Test func recordsOfANewerVersionGiveTheKeysBack() throws {
        let first = try filled()
        let row = try #require(try first.disk.index.row(Digest(of: "http://h/1.png").rowNumber))
        var record = EntryRecord(row: row, metadata: "{}").bytes
        record += [7, 0, 0, 0, 0, 0, 0, 0]
        var log = EntryLog.header(base: 0)
        EntryLog.append(record, mark: EntryRecord.mark(of: record), to: &log)
        first.disk.close()
        for suffix in ["", "-wal", "-shm"] { unlink(first.index + suffix) }
        overwrite(first.root + "/entries.log", log)
        let disk = try first.reopened()
        _ = try disk.disk.verify(repairs: true)
        #expect(try disk.disk.list(ListQuery()).entries.compactMap(\.key) == ["http://h/1.png"])
        #expect(try disk.disk.inspect(CacheKey("http://h/1.png"))?.metadata == "{}")
        #expect(try disk.check().isClean)
    }
}

extension DiskStorage.Configuration {
    fileprivate init(folder: String, bytesLimit: Int) {
        self.init(folder: folder)
        self.bytesLimit = bytesLimit
    }
}
