internal import Platform
internal import Synchronization

/// Lets one of several threads that want the same kind of work do that of all: whoever comes first begins at once, and
/// what comes meanwhile is done together next. None of the others waits.
///
/// For work that costs little more for many than for one, as a transaction does.
final class Convoy<Job: Sendable>: Sendable {
    private struct State: Sendable {
        var waiting: [Job] = []
        var isLed = false
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: How many jobs are done together at most.
    init(limit: Int) { self.limit = limit }

    /// How many jobs wait until those before them are done.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Leaves `job` to the thread that does the work now; if there is none, does it here, together with what comes in
    /// between, and then what has come meanwhile.
    ///
    /// - Parameters:
    ///   - staysLeader: Whether this thread goes on as long as there are jobs. Otherwise another one is started for
    ///     those that come after `job`.
    ///   - work: Does jobs, in the order they came in, and tells those who wait for them. It is the same for all, and is
    ///     called by one thread at a time, with no lock held: it may let further jobs join, which are done next.
    func join(_ job: Job, staysLeader: Bool = true, _ work: @escaping @Sendable (_ jobs: [Job]) -> Void) {
        let leads = state.withLock { state in
            state.waiting.append(job)
            defer { state.isLed = true }
            return !state.isLed
        }
        guard leads else { return }
        if staysLeader { return lead(next(), work) }
        // Nothing waits where nobody leads, so the job is among the first.
        work(next())
        let rest = next()
        if !rest.isEmpty { startThread { [self] in lead(rest, work) } }
    }

    private func lead(_ first: [Job], _ work: (_ jobs: [Job]) -> Void) {
        var jobs = first
        while !jobs.isEmpty {
            work(jobs)
            jobs = next()
        }
    }

    /// The jobs that are done next; when there are none, nobody leads any more.
    private func next() -> [Job] {
        state.withLock { state in
            let jobs = Array(state.waiting.prefix(limit))
            state.waiting.removeFirst(jobs.count)
            if jobs.isEmpty { state.isLed = false }
            return jobs
        }
    }
}
