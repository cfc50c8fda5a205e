internal import Synchronization

/// Work that goes on though nobody waits for its end, so that whoever leaves may wait for all of it.
package final class Backlog: Sendable {
    private struct State {
        var count = 0
        var leaving: [OneShotEvent] = []
    }

    private let state = Mutex(State())

    /// No work goes on.
    package init() {}

    /// Notes that work begins; each is followed by one ``end()``.
    package func begin() { state.withLock { $0.count += 1 } }

    /// Notes that work has ended, whatever came of it.
    package func end() {
        let leaving = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [OneShotEvent]() }
            defer { state.leaving = [] }
            return state.leaving
        }
        for turn in leaving { turn.give(1) }
    }

    /// Waits until there is none.
    package func wait() {
        let turn = state.withLock { state -> OneShotEvent? in
            guard state.count > 0 else { return nil }
            let turn = OneShotEvent()
            state.leaving.append(turn)
            return turn
        }
        _ = turn?.wait()
    }
}
