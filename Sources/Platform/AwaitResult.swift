internal import Synchronization

/// Waits in a task for the result that `start` reports once, from any thread. When the task is cancelled, `cancel` receives
/// what `start` returned and has to see to it that a result is reported.
package func awaitResult<Value: Sendable, Token: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Token,
    cancel: @escaping @Sendable (Token) -> Void
) async throws -> Value {
    let place = Mutex<Token?>(nil)
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            // It may have been cancelled before it got here; the handler has run already and found nothing.
            if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
            let token = start { continuation.resume(with: $0) }
            place.withLock { $0 = token }
            if Task.isCancelled { cancel(token) }
        }
    } onCancel: {
        if let token = place.withLock({ $0 }) { cancel(token) }
    }
}
