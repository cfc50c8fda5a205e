internal import Synchronization

/// A question to a delegate while a transfer waits for the answer. Withdrawn when the transfer ends for another reason.
final class OpenQuestion: Sendable {
    private struct State: Sendable {
        var task: Task<Void, Never>?
        var isWithdrawn = false
    }

    private let state = Mutex(State())

    /// Asks in a separate task.
    func ask(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            if !state.isWithdrawn { state.task = Task { await work() } }
        }
    }

    /// Cancels the task, unless it has ended with an answer.
    func withdraw() {
        let task = state.withLock { state in
            state.isWithdrawn = true
            return state.task
        }
        task?.cancel()
    }
}
