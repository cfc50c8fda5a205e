internal import Synchronization

/// The end of a piece of shared work, told once and from any thread; and the way to break the work off before.
///
/// Work that only waits for other threads needs no task: it ends where its last part does. Whatever is out of the
/// ordinary goes on in a task, with ``goOn(_:)``.
package final class Promise<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var stops: [@Sendable () -> Void] = []
        var end: (@Sendable (Result<Value, any Error>) -> Void)?
    }

    private let state: Mutex<State>

    /// - Parameter end: Hears of the first result; nobody hears of another.
    package init(_ end: @escaping @Sendable (Result<Value, any Error>) -> Void) { state = Mutex(State(end: end)) }

    /// Whether the work is to be broken off.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Adds what breaks off a part of the work; done at once if that is wanted already. It is told also when its part is
    /// over, and does nothing then.
    package func onCancel(_ stop: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled, state.end != nil { state.stops.append(stop) }
            return state.isCancelled
        }
        if isCancelled { stop() }
    }

    /// Breaks the work off.
    package func cancel() {
        let stops = state.withLock { state in
            state.isCancelled = true
            defer { state.stops = [] }
            return state.stops
        }
        for stop in stops { stop() }
    }

    /// Ends the work.
    package func end(_ result: Result<Value, any Error>) {
        let end = state.withLock { state in
            defer { (state.end, state.stops) = (nil, []) }
            return state.end
        }
        end?(result)
    }

    /// Goes on in a task, which is cancelled with the work; the work ends with what comes of it.
    package func goOn(_ work: @escaping @Sendable () async throws -> Value) {
        let task = Task {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            end(result)
        }
        onCancel { task.cancel() }
    }
}
