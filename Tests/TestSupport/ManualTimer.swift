import Synchronization

/// Pauses that end when the test says so.
public final class ManualTimer: Sendable {
    private struct State {
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var seconds: [Double] = []
    }

    private let state = Mutex(State())
    private let lastID = Atomic(0)

    /// A timer with no pauses.
    public init() {}

    /// How many pauses have begun and not ended.
    public var count: Int { state.withLock { $0.waiting.count } }

    /// How long every pause so far was to be.
    public var seconds: [Double] { state.withLock { $0.seconds } }

    /// Waits until the test lets the time pass, or the task is cancelled.
    public func pause(_ seconds: Double) async throws {
        let id = lastID.add(1, ordering: .relaxed).newValue
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { state in
                    state.waiting[id] = continuation
                    state.seconds.append(seconds)
                }
                if Task.isCancelled { end(id) }
            }
        } onCancel: {
            end(id)
        }
    }

    /// Lets the time of every pause pass that has begun.
    public func elapse() {
        let all = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.self)
        }
        for continuation in all { continuation.resume() }
    }

    private func end(_ id: Int) {
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: CancellationError())
    }
}
