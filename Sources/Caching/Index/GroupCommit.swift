internal import Platform
internal import Synchronization

/// Lets one of several threads that want the same kind of work do that of all: the first begins at once, and what comes
/// meanwhile is done together next. None of the others waits.
///
/// For work that costs little more for many than for one, as a transaction does.
final class GroupCommit<Job: Sendable>: Sendable {
    /// Does jobs, in the order they came in, and tells those who wait for them. It is the same for all, and is called by one
    /// thread at a time, with no lock held: it may let further jobs join, which are done next.
    ///
    /// It returns those that cannot be done now, after a moment that is longer the greater `turn`, the number of times in a row
    /// that there were some. They are tried again after those that have come meanwhile.
    typealias Work = @Sendable (_ jobs: [Job], _ turn: Int) -> [Job]

    private struct State: Sendable {
        var waiting: [Job] = []
        var isLed = false
        /// The number of times in a row that jobs could not be done.
        var turn = 0

        /// The jobs that are done next; when there are none, nobody leads any more.
        ///
        /// - Parameter late: Those that could not be done.
        mutating func take(_ limit: Int, after late: [Job] = []) -> [Job] {
            waiting += late
            turn = late.isEmpty ? 0 : turn + 1
            let jobs = Array(waiting.prefix(limit))
            waiting.removeFirst(jobs.count)
            isLed = !jobs.isEmpty
            return jobs
        }
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: The most jobs that are done together.
    init(limit: Int) { self.limit = limit }

    /// The number of jobs that wait until those before them are done.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Leaves `job` to the thread that leads; if there is none, does it here, together with what comes in between, and then
    /// what has come meanwhile.
    ///
    /// - Parameters:
    ///   - staysLeader: `true` when this thread goes on as long as there are jobs. Otherwise another one is started for those
    ///     that come after `job`, if there can be one.
    ///   - work: See ``Work``.
    func join(_ job: Job, staysLeader: Bool = true, _ work: @escaping Work) {
        state.withLock { $0.waiting.append(job) }
        if !staysLeader {
            // Nothing waits long where nobody leads, so the job is among the first.
            guard let jobs = first() else { return }
            let late = work(jobs, 0)
            let rest = state.withLock { $0.take(limit, after: late) }
            if !rest.isEmpty, !startOptionalThread({ [self] in lead(rest, work) }) { lead(rest, work) }
            return
        }
        let begin = { [self] in if let jobs = first() { lead(jobs, work) } }
        // Last of what is put off: others come while it leads.
        if !Afterwards.put(off: begin, for: self, isLong: true) { begin() }
    }

    /// The jobs that are done first, unless somebody leads already or has done them.
    private func first() -> [Job]? {
        let jobs = state.withLock { $0.isLed ? [] : $0.take(limit) }
        return jobs.isEmpty ? nil : jobs
    }

    private func lead(_ first: [Job], _ work: Work) {
        var jobs = first
        while !jobs.isEmpty {
            let late = work(jobs, state.withLock { $0.turn })
            jobs = state.withLock { $0.take(limit, after: late) }
        }
    }
}
