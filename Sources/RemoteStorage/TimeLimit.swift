internal import Platform
internal import Synchronization

/// A time limit for operations, the same for all. One task sleeps for all of them: a timer for each operation wakes three threads
/// when it is set and when it is not needed any more, which takes longer than most operations.
final class TimeLimit: Sendable {
    private struct Operation: Sendable {
        let number: Int
        let end: ContinuousClock.Instant
        let cancel: @Sendable () -> Void
    }

    private struct State: Sendable {
        /// Those that run, the oldest first, which is the first to be over.
        var running: [Operation] = []
        var count = 0
        /// `true` while a task sleeps for them.
        var isWatched = false

        /// The next end; `nil` when nothing runs, and then nobody watches any more.
        mutating func next() -> ContinuousClock.Instant? {
            isWatched = !running.isEmpty
            return running.first?.end
        }
    }

    private let duration: Duration
    private let state = Mutex(State())

    init(seconds: Double) { duration = .seconds(seconds) }

    /// Runs an operation, which is cancelled when its time is over.
    ///
    /// - Throws: ``RemoteError/timedOut`` when it was; the error of the operation.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = Task(executorPreference: InlineExecutor.shared) { try await work() }
        let number = begin { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        guard end(number) else { throw RemoteError.timedOut }
        return try result.get()
    }

    private func begin(_ cancel: @escaping @Sendable () -> Void) -> Int {
        let (number, starts) = state.withLock { state in
            state.count += 1
            // Within the lock, so that they are in the order of their ends.
            state.running.append(Operation(number: state.count, end: .now + duration, cancel: cancel))
            defer { state.isWatched = true }
            return (state.count, !state.isWatched)
        }
        if starts { Task { await watch() } }
        return number
    }

    /// Returns `false` when its time was over.
    private func end(_ number: Int) -> Bool {
        state.withLock { state in
            guard let place = state.running.firstIndex(where: { $0.number == number }) else { return false }
            state.running.remove(at: place)
            return true
        }
    }

    private func watch() async {
        while let next = state.withLock({ $0.next() }) {
            try? await Task.sleep(until: next)
            let late = state.withLock { state in
                let now = ContinuousClock.now
                let late = state.running.prefix { $0.end <= now }
                state.running.removeFirst(late.count)
                return late
            }
            for operation in late { operation.cancel() }
        }
    }
}
