internal import Synchronization

/// Counts work that goes on though nobody waits for its end, so that a process that ends can wait for all of it.
package final class Backlog: Sendable {
    private struct State {
        var count = 0
        var waiters: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// None.
    package init() {}

    /// Records that work begins; each is followed by one ``end()``.
    package func begin() { state.withLock { $0.count += 1 } }

    /// Records that work has ended, whatever came of it.
    package func end() {
        let waiters = state.withLock { state -> [@Sendable () -> Void] in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter() }
    }

    /// Calls `then` once all of it has ended: at once, or on the thread where it ends.
    package func whenDone(_ then: @escaping @Sendable () -> Void) {
        let isDone = state.withLock { state in
            if state.count > 0 { state.waiters.append(then) }
            return state.count == 0
        }
        if isDone { then() }
    }

    /// Calls `then` once all of several backlogs have ended.
    package static func whenDone(_ all: ArraySlice<Backlog>, _ then: @escaping @Sendable () -> Void) {
        guard let last = all.last else { return then() }
        last.whenDone { whenDone(all.dropLast(), then) }
    }

    package func wait() {
        let end = Semaphore()
        whenDone { end.signal() }
        end.wait()
    }
}
