/// The state machine of a network activity indicator, with AFNetworking's four states.
///
/// Short activity does not show the indicator, and short pauses do not make it flicker.
struct ActivityIndicator: Sendable {
    /// The state of the indicator.
    enum State: String, Sendable, CaseIterable {
        case notActive, delayingStart, active, delayingEnd
    }

    /// An action that a change demands.
    enum Effect: Sendable, Equatable {
        /// Call ``timerFired(_:)`` with this number after that many seconds, unless another wait follows first.
        case wait(Double, UInt64)
        /// Show or hide the indicator.
        case show(Bool)
    }

    /// The seconds of activity before the indicator is shown. Default: 1.0. 0: none.
    let activationDelay: Double
    /// The seconds without activity before the indicator is hidden. Default: 0.17. 0: none.
    let completionDelay: Double
    /// The current state.
    private(set) var state = State.notActive
    /// The number of running transfers.
    private(set) var count = 0
    private var timer: UInt64 = 0

    /// Creates an inactive indicator.
    init(activationDelay: Double = 1.0, completionDelay: Double = 0.17) {
        self.activationDelay = activationDelay
        self.completionDelay = completionDelay
    }

    /// `true` when the indicator is shown.
    var isVisible: Bool { state == .active || state == .delayingEnd }

    /// Sets the number of running transfers. Negative numbers count as 0.
    mutating func change(to count: Int) -> [Effect] {
        self.count = max(count, 0)
        switch (state, self.count > 0) {
        case (.notActive, true): return activationDelay > 0 ? wait(activationDelay, .delayingStart) : enter(.active)
        case (.active, false): return completionDelay > 0 ? wait(completionDelay, .delayingEnd) : enter(.notActive)
        case (.delayingEnd, true): return enter(.active)
        default: return []
        }
    }

    /// Handles the end of a wait. A wait that another change has superseded does nothing.
    mutating func timerFired(_ number: UInt64) -> [Effect] {
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
        // Every pending wait is superseded.
        timer += 1
        return wasVisible == isVisible ? [] : [.show(isVisible)]
    }
}
