internal import Synchronization

/// Runs work that was begun by a thread that does not wait for its end.
package struct WorkQueue: Sendable {
    /// Runs work that may wait for the disk, soon and on any thread.
    package let submit: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// `true` when its threads have time for the work of others; see ``GroupCommit``.
    package var servesOthers = true

    /// A queue that runs work as `submit` does.
    package init(submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, servesOthers: Bool = true) {
        self.submit = submit
        self.servesOthers = servesOthers
    }
}

/// Waits for the end of work that runs on a ``WorkQueue``. The waiting thread itself runs what the work submits, so it
/// ends even where all other threads wait too.
package final class BlockingWait<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var work: [@Sendable () -> Void] = []
        var value: Value?
        /// Signalled when the waiting thread has something to do.
        var wake: Semaphore?
    }

    private let state = Mutex(State())

    /// Begins work, waits for its end, and returns its value.
    ///
    /// - Parameter begin: Begins the work, which goes on in `queue` and calls `then` once at its end.
    package static func wait(
        for begin: (_ queue: WorkQueue, _ then: @escaping @Sendable (Value) -> Void) -> Void
    ) -> Value {
        let wait = BlockingWait()
        begin(WorkQueue(submit: { work in wait.change { $0.work.append(work) } }, servesOthers: false)) { value in
            wait.change { $0.value = value }
        }
        return wait.run()
    }

    private func change(_ change: (inout State) -> Void) {
        let wake = state.withLock { state in
            change(&state)
            defer { state.wake = nil }
            return state.wake
        }
        wake?.signal()
    }

    private func run() -> Value {
        while true {
            let (value, work, wake) = state.withLock { state -> (Value?, [@Sendable () -> Void], Semaphore?) in
                if state.value == nil, state.work.isEmpty { state.wake = Semaphore() }
                defer { state.work = [] }
                return (state.value, state.work, state.wake)
            }
            if let value { return value }
            for work in work { work() }
            wake?.wait()
        }
    }
}
