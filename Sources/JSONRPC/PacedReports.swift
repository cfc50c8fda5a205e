internal import Platform
internal import Synchronization

/// Passes reports on at a limited rate: the first at once, and of those that follow too soon the latest, after the
/// minimum interval. Only growing amounts are passed on, in order.
package final class PacedReports<Value: Sendable>: Sendable {
    private struct State {
        var throttle = ProgressThrottle()
        var last: Value?
        var lastSent = 0
        /// `true` while a task waits to pass on the latest report.
        var hasWaiter = false
        var hasBegun = false
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let amount: @Sendable (Value) -> Int
    private let now: @Sendable () -> Int
    private let pause: @Sendable (Double) async throws -> Void
    private let send: @Sendable (Value) -> Void

    /// - Parameters:
    ///   - amount: The progress value of a report.
    ///   - now: The time of a monotonic clock, in nanoseconds.
    ///   - pause: Waits the given number of seconds.
    ///   - send: Receives the reports that are passed on; called under a lock, so it must return at once and not report
    ///     anything.
    package init(
        amount: @escaping @Sendable (Value) -> Int, now: @escaping @Sendable () -> Int = { monotonicNanoseconds() },
        pause: @escaping @Sendable (Double) async throws -> Void = { try await Task.sleep(for: .seconds($0)) },
        send: @escaping @Sendable (Value) -> Void
    ) {
        self.amount = amount
        self.now = now
        self.pause = pause
        self.send = send
    }

    /// Handles a report. A report with a lower amount than an earlier one is dropped: after a retry the count starts
    /// again, and reported progress must not decrease.
    package func submit(_ value: Value) {
        let wait = state.withLock { state -> Double? in
            guard !state.hasEnded, amount(value) >= state.last.map(amount) ?? 0 else { return nil }
            state.last = value
            let now = now()
            if pass(value, &state, at: now) { return nil }
            guard amount(value) > state.lastSent, !state.hasWaiter else { return nil }
            state.hasWaiter = true
            return state.throttle.wait(at: now)
        }
        guard let wait else { return }
        Task { [self] in
            try? await pause(wait)
            state.withLock { state in
                state.hasWaiter = false
                if !state.hasEnded, let last = state.last { _ = pass(last, &state, at: now()) }
            }
        }
    }

    private func pass(_ value: Value, _ state: inout State, at now: Int) -> Bool {
        guard state.throttle.admits(amount(value), now: now) else { return false }
        state.lastSent = amount(value)
        send(value)
        return true
    }

    /// Announces the work, unless it has ended.
    ///
    /// - Parameter announce: Called under the lock, like `send`.
    package func begin(_ announce: () -> Void) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.hasBegun = true
            announce()
        }
    }

    /// Announces the end of work that was announced, once; no report is passed on afterwards.
    ///
    /// - Parameter announce: Receives the last report, and `true` if its amount is higher than that passed on last.
    ///   Called under the lock, like `send`; concurrent calls of this method wait for it.
    package func end(_ announce: (_ last: Value?, _ hasGrown: Bool) -> Void) {
        state.withLock { state in
            defer { state.hasEnded = true }
            guard state.hasBegun, !state.hasEnded else { return }
            announce(state.last, (state.last.map(amount) ?? 0) > state.lastSent)
        }
    }
}
