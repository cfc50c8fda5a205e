internal import Synchronization

/// The result of shared work: delivered once, from any thread. Also carries the cancellation of the work.
///
/// Work that only waits for other threads needs no task: it ends on the thread where its last part ends. Unusual cases
/// continue in a task, with ``continueInTask(_:)``.
package final class Promise<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var stops: [@Sendable () -> Void] = []
        var end: (@Sendable (Result<Value, any Error>) -> Void)?
    }

    private let state: Mutex<State>

    /// - Parameter end: Receives the first result. Further results are dropped.
    package init(_ end: @escaping @Sendable (Result<Value, any Error>) -> Void) { state = Mutex(State(end: end)) }

    /// `true` when the work is to be cancelled.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Adds an action that cancels a part of the work. It runs at once when the work is cancelled already. It may also
    /// run after its part has ended and must do nothing then.
    package func onCancel(_ stop: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled, state.end != nil { state.stops.append(stop) }
            return state.isCancelled
        }
        if isCancelled { stop() }
    }

    /// Cancels the work.
    package func cancel() {
        let stops = state.withLock { state in
            state.isCancelled = true
            defer { state.stops = [] }
            return state.stops
        }
        for stop in stops { stop() }
    }

    /// Delivers the result.
    package func end(_ result: Result<Value, any Error>) {
        let end = state.withLock { state in
            defer { (state.end, state.stops) = (nil, []) }
            return state.end
        }
        end?(result)
    }

    /// Continues the work in a task, which is cancelled with it and delivers the result.
    package func continueInTask(_ work: @escaping @Sendable () async throws -> Value) {
        let task = Task {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            end(result)
        }
        onCancel { task.cancel() }
    }
}
