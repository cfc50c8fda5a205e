internal import Platform
internal import Synchronization

/// A few threads for work that blocks in the kernel: reading, writing and naming files.
///
/// The threads of the concurrency runtime are as many as the processor has cores and must never wait for a disk.
/// Threads are started when work waits, up to the limit, and stay.
final class BlockingPool: Sendable {
    private enum Need { case nothing, wakeUp, thread }

    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var next = 0
        var threads = 0
        /// Threads that wait for work and have not been woken.
        var sleeping = 0
        /// Whether a thread has been woken or started and is not up yet.
        var isComing = false
        var submitted = 0

        /// What has to be done for the work that waits.
        mutating func need(limit: Int) -> Need {
            guard next < jobs.count, !isComing else { return .nothing }
            if sleeping > 0 {
                sleeping -= 1
                isComing = true
                return .wakeUp
            }
            guard threads < limit else { return .nothing }
            threads += 1
            isComing = true
            return .thread
        }

        mutating func takeJob() -> (@Sendable () -> Void)? {
            guard next < jobs.count else { return nil }
            let job = jobs[next]
            next += 1
            if next == jobs.count {
                jobs.removeAll(keepingCapacity: jobs.capacity <= 1024)
                next = 0
            } else if next >= 1024 {
                jobs.removeFirst(next)
                next = 0
            }
            return job
        }
    }

    private let limit: Int
    private let state = Mutex(State())
    private let wake = Semaphore()

    init(threads limit: Int) { self.limit = limit }

    /// Runs `work` on a thread of the pool and returns what it returns.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            submit { continuation.resume(with: Result(catching: work)) }
        }
    }

    /// Runs `work`, unless the task is cancelled before its turn comes: that ends the wait at once, and nothing is done.
    func runIfWanted<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let wish = Wish<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard wish.begin(continuation) else { return }
                submit { wish.take()?.resume(with: Result(catching: work)) }
            }
        } onCancel: {
            wish.drop()
        }
    }

    /// Somebody who waits for work whose turn has not come, until that or the end of his patience.
    private final class Wish<Value: Sendable>: Sendable {
        private struct State: Sendable {
            var waiter: CheckedContinuation<Value, any Error>?
            var isDropped = false
        }

        private let state = Mutex(State())

        /// Begins to wait.
        ///
        /// - Returns: Whether anything is to be done; nobody waits any more otherwise.
        func begin(_ waiter: CheckedContinuation<Value, any Error>) -> Bool {
            let isWanted = state.withLock { state in
                if !state.isDropped { state.waiter = waiter }
                return !state.isDropped
            }
            if !isWanted { waiter.resume(throwing: CancellationError()) }
            return isWanted
        }

        /// Who waits, now that the turn has come.
        func take() -> CheckedContinuation<Value, any Error>? {
            state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
        }

        func drop() {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                state.isDropped = true
                return state.waiter
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// How much work there has been.
    var submittedCount: Int { state.withLock { $0.submitted } }

    /// Begins `job` on a thread of the pool. A thread that is awake finds it without a system call.
    ///
    /// Threads come one after the other, each seeing to the next, as long as there is work that nobody took meanwhile.
    func submit(_ job: @escaping @Sendable () -> Void) {
        meet(
            state.withLock { state in
                state.jobs.append(job)
                state.submitted += 1
                return state.need(limit: limit)
            })
    }

    private func meet(_ need: Need) {
        switch need {
        case .nothing: break
        case .wakeUp: wake.signal()
        case .thread: startThread { [self] in loop() }
        }
    }

    private func loop() {
        while true {
            begin()
            while let job = nextJob() { job() }
            wake.wait()
        }
    }

    /// Sees to the next thread, and does a job. What the job holds is let go of before the thread waits.
    private func begin() {
        let (job, need) = state.withLock { state in
            state.isComing = false
            let job = state.takeJob()
            return (job, state.need(limit: limit))
        }
        meet(need)
        job?()
    }

    /// The next job; when there is none, this thread counts as one that waits.
    private func nextJob() -> (@Sendable () -> Void)? {
        state.withLock { state in
            let job = state.takeJob()
            if job == nil { state.sleeping += 1 }
            return job
        }
    }
}
