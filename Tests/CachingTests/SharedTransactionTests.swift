import CSQLite
import Glibc
import func Glibc.rename
import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Stores that come at the same time share a transaction; each is done as a whole or not at all.
@Suite struct SharedTransactionTests {
    private struct Refused: Error {}

    /// Has the index busy until the gate is opened, so that what comes meanwhile shares the next transaction.
    private func hold(_ disk: TestDisk) async throws -> Platform.Semaphore {
        try disk.store(hollowPNG(width: 1), "first")
        let (gate, begun) = (Platform.Semaphore(), Counter())
        startThread {
            try? disk.disk.index.writeTogether { _ in
                if begun.add() == 1 { gate.wait() }
            }
        }
        try await eventually("the index is held") { begun.value == 1 }
        return gate
    }

    private func waiting(_ count: Int, _ disk: TestDisk) async throws {
        try await eventually("\(count) writes wait") { disk.disk.index.commits.waitingCount == count }
    }

    /// How many transactions the index's log holds: each ends with a frame that tells the size of the file.
    private func commits(_ disk: TestDisk) -> Int {
        let log = content(disk.index + "-wal") ?? []
        func number(_ place: Int) -> Int { log[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) } }
        guard log.count > 32 else { return 0 }
        let frames = stride(from: 32, to: log.count - 24, by: 24 + number(8))
        // Frames of an earlier round of the log bear another mark.
        return frames.filter { number($0 + 4) > 0 && number($0 + 8) == number(16) }.count
    }

    @Test func whatCameIntoAnIndexThatWasTakenAwayIsUndoneBeforeItIsDoneAgain() throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "first")
        let (index, runs, undone) = (disk.index, Counter(), Counter())
        try disk.disk.index.write { writer in
            writer.onFailure { undone.add() }
            if runs.add() == 1 { rename(index, index + ".old") } else { #expect(undone.value == 1) }
        }
        #expect(runs.value == 2 && undone.value == 1)
    }

    @Test func writersThatComeWhileTheIndexIsMadeUseTheSameConnection() async throws {
        for _ in 0..<20 {
            let disk = try TestDisk()
            try disk.disk.folder.prepare()
            let done = Counter()
            for _ in 0..<8 {
                startThread {
                    try? disk.disk.index.write { _ in }
                    done.add()
                }
            }
            try await eventually("all have written") { done.value == 8 }
            #expect(disk.disk.lending.generation == 1)
        }
    }

    @Test func storesThatComeAtTheSameTimeShareOneTransaction() async throws {
        let disk = try TestDisk()
        let gate = try await hold(disk)
        let done = Counter()
        for number in 0..<6 {
            startThread {
                if (try? disk.store(hollowPNG(width: 10 + number), "\(number)")) != nil { done.add() }
            }
        }
        try await waiting(6, disk)
        #expect(done.value == 0)
        let before = commits(disk)
        gate.signal()
        try await eventually("all are stored") { done.value == 6 }
        #expect(commits(disk) == before + 1)
        for number in 0..<6 { #expect(try disk.bytes("\(number)") == hollowPNG(width: 10 + number)) }
        #expect(try disk.check().isClean)
        #expect(disk.partials.isEmpty)
    }

    @Test func oneThatFailsLeavesNothingAndTheOthersAreDone() async throws {
        let disk = try TestDisk()
        let gate = try await hold(disk)
        let (done, refused) = (Counter(), Counter())
        for number in 0..<4 {
            startThread {
                if (try? disk.store(hollowPNG(width: 10 + number), "\(number)")) != nil { done.add() }
            }
        }
        let first = try #require(try disk.disk.index.row(Digest(of: "first").rowNumber))
        startThread {
            do {
                try disk.disk.index.writeTogether { writer in
                    try writer.remove(first.number)
                    throw Refused()
                }
            } catch is Refused { refused.add() } catch {}
        }
        try await waiting(5, disk)
        gate.signal()
        try await eventually("all are answered") { done.value == 4 && refused.value == 1 }
        #expect(try disk.bytes("first") == hollowPNG(width: 1))
        for number in 0..<4 { #expect(try disk.bytes("\(number)") == hollowPNG(width: 10 + number)) }
        #expect(try disk.disk.totals().count == 5)
        #expect(try disk.check().isClean)
    }

    /// A transaction that fails leaves the files to the next one.
    @Test(arguments: [false, true]) func removalsShareOneTransactionAndTellWhatWasThere(_ fails: Bool) async throws {
        let disk = try TestDisk()
        for number in 0..<4 { try disk.store(hollowPNG(width: 10 + number), "\(number)") }
        let gate = try await hold(disk)
        let (done, refused) = (Counter(), Counter())
        for number in 0..<5 {
            startThread {
                let removal = try? disk.disk.remove(CacheKey("\(number)"))
                let size = hollowPNG(width: 10 + number).count
                if removal == (number < 4 ? .init(count: 1, bytes: size) : .init()) { done.add() }
            }
        }
        try await waiting(5, disk)
        if fails {
            startThread {
                do { try disk.disk.index.writeTogether { _ in throw Refused() } } catch { refused.add() }
            }
            try await waiting(6, disk)
        }
        let before = commits(disk)
        gate.signal()
        try await eventually("all are answered") { done.value == 5 && refused.value == (fails ? 1 : 0) }
        // The files go in another one.
        if !fails { #expect(commits(disk) == before + 2) }
        #expect(try disk.disk.totals().count == 1)
        #expect(try disk.check().isClean)
    }

    /// Those that share a failed transaction are taken back in the order in which they can be.
    @Test(arguments: [false, true])
    func storesOfOneKeyThatShareAFailedTransactionAreDoneAgainInOrder(_ isThereBefore: Bool) async throws {
        let disk = try TestDisk()
        if isThereBefore { try disk.store(hollowPNG(width: 9), "a") }
        let gate = try await hold(disk)
        let (done, refused) = (Counter(), Counter())
        for number in 0..<3 {
            startThread {
                if (try? disk.store(hollowPNG(width: 10 + number), "a")) != nil { done.add() }
            }
            try await waiting(number + 1, disk)
        }
        startThread {
            do { try disk.disk.index.writeTogether { _ in throw Refused() } } catch { refused.add() }
        }
        try await waiting(4, disk)
        gate.signal()
        try await eventually("all are answered") { done.value == 3 && refused.value == 1 }
        #expect(try disk.bytes("a") == hollowPNG(width: 12))
        #expect(disk.disk.damages.load(ordering: .relaxed) == 0)
        #expect(try disk.check().isClean)
        #expect(disk.partials.isEmpty)
    }

    /// What another program put there meanwhile stays; where there is nothing, what was there before comes back.
    @Test(arguments: [false, true])
    func whatAFailedTransactionDidIsTakenBackTheLatestFirstAndOnce(_ isReplaced: Bool) throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "a")
        let path = try #require(try disk.record("a")?.path)
        let draft = try disk.disk.folder.write(.bytes(hollowPNG(width: 2)), for: "draft.png", syncs: false)
        let expected = hollowPNG(width: isReplaced ? 3 : 1)
        let undone = Counter()
        #expect(throws: Refused.self) {
            try disk.disk.index.write { writer in
                let placed = try disk.disk.folder.place(draft.path, at: path, replaces: true)
                writer.onFailure {
                    undone.add()
                    #expect(content(path) == expected, "the last to be taken back")
                }
                writer.onFailure { disk.disk.folder.takeBack(placed, draft, from: path) }
                // Not of the same number as the one that goes.
                if isReplaced { overwrite(path + "~", expected) }
                unlink(path)
                if isReplaced { rename(path + "~", path) }
                throw Refused()
            }
        }
        #expect(content(path) == expected)
        #expect(throws: Refused.self) { try disk.disk.index.write { _ in throw Refused() } }
        #expect(content(path) == expected && undone.value == 1)
    }

    /// The same is told by a removal whose entry has gone before it was done again: another process put the index right.
    @Test func aRemovalThatIsDoneAgainTellsWhatTheFirstOneFound() async throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 10), "a")
        let number = disk.disk.name(of: CacheKey("a")).rowNumber
        let gate = try await hold(disk)
        let (runs, refused) = (Counter(), Counter())
        let removed = Mutex<DiskStorage.Removal?>(nil)
        startThread {
            try? disk.disk.index.writeTogether { writer in
                if runs.add() == 2 { try writer.remove(number) }
            }
        }
        try await waiting(1, disk)
        startThread {
            let removal = try? disk.disk.remove(CacheKey("a"))
            removed.withLock { $0 = removal }
        }
        try await waiting(2, disk)
        startThread {
            do { try disk.disk.index.writeTogether { _ in throw Refused() } } catch { refused.add() }
        }
        try await waiting(3, disk)
        gate.signal()
        try await eventually("all are answered") { removed.withLock { $0 } != nil && refused.value == 1 }
        #expect(runs.value == 2)
        #expect(removed.withLock { $0 } == .init(count: 1, bytes: hollowPNG(width: 10).count))
        #expect(try disk.check().isClean)
    }

    @Test(arguments: [SQLITE_FULL, SQLITE_BUSY, SQLITE_IOERR, SQLITE_READONLY])
    func aFaultOfTheIndexIsOnlyThatOfTheOneThatMetIt(_ code: Int32) async throws {
        let disk = try TestDisk()
        let gate = try await hold(disk)
        let (done, failed) = (Counter(), Counter())
        for number in 0..<4 {
            startThread {
                if (try? disk.store(hollowPNG(width: 10 + number), "\(number)")) != nil { done.add() }
            }
        }
        startThread {
            do {
                try disk.disk.index.writeTogether { _ in throw SQLiteDatabase.Failure(code: code, message: "a fault") }
            } catch { failed.add() }
        }
        try await waiting(5, disk)
        gate.signal()
        try await eventually("all are answered") { done.value == 4 && failed.value == 1 }
        for number in 0..<4 { #expect(try disk.bytes("\(number)") == hollowPNG(width: 10 + number)) }
        #expect(try disk.check().isClean)
        #expect(disk.partials.isEmpty)
    }
}
