internal import Synchronization

/// Shares one piece of work among all callers that want the same thing at the same time.
///
/// A cancelled caller leaves at once; the work is cancelled when the last caller leaves, unless that one wanted it
/// finished. A call that comes after that starts afresh. The work is as urgent as the most urgent of those who wait.
final class Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Report = @Sendable (DownloadProgress) -> Void
    /// Begins the work, which ends with its landing.
    typealias Work = @Sendable (Effort, Landing<Value>) -> Void

    /// What the shared work is given.
    struct Effort: Sendable {
        /// Takes how far it is.
        let report: Report
        /// The priority of the most urgent caller; follows as callers come, go and change.
        let priority: CallPriority
    }

    private struct Waiter: Sendable {
        let resume: @Sendable (Result<Value, any Error>) -> Void
        let priority: CallPriority
        let lingers: Bool
        var token: UInt64 = 0
    }

    /// One caller's place among those who wait for the same.
    struct Ticket: Sendable {
        fileprivate let name: Name
        fileprivate let id: UInt64
    }

    /// A key that is hashed once, and compared only with those of other calls: it may be a whole request with its options.
    fileprivate struct Name: Hashable, Sendable {
        private final class Content: Sendable {
            let key: Key
            let hash: Int

            init(_ key: Key) {
                self.key = key
                hash = key.hashValue
            }
        }

        private let content: Content

        init(_ key: Key) { content = Content(key) }

        static func == (one: Name, other: Name) -> Bool {
            one.content === other.content
                || one.content.hash == other.content.hash && one.content.key == other.content.key
        }

        func hash(into hasher: inout Hasher) { hasher.combine(content.hash) }
    }

    private struct Flight: Sendable {
        let number: UInt64
        var waiters: [UInt64: Waiter] = [:]
        let landing: Landing<Value>
        let progress = ProgressBoard()
        let priority: CallPriority
    }

    private struct State: Sendable {
        var flights: [Name: Flight] = [:]
        var lastNumber: UInt64 = 0
        var merged = 0
    }

    private let state = Mutex(State())

    /// How many callers joined work that was under way.
    var mergedCount: Int { state.withLock { $0.merged } }

    /// How many callers wait for `key`.
    func waiterCount(for key: Key) -> Int { state.withLock { $0.flights[Name(key)]?.waiters.count ?? 0 } }

    /// The priority of the work for `key`; nil when there is none.
    func priority(of key: Key) -> Double? { state.withLock { $0.flights[Name(key)]?.priority.value } }

    /// The result of `work`, done once however many callers overlap.
    ///
    /// - Parameters:
    ///   - priority: How urgent it is to this caller.
    ///   - lingers: Whether the work goes on when this caller leaves as the last.
    ///   - report: Hears of progress; a caller that joins late hears at once how far it is.
    ///   - joined: Called once the caller counts as one who waits.
    func value(
        for key: Key, priority: CallPriority = CallPriority(0.5), lingers: Bool = false, report: Report? = nil,
        joined: @escaping @Sendable () -> Void = {}, work: @escaping @Sendable (Effort) async throws -> Value
    ) async throws -> Value {
        try await value(
            for: key, priority: priority, lingers: lingers, report: report, joined: joined
        ) { effort, landing in
            landing.goOn { try await work(effort) }
        }
    }

    /// The same for work that may need no task.
    func value(
        for key: Key, priority: CallPriority, lingers: Bool, report: Report?, joined: @escaping @Sendable () -> Void,
        beginning work: @escaping Work
    ) async throws -> Value {
        let ticket = Ticket(name: Name(key), id: nextNumber())
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // It may have been cancelled before it got here; the handler has run already and found nothing.
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                let waiter = Waiter(resume: { continuation.resume(with: $0) }, priority: priority, lingers: lingers)
                join(ticket, waiter, report, work)
                if Task.isCancelled { leave(ticket) }
                joined()
            }
        } onCancel: {
            leave(ticket)
        }
    }

    /// The same without a task that waits: `resume` is called with the result, once and from any thread, perhaps before
    /// this returns.
    ///
    /// - Returns: What ``leave(_:)`` needs.
    func join(
        _ key: Key, priority: CallPriority, lingers: Bool = false, report: Report? = nil,
        work: @escaping Work, resume: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> Ticket {
        let ticket = Ticket(name: Name(key), id: nextNumber())
        join(ticket, Waiter(resume: resume, priority: priority, lingers: lingers), report, work)
        return ticket
    }

    private func nextNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    // MARK: Coming and going

    private func join(_ ticket: Ticket, _ waiter: Waiter, _ report: Report?, _ work: @escaping Work) {
        let (key, id) = (ticket.name, ticket.id)
        var waiter = waiter
        waiter.token = waiter.priority.observe { [weak self] in self?.weigh(key) }
        let (flight, progress) = state.withLock { [waiter] state -> (Flight?, DownloadProgress?) in
            if state.flights[key] != nil {
                state.flights[key]?.waiters[id] = waiter
                state.merged += 1
                return (nil, report.flatMap { state.flights[key]?.progress.add($0, as: id) })
            }
            let landing = Landing<Value> { [self] in land(key, id, $0) }
            let flight = Flight(
                number: id, waiters: [id: waiter], landing: landing, priority: CallPriority(waiter.priority))
            if let report { _ = flight.progress.add(report, as: id) }
            state.flights[key] = flight
            return (flight, nil)
        }
        if let progress { report?(progress) }
        guard let flight else { return weigh(key) }
        let board = flight.progress
        work(Effort(report: { board.post($0) }, priority: flight.priority), flight.landing)
    }

    /// Gives the result to all who wait for a flight. Everyone may have left meanwhile, and a newer one have taken off.
    private func land(_ key: Name, _ number: UInt64, _ result: Result<Value, any Error>) {
        let landed = state.withLock { state in
            state.flights[key]?.number == number ? state.flights.removeValue(forKey: key) : nil
        }
        guard let landed else { return }
        landed.progress.close()
        // No key path here: in generic code it is looked up anew each time, which takes longer than the rest.
        for (_, waiter) in landed.waiters {
            waiter.priority.forget(waiter.token)
            waiter.resume(result)
        }
    }

    /// Makes the work as urgent as the most urgent of its callers.
    private func weigh(_ key: Name) {
        let changed = state.withLock { state -> CallPriority? in
            guard let flight = state.flights[key] else { return nil }
            let most = flight.waiters.values.map({ $0.priority.value }).max() ?? CallPriority.background
            return flight.priority.store(most) ? flight.priority : nil
        }
        changed?.notify()
    }

    /// Lets a caller go, with a `CancellationError`; does nothing when it has its result.
    func leave(_ ticket: Ticket) {
        let key = ticket.name
        let (waiter, landing, progress) = state.withLock { state -> (Waiter?, Landing<Value>?, ProgressBoard?) in
            guard let waiter = state.flights[key]?.waiters.removeValue(forKey: ticket.id) else {
                return (nil, nil, nil)
            }
            let progress = state.flights[key]?.progress
            guard state.flights[key]?.waiters.isEmpty == true, !waiter.lingers else { return (waiter, nil, progress) }
            return (waiter, state.flights.removeValue(forKey: key)?.landing, progress)
        }
        guard let waiter else { return }
        progress?.remove(ticket.id)
        waiter.priority.forget(waiter.token)
        waiter.resume(.failure(CancellationError()))
        if let landing { landing.cancel() } else { weigh(key) }
    }
}
