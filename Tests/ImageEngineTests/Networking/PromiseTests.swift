import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// The end of shared work that needs no task, and breaking it off.
@Suite struct PromiseTests {
    private struct Failed: Error {}

    private let stops = Counter()

    private func promise() -> (Promise<Int>, Ends) {
        let ends = Ends()
        return (Promise { ends.add(try? $0.get()) }, ends)
    }

    private final class Ends: Sendable {
        private let state = Mutex<[Int?]>([])
        var all: [Int?] { state.withLock { $0 } }
        func add(_ value: Int?) { state.withLock { $0.append(value) } }
    }

    @Test func onlyTheFirstEndIsTold() {
        let (promise, ends) = promise()
        promise.end(.success(1))
        promise.end(.success(2))
        promise.end(.failure(Failed()))
        #expect(ends.all == [1])
    }

    @Test func cancellingStopsEachPartOnceAndWhatComesLaterAtOnce() {
        let (promise, ends) = promise()
        promise.onCancel { stops.add() }
        promise.onCancel { stops.add() }
        #expect(!promise.isCancelled)
        promise.cancel()
        #expect(stops.value == 2 && promise.isCancelled)
        promise.cancel()
        #expect(stops.value == 2)
        promise.onCancel { stops.add() }
        #expect(stops.value == 3, "a part that begins when all is over")
        #expect(ends.all.isEmpty, "whoever stops a part says what comes of it")
        promise.end(.failure(CancellationError()))
        #expect(ends.all == [nil])
    }

    @Test func whatHasEndedHasNothingToStop() {
        let (promise, _) = promise()
        promise.onCancel { stops.add() }
        promise.end(.success(1))
        promise.onCancel { stops.add() }
        promise.cancel()
        #expect(stops.value == 0)
    }

    @Test func whatGoesOnInATaskEndsWithItAndIsCancelledLikeTheRest() async throws {
        let (finished, results) = promise()
        finished.continueInTask { 7 }
        try await eventually("it has ended") { results.all == [7] }
        let (failed, failures) = promise()
        failed.continueInTask { throw Failed() }
        try await eventually("it has failed") { failures.all == [nil] }
        let (cancelled, ends) = promise()
        cancelled.continueInTask {
            try await Task.sleep(for: .seconds(3600))
            return 1
        }
        cancelled.cancel()
        try await eventually("it is broken off") { ends.all == [nil] }
    }

    /// E2-1, E2-12: callers with and without a task share one start, and each may leave.
    @Test func callersWithAndWithoutATaskShareTheWork() async throws {
        let coalescer = Coalescer<String, Int>()
        let begun = Mutex<[Promise<Int>]>([])
        let work: Coalescer<String, Int>.Work = { _, promise in begun.withLock { $0.append(promise) } }
        let ends = Ends()
        let first = coalescer.join("k", priority: CallPriority(0.5), work: work) { ends.add(try? $0.get()) }.ticket
        let second = Task { try await coalescer.value(for: "k") { _ in 99 } }
        try await eventually("two wait") { coalescer.waiterCount(for: "k") == 2 }
        coalescer.leave(first)
        coalescer.leave(first)
        #expect(ends.all == [nil], "it is answered at once, and once")
        let promise = try #require(begun.withLock { $0.first })
        #expect(!promise.isCancelled, "somebody still waits")
        promise.end(.success(5))
        #expect(try await second.value == 5)
        #expect(begun.withLock { $0.count } == 1)

        let third = coalescer.join("k", priority: CallPriority(0.5), work: work) { ends.add(try? $0.get()) }.ticket
        let last = try #require(begun.withLock { $0.last })
        coalescer.leave(third)
        #expect(last.isCancelled && coalescer.waiterCount(for: "k") == 0)
        last.end(.success(6))
        #expect(ends.all == [nil, nil], "what comes late answers nobody")
    }

    /// the last who leaves may want the work finished.
    @Test func workLingersForTheLastWhoLeaves() throws {
        let coalescer = Coalescer<String, Int>()
        let begun = Mutex<Promise<Int>?>(nil)
        let ticket = coalescer.join("k", priority: CallPriority(0.5), lingers: true) { _, promise in
            begun.withLock { $0 = promise }
        } resume: { _ in
        }.ticket
        coalescer.leave(ticket)
        let promise = try #require(begun.withLock { $0 })
        #expect(!promise.isCancelled)
        #expect(coalescer.priority(of: "k") == CallPriority.background)
        promise.end(.success(1))
        #expect(coalescer.priority(of: "k") == nil)
    }
}
