internal import Platform
internal import Synchronization

/// Counts work that goes on though nobody waits for its end, so that a process that ends can wait for all of it.
final class Backlog: Sendable {
    private struct State {
        var count = 0
        var waiters: [Semaphore] = []
    }

    private let state = Mutex(State())

    /// Records that work begins; each is followed by one ``end()``.
    func begin() { state.withLock { $0.count += 1 } }

    /// Records that work has ended, whatever came of it.
    func end() {
        let waiters = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [Semaphore]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.signal() }
    }

    func wait() {
        let waiter = state.withLock { state -> Semaphore? in
            guard state.count > 0 else { return nil }
            state.waiters.append(Semaphore())
            return state.waiters.last
        }
        waiter?.wait()
    }
}
