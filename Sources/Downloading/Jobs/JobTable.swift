internal import Platform
internal import Synchronization

/// The jobs that run, by what they bring: callers that ask for the same at the same time share one.
///
/// A cancelled caller leaves at once. A call after the end starts a new job, unless the value is held (``hold(_:for:)``).
package final class JobTable: Sendable {
    /// One caller's place in a job.
    package struct Ticket: Sendable {
        fileprivate let job: Job
        fileprivate let id: UInt64
    }

    /// Keeps the value of a job findable as long as it lives.
    package final class Hold: Sendable {
        fileprivate let value: any Sendable
        private let forget: @Sendable (ObjectIdentifier) -> Void

        fileprivate init(_ value: any Sendable, forget: @escaping @Sendable (ObjectIdentifier) -> Void) {
            (self.value, self.forget) = (value, forget)
        }

        deinit { forget(ObjectIdentifier(self)) }
    }

    private struct WeakHold {
        let id: ObjectIdentifier
        weak var hold: Hold?
    }

    private struct Name: Hashable {
        let key: any JobKey

        static func == (one: Name, other: Name) -> Bool {
            one.key === other.key || one.key.hash == other.key.hash && one.key.isEqual(to: other.key)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(key.hash) }
    }

    /// A job by its key alone: a key beside each would take as much again.
    private struct Running: Hashable {
        let job: Job

        static func == (one: Running, other: Running) -> Bool { Name(key: one.job.key) == Name(key: other.job.key) }

        func hash(into hasher: inout Hasher) { hasher.combine(job.key.hash) }
    }

    private struct State {
        var running: Set<Running> = []
        /// The values of jobs that somebody still uses.
        var held: [Name: WeakHold] = [:]
        var merged = 0

        /// The running job with the same key.
        func running(like job: Job) -> Job? { running.firstIndex(of: Running(job: job)).map { running[$0].job } }

        mutating func remove(_ job: Job) {
            if running(like: job) === job { running.remove(Running(job: job)) }
        }
    }

    private let state = Mutex(State())

    /// Creates an empty table.
    package init() {}

    /// The number of callers that joined a running job.
    package var mergedCount: Int { state.withLock { $0.merged } }

    /// The number of running jobs whose key fits.
    package func runningCount(where isWanted: (any JobKey) -> Bool) -> Int {
        state.withLock { $0.running.count { isWanted($0.job.key) } }
    }

    func job(for key: any JobKey) -> Job? { state.withLock { $0.running(like: Job(key, in: self)) } }

    // MARK: Waiting

    /// Joins the job for `key`, or starts one.
    ///
    /// - Parameters:
    ///   - subscriber: Receives the progress, of which a latecomer gets the latest at once, and the result, perhaps before
    ///     this returns. The caller of a download that must not share the running job starts a new one, which takes its
    ///     place.
    ///   - lingers: `true` when the job goes on after this one has left as the last.
    ///   - start: Starts the work of a new job, which it has to end.
    package func join(
        _ key: any JobKey, _ subscriber: any JobSubscriber, priority: any ChangingPriority, lingers: Bool = false,
        start: (Job) -> Void
    ) -> Ticket {
        let place = Job.Place(subscriber: subscriber, priority: priority, lingers: lingers)
        let new = Job(key, in: self, arrival: priority.arrival)
        let (job, id, latest) = state.withLock { state in
            if let job = state.running(like: new), let (id, latest) = job.add(place) {
                state.merged += 1
                return (job, id, latest)
            }
            state.running.update(with: Running(job: new))
            // A new job takes everybody.
            return (new, new.add(place)?.id ?? 0, nil)
        }
        job.updatePriority()
        if let latest { subscriber.jobReported(latest) }
        if job === new { start(job) }
        return Ticket(job: job, id: id)
    }

    /// Joins the job for `key`, or starts one, with functions for what a subscriber receives.
    package func join(
        _ key: any JobKey, priority: any ChangingPriority, lingers: Bool = false,
        report: (@Sendable (DownloadProgress) -> Void)? = nil,
        start: (Job) -> Void, end: @escaping @Sendable (JobResult) -> Void
    ) -> Ticket {
        join(key, JobCallbacks(report: report, end: end), priority: priority, lingers: lingers, start: start)
    }

    /// Starts a job that nobody waits for, unless one for `key` runs. It has the lowest priority. `end` receives the result.
    package func startAlone(
        _ key: any JobKey, start: (Job) -> Void, end: @escaping @Sendable (JobResult) -> Void
    ) {
        let place = Job.Place(
            subscriber: JobCallbacks(report: nil, end: end), priority: CallPriority(CallPriority.background),
            lingers: true)
        let job = Job(key, in: self, arrival: place.priority.arrival)
        let isNew = state.withLock { state in
            guard state.running.insert(Running(job: job)).inserted else { return false }
            return job.add(place) != nil
        }
        if isNew { start(job) }
    }

    /// The value of a job, for a caller that waits in a task. `joined` is called once it counts as one who waits.
    package func value<Value: Sendable>(
        for key: any JobKey, priority: any ChangingPriority = CallPriority(0.5), lingers: Bool = false,
        report: (@Sendable (DownloadProgress) -> Void)? = nil, joined: @escaping @Sendable (Ticket) -> Void = { _ in },
        work: @escaping @Sendable (Job) async throws -> Value
    ) async throws -> Value {
        try await value(for: key, priority: priority, lingers: lingers, report: report, joined: joined) { job in
            job.continueInTask { try await work(job) }
        }
    }

    /// The value of a job whose work begins without a task, for a caller that waits in one.
    package func value<Value: Sendable>(
        for key: any JobKey, priority: any ChangingPriority, lingers: Bool = false,
        report: (@Sendable (DownloadProgress) -> Void)? = nil,
        joined: @escaping @Sendable (Ticket) -> Void = { _ in }, start: @escaping @Sendable (Job) -> Void
    ) async throws -> Value {
        try await awaitResult { [self] end in
            let ticket = join(key, priority: priority, lingers: lingers, report: report, start: start) {
                end($0.of(Value.self))
            }
            joined(ticket)
            return ticket
        } cancel: { [self] in
            leave($0)
        }
    }

    /// Ends a caller's wait with a `CancellationError`; without effect once it has its result. Cancels the job when nobody
    /// wants it any more.
    package func leave(_ ticket: Ticket) {
        let job = ticket.job
        let removed = state.withLock { state in
            let removed = job.remove(ticket.id)
            if removed?.isAbandoned == true { state.remove(job) }
            return removed
        }
        guard let (place, isAbandoned, unawaited) = removed else { return }
        // First: a caller that waits for this one's end may begin anew, and must not share what is cancelled.
        if isAbandoned { job.cancel() } else { job.updatePriority() }
        if let unawaited, !isAbandoned { place.subscriber.jobGoesOn(unawaited) }
        job.finish(place, ticket.id, with: .failure(CancellationError()))
    }

    /// Removes a job that has ended. A newer one for the same key may run already.
    func remove(_ job: Job) { state.withLock { $0.remove(job) } }

    // MARK: Values that are held

    /// The number of values that are held.
    package var heldCount: Int { state.withLock { $0.held.count } }

    /// The value of a finished job that somebody still uses.
    package func held(_ key: any JobKey) -> (any Sendable)? {
        // Not let go of under the lock, for it may be the last reference.
        let hold = state.withLock { state -> Hold? in
            // In two steps: with an optional chain, Swift 6.2 reads a weak reference of generic code where there is none.
            guard let found = state.held[Name(key: key)] else { return nil }
            return found.hold
        }
        return hold?.value
    }

    /// Makes the value of a finished job findable as long as the result of this lives. A value that was found so is not held
    /// longer than the one whose job brought it holds it, or it would never be made anew.
    package func hold(_ value: any Sendable, for key: any JobKey) -> Hold {
        let hold = Hold(value) { [weak self] in self?.forget(key, $0) }
        state.withLock { $0.held[Name(key: key)] = WeakHold(id: ObjectIdentifier(hold), hold: hold) }
        return hold
    }

    private func forget(_ key: any JobKey, _ id: ObjectIdentifier) {
        state.withLock { state in
            if state.held[Name(key: key)]?.id == id { state.held[Name(key: key)] = nil }
        }
    }
}
