internal import Platform
internal import Synchronization

/// Passes reports on at a bounded rate: the first at once, and of those that come too soon after another the newest, as
/// soon as it may. Only what has grown is passed on, in order.
final class PacedReports<Value: Sendable>: Sendable {
    private struct State {
        var throttle = ProgressThrottle()
        var last: Value?
        var lastSent = 0
        /// Whether somebody waits for the time of the newest.
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
    ///   - amount: How far a report says that things are.
    ///   - now: Nanoseconds of a clock that never goes back.
    ///   - pause: Waits so many seconds.
    ///   - send: Takes what is passed on; under a lock, so it must return at once and report nothing.
    init(
        amount: @escaping @Sendable (Value) -> Int, now: @escaping @Sendable () -> Int = { monotonicNanoseconds() },
        pause: @escaping @Sendable (Double) async throws -> Void = { try await Task.sleep(for: .seconds($0)) },
        send: @escaping @Sendable (Value) -> Void
    ) {
        self.amount = amount
        self.now = now
        self.pause = pause
        self.send = send
    }

    /// Takes a report. One that says less than an earlier one is left out: after a retry the count begins again, and what
    /// has been told stays told.
    func note(_ value: Value) {
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
    /// - Parameter announce: Under a lock, as what takes the reports.
    func begin(_ announce: () -> Void) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.hasBegun = true
            announce()
        }
    }

    /// Announces the end of work that has begun, once; nothing is passed on from here on.
    ///
    /// - Parameter announce: Takes the last report, and whether it says more than was passed on; under a lock, as what
    ///   takes the reports. Whoever calls later waits for it.
    func end(_ announce: (_ last: Value?, _ hasGrown: Bool) -> Void) {
        state.withLock { state in
            defer { state.hasEnded = true }
            guard state.hasBegun, !state.hasEnded else { return }
            announce(state.last, (state.last.map(amount) ?? 0) > state.lastSent)
        }
    }
}
