/// Decides whether an engine is asked at all: after a failure it is left out, for one second first and then for twice as long
/// each time, up to a minute. Then one probe, for which no request waits, decides. The pause begins anew at one second once the
/// engine has answered a request after it was in use for as long as the last pause. A plain value.
package struct CircuitBreaker: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// The engine is asked.
        case closed
        /// It is left out.
        case open
        /// It is left out while a probe runs.
        case halfOpen = "half-open"
    }

    package enum Admission: Sendable, Equatable {
        case pass
        /// Leave it out, and begin the probe.
        case probe
        case refuse
    }

    static let shortest = 1_000_000_000
    static let longest = 60_000_000_000

    package private(set) var state = State.closed
    /// The last pause; 0 before the first.
    private var pause = 0
    /// The end of the pause, or of the time within which an answer does not yet show that the engine works again.
    private var end = 0

    package init() {}

    /// - Parameter now: Nanoseconds of a clock that never goes back.
    package mutating func admit(at now: Int) -> Admission {
        switch state {
        case .closed: return .pass
        case .halfOpen: return .refuse
        case .open:
            if now < end { return .refuse }
            state = .halfOpen
            return .probe
        }
    }

    /// Notes a failed operation.
    ///
    /// - Returns: `true` when the state is another now.
    package mutating func failed(at now: Int) -> Bool {
        switch state {
        // An operation that began before.
        case .open: return false
        case .closed, .halfOpen: pause = max(Self.shortest, min(2 * pause, Self.longest))
        }
        (state, end) = (.open, now + pause)
        return true
    }

    /// Notes an answer to a request.
    package mutating func answered(at now: Int) {
        if state == .closed, now >= end { pause = 0 }
    }

    /// Notes that the probe has got an answer.
    package mutating func recovered(at now: Int) { (state, end) = (.closed, now + pause) }
}
