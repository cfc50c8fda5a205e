import Synchronization
import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// A job: its end, and what stops it.
@Suite struct JobTests {
    private struct Failed: Error {}

    private let stops = Counter()
    private let table = JobTable()

    /// A running job with one subscriber, which lets go of it with `leave`.
    private func job(_ key: String = "k") throws -> (job: Job, ends: Ends, leave: () -> Void) {
        let ends = Ends()
        let started = Mutex<Job?>(nil)
        let ticket = table.join(HashedOnce(key), priority: CallPriority(0.5)) { job in
            started.withLock { $0 = job }
        } end: {
            ends.add(try? $0.of(Int.self).get())
        }
        return (try #require(started.withLock { $0 }), ends, { [table] in table.leave(ticket) })
    }

    private final class Ends: Sendable {
        private let state = Mutex<[Int?]>([])
        var all: [Int?] { state.withLock { $0 } }
        func add(_ value: Int?) { state.withLock { $0.append(value) } }
    }

    @Test func onlyTheFirstEndIsTold() throws {
        let (job, ends, _) = try job()
        job.end(.success(1))
        job.end(.success(2))
        job.end(.failure(Failed()))
        #expect(ends.all == [1])
    }

    @Test func cancellingStopsEachPartOnceAndWhatComesLaterAtOnce() throws {
        let (job, ends, leave) = try job()
        job.onCancel { stops.add() }
        job.onCancel { stops.add() }
        #expect(!job.isCancelled)
        leave()
        #expect(stops.value == 2 && job.isCancelled)
        leave()
        #expect(stops.value == 2)
        job.onCancel { stops.add() }
        #expect(stops.value == 3, "a part that begins when all is over")
        job.end(.success(1))
        #expect(ends.all == [nil], "what comes late answers nobody")
    }

    @Test func whatHasEndedHasNothingToStop() throws {
        let (job, _, leave) = try job()
        job.onCancel { stops.add() }
        job.end(.success(1))
        job.onCancel { stops.add() }
        leave()
        #expect(stops.value == 0 && !job.isCancelled)
    }

    @Test func whatContinuesInATaskEndsWithItAndIsCancelledLikeTheRest() async throws {
        let (finished, results, _) = try job("finished")
        finished.continueInTask { 7 }
        try await eventually("it has ended") { results.all == [7] }
        let (failed, failures, _) = try job("failed")
        failed.continueInTask { throw Failed() }
        try await eventually("it has failed") { failures.all == [nil] }
        let (cancelled, _, leave) = try job("cancelled")
        let isOver = Gate()
        cancelled.continueInTask {
            defer { isOver.open() }
            try await Task.sleep(for: .seconds(3600))
            return 1
        }
        leave()
        await isOver.wait()
    }

    @Test func callersWithAndWithoutATaskShareTheWork() async throws {
        let (job, ends, leave) = try job()
        let second = Task { [table] in try await table.value(for: HashedOnce("k")) { _ in 99 } }
        try await eventually("two wait") { table.waiterCount(for: "k") == 2 }
        leave()
        leave()
        #expect(ends.all == [nil], "it is answered at once, and once")
        #expect(!job.isCancelled, "somebody still waits")
        job.end(.success(5))
        #expect(try await second.value == 5)

        let (last, lastEnds, leaveLast) = try self.job()
        leaveLast()
        #expect(last.isCancelled && table.waiterCount(for: "k") == 0)
        last.end(.success(6))
        #expect(lastEnds.all == [nil], "what comes late answers nobody")
    }

    @Test func workLingersForTheLastWhoLeaves() throws {
        let started = Mutex<Job?>(nil)
        let ticket = table.join(HashedOnce("k"), priority: CallPriority(0.5), lingers: true) { job in
            started.withLock { $0 = job }
        } end: { _ in
        }
        table.leave(ticket)
        let job = try #require(started.withLock { $0 })
        #expect(!job.isCancelled)
        #expect(table.priority(of: "k") == CallPriority.background)
        job.end(.success(1))
        #expect(table.priority(of: "k") == nil)
    }

    @Test func jobThatNobodyWaitsForRunsOnceAtATimeAndTellsItsEnd() throws {
        let ends = Ends()
        let started = Mutex<[Job]>([])
        func start() {
            table.startAlone(HashedOnce("k")) { job in
                started.withLock { $0.append(job) }
            } end: {
                ends.add(try? $0.of(Int.self).get())
            }
        }
        start()
        start()
        let first = try #require(started.withLock { $0.first })
        #expect(started.withLock { $0.count } == 1 && first.currentPriority == CallPriority.background)
        first.end(.success(1))
        start()
        #expect(ends.all == [1] && started.withLock { $0.count } == 2)
    }

    private func held(_ key: String) -> Int? { table.held(HashedOnce(key)) as? Int }

    @Test func valueIsHeldAsLongAsSomebodyUsesIt() {
        var one: JobTable.Hold? = table.hold(1, for: HashedOnce("k"))
        #expect(held("k") == 1 && held("other") == nil)
        var two: JobTable.Hold? = table.hold(2, for: HashedOnce("k"))
        #expect(held("k") == 2, "the newer one")
        one = nil
        #expect(held("k") == 2 && table.heldCount == 1)
        two = nil
        #expect(held("k") == nil && table.heldCount == 0)
        _ = (one, two)
    }
}
