import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// The table of leases is a file that anybody may damage, and that outlives processes.
@Suite struct LeaseTableTests {
    private let picture = hollowPNG(width: 1, count: 1000)

    enum Damage: CaseIterable {
        case deleted, emptied, cutInTheHeader, cutInThePlaces, zeros, garbage, otherVersion, folder, danglingLink,
            unwritable
    }

    private func inflict(_ damage: Damage, on path: String) {
        switch damage {
        case .deleted: unlink(path)
        case .emptied: truncate(path, 0)
        case .cutInTheHeader: truncate(path, 9)
        case .cutInThePlaces: truncate(path, 5000)
        case .zeros: overwrite(path, zeros(1 << 18))
        case .garbage:
            var generator = SeededGenerator(seed: 1)
            overwrite(path, (0..<300_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        case .otherVersion: overwrite(path, [9], truncates: false)
        case .folder:
            unlink(path)
            mkdir(path, 0o700)
        case .danglingLink:
            unlink(path)
            symlink(path + ".nowhere", path)
        case .unwritable: chmod(path, 0)
        }
    }

    @Test(arguments: Damage.allCases)
    func damagedTableHarmsNothing(_ damage: Damage) throws {
        let folder = try TemporaryFolder()
        do {
            let disk = try TestDisk(folder: folder, small)
            try disk.store(picture, "a")
            try disk.lend("a", for: 60)
        }
        inflict(damage, on: folder.path + "/cache/leases/table")
        let disk = try TestDisk(folder: folder, small)
        #expect(try disk.bytes("a") == picture)
        // Our own leases hold, in memory if there can be no file.
        let path = try disk.lend("a", for: 60)
        try disk.store(hollowPNG(width: 2, count: 1000), "b")
        try disk.lend("b", for: 600)
        try disk.store(hollowPNG(width: 3, count: 1000), "c")
        #expect(try disk.record("a") == nil)
        try disk.expectKept(path, picture, for: 60)
        if damage == .folder || damage == .danglingLink { return }
        let isShared = try disk.reopened().disk.inspect(CacheKey("b"))?.leasedUntil != nil
        #expect(isShared || damage == .unwritable, "the table is whole again")
    }

    @Test func tableThatCouldNotBeOpenedIsTriedAgainAndTakesOverTheLeasesOfMeanwhile() throws {
        let disk = try TestDisk(small)
        try disk.store(picture, "a")
        let path = try disk.lend("a", for: 600)
        let table = disk.root + "/leases/table"
        rename(table, table + ".away")
        symlink(table + ".nowhere", table)
        let other = try TestDisk(folder: disk.folder, clock: disk.clock, small)
        try other.store(hollowPNG(width: 2, count: 1000), "b")
        let lentMeanwhile = try other.lend("b", for: 600)
        #expect(try other.disk.inspect(CacheKey("a"))?.leasedUntil == nil)
        rename(table + ".away", table)
        disk.wait(1)
        #expect(try other.disk.inspect(CacheKey("a"))?.leasedUntil != nil)
        #expect(try disk.disk.inspect(CacheKey("b"))?.leasedUntil != nil)
        for number in 3...6 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        #expect(content(path) == picture)
        #expect(content(lentMeanwhile) == hollowPNG(width: 2, count: 1000))
    }

    /// An older version's table is shorter, and its processes go on.
    @Test func aTableThatIsOnlyTooShortKeepsItsLeases() throws {
        let folder = try TemporaryFolder()
        let old = try TestDisk(folder: folder, small)
        try old.store(picture, "a")
        let path = try old.lend("a", for: 600)
        let mark = old.disk.lending.changeMark(of: 1)
        truncate(folder.path + "/cache/leases/table", 4096 + 4 * 65536)
        let disk = try TestDisk(folder: folder, clock: old.clock, small)
        #expect(try disk.disk.inspect(CacheKey("a"))?.leasedUntil != nil)
        for number in 2...6 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        #expect(content(path) == picture)
        #expect(disk.disk.lending.changeMark(of: 1) != mark, "who remembers an image asks the index once more")
    }

    /// Numbers that no lease would ever have do not keep files for a century, nor new leases from counting.
    @Test func absurdLeasesDoNotCount() throws {
        let folder = try TemporaryFolder()
        do {
            let disk = try TestDisk(folder: folder, clock: ManualClock(seconds: 5000))
            try disk.store(picture, "a")
            try disk.lend("a", for: 60)
        }
        overwrite(
            folder.path + "/cache/leases/table", [UInt8](repeating: 0xF0, count: 4 << 16), at: 4096, truncates: false)
        let disk = try TestDisk(folder: folder, clock: ManualClock(seconds: 6000), small)
        #expect(try disk.disk.inspect(CacheKey("a"))?.leasedUntil == nil)
        for number in 2...9 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        #expect(disk.blobs.count == 2, "nothing is kept")
        let path = try disk.lend("9", for: 60)
        try disk.lend("8", for: 60)
        try disk.store(hollowPNG(width: 10, count: 1000), "10")
        disk.wait(60)
        disk.disk.clean()
        #expect(content(path) == hollowPNG(width: 9, count: 1000), "a new lease counts")
    }

    @Test func leasesEndWithAStartOfTheMachine() throws {
        let before = try TestDisk(small)
        try before.store(picture, "a", expiration: .seconds(10))
        let path = try before.lend("a", for: 1e6)
        before.wait(11)
        let after = try before.restarted(small)
        #expect(try after.disk.inspect(CacheKey("a"))?.leasedUntil == nil)
        #expect(try after.disk.removeExpired().count == 1)
        #expect(content(path) == nil)
    }

    /// A process without /proc, or without a free descriptor for a moment, does not know which start it is.
    @Test(arguments: [(1, 0), (0, 1), (0, 0)])
    func leasesLastWhereTheStartOfTheMachineIsNotKnown(_ numbers: (lends: Int, looks: Int)) throws {
        let disk = try TestDisk(bootNumber: numbers.lends, small)
        try disk.store(picture, "a")
        let path = try disk.lend("a", for: 600)
        let other = try TestDisk(folder: disk.folder, clock: disk.clock, bootNumber: numbers.looks, small)
        for number in 2...6 { try other.store(hollowPNG(width: number, count: 1000), "\(number)") }
        for disk in [disk, other, try TestDisk(folder: disk.folder, clock: disk.clock, bootNumber: 1, small)] {
            #expect(try disk.disk.inspect(CacheKey("a"))?.leasedUntil != nil)
            #expect(content(path) == picture)
        }
        let later = try TestDisk(folder: disk.folder, clock: disk.clock, bootNumber: 2, small)
        #expect(try later.disk.inspect(CacheKey("a"))?.leasedUntil == nil, "the number is known by now, and another")
    }

    @Test func fileKeptUntilAMomentFarAwayIsNotKept() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a", expiration: .seconds(1))
        let path = try disk.lend("a", for: 60)
        disk.wait(2)
        _ = try disk.disk.removeExpired()
        IndexFile.execute("UPDATE lent SET until = 9000000000000000000", disk.index)
        disk.disk.clean()
        #expect(content(path) == picture, "the lease itself still holds")
        disk.wait(60)
        disk.disk.clean()
        #expect(content(path) == nil)
        #expect(try disk.check().isClean)
    }
}
