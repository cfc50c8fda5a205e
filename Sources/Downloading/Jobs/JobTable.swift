internal import Platform
internal import Synchronization

/// The jobs that run, by what they bring: callers that ask for the same at the same time share one.
///
/// A cancelled caller leaves at once. A call after the end starts a new job, unless the value is held (``hold(_:for:)``).
package final class JobTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// One caller's place in a job.
    package struct Ticket: Sendable {
        fileprivate let job: Job<Key, Value>
        fileprivate let id: UInt64
    }

    /// Keeps the value of a job findable as long as it lives.
    package final class Hold: Sendable {
        fileprivate let value: Value
        private let forget: @Sendable (ObjectIdentifier) -> Void

        fileprivate init(_ value: Value, forget: @escaping @Sendable (ObjectIdentifier) -> Void) {
            (self.value, self.forget) = (value, forget)
        }

        deinit { forget(ObjectIdentifier(self)) }
    }

    private struct WeakHold {
        let id: ObjectIdentifier
        weak var hold: Hold?
    }

    private struct State {
        var running: [Key: Job<Key, Value>] = [:]
        /// The values of jobs that somebody still uses.
        var held: [Key: WeakHold] = [:]
        var merged = 0
    }

    private let state = Mutex(State())

    /// Creates an empty table.
    package init() {}

    /// The number of callers that joined a running job.
    package var mergedCount: Int { state.withLock { $0.merged } }

    /// The number of running jobs whose key fits.
    package func runningCount(where isWanted: (Key) -> Bool) -> Int {
        state.withLock { $0.running.keys.count(where: isWanted) }
    }

    func job(for key: Key) -> Job<Key, Value>? { state.withLock { $0.running[key] } }

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
        _ key: Key, _ subscriber: any JobSubscriber<Value>, priority: any ChangingPriority, lingers: Bool = false,
        start: (Job<Key, Value>) -> Void
    ) -> Ticket {
        let place = Job<Key, Value>.Place(subscriber: subscriber, priority: priority, lingers: lingers)
        let (job, id, latest, isNew) = state.withLock { state in
            if let job = state.running[key], let (id, latest) = job.add(place) {
                state.merged += 1
                return (job, id, latest, false)
            }
            let job = newJob(key, place, &state)
            return (job.job, job.id, nil, true)
        }
        job.updatePriority()
        if let latest { subscriber.jobReported(latest) }
        if isNew { start(job) }
        return Ticket(job: job, id: id)
    }

    /// The same with functions for what the subscriber receives.
    package func join(
        _ key: Key, priority: any ChangingPriority, lingers: Bool = false,
        report: (@Sendable (DownloadProgress) -> Void)? = nil,
        start: (Job<Key, Value>) -> Void, end: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> Ticket {
        join(key, JobCallbacks(report: report, end: end), priority: priority, lingers: lingers, start: start)
    }

    /// Starts a job that nobody waits for, unless one for `key` runs. It has the lowest priority. `end` receives the result.
    package func startAlone(
        _ key: Key, start: (Job<Key, Value>) -> Void, end: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let place = Job<Key, Value>.Place(
            subscriber: JobCallbacks(report: nil, end: end), priority: CallPriority(CallPriority.background),
            lingers: true)
        let job = state.withLock { state -> Job<Key, Value>? in
            guard state.running[key] == nil else { return nil }
            return newJob(key, place, &state).job
        }
        if let job { start(job) }
    }

    private func newJob(
        _ key: Key, _ place: Job<Key, Value>.Place, _ state: inout State
    ) -> (job: Job<Key, Value>, id: UInt64) {
        let job = Job<Key, Value>(key, in: self, priority: place.priority)
        state.running[key] = job
        // A new job takes everybody.
        return (job, job.add(place)?.id ?? 0)
    }

    /// The value of a job, for a caller that waits in a task. `joined` is called once it counts as one who waits.
    package func value(
        for key: Key, priority: any ChangingPriority = CallPriority(0.5), lingers: Bool = false,
        report: (@Sendable (DownloadProgress) -> Void)? = nil, joined: @escaping @Sendable (Ticket) -> Void = { _ in },
        work: @escaping @Sendable (Job<Key, Value>) async throws -> Value
    ) async throws -> Value {
        try await value(for: key, priority: priority, lingers: lingers, report: report, joined: joined) { job in
            job.continueInTask { try await work(job) }
        }
    }

    /// The same for work that may need no task.
    package func value(
        for key: Key, priority: any ChangingPriority, lingers: Bool = false,
        report: (@Sendable (DownloadProgress) -> Void)? = nil,
        joined: @escaping @Sendable (Ticket) -> Void = { _ in }, start: @escaping @Sendable (Job<Key, Value>) -> Void
    ) async throws -> Value {
        try await awaitResult { [self] end in
            let ticket = join(key, priority: priority, lingers: lingers, report: report, start: start, end: end)
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
            if removed?.isAbandoned == true, state.running[job.key] === job { state.running[job.key] = nil }
            return removed
        }
        guard let (place, isAbandoned) = removed else { return }
        // First: a caller that waits for this one's end may begin anew, and must not share what is cancelled.
        if isAbandoned { job.cancel() } else { job.updatePriority() }
        job.finish(place, ticket.id, with: .failure(CancellationError()))
    }

    /// Removes a job that has ended. A newer one for the same key may run already.
    func remove(_ job: Job<Key, Value>) {
        state.withLock { state in
            if state.running[job.key] === job { state.running[job.key] = nil }
        }
    }

    // MARK: Values that are held

    /// The number of values that are held.
    package var heldCount: Int { state.withLock { $0.held.count } }

    /// The value of a finished job that somebody still uses.
    package func held(_ key: Key) -> Value? {
        // Not let go of under the lock, for it may be the last reference.
        let hold = state.withLock { state -> Hold? in
            // In two steps: with an optional chain, Swift 6.2 reads a weak reference of generic code where there is none.
            guard let found = state.held[key] else { return nil }
            return found.hold
        }
        return hold?.value
    }

    /// Makes the value of a finished job findable as long as the result of this lives. A value that was found so is not held
    /// longer than the one whose job brought it holds it, or it would never be made anew.
    package func hold(_ value: Value, for key: Key) -> Hold {
        let hold = Hold(value) { [weak self] in self?.forget(key, $0) }
        state.withLock { $0.held[key] = WeakHold(id: ObjectIdentifier(hold), hold: hold) }
        return hold
    }

    private func forget(_ key: Key, _ id: ObjectIdentifier) {
        state.withLock { state in
            if state.held[key]?.id == id { state.held[key] = nil }
        }
    }
}

/// Waits in a task for the result that `start` reports once, from any thread. When the task is cancelled, `cancel` receives
/// what `start` returned and has to see to it that a result is reported.
func awaitResult<Value: Sendable, Token: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Token,
    cancel: @escaping @Sendable (Token) -> Void
) async throws -> Value {
    let place = Mutex<Token?>(nil)
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            // It may have been cancelled before it got here; the handler has run already and found nothing.
            if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
            let token = start { continuation.resume(with: $0) }
            place.withLock { $0 = token }
            if Task.isCancelled { cancel(token) }
        }
    } onCancel: {
        if let token = place.withLock({ $0 }) { cancel(token) }
    }
}
