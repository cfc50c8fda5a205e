internal import Synchronization

/// Shares one piece of work among all callers that want the same thing at the same time.
///
/// A cancelled caller leaves at once; the work is cancelled when the last caller leaves, unless that one wanted it
/// finished. A call that comes after that starts afresh. The work is as urgent as the most urgent of those who wait.
final class Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Report = @Sendable (DownloadProgress) -> Void
    typealias Work = @Sendable (Effort) async throws -> Value

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

    /// A key that is hashed once, and compared only with those of other calls: it may be a whole request with its options.
    private struct Name: Hashable, Sendable {
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
        var task: Task<Void, Never>?
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
        joined: @escaping @Sendable () -> Void = {}, work: @escaping Work
    ) async throws -> Value {
        let id = nextNumber()
        let key = Name(key)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(
                    resume: { continuation.resume(with: $0) }, priority: priority, lingers: lingers)
                join(key, as: id, waiter, report, work)
                joined()
            }
        } onCancel: {
            leave(key, as: id)
        }
    }

    private func nextNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    // MARK: Coming and going

    private func join(_ key: Name, as id: UInt64, _ waiter: Waiter, _ report: Report?, _ work: @escaping Work) {
        // The caller may have been cancelled before it got here; its handler has run already and found nothing.
        if Task.isCancelled { return waiter.resume(.failure(CancellationError())) }
        var waiter = waiter
        waiter.token = waiter.priority.observe { [weak self] in self?.weigh(key) }
        let (isNew, number, progress) = state.withLock { [waiter] state in
            if state.flights[key] != nil {
                state.flights[key]?.waiters[id] = waiter
                state.merged += 1
                return (false, UInt64(0), report.flatMap { state.flights[key]?.progress.add($0, as: id) })
            }
            let flight = Flight(number: id, waiters: [id: waiter], priority: CallPriority(waiter.priority))
            if let report { _ = flight.progress.add(report, as: id) }
            state.flights[key] = flight
            return (true, id, nil)
        }
        if let progress { report?(progress) }
        if isNew { start(key, number, work) } else { weigh(key) }
        if Task.isCancelled { leave(key, as: id) }
    }

    private func start(_ key: Name, _ number: UInt64, _ work: @escaping Work) {
        guard let flight = state.withLock({ $0.flights[key]?.number == number ? $0.flights[key] : nil }) else { return }
        let (priority, progress) = (flight.priority, flight.progress)
        let task = Task {
            let result: Result<Value, any Error>
            do {
                let effort = Effort(report: { progress.post($0) }, priority: priority)
                result = .success(try await work(effort))
            } catch { result = .failure(error) }
            progress.close()
            // Everyone may have left meanwhile, and a newer flight may have taken off.
            let landed = self.state.withLock { state in
                state.flights[key]?.number == number ? state.flights.removeValue(forKey: key) : nil
            }
            // No key path here: in generic code it is looked up anew each time, which takes longer than the rest.
            for (_, waiter) in landed?.waiters ?? [:] {
                waiter.priority.forget(waiter.token)
                waiter.resume(result)
            }
        }
        let isWanted = state.withLock { state in
            guard state.flights[key]?.number == number else { return false }
            state.flights[key]?.task = task
            return true
        }
        if !isWanted { task.cancel() }
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

    private func leave(_ key: Name, as id: UInt64) {
        let (waiter, task, progress) = state.withLock { state -> (Waiter?, Task<Void, Never>?, ProgressBoard?) in
            guard let waiter = state.flights[key]?.waiters.removeValue(forKey: id) else { return (nil, nil, nil) }
            let progress = state.flights[key]?.progress
            guard state.flights[key]?.waiters.isEmpty == true, !waiter.lingers else { return (waiter, nil, progress) }
            return (waiter, state.flights.removeValue(forKey: key)?.task, progress)
        }
        guard let waiter else { return }
        progress?.remove(id)
        waiter.priority.forget(waiter.token)
        waiter.resume(.failure(CancellationError()))
        if let task { task.cancel() } else { weigh(key) }
    }
}
