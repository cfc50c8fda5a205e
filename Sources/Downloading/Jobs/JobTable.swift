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

    fileprivate typealias Name = HashedOnce<Key>

    private struct State {
        var running: [Name: Job<Key, Value>] = [:]
        /// The values of jobs that somebody still uses.
        var held: [Name: WeakHold] = [:]
        var merged = 0
    }

    private let state = Mutex(State())

    /// Creates an empty table.
    package init() {}

    /// The number of callers that joined a running job.
    package var mergedCount: Int { state.withLock { $0.merged } }

    /// The number of running jobs whose key fits.
    package func runningCount(where isWanted: (Key) -> Bool) -> Int {
        state.withLock { $0.running.keys.count { isWanted($0.value) } }
    }

    func job(for key: Key) -> Job<Key, Value>? { state.withLock { $0.running[Name(key)] } }

    // MARK: Waiting

    /// Joins the job for `key`, or starts one.
    ///
    /// - Parameters:
    ///   - lingers: `true` when the job goes on after this caller has left as the last.
    ///   - report: Receives the progress; a caller that joins late receives the latest at once.
    ///   - caller: The caller of a download. One that must not share the running job starts a new one, which takes its place.
    ///   - start: Starts the work of a new job, which it has to end.
    ///   - end: Receives the result, once, from any thread, perhaps before this returns.
    package func join(
        _ key: Key, priority: CallPriority, lingers: Bool = false, report: Job<Key, Value>.Report? = nil,
        caller: DownloadCaller? = nil, start: (Job<Key, Value>) -> Void, end: @escaping Job<Key, Value>.End
    ) -> Ticket {
        let subscriber = Job<Key, Value>.Subscriber(
            priority: priority, lingers: lingers, report: report, caller: caller, end: end)
        let name = Name(key)
        let (job, id, latest, isNew) = state.withLock { state in
            if let job = state.running[name], let (id, latest) = job.add(subscriber) {
                state.merged += 1
                return (job, id, latest, false)
            }
            let job = newJob(name, subscriber, &state)
            return (job.job, job.id, nil, true)
        }
        job.updatePriority()
        if let latest { report?(latest) }
        if isNew { start(job) }
        return Ticket(job: job, id: id)
    }

    /// Starts a job that nobody waits for, unless one for `key` runs. It has the lowest priority. `end` receives the result.
    package func startAlone(_ key: Key, start: (Job<Key, Value>) -> Void, end: @escaping Job<Key, Value>.End) {
        let (name, priority) = (Name(key), CallPriority(CallPriority.background))
        let job = state.withLock { state -> Job<Key, Value>? in
            guard state.running[name] == nil else { return nil }
            return newJob(
                name, Job<Key, Value>.Subscriber(priority: priority, lingers: true, report: nil, end: end), &state
            ).job
        }
        if let job { start(job) }
    }

    private func newJob(
        _ name: Name, _ subscriber: Job<Key, Value>.Subscriber, _ state: inout State
    ) -> (job: Job<Key, Value>, id: UInt64) {
        let job = Job<Key, Value>(name, in: self, priority: subscriber.priority)
        state.running[name] = job
        // A new job takes everybody.
        return (job, job.add(subscriber)?.id ?? 0)
    }

    /// The value of a job, for a caller that waits in a task. `joined` is called once it counts as one who waits.
    package func value(
        for key: Key, priority: CallPriority = CallPriority(0.5), lingers: Bool = false,
        report: Job<Key, Value>.Report? = nil, joined: @escaping @Sendable (Ticket) -> Void = { _ in },
        work: @escaping @Sendable (Job<Key, Value>) async throws -> Value
    ) async throws -> Value {
        try await value(for: key, priority: priority, lingers: lingers, report: report, joined: joined) { job in
            job.continueInTask { try await work(job) }
        }
    }

    /// The same for work that may need no task.
    package func value(
        for key: Key, priority: CallPriority, lingers: Bool = false, report: Job<Key, Value>.Report? = nil,
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
            if removed?.isAbandoned == true, state.running[job.name] === job { state.running[job.name] = nil }
            return removed
        }
        guard let (subscriber, isAbandoned) = removed else { return }
        // First: a caller that waits for this one's end may begin anew, and must not share what is cancelled.
        if isAbandoned { job.cancel() } else { job.updatePriority() }
        job.finish(subscriber, ticket.id, with: .failure(CancellationError()))
    }

    /// Removes a job that has ended. A newer one for the same key may run already.
    func remove(_ job: Job<Key, Value>) {
        state.withLock { state in
            if state.running[job.name] === job { state.running[job.name] = nil }
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
            guard let found = state.held[Name(key)] else { return nil }
            return found.hold
        }
        return hold?.value
    }

    /// Makes the value of a finished job findable as long as the result of this lives. A value that was found so is not held
    /// longer than the one whose job brought it holds it, or it would never be made anew.
    package func hold(_ value: Value, for key: Key) -> Hold {
        let name = Name(key)
        let hold = Hold(value) { [weak self] in self?.forget(name, $0) }
        state.withLock { $0.held[name] = WeakHold(id: ObjectIdentifier(hold), hold: hold) }
        return hold
    }

    private func forget(_ name: Name, _ id: ObjectIdentifier) {
        state.withLock { state in
            if state.held[name]?.id == id { state.held[name] = nil }
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
