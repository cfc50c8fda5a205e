internal import Synchronization

/// Waits in a task for the result that `start` reports once, from any thread. When the task is cancelled, `cancel` receives
/// what `start` returned and has to see to it that a result is reported.
///
/// A task is not continued while it is being cancelled: the runtime holds its lock then, and a task of ``InlineExecutor`` would
/// run, and end, within that.
package func awaitResult<Value: Sendable, Token: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Token,
    cancel: @escaping @Sendable (Token) -> Void
) async throws -> Value {
    let state = Mutex(ResultWait<Value, Token>())
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            // It may have been cancelled before it got here; the handler has run already and found nothing.
            if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
            let token = start { result in
                if !state.withLock({ $0.keeps(result, for: continuation) }) { continuation.resume(with: result) }
            }
            state.withLock { $0.token = token }
            if Task.isCancelled { cancel(token) }
        }
    } onCancel: {
        let token = state.withLock { state in
            state.isBeingCancelled = true
            return state.token
        }
        if let token { cancel(token) }
        let kept = state.withLock { state in
            state.isBeingCancelled = false
            return state.kept
        }
        if let (continuation, result) = kept { Task { continuation.resume(with: result) } }
    }
}

private struct ResultWait<Value: Sendable, Token: Sendable>: Sendable {
    var token: Token?
    var isBeingCancelled = false
    /// What was reported while the task was being cancelled.
    private(set) var kept: (CheckedContinuation<Value, any Error>, Result<Value, any Error>)?

    /// Keeps a result while the task is being cancelled; `false` at any other time.
    mutating func keeps(_ result: Result<Value, any Error>, for continuation: CheckedContinuation<Value, any Error>)
        -> Bool
    {
        if isBeingCancelled { kept = (continuation, result) }
        return isBeingCancelled
    }
}
