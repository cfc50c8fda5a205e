internal import Synchronization

/// A question to a delegate beside the transfer that waits for the answer; withdrawn when that ends otherwise.
final class OpenQuestion: Sendable {
    private struct State: Sendable {
        var task: Task<Void, Never>?
        var isWithdrawn = false
    }

    private let state = Mutex(State())

    /// Asks in a task of its own.
    func ask(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            if !state.isWithdrawn { state.task = Task { await work() } }
        }
    }

    /// Cancels the task, which has ended if there was an answer.
    func withdraw() {
        let task = state.withLock { state in
            state.isWithdrawn = true
            return state.task
        }
        task?.cancel()
    }
}
