import CSQLite
import Platform
import Synchronization
import TestSupport
import Testing

@testable import ImageEngine

/// Stores that come at the same time share a transaction; each is done as a whole or not at all.
@Suite struct SharedTransactionTests {
    private struct Refused: Error {}

    /// Has the index busy until the gate is opened, so that what comes meanwhile shares the next transaction.
    private func hold(_ disk: TestDisk) async throws -> Semaphore {
        try disk.store(hollowPNG(width: 1), "first")
        let (gate, begun) = (Semaphore(), Counter())
        startDetached {
            try? disk.disk.index.writeTogether { _ in
                if begun.add() == 1 { gate.wait() }
            }
        }
        try await eventually("the index is held") { begun.value == 1 }
        return gate
    }

    private func waiting(_ count: Int, _ disk: TestDisk) async throws {
        try await eventually("\(count) writes wait") { disk.disk.index.convoy.waitingCount == count }
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

    @Test func writersThatComeWhileTheIndexIsMadeUseTheSameConnection() async throws {
        for _ in 0..<20 {
            let disk = try TestDisk()
            try disk.disk.folder.prepare()
            let done = Counter()
            for _ in 0..<8 {
                startDetached {
                    try? disk.disk.index.write { _ in }
                    done.add()
                }
            }
            try await eventually("all have written") { done.value == 8 }
            #expect(disk.disk.index.generation == 1)
        }
    }

    @Test func storesThatComeAtTheSameTimeShareOneTransaction() async throws {
        let disk = try TestDisk()
        let gate = try await hold(disk)
        let done = Counter()
        for number in 0..<6 {
            startDetached {
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

    /// More than there are threads for the disk, so that a store that waited with one would keep others from it.
    @Test func storesThatWaitForTheIndexOccupyNoThread() async throws {
        let engine = try TestEngine()
        let (gate, begun, done) = (Semaphore(), Counter(), Counter())
        let count = 2 * ImageManager.diskThreads
        @Sendable func store(_ number: Int) {
            engine.manager.store(
                .bytes(hollowPNG(width: 10 + number)), for: CacheKey("\(number)"), in: engine.cache,
                options: ImageOptions()
            ) { if case .success = $0 { done.add() } }
        }
        store(count)
        try await eventually("there is an index") { done.value == 1 }
        startDetached {
            try? engine.cache.disk.index.writeTogether { _ in
                if begun.add() == 1 { gate.wait() }
            }
        }
        try await eventually("it is held") { begun.value == 1 }
        for number in 0..<count { store(number) }
        try await eventually("all wait") { engine.cache.disk.index.convoy.waitingCount == count }
        // The threads are free for whoever only reads.
        #expect(try await engine.manager.pool.run { 1 } == 1)
        #expect(done.value == 1)
        gate.signal()
        try await eventually("all are stored") { done.value == count + 1 }
        for number in 0..<count {
            let path = try #require(try engine.cache.disk.record(for: CacheKey("\(number)"))?.path)
            #expect(content(path) == hollowPNG(width: 10 + number))
        }
        #expect(try engine.cache.verify(repairs: false).isClean && engine.partials.isEmpty)
    }

    @Test func oneThatFailsLeavesNothingAndTheOthersAreDone() async throws {
        let disk = try TestDisk()
        let gate = try await hold(disk)
        let (done, refused) = (Counter(), Counter())
        for number in 0..<4 {
            startDetached {
                if (try? disk.store(hollowPNG(width: 10 + number), "\(number)")) != nil { done.add() }
            }
        }
        let first = try #require(try disk.disk.index.row(Digest(of: "first").rowNumber))
        startDetached {
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

    /// A file that went in a transaction that failed is not found when it is done again.
    @Test(arguments: [false, true]) func removalsShareOneTransactionAndTellWhatWasThere(_ fails: Bool) async throws {
        let disk = try TestDisk()
        for number in 0..<4 { try disk.store(hollowPNG(width: 10 + number), "\(number)") }
        let gate = try await hold(disk)
        let (done, refused) = (Counter(), Counter())
        for number in 0..<5 {
            startDetached {
                let removal = try? disk.disk.remove(CacheKey("\(number)"))
                let size = hollowPNG(width: 10 + number).count
                if removal == (number < 4 ? .init(count: 1, bytes: size) : .init()) { done.add() }
            }
        }
        try await waiting(5, disk)
        if fails {
            startDetached {
                do { try disk.disk.index.writeTogether { _ in throw Refused() } } catch { refused.add() }
            }
            try await waiting(6, disk)
        }
        let before = commits(disk)
        gate.signal()
        try await eventually("all are answered") { done.value == 5 && refused.value == (fails ? 1 : 0) }
        if !fails { #expect(commits(disk) == before + 1) }
        #expect(try disk.disk.totals().count == 1)
        #expect(try disk.check().isClean)
    }

    @Test(arguments: [SQLITE_FULL, SQLITE_BUSY, SQLITE_IOERR, SQLITE_READONLY])
    func aFaultOfTheIndexIsOnlyThatOfTheOneThatMetIt(_ code: Int32) async throws {
        let disk = try TestDisk()
        let gate = try await hold(disk)
        let (done, failed) = (Counter(), Counter())
        for number in 0..<4 {
            startDetached {
                if (try? disk.store(hollowPNG(width: 10 + number), "\(number)")) != nil { done.add() }
            }
        }
        startDetached {
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
