internal import Synchronization

/// Where work goes on that was begun by somebody who does not wait for its end.
package struct WorkQueue: Sendable {
    /// Runs work that may wait for the disk, soon and on any thread.
    package let submit: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Whether the threads of it have time for the work of others; see ``GroupCommit``.
    package var servesOthers = true

    /// A queue that runs work as `submit` does.
    package init(submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, servesOthers: Bool = true) {
        self.submit = submit
        self.servesOthers = servesOthers
    }
}

/// Somebody who waits for the end of such work, and does himself of it what would need a thread: so it ends even where
/// all threads are occupied by such as him.
package final class BlockingWait<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var work: [@Sendable () -> Void] = []
        var value: Value?
        /// Given when there is something to do for the thread that waits.
        var turn: OneShotEvent?
    }

    private enum Next {
        case done(Value)
        case work([@Sendable () -> Void])
        case wait(OneShotEvent)
    }

    private let state = Mutex(State())

    /// What `begin` comes to in the end; waits for that.
    ///
    /// - Parameter begin: Begins the work, which goes on in `queue`, and has its end told to `then`, once.
    package static func wait(
        for begin: (_ queue: WorkQueue, _ then: @escaping @Sendable (Value) -> Void) -> Void
    ) -> Value {
        let attendance = BlockingWait()
        let queue = WorkQueue(
            submit: { work in attendance.give { $0.work.append(work) } }, servesOthers: false)
        begin(queue) { value in attendance.give { $0.value = value } }
        return attendance.wait()
    }

    private func give(_ change: (inout State) -> Void) {
        let turn = state.withLock { state in
            change(&state)
            defer { state.turn = nil }
            return state.turn
        }
        turn?.give(1)
    }

    private func wait() -> Value {
        while true {
            let next = state.withLock { state -> Next in
                if let value = state.value { return .done(value) }
                if state.work.isEmpty {
                    let turn = OneShotEvent()
                    state.turn = turn
                    return .wait(turn)
                }
                defer { state.work = [] }
                return .work(state.work)
            }
            switch next {
            case .done(let value): return value
            case .work(let work): for work in work { work() }
            case .wait(let turn): _ = turn.wait()
            }
        }
    }
}
