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
        /// The owner of a brief job.
        let owner: ObjectIdentifier?
    }

    /// Jobs in the order in which they came.
    private struct Queue {
        /// The jobs from `next` on; those before it have been taken and are `nil`, so that they are released when done.
        private var jobs: [Job?] = []
        private var next = 0

        var isEmpty: Bool { next == jobs.count }
        var first: Job? { isEmpty ? nil : jobs[next] }

        mutating func append(_ job: Job) { jobs.append(job) }

        mutating func popFirst() -> Job? {
            guard let job = first else { return nil }
            jobs[next] = nil
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

    private struct State {
        var jobs = Queue()
        /// Long jobs that wait until others have ended.
        var held = Queue()
        /// The number of long jobs that are queued or running, and the most.
        var long = 0
        let mostLong: Int
        var schedule: PoolSchedule
        var submitted = 0

        var isWaiting: Bool { !jobs.isEmpty }

        mutating func call() -> PoolSchedule.Call { schedule.call(isWaiting: isWaiting) }

        mutating func append(_ job: Job, isLong: Bool) {
            if isLong, long == mostLong { return held.append(job) }
            if isLong { long += 1 }
            jobs.append(job)
        }

        /// A long job has ended: the next one takes its place.
        mutating func endLong() -> PoolSchedule.Call {
            guard let job = held.popFirst() else {
                long -= 1
                return .nobody
            }
            jobs.append(job)
            return call()
        }

        /// Takes the next job; with an owner, only if the job is brief and the owner's.
        mutating func takeJob(briefFor owner: ObjectIdentifier? = nil) -> Job? {
            guard owner == nil || jobs.first?.owner == owner, let job = jobs.popFirst() else { return nil }
            schedule.begin()
            return job
        }
    }

    /// The time between two looks of the watching thread, in milliseconds. A file is stored in a tenth of it.
    private static let patience: Int32 = 1
    /// The most brief jobs that a thread runs in a row, before the work that they put off.
    private static let bundle = 16
    /// The time after which it begins no further one, in nanoseconds.
    private static let bundleTime = 1_000_000

    private let state: Mutex<State>
    private let wake = Semaphore()
    private let now: @Sendable () -> Int

    /// - Parameters:
    ///   - limit: The most threads.
    ///   - workers: The number of threads that work even if none waits for the disk; that of the processors by default.
    ///   - now: Nanoseconds of a clock that never goes back.
    package init(
        threads limit: Int, workers: Int = MachineLimits.processorCount,
        now: @escaping @Sendable () -> Int = monotonicNanoseconds
    ) {
        state = Mutex(State(mostLong: max(1, limit - 2), schedule: PoolSchedule(limit: limit, workers: workers)))
        self.now = now
    }

    /// Runs `work` on a thread of the pool and returns its value.
    package func run<Value: Sendable>(
        isLong: Bool = false, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            submit(isLong: isLong) { continuation.resume(with: Result(catching: work)) }
        }
    }

    /// Runs `work`, unless the task is cancelled before a thread begins it: that ends the wait at once.
    package func runIfWanted<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await awaitResult { end in
            let end = Once(end)
            submit { end.take()?(Result(catching: work)) }
            return end
        } cancel: { end in
            end.take()?(.failure(CancellationError()))
        }
    }

    /// The number of its threads in ``waiting(_:)``.
    package var waitingCount: Int { state.withLock { $0.schedule.stuck } }

    package var submittedCount: Int { state.withLock { $0.submitted } }

    /// Begins `work` on a thread of the pool. A thread that is awake finds it without a system call; if there is none, one
    /// is woken, at the end of the batch if this thread gathers one (``Afterwards``).
    ///
    /// - Parameters:
    ///   - owner: The owner of a brief job. Brief jobs of one owner run in a row, and the work that they put off
    ///     (``Afterwards``) runs once for all of them.
    ///   - isLong: `true` when the work grows with a file that may be large or hostile; two threads are left to the rest.
    ///   - isLast: `true` at the end of another job of the pool: its thread goes on with the next one, and so none is woken.
    package func submit(
        briefFor owner: AnyObject? = nil, isLong: Bool = false, isLast: Bool = false,
        _ work: @escaping @Sendable () -> Void
    ) {
        let ending: @Sendable () -> Void = { [self] in
            work()
            follow(state.withLock { $0.endLong() })
        }
        state.withLock { state in
            state.append(Job(work: isLong ? ending : work, owner: owner.map(ObjectIdentifier.init)), isLong: isLong)
            state.submitted += 1
        }
        if isLast, hl_pool_slot()?.pointee == Unmanaged.passUnretained(self).toOpaque() { return }
        let call = { [self] in follow(state.withLock { $0.call() }) }
        if !Afterwards.put(off: call, for: self) { call() }
    }

    /// Runs `body`, which waits for the disk or for something else that needs no processor: if this is a thread of a pool,
    /// another one works in its stead meanwhile. As many may wait at once as there may be threads, and what they wait for
    /// is often done together, as writing a file system's journal.
    package static func waiting<Value>(_ body: () throws -> Value) rethrows -> Value {
        guard let place = hl_pool_slot()?.pointee else { return try body() }
        let pool = Unmanaged<BlockingPool>.fromOpaque(place).takeUnretainedValue()
        pool.follow(pool.state.withLock { $0.schedule.beginWait(isWaiting: $0.isWaiting) })
        defer { pool.state.withLock { $0.schedule.endWait() } }
        return try body()
    }

    private func follow(_ call: PoolSchedule.Call) {
        switch call {
        case .nobody: break
        case .sleeper: wake.signal()
        case .newThread:
            if startOptionalThread({ [self] in loop() }) { return }
            // The others do its work.
            if !state.withLock({ $0.schedule.remove() }) { endWithoutThread() }
        }
    }

    // MARK: The threads

    private func loop() {
        hl_pool_slot()?.pointee = Unmanaged.passUnretained(self).toOpaque()
        while true {
            var duty = state.withLock { $0.schedule.arrive() }
            while duty == .watch {
                poll(nil, 0, Self.patience)
                duty = state.withLock { $0.schedule.look(isWaiting: $0.isWaiting) }
            }
            if duty == .work { work() }
            wake.wait()
        }
    }

    /// Works as long as there are jobs. Before the first one, calls the next thread.
    private func work() {
        let (first, call) = state.withLock { ($0.takeJob(), $0.call()) }
        follow(call)
        var job = first ?? nextJob()
        while job != nil {
            run(&job)
            job = nextJob()
        }
    }

    /// Runs a job, and if it is brief, others that are. Each is released before the next one.
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

    /// The next job; when there is none, this thread counts as sleeping.
    private func nextJob() -> Job? {
        state.withLock { state in
            let job = state.takeJob()
            if job == nil { state.schedule.rest() }
            return job
        }
    }
}
