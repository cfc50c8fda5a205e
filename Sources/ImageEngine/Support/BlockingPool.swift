internal import Platform
internal import Synchronization

/// A few threads for work that blocks in the kernel: reading, writing and naming files.
///
/// The threads of the concurrency runtime are as many as the processor has cores and must never wait for a disk.
/// Threads are started when work waits, up to the limit, and stay.
final class BlockingPool: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var next = 0
        var threads = 0
        /// Threads that wait for work.
        var sleeping = 0
        /// Those of them that have been woken and are not up yet.
        var waking = 0
        var submitted = 0

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

    /// How much work there has been.
    var submittedCount: Int { state.withLock { $0.submitted } }

    /// Begins `job` on a thread of the pool. A thread that is awake finds it without a system call.
    func submit(_ job: @escaping @Sendable () -> Void) {
        enum Need { case nothing, wakeUp, thread }
        let need = state.withLock { state -> Need in
            state.jobs.append(job)
            state.submitted += 1
            if state.sleeping > state.waking {
                state.waking += 1
                return .wakeUp
            }
            guard state.threads < limit else { return .nothing }
            state.threads += 1
            return .thread
        }
        switch need {
        case .nothing: break
        case .wakeUp: wake.signal()
        case .thread: startThread { [self] in loop() }
        }
    }

    private func loop() {
        while true {
            let job = state.withLock { state in
                let job = state.takeJob()
                if job == nil { state.sleeping += 1 }
                return job
            }
            if let job {
                job()
                continue
            }
            wake.wait()
            state.withLock { state in
                state.sleeping -= 1
                state.waking -= 1
            }
        }
    }
}
