import Synchronization
import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// Sharing one piece of work among callers.
@Suite struct JobTableTests {
    private struct Failed: Error, Equatable {
        let number: Int
    }

    private let table = JobTable()
    private let gate = Gate()
    private let starts = Counter()

    /// A caller of work that waits for the gate and gives the number of its start.
    private func caller(_ key: String = "k", fails: Bool = false) -> Task<Int, any Error> {
        Task { [table, gate, starts] in
            try await table.value(for: HashedOnce(key)) { _ in
                let number = starts.add()
                await gate.wait()
                if fails { throw Failed(number: number) }
                return number
            }
        }
    }

    private func waiting(_ count: Int, for key: String = "k") async throws {
        try await eventually("\(count) callers wait") { [table] in table.waiterCount(for: key) == count }
    }

    @Test func overlappingCallersShareOneStart() async throws {
        let callers = (0..<50).map { _ in caller() }
        try await waiting(50)
        gate.open()
        for caller in callers { #expect(try await caller.value == 1) }
        #expect(starts.value == 1)
        #expect(table.mergedCount == 49)
        #expect(try await caller().value == 2, "what comes later starts afresh")
    }

    @Test func differentKeysShareNothing() async throws {
        let callers = [caller("a"), caller("b")]
        try await waiting(1, for: "a")
        try await waiting(1, for: "b")
        gate.open()
        #expect(Set([try await callers[0].value, try await callers[1].value]) == [1, 2])
    }

    @Test func everyCallerGetsTheOneError() async throws {
        let callers = (0..<50).map { _ in caller(fails: true) }
        try await waiting(50)
        gate.open()
        for caller in callers { await #expect(throws: Failed(number: 1)) { try await caller.value } }
        #expect(starts.value == 1)
    }

    @Test func retryAfterAFailureStartsAfresh() async throws {
        gate.open()
        await #expect(throws: Failed(number: 1)) { try await caller(fails: true).value }
        #expect(try await caller().value == 2)
    }

    @Test func cancelledCallerLeavesAtOnceAndTheOtherGetsTheResult() async throws {
        let first = caller()
        try await waiting(1)
        let second = caller()
        try await waiting(2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(table.waiterCount(for: "k") == 1)
        gate.open()
        #expect(try await second.value == 1)
    }

    @Test func lastCallerToLeaveCancelsTheWorkAndTheNextStartsAfresh() async throws {
        let cancelled = Gate()
        let work: @Sendable (Job) async throws -> Int = { _ in
            try await withTaskCancellationHandler {
                try await Task.sleep(for: .seconds(3600))
                return 0
            } onCancel: {
                cancelled.open()
            }
        }
        let both = (0..<2).map { _ in Task { [table] in try await table.value(for: HashedOnce("k"), work: work) } }
        try await waiting(2)
        both[0].cancel()
        await #expect(throws: CancellationError.self) { try await both[0].value }
        #expect(!cancelled.isOpen, "somebody still waits")
        both[1].cancel()
        await #expect(throws: CancellationError.self) { try await both[1].value }
        await cancelled.wait()
        gate.open()
        #expect(try await caller().value == 1)
    }

    /// What a cancelled start brings late is no answer to those who came after it.
    @Test func lateResultOfACancelledStartAnswersNobody() async throws {
        let (late, ended) = (Gate(), Gate())
        let first = Task { [table] in
            try await table.value(for: HashedOnce("k")) { _ in
                // It takes no notice of being cancelled.
                await late.wait()
                ended.open()
                return 99
            }
        }
        try await waiting(1)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = caller()
        try await waiting(1)
        late.open()
        await ended.wait()
        gate.open()
        #expect(try await second.value == 1)
    }

    @Test func cancellingTwiceOrTooLateChangesNothing() async throws {
        let first = caller()
        let second = caller()
        try await waiting(2)
        first.cancel()
        first.cancel()
        gate.open()
        #expect(try await second.value == 1)
        second.cancel()
        #expect(try await second.value == 1)
    }

    @Test func callerCancelledBeforehandStartsNothing() async throws {
        let entered = Gate()
        let task = Task { [table, starts] in
            await entered.wait()
            return try await table.value(for: HashedOnce("k")) { _ in starts.add() }
        }
        task.cancel()
        entered.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(starts.value == 0)
    }

    @Test func lateJoinerHearsAtOnceHowFarItIs() async throws {
        let heard = Mutex<[Int]>([])
        let reported = Gate()
        let first = Task { [table, gate] in
            try await table.value(for: HashedOnce("k")) { job in
                job.report(DownloadProgress(received: 10, total: 100))
                job.report(DownloadProgress(received: 40, total: 100))
                reported.open()
                await gate.wait()
                job.report(DownloadProgress(received: 100, total: 100))
                return 1
            }
        }
        await reported.wait()
        let second = Task { [table] in
            try await table.value(
                for: HashedOnce("k"), report: { progress in heard.withLock { $0.append(progress.received) } }
            ) {
                _ in 2
            }
        }
        try await eventually { heard.withLock { $0 } == [40] }
        gate.open()
        #expect(try await first.value == 1)
        #expect(try await second.value == 1)
        #expect(heard.withLock { $0 } == [40, 100])
    }

    @Test func cancelledCallerHearsNoMoreProgress() async throws {
        let heard = Counter()
        let left = Gate()
        let stays = Task { [table] in
            try await table.value(for: HashedOnce("k")) { job in
                await left.wait()
                job.report(DownloadProgress(received: 1, total: nil))
                return 1
            }
        }
        try await waiting(1)
        let leaves = Task { [table] in
            try await table.value(for: HashedOnce("k"), report: { _ in heard.add() }) { _ in 2 }
        }
        try await waiting(2)
        leaves.cancel()
        await #expect(throws: CancellationError.self) { try await leaves.value }
        left.open()
        #expect(try await stays.value == 1)
        #expect(heard.value == 0)
    }

    /// Joins, cancellations and failures in random order: every caller is answered, and only once.
    @Test(arguments: 0..<30 as Range<UInt64>)
    func everyCallerHasExactlyOneOutcome(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let table = table
        let tasks: [(task: Task<Int, any Error>, isCancelled: Bool)] = (0..<120).map { number in
            let key = "k\(Int.random(in: 0..<3, using: &generator))"
            let yields = Int.random(in: 0..<6, using: &generator)
            let fails = Int.random(in: 0..<4, using: &generator) == 0
            let task = Task<Int, any Error> {
                for _ in 0..<yields { await Task.yield() }
                return try await table.value(for: HashedOnce(key)) { _ in
                    for _ in 0..<yields * 2 { await Task.yield() }
                    try Task.checkCancellation()
                    if fails { throw Failed(number: number) }
                    return number
                }
            }
            let isCancelled = Int.random(in: 0..<3, using: &generator) == 0
            if isCancelled, Bool.random(using: &generator) { task.cancel() }
            return (task, isCancelled)
        }
        for (task, isCancelled) in tasks where isCancelled {
            await Task.yield()
            task.cancel()
        }
        for (task, isCancelled) in tasks {
            switch await task.result {
            case .success(let number): #expect((0..<120).contains(number), "seed \(seed)")
            case .failure(is Failed): break
            case .failure(is CancellationError): #expect(isCancelled, "seed \(seed): nobody else is cancelled with it")
            case .failure(let error): Issue.record("seed \(seed): \(error)")
            }
        }
        for key in ["k0", "k1", "k2"] { #expect(table.waiterCount(for: key) == 0, "seed \(seed)") }
    }

    // MARK: Priority

    @Test func workIsAsUrgentAsTheMostUrgentOfThoseWhoWait() async throws {
        let seen = PriorityLog()
        let priorities = [0.3, 0.9, 0.5].map { CallPriority($0) }
        func join(_ priority: CallPriority) -> Task<Int, any Error> {
            Task { [table, gate] in
                try await table.value(for: HashedOnce("k"), priority: priority) { job in
                    job.add(seen, 0)
                    defer { job.remove(seen, 0) }
                    await gate.wait()
                    return 1
                }
            }
        }
        let first = join(priorities[0])
        try await waiting(1)
        #expect(table.priority(of: "k") == 0.3)
        let second = join(priorities[1])
        try await waiting(2)
        let third = join(priorities[2])
        try await waiting(3)
        #expect(table.priority(of: "k") == 0.9)
        second.cancel()
        try await waiting(2)
        #expect(table.priority(of: "k") == 0.5)
        priorities[0].value = 1
        #expect(table.priority(of: "k") == 1)
        priorities[0].value = 0.1
        #expect(table.priority(of: "k") == 0.5)
        priorities[1].value = 1
        #expect(table.priority(of: "k") == 0.5, "who has left has no say")
        gate.open()
        _ = try await (first.value, third.value)
        #expect(Array(seen.values.suffix(4)) == [0.9, 0.5, 1, 0.5])
    }

    @Test func workThatIsToBeFinishedGoesOnBehindEverythingElse() async throws {
        let ended = Gate()
        func join(lingers: Bool) -> Task<Int, any Error> {
            Task { [table, gate, starts] in
                try await table.value(for: HashedOnce("k"), lingers: lingers) { _ in
                    let number = starts.add()
                    await gate.wait()
                    ended.open()
                    return number
                }
            }
        }
        let only = join(lingers: true)
        try await waiting(1)
        only.cancel()
        await #expect(throws: CancellationError.self) { try await only.value }
        #expect(table.priority(of: "k") == CallPriority.background)
        let next = join(lingers: true)
        try await waiting(1)
        #expect(table.priority(of: "k") == 0.5, "somebody waits again")
        next.cancel()
        await #expect(throws: CancellationError.self) { try await next.value }
        gate.open()
        await ended.wait()
        #expect(starts.value == 1)
    }

    @Test func callerCountsBeforeItIsTold() async throws {
        let counted = Mutex<Int?>(nil)
        let caller = Task { [table, gate] in
            try await table.value(
                for: HashedOnce("k"), joined: { _ in counted.withLock { $0 = table.waiterCount(for: "k") } }
            ) { _ in
                await gate.wait()
                return 1
            }
        }
        try await eventually { counted.withLock { $0 } != nil }
        #expect(counted.withLock { $0 } == 1)
        gate.open()
        _ = try await caller.value
    }
}

extension JobTable {
    /// The number of callers that wait for `key`.
    func waiterCount(for key: String) -> Int { job(for: HashedOnce(key))?.subscriberCount ?? 0 }

    /// The priority of the job for `key`; `nil` when none runs.
    func priority(of key: String) -> Double? { job(for: HashedOnce(key))?.currentPriority }
}

/// The priorities that were seen.
private final class PriorityLog: PriorityObserver {
    private let log = Mutex<[Double]>([])

    var values: [Double] { log.withLock { $0 } }

    func priorityChanged(_ priority: any ChangingPriority, _: UInt64) {
        log.withLock { $0.append(priority.currentPriority) }
    }
}
