import Synchronization

/// A door that callers wait at until the test opens it; it stays open.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// A closed gate.
    public init() {}

    /// Waits until the gate is open.
    public func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Whether it has been opened.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// How many callers wait.
    public var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Lets everyone through.
    public func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// Something that was waited for did not come.
public struct PatienceExhausted: Error, CustomStringConvertible {
    /// What was waited for.
    public let description: String

    /// Nothing came of `description`.
    public init(description: String) { self.description = description }
}

/// Waits until `condition` holds.
///
/// Not for measuring time: the bound of 120 s only turns a hang into a failure.
public func eventually(
    _ what: String = "the condition", _ condition: @Sendable () async throws -> Bool
) async throws {
    for _ in 0..<24_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(5))
    }
    throw PatienceExhausted(description: "\(what) did not come true within 120 s")
}
