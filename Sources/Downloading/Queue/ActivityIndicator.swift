internal import Platform

/// Whether a sign of network activity is to be seen: AFNetworking's four states, as a plain value (A-280…A-286).
///
/// Short work shows nothing, and short pauses between work do not make the sign flicker.
public struct ActivityIndicator: Sendable {
    /// Where it stands.
    public enum State: String, Sendable, CaseIterable {
        case notActive, delayingStart, active, delayingEnd
    }

    /// What is to be done after a change.
    public enum Effect: Sendable, Equatable {
        /// Call ``timerFired(_:)`` with this number after so many seconds, unless another follows before.
        case wait(Double, UInt64)
        /// The sign appears or goes.
        case show(Bool)
    }

    /// Seconds of activity before the sign is seen; 1.0 by default, 0 for none.
    public let activationDelay: Double
    /// Seconds without activity before it goes; 0.17 by default, 0 for none.
    public let completionDelay: Double
    /// Where it stands.
    public private(set) var state = State.notActive
    /// How many transfers run.
    public private(set) var count = 0
    private var timer: UInt64 = 0

    /// Nothing is active.
    public init(activationDelay: Double = 1.0, completionDelay: Double = 0.17) {
        self.activationDelay = activationDelay
        self.completionDelay = completionDelay
    }

    /// Whether the sign is to be seen.
    public var isVisible: Bool { state == .active || state == .delayingEnd }

    /// Takes note of how many transfers run; less than none count as none.
    public mutating func change(to count: Int) -> [Effect] {
        self.count = max(count, 0)
        switch (state, self.count > 0) {
        case (.notActive, true): return activationDelay > 0 ? wait(activationDelay, .delayingStart) : enter(.active)
        case (.active, false): return completionDelay > 0 ? wait(completionDelay, .delayingEnd) : enter(.notActive)
        case (.delayingEnd, true): return enter(.active)
        default: return []
        }
    }

    /// The time of a wait is over. One that another change has made pointless does nothing.
    public mutating func timerFired(_ number: UInt64) -> [Effect] {
        guard number == timer else { return [] }
        switch state {
        case .delayingStart: return enter(count > 0 ? .active : .notActive)
        case .delayingEnd: return enter(.notActive)
        case .notActive, .active: return []
        }
    }

    private mutating func wait(_ seconds: Double, _ next: State) -> [Effect] {
        timer += 1
        state = next
        return [.wait(seconds, timer)]
    }

    private mutating func enter(_ next: State) -> [Effect] {
        let wasVisible = isVisible
        state = next
        // Whatever was waited for is over.
        timer += 1
        return wasVisible == isVisible ? [] : [.show(isVisible)]
    }
}
