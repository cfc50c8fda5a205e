internal import CLinux
internal import Glibc
internal import Synchronization

/// A few threads for work that blocks in the kernel: reading, writing and naming files.
///
/// The threads of the concurrency runtime are as many as the processor has cores and must never wait for a disk.
/// Threads are started when work waits, up to the limit, and stay; see ``PoolSchedule`` for how many work at once.
package final class BlockingPool: Sendable {
    private struct Job {
        let work: @Sendable () -> Void
        /// What it is brief for.
        let owner: ObjectIdentifier?
    }

    private struct State {
        /// Those that have been taken are nil, so that they are let go of when they are done.
        var jobs: [Job?] = []
        var next = 0
        var crew: PoolSchedule
        var submitted = 0

        var isWaiting: Bool { next < jobs.count }

        mutating func call() -> PoolSchedule.Call { crew.call(isWaiting: isWaiting) }

        /// The next job; only one that is brief for an owner, if one is given.
        mutating func takeJob(briefFor owner: ObjectIdentifier? = nil) -> Job? {
            guard next < jobs.count, owner == nil || jobs[next]?.owner == owner else { return nil }
            let job = jobs[next]
            jobs[next] = nil
            next += 1
            if next == jobs.count {
                jobs.removeAll(keepingCapacity: jobs.capacity <= 1024)
                next = 0
            } else if next >= 1024 {
                jobs.removeFirst(next)
                next = 0
            }
            crew.begin()
            return job
        }
    }

    /// How long the one that keeps watch waits between two looks, in milliseconds. A file is stored in a tenth of it.
    private static let patience: Int32 = 1
    /// How many brief jobs a thread does in a row at most, before it does what they put off.
    private static let bundle = 16
    /// For how many nanoseconds it begins another.
    private static let bundleTime = 1_000_000

    private let state: Mutex<State>
    private let wake = Semaphore()
    private let now: @Sendable () -> Int

    /// - Parameters:
    ///   - limit: How many threads there may be.
    ///   - workers: How many of them work even if none waits for the disk; as many as there are processors by default.
    ///   - now: Nanoseconds of a clock that never goes back.
    package init(
        threads limit: Int, workers: Int = Int(hl_processors()),
        now: @escaping @Sendable () -> Int = monotonicNanoseconds
    ) {
        state = Mutex(State(crew: PoolSchedule(limit: limit, workers: workers)))
        self.now = now
    }

    /// Runs `work` on a thread of the pool and returns what it returns.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            submit { continuation.resume(with: Result(catching: work)) }
        }
    }

    /// Runs `work`, unless the task is cancelled before its turn comes: that ends the wait at once, and nothing is done.
    package func runIfWanted<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
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

    /// How many of its threads wait for the disk and have said so.
    package var waitingCount: Int { state.withLock { $0.crew.stuck } }

    /// How much work there has been.
    package var submittedCount: Int { state.withLock { $0.submitted } }

    /// Begins `job` on a thread of the pool. A thread that is awake finds it without a system call; if there is none, one
    /// is woken, by a thread that gathers (``Afterwards``) at the end of that.
    ///
    /// - Parameter owner: Whose others can wait for it, if it takes no longer than that: such jobs of one owner are done in
    ///   a row, and what they put off (``Afterwards``) is done for all of them at once.
    package func submit(briefFor owner: AnyObject? = nil, _ work: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.jobs.append(Job(work: work, owner: owner.map(ObjectIdentifier.init)))
            state.submitted += 1
        }
        if !Afterwards.put(off: { [self] in callOut() }, for: self) { callOut() }
    }

    /// Runs `body`, which waits for the disk or for something else that needs no processor: if this is a thread of a pool,
    /// another one works in its stead meanwhile. As many may wait at once as there may be threads, and what they wait for
    /// is often done together, as writing a file system's journal.
    package static func waiting<Value>(_ body: () throws -> Value) rethrows -> Value {
        guard let place = hl_pool_slot()?.pointee else { return try body() }
        let pool = Unmanaged<BlockingPool>.fromOpaque(place).takeUnretainedValue()
        pool.meet(pool.state.withLock { $0.crew.beginWait(isWaiting: $0.isWaiting) })
        defer { pool.state.withLock { $0.crew.endWait() } }
        return try body()
    }

    private func callOut() { meet(state.withLock { $0.call() }) }

    private func meet(_ call: PoolSchedule.Call) {
        switch call {
        case .nobody: break
        case .sleeper: wake.signal()
        case .recruit: startThread { [self] in loop() }
        }
    }

    // MARK: The threads

    private func loop() {
        hl_pool_slot()?.pointee = Unmanaged.passUnretained(self).toOpaque()
        while true {
            var duty = state.withLock { $0.crew.arrive() }
            while duty == .watch {
                poll(nil, 0, Self.patience)
                duty = state.withLock { $0.crew.look(isWaiting: $0.isWaiting) }
            }
            if duty == .work { work() }
            wake.wait()
        }
    }

    /// Works as long as there is something to do.
    private func work() {
        var job = firstJob()
        while job != nil {
            run(&job)
            job = nextJob()
        }
    }

    /// Does a job, and if it is brief, others that are. Each is let go of before the next one.
    private func run(_ job: inout Job?) {
        guard let owner = job?.owner else {
            job?.work()
            job = nil
            return
        }
        let end = now() + Self.bundleTime
        Afterwards.gather {
            var count = 0
            while job != nil {
                job?.work()
                job = nil
                count += 1
                guard count < Self.bundle, now() < end else { return }
                job = state.withLock { $0.takeJob(briefFor: owner) }
            }
        }
    }

    /// Sees to the next thread, and takes a job.
    private func firstJob() -> Job? {
        let (job, call) = state.withLock { ($0.takeJob(), $0.call()) }
        meet(call)
        return job ?? nextJob()
    }

    /// The next job; when there is none, this thread counts as one that sleeps.
    private func nextJob() -> Job? {
        state.withLock { state in
            let job = state.takeJob()
            if job == nil { state.crew.rest() }
            return job
        }
    }
}
