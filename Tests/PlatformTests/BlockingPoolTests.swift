import Synchronization
import TestSupport
import Testing

@testable import Platform

/// The threads for work that blocks.
@Suite struct BlockingPoolTests {
    /// Threads come one after the other; none is missing when all the others are busy, new or woken.
    @Test func jobsThatBlockHaveAThreadEachUpToTheLimit() async throws {
        let pool = BlockingPool(threads: 4)
        for round in 1...3 {
            let (gate, begun, done) = (Semaphore(), Counter(), Counter())
            for _ in 0..<6 {
                pool.submit {
                    begun.add()
                    gate.wait()
                    done.add()
                }
            }
            try await eventually("four have begun") { begun.value == 4 }
            #expect(done.value == 0)
            for _ in 0..<6 { gate.signal() }
            try await eventually("all are done") { done.value == 6 }
            #expect(begun.value == 6 && pool.submittedCount == 6 * round)
        }
    }

    /// However many long jobs there are, the others find a thread, and each long one its turn.
    @Test func longJobsLeaveThreadsToTheOthers() async throws {
        let pool = BlockingPool(threads: 4)
        let (gate, long, done) = (Semaphore(), Counter(), Counter())
        for _ in 0..<20 {
            pool.submit(isLong: true) {
                long.add()
                gate.wait()
                done.add()
            }
        }
        try await eventually("two of them have begun") { long.value == 2 }
        for turn in 0..<50 { #expect(try await pool.run { turn } == turn) }
        #expect(long.value == 2)
        for _ in 0..<20 { gate.signal() }
        try await eventually("all are done") { done.value == 20 }
        #expect(try await pool.run(isLong: true) { 7 } == 7)
    }

    @Test func jobsThatSayThatTheyWaitDoSoTogether() async throws {
        let pool = BlockingPool(threads: 5, workers: 1)
        for round in 1...20 {
            let (gate, waiting, done) = (Semaphore(), Counter(), Counter())
            for _ in 0..<12 {
                pool.submit {
                    BlockingPool.waiting {
                        waiting.add()
                        gate.wait()
                    }
                    done.add()
                }
            }
            try await eventually("as many wait as there may be threads") { waiting.value == 5 }
            #expect(done.value == 0 && pool.waitingCount == 5)
            for _ in 0..<12 { gate.signal() }
            try await eventually("all are done") { done.value == 12 }
            #expect(pool.submittedCount == 12 * round && pool.waitingCount == 0)
        }
        #expect(BlockingPool.waiting { 7 } == 7, "elsewhere it does nothing else")
    }

    @Test(arguments: [1, 2, 8]) func everyJobOfManyThreadsIsDoneOnce(_ threads: Int) async throws {
        let pool = BlockingPool(threads: threads)
        let done = Mutex<[Int: Int]>([:])
        for thread in 0..<4 {
            startThread {
                for turn in 0..<2000 {
                    pool.submit { done.withLock { $0[thread * 10_000 + turn, default: 0] += 1 } }
                }
            }
        }
        try await eventually("all are done") { pool.submittedCount == 8000 && done.withLock { $0.count } == 8000 }
        #expect(done.withLock { $0.values.allSatisfy { $0 == 1 } })
    }

    /// Also when the one that hands it on is no thread of the pool.
    @Test(arguments: [1, 2, 8]) func whatAJobHandsOnAtItsEndIsDoneOnce(_ threads: Int) async throws {
        let (pool, done) = (BlockingPool(threads: threads), Counter())
        for number in 0..<500 {
            pool.submit(isLong: number % 2 == 0) {
                pool.submit(briefFor: pool, isLast: true) {
                    pool.submit(isLast: true) { done.add() }
                }
            }
            if number % 50 == 0 { try await eventually("so far") { done.value == number + 1 } }
        }
        pool.submit(isLast: true) { done.add() }
        try await eventually("all are done") { done.value == 501 }
    }

    @Test func oneThreadTakesThemInOrder() async throws {
        let pool = BlockingPool(threads: 1)
        let order = Mutex<[Int]>([])
        for number in 0..<3000 { pool.submit { order.withLock { $0.append(number) } } }
        try await eventually("all are done") { order.withLock { $0.count } == 3000 }
        #expect(order.withLock { $0 } == Array(0..<3000))
    }

    @Test func briefJobsInARowDoTogetherWhatTheyPutOff() async throws {
        let pool = BlockingPool(threads: 1, now: { 0 })
        let (gate, owner) = (Semaphore(), Counter())
        let order = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { line in order.withLock { $0.append(line) } }
        pool.submit { gate.wait() }
        for number in 1...3 {
            pool.submit(briefFor: owner) {
                note("\(number)")
                if !Afterwards.put(off: { note("rest") }, for: owner) { note("alone") }
            }
        }
        pool.submit { note(Afterwards.put(off: {}, for: owner) ? "gathers" : "long") }
        for _ in 0..<20 { pool.submit(briefFor: owner) { _ = Afterwards.put(off: { note("rest") }, for: owner) } }
        pool.submit { note("end") }
        gate.signal()
        try await eventually("all are done") { order.withLock { $0.last } == "end" }
        #expect(order.withLock { $0 } == ["1", "2", "3", "rest", "long", "rest", "rest", "end"])
    }

    @Test func briefJobsDoNotWaitForOthersOwnersOrForOneThatIsNotBrief() async throws {
        let clock = ManualClock()
        let pool = BlockingPool(threads: 1, now: { clock.now })
        let (gate, one, other) = (Semaphore(), Counter(), Counter())
        let order = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { line in order.withLock { $0.append(line) } }
        pool.submit { gate.wait() }
        for (owner, name) in [(one, "one"), (one, "one"), (other, "other")] {
            pool.submit(briefFor: owner) { if !Afterwards.put(off: { note(name) }, for: owner) { note("alone") } }
        }
        pool.submit(briefFor: one) {
            _ = Afterwards.put(off: { note("slow") }, for: one)
            clock.advance(seconds: 0.002)
        }
        pool.submit(briefFor: one) { _ = Afterwards.put(off: { note("end") }, for: one) }
        gate.signal()
        try await eventually("all are done") { order.withLock { $0.last } == "end" }
        #expect(order.withLock { $0 } == ["one", "other", "slow", "end"])
    }

    /// Files may go with it.
    @Test func whatAJobHeldIsLetGoOfWhenItIsDone() async throws {
        final class Held: Sendable {}
        let pool = BlockingPool(threads: 1)
        for _ in 0..<3 {
            let done = Counter()
            weak var held: Held?
            do {
                let value = Held()
                held = value
                pool.submit {
                    withExtendedLifetime(value) {}
                    done.add()
                }
            }
            try await eventually("it is done") { done.value == 1 }
            try await eventually("nobody holds it") { [weak held] in held == nil }
        }
    }

    @Test(arguments: [true, false]) func whatAJobHeldIsLetGoOfThoughOthersWait(_ isBrief: Bool) async throws {
        final class Held: Sendable {}
        let pool = BlockingPool(threads: 1)
        let owner = isBrief ? pool : nil
        let (gate, done) = (Semaphore(), Counter())
        weak var held: Held?
        pool.submit { gate.wait() }
        do {
            let value = Held()
            held = value
            pool.submit(briefFor: owner) { withExtendedLifetime(value) {} }
        }
        pool.submit(briefFor: owner) { gate.wait() }
        pool.submit { done.add() }
        gate.signal()
        try await eventually("nobody holds it") { [weak held] in held == nil }
        #expect(done.value == 0)
        gate.signal()
        try await eventually("all are done") { done.value == 1 }
    }

    @Test func workWhoseCallerIsGoneBeforeItsTurnIsNotDone() async throws {
        let pool = BlockingPool(threads: 1)
        let (gate, begun, done) = (Semaphore(), Counter(), Counter())
        pool.submit {
            begun.add()
            gate.wait()
        }
        try await eventually("the thread is busy") { begun.value == 1 }
        let caller = Task { try await pool.runIfWanted { done.add() } }
        try await eventually("it has come") { pool.submittedCount == 2 }
        caller.cancel()
        await #expect(throws: CancellationError.self) { _ = try await caller.value }
        gate.signal()
        #expect(try await pool.run { done.value } == 0)
    }
}
