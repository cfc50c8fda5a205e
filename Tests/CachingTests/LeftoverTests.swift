import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What a killed writer leaves is brought to where it was before; what a living one writes is its own.
@Suite struct LeftoverTests {
    private let old = hollowPNG(width: 1, count: 1000)
    private let new = hollowPNG(width: 2, count: 2000)
    private let session = "4242-killed"

    /// The name under which a killed process was writing an image.
    private func draft(_ disk: TestDisk, _ key: String, _ fileExtension: String = "png") throws -> String {
        overwrite("\(disk.root)/leases/\(session).session", [])
        let fileName = StorageFolder.fileName(disk.disk.name(of: CacheKey(key)).hex, fileExtension)
        return "\(disk.root)/partial/\(fileName)~\(session)~1"
    }

    private func expectClean(_ disk: TestDisk, _ what: String = "") throws {
        #expect(disk.partials.isEmpty, "\(what)")
        #expect(!disk.folder.files.contains { $0.contains(session) }, "\(what)")
        #expect(try disk.check().isClean, "\(what)")
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs, "\(what)")
        #expect(try disk.disk.totals().count == disk.blobs.count, "\(what)")
    }

    @Test func draftsOfADeadWriterGoAtOnce() throws {
        let disk = try TestDisk()
        try disk.store(old, "a")
        overwrite(try draft(disk, "b"), new)
        overwrite(try draft(disk, "b") + "1", [1, 2, 3])
        overwrite("\(disk.root)/partial/body~\(session)~7", [1, 2, 3])
        #expect(try LeftoverCollector(disk: disk.disk).run() == 3)
        #expect(try disk.bytes("a") == old)
        try expectClean(disk)
    }

    /// As when a store cleans up after an image that another process has removed meanwhile.
    @Test func fileOfARemovedImageGoesWhateverIsSaidOfItsLeaseAfterwards() throws {
        let disk = try TestDisk()
        let path = try #require(try disk.store(old, "a") { $0.lease = 7200 }.path)
        try disk.disk.index.write { writer in
            let row = try #require(try writer.row(disk.disk.name(of: CacheKey("a"))))
            try writer.retire(row.fileName, bytes: row.byteCount, until: LentFile.atOnce)
            try writer.remove(row.number)
            try disk.disk.evictor.retireFile(of: row, writer)
        }
        try disk.disk.evictor.removeDueFiles()
        #expect(content(path) == nil)
        try expectClean(disk)
    }

    @Test func draftsOfALivingWriterStay() throws {
        let disk = try TestDisk()
        let other = try disk.reopened()
        let path = try other.disk.folder.partialPath()
        overwrite(path, new)
        setModified(path, 1_000_000)
        disk.wait(1e6)
        #expect(try LeftoverCollector(disk: disk.disk).run() == 0)
        disk.disk.clean()
        #expect(try disk.disk.verify(repairs: true).leftovers == 0)
        #expect(content(path) == new)
        #expect(disk.folder.files.contains { $0.hasSuffix(".session") })
    }

    @Test(arguments: [7300, -7300])
    func pathLentWhileTheIndexIsHeldStaysForItsLeaseWhateverTheWallClockSays(_ jump: Int) throws {
        let disk = try TestDisk(wall: ManualClock(seconds: 1_800_000_000))
        try disk.store(old, "a")
        var path = ""
        try IndexFile.held(disk.index) {
            let stored = try disk.put(new, "b") { ($0.lease, $0.patience, $0.isLentWhenHeld) = (7200, 0, true) }
            path = try #require(stored.record.path)
        }
        disk.disk.folder.session.end()
        let wall = ManualClock(seconds: 1_800_000_000 + jump)
        let other = try TestDisk(folder: disk.folder, clock: disk.clock, wall: wall)
        for _ in 0..<2 {
            #expect(try LeftoverCollector(disk: other.disk).run() == 0)
            #expect(content(path) == new)
            other.wait(3600)
        }
        other.wait(2)
        wall.advance(seconds: Double(max(0, -jump)))
        #expect(try LeftoverCollector(disk: other.disk).run() == 1)
        #expect(content(path) == nil)
    }

    @Test func leftoversGoWithTheFirstStoreThatFindsAThreadForThat() throws {
        let threads = Counter()
        let disk = try TestDisk(threads: threads)
        try disk.store(old, "a")
        overwrite(try draft(disk, "b"), new)
        try disk.store(old, "c")
        #expect(disk.partials.count == 1)
        threads.add()
        try disk.store(old, "d")
        try expectClean(disk)
    }

    @Test func draftsOfAWriterThatEndedGoAtOnce() throws {
        let disk = try TestDisk()
        try disk.store(old, "a")
        let other = try disk.reopened()
        let path = try other.disk.folder.partialPath(disk.disk.name(of: CacheKey("b")).hex)
        overwrite(path, new)
        other.disk.close()
        #expect(content(path) == new)
        #expect(try LeftoverCollector(disk: disk.disk).run() == 1)
        #expect(content(path) == nil)
    }

    @Test func whatAWriterRenderedOrCollectedGoesWhenItEndsThoughAThreadHoldsIt() throws {
        let disk = try TestDisk()
        try disk.store(old, "a")
        let (first, second) = (try disk.reopened(), try disk.reopened())
        let kinds = ["made", "body", "original"]
        let own = try kinds.map { try first.disk.folder.partialPath($0) }
        let others = try kinds.map { try second.disk.folder.partialPath($0) }
        let lent = try first.disk.folder.lentPath("rgba", until: 1_900_000_000)
        for path in own + others + [lent] { overwrite(path, new) }
        for _ in 0..<2 { first.disk.close() }
        for path in own { #expect(content(path) == nil, "\(path)") }
        for path in others + [lent] { #expect(content(path) == new, "\(path)") }
    }

    @Test func everyStorageCollectsOnItsFirstStore() throws {
        let disk = try TestDisk()
        try disk.store(old, "a")
        overwrite(try draft(disk, "b"), new)
        try disk.reopened().store(new, "c")
        try expectClean(disk)
    }

    enum State: CaseIterable { case linked, linkedBesideAnotherName, swapped, committed, sharedAndLinked }

    /// Leaves the folder as a writer does that is killed there.
    private func kill(_ state: State, _ disk: TestDisk) throws {
        let path = disk.disk.folder.blob(disk.disk.name(of: CacheKey("a")).hex, "png")
        try disk.store(hollowPNG(width: 9), "bystander")
        switch state {
        case .linked:
            mkdir(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]), 0o700)
            overwrite(try draft(disk, "a"), new)
            link(try draft(disk, "a"), path)
        case .sharedAndLinked:
            mkdir(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]), 0o700)
            link(try disk.path("bystander"), try draft(disk, "a"))
            link(try draft(disk, "a"), path)
        case .linkedBesideAnotherName:
            try disk.store(old, "a", fileExtension: "img")
            overwrite(try draft(disk, "a"), new)
            link(try draft(disk, "a"), path)
        case .swapped:
            try disk.store(old, "a")
            link(path, try draft(disk, "a"))
            overwrite(path + "~", new)
            rename(path + "~", path)
        case .committed:
            try disk.store(old, "a")
            link(path, try draft(disk, "a"))
        }
    }

    private func expected(_ state: State) -> [UInt8]? { [.linked, .sharedAndLinked].contains(state) ? nil : old }

    /// Nobody heard that the store was done: so it was not. Nor was one that a process left in its midst when it was
    /// told to stop: it ends its session, and waits for nothing.
    @Test(arguments: State.allCases, [(false, false), (false, true), (true, false), (true, true)])
    func aStoreThatWasKilledOrLeftHasNotHappened(_ state: State, _ how: (restarts: Bool, endsItsSession: Bool)) throws {
        let first = try TestDisk()
        try kill(state, first)
        if how.endsItsSession { unlink("\(first.root)/leases/\(session).session") }
        let disk = how.restarts ? try first.reopened() : first
        disk.disk.clean()
        #expect(try disk.bytes("a") == expected(state))
        #expect(try disk.bytes("bystander") == hollowPNG(width: 9))
        try expectClean(disk, "\(state)")
        try disk.store(new, "a")
        #expect(try disk.bytes("a") == new)
    }

    /// The killed store had the bytes of the old file, which has no entry any more.
    @Test func aKilledStoreTakesNoLentFileAlong() throws {
        let disk = try TestDisk()
        try disk.store(old, "a")
        let path = try disk.lend("a", for: 1000)
        try disk.store(new, "a")
        #expect(try disk.path("a") != path)
        link(path, try draft(disk, "a"))
        disk.disk.clean()
        #expect(content(path) == old)
        #expect(try disk.bytes("a") == new)
        disk.wait(2000)
        disk.disk.clean()
        #expect(content(path) == nil)
        try expectClean(disk)
    }

    @Test(arguments: State.allCases)
    func anImageIsRightAlsoBeforeAnybodyCollects(_ state: State) throws {
        let disk = try TestDisk()
        try kill(state, disk)
        #expect(try disk.bytes("a") == expected(state))
        #expect(try disk.bytes("a") == expected(state), "and again")
        try LeftoverCollector(disk: disk.disk).run()
        #expect(try disk.bytes("a") == expected(state))
        try expectClean(disk, "\(state)")
    }

    @Test(arguments: State.allCases)
    func storingAgainOverAKilledStoreWorks(_ state: State) throws {
        let disk = try TestDisk()
        try kill(state, disk)
        let third = hollowPNG(width: 3, count: 500)
        try disk.store(third, "a")
        try LeftoverCollector(disk: disk.disk).run()
        #expect(try disk.bytes("a") == third)
        try expectClean(disk, "\(state)")
    }

    @Test func namesThatNobodyOfOursGaveAreLeftUntilTheyAreOld() throws {
        let disk = try TestDisk()
        try disk.store(old, "a")
        for name in ["x", "~", "~~", "a~b~c~d", ".hidden"] {
            overwrite("\(disk.root)/partial/\(name)", [1])
        }
        #expect(try LeftoverCollector(disk: disk.disk).run() == 0)
        #expect(disk.partials.count == 5)
        #expect(try disk.bytes("a") == old)
    }
}
