internal import ImageEngine
internal import Synchronization

/// Computes the state of the network activity indicator while the client is subscribed to it.
final class ActivityMonitor: Sendable {
    private struct State {
        var indicator: ActivityIndicator?
        var delays = (activation: 1.0, completion: 0.17)
    }

    private let state = Mutex(State())
    /// Receives each change, in order; called under a lock, so it must return at once.
    private let show: @Sendable (_ isActive: Bool, _ count: Int) -> Void

    init(show: @escaping @Sendable (_ isActive: Bool, _ count: Int) -> Void) { self.show = show }

    /// Sets the delays, in seconds, from the next ``begin(count:)`` on.
    func use(activationDelay: Double, completionDelay: Double) {
        state.withLock { $0.delays = (activationDelay, completionDelay) }
    }

    /// Starts the indicator, with `count` running transfers.
    func begin(count: Int) {
        state.withLock { state in
            guard state.indicator == nil else { return }
            var indicator = ActivityIndicator(
                activationDelay: state.delays.activation, completionDelay: state.delays.completion)
            let effects = indicator.change(to: count)
            state.indicator = indicator
            perform(effects, indicator.count)
        }
    }

    /// Stops the indicator.
    func end() { state.withLock { $0.indicator = nil } }

    /// Updates the number of running transfers.
    func change(to count: Int) {
        state.withLock { state in
            guard let effects = state.indicator?.change(to: count) else { return }
            perform(effects, count)
        }
    }

    private func fire(_ number: UInt64) {
        state.withLock { state in
            guard let effects = state.indicator?.timerFired(number) else { return }
            perform(effects, state.indicator?.count ?? 0)
        }
    }

    private func perform(_ effects: [ActivityIndicator.Effect], _ count: Int) {
        for effect in effects {
            switch effect {
            case .show(let isActive): show(isActive, count)
            case .wait(let seconds, let number):
                Task { [weak self] in
                    try? await Task.sleep(for: .seconds(seconds))
                    self?.fire(number)
                }
            }
        }
    }
}
