internal import Platform
internal import Synchronization

/// Lets one of several threads that want the same kind of work do that of all: whoever comes first begins at once, and
/// what comes meanwhile is done together next.
///
/// For work that costs little more for many than for one, as a transaction does.
final class Convoy<Job: Sendable>: Sendable {
    private struct Waiting: Sendable {
        let job: Job
        let turn: Turn
    }

    private struct State {
        var waiting: [Waiting] = []
        var isLed = false
    }

    /// What the thread of a job is told that waits: it is done, or that thread is to lead.
    private let (done, lead): (UInt32, UInt32) = (1, 2)
    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: How many jobs are done together at most.
    init(limit: Int) { self.limit = limit }

    /// How many jobs wait until those before them are done.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Has `job` done by `work`, on this thread or on that of another job, and returns when it is.
    ///
    /// - Parameter work: Does jobs in the order they came in; `job` is one of them, or among those of another call. It is
    ///   the same for all.
    func join(_ job: Job, _ work: (_ jobs: [Job]) -> Void) {
        let turn = state.withLock { state -> Turn? in
            guard state.isLed else {
                state.isLed = true
                return nil
            }
            let turn = Turn()
            state.waiting.append(Waiting(job: job, turn: turn))
            return turn
        }
        if let turn, turn.wait() == done { return }
        let company = state.withLock { state in
            let company = Array(state.waiting.prefix(limit - 1))
            state.waiting.removeFirst(company.count)
            return company
        }
        work([job] + company.map(\.job))
        // The next one leads before the others wake up: the work never rests.
        let next = state.withLock { state -> Waiting? in
            guard !state.waiting.isEmpty else {
                state.isLed = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.turn.give(lead)
        for other in company { other.turn.give(done) }
    }
}
