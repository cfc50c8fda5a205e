import Platform
import Synchronization
import Testing

/// Runs tests that wait for other processes on threads of their own, a few at a time, so that they take none from
/// the tests that use the concurrency runtime.
struct OnThreads: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadExecutor.shared) { try await function() }
    }
}

extension Trait where Self == OnThreads {
    /// The test talks to processes and blocks its thread.
    static var onThreads: OnThreads { OnThreads() }
}

/// Runs jobs on threads that may block.
private final class ThreadExecutor: TaskExecutor {
    static let shared = ThreadExecutor()

    private struct State {
        var jobs: [UnownedJob] = []
        var running = 0
    }

    private let width = 6
    private let state = Mutex(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.running < width else { return false }
            state.running += 1
            return true
        }
        if needsThread { startThread(stackSize: 8 << 20) { [self] in drain() } }
    }

    private func drain() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            if state.jobs.isEmpty {
                state.running -= 1
                return nil
            }
            return state.jobs.removeFirst()
        }
    }
}
