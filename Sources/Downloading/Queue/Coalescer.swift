internal import Platform
internal import Synchronization

/// Shares one piece of work among all callers that ask for the same at the same time.
///
/// A cancelled caller leaves at once. The work is cancelled when the last caller leaves, unless that one asked for it
/// to be finished. A later call starts new work. The work has the highest priority of its callers.
package final class Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    package typealias Report = @Sendable (DownloadProgress) -> Void
    /// Starts the work, which ends with its promise.
    package typealias Work = @Sendable (Effort, Promise<Value>) -> Void

    /// The connections of the shared work to its callers.
    package struct Effort: Sendable {
        /// Receives the progress of the work.
        package let report: Report
        /// The highest priority of the callers. Changes as callers join, leave and change theirs.
        package let priority: CallPriority

        /// Creates the connections of a piece of shared work.
        package init(report: @escaping Report, priority: CallPriority) {
            self.report = report
            self.priority = priority
        }
    }

    private struct Waiter: Sendable {
        let resume: @Sendable (Result<Value, any Error>) -> Void
        let priority: CallPriority
        let lingers: Bool
        var token: UInt64 = 0
        /// The priority that the tally counts for this caller.
        var weight = 0.0
    }

    /// One caller's membership in shared work.
    package struct Ticket: Sendable {
        fileprivate let name: Name
        fileprivate let id: UInt64
    }

    /// The membership of a caller, and the key of the work that it joined.
    package struct Place: Sendable {
        /// The argument of ``Coalescer/leave(_:)``.
        package let ticket: Ticket
        /// The key of the caller that started the work. `nil`: this caller started it.
        let leader: Key?
    }

    fileprivate typealias Name = HashedOnce<Key>

    private struct SharedWork: Sendable {
        let number: UInt64
        private(set) var waiters = OneOrMany<UInt64, Waiter>()
        private var tally = PriorityTally()
        let promise: Promise<Value>
        let progress = ProgressBoard()
        let priority: CallPriority

        init(_ number: UInt64, _ promise: Promise<Value>, _ priority: CallPriority) {
            self.number = number
            self.promise = promise
            self.priority = priority
        }

        mutating func add(_ waiter: Waiter, as id: UInt64) {
            var waiter = waiter
            waiter.weight = waiter.priority.value
            tally.add(waiter.weight)
            waiters[id] = waiter
        }

        mutating func remove(_ id: UInt64) -> Waiter? {
            guard let waiter = waiters.removeValue(forKey: id) else { return nil }
            tally.remove(waiter.weight)
            return waiter
        }

        /// Updates the priority that the tally counts for a waiter.
        mutating func updateWeight(_ id: UInt64) {
            guard let waiter = waiters[id], waiter.weight != waiter.priority.value else { return }
            _ = remove(id)
            add(waiter, as: id)
        }

        /// Updates the priority of the work from its callers. Returns `true` when it changed.
        func updatePriority() -> Bool { priority.store(tally.most ?? CallPriority.background) }
    }

    /// Keeps the value of finished work findable as long as it lives.
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
        var running: [Name: SharedWork] = [:]
        /// The values of finished work that somebody still uses.
        var held: [Name: WeakHold] = [:]
        var lastNumber: UInt64 = 0
        var merged = 0
    }

    private let state = Mutex(State())

    /// Creates a coalescer without work.
    package init() {}

    /// The number of callers that joined running work so far.
    package var mergedCount: Int { state.withLock { $0.merged } }

    /// How many pieces of work run whose key is wanted.
    package func runningCount(where isWanted: (Key) -> Bool) -> Int {
        state.withLock { $0.running.keys.count { isWanted($0.value) } }
    }

    // MARK: Values that are held

    /// How many values are held.
    package var heldCount: Int { state.withLock { $0.held.count } }

    /// The value of finished work that somebody still uses.
    package func held(_ key: Key) -> Value? {
        // Not let go of under the lock, for it may be the last reference.
        let hold = state.withLock { $0.held[Name(key)]?.hold }
        return hold?.value
    }

    /// Makes the value of finished work findable as long as the result lives. A value that was found so is not held longer
    /// than the one who finished the work holds it; it would never be made anew.
    package func hold(_ value: Value, for key: Key) -> Hold {
        let name = Name(key)
        let hold = Hold(value) { [weak self] in self?.forget(name, $0) }
        // The one before is let go of outside of the lock.
        state.withLock { $0.held[name] = WeakHold(id: ObjectIdentifier(hold), hold: hold) }
        return hold
    }

    private func forget(_ name: Name, _ id: ObjectIdentifier) {
        state.withLock { state in
            if state.held[name]?.id == id { state.held[name] = nil }
        }
    }

    // MARK: Waiting

    /// How many callers wait for `key`.
    package func waiterCount(for key: Key) -> Int { state.withLock { $0.running[Name(key)]?.waiters.count ?? 0 } }

    /// The priority of the work for `key`. `nil`: there is none.
    package func priority(of key: Key) -> Double? { state.withLock { $0.running[Name(key)]?.priority.value } }

    /// Returns the result of `work`, which runs once for all overlapping callers.
    ///
    /// - Parameters:
    ///   - priority: The priority of this caller.
    ///   - lingers: `true` when the work continues after this caller leaves as the last.
    ///   - report: Receives progress. A caller that joins late receives the latest progress at once.
    ///   - joined: Called with the caller's place as soon as the caller counts as waiting.
    package func value(
        for key: Key, priority: CallPriority = CallPriority(0.5), lingers: Bool = false, report: Report? = nil,
        joined: @escaping @Sendable (Place) -> Void = { _ in }, work: @escaping @Sendable (Effort) async throws -> Value
    ) async throws -> Value {
        try await value(
            for: key, priority: priority, lingers: lingers, report: report, joined: joined
        ) { effort, promise in
            promise.continueInTask { try await work(effort) }
        }
    }

    /// The same for work that may need no task.
    package func value(
        for key: Key, priority: CallPriority, lingers: Bool, report: Report?,
        joined: @escaping @Sendable (Place) -> Void,
        beginning work: @escaping Work
    ) async throws -> Value {
        let ticket = Ticket(name: Name(key), id: nextNumber())
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // The caller may have been cancelled earlier; the handler has run and found nothing then.
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                let waiter = Waiter(resume: { continuation.resume(with: $0) }, priority: priority, lingers: lingers)
                let leader = join(ticket, waiter, report, work)
                if Task.isCancelled { leave(ticket) }
                joined(Place(ticket: ticket, leader: leader))
            }
        } onCancel: {
            leave(ticket)
        }
    }

    /// Joins or starts work without a waiting task. `resume` receives the result, once, from any thread, perhaps before
    /// this method returns.
    package func join(
        _ key: Key, priority: CallPriority, lingers: Bool = false, report: Report? = nil,
        work: @escaping Work, resume: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> Place {
        let ticket = Ticket(name: Name(key), id: nextNumber())
        let waiter = Waiter(resume: resume, priority: priority, lingers: lingers)
        return Place(ticket: ticket, leader: join(ticket, waiter, report, work))
    }

    /// Begins work that nobody waits for, unless work for `key` is under way. It has the lowest priority.
    ///
    /// - Parameter end: Called with the result, once and from any thread.
    package func startAlone(
        _ key: Key, work: @escaping Work, end: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let ticket = Ticket(name: Name(key), id: nextNumber())
        let waiter = Waiter(resume: end, priority: CallPriority(CallPriority.background), lingers: true)
        _ = join(ticket, waiter, nil, isAlone: true, work)
    }

    /// Replaces the receiver of a caller's progress. The new one receives the latest progress at once.
    package func setReport(_ ticket: Ticket, _ report: @escaping Report) {
        let progress = state.withLock { state in
            state.running[ticket.name].flatMap { shared in
                shared.waiters[ticket.id] == nil ? nil : shared.progress.add(report, as: ticket.id)
            }
        }
        if let progress { report(progress) }
    }

    private func nextNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    // MARK: Coming and going

    /// - Returns: What was asked for by the one who had begun the work.
    private func join(
        _ ticket: Ticket, _ waiter: Waiter, _ report: Report?, isAlone: Bool = false, _ work: @escaping Work
    ) -> Key? {
        let (key, id) = (ticket.name, ticket.id)
        var waiter = waiter
        waiter.token = waiter.priority.observe { [weak self] in self?.updateWeight(ticket) }
        let (shared, leader, progress) = state.withLock { [waiter] state -> (SharedWork?, Key?, DownloadProgress?) in
            if let index = state.running.index(forKey: key) {
                if isAlone { return (nil, nil, nil) }
                state.running.values[index].add(waiter, as: id)
                state.merged += 1
                let progress = report.flatMap { state.running.values[index].progress.add($0, as: id) }
                return (nil, state.running.keys[index].value, progress)
            }
            let promise = Promise<Value> { [self] in finish(key, id, $0) }
            var shared = SharedWork(id, promise, CallPriority(waiter.priority))
            shared.add(waiter, as: id)
            if let report { _ = shared.progress.add(report, as: id) }
            state.running[key] = shared
            return (shared, nil, nil)
        }
        if let progress { report?(progress) }
        guard let shared else {
            updateWeight(ticket)
            return leader
        }
        let board = shared.progress
        work(Effort(report: { board.post($0) }, priority: shared.priority), shared.promise)
        return nil
    }

    /// Delivers the result to all waiters. All may have left meanwhile, and new work may run for the key.
    private func finish(_ key: Name, _ number: UInt64, _ result: Result<Value, any Error>) {
        let finished = state.withLock { state in
            state.running[key]?.number == number ? state.running.removeValue(forKey: key) : nil
        }
        guard let finished else { return }
        finished.progress.close()
        // No key path: generic code resolves it anew each time, which takes longer than the rest.
        finished.waiters.forEach { waiter in
            waiter.priority.forget(waiter.token)
            waiter.resume(result)
        }
    }

    /// Updates the priority of the work after a caller has joined or changed its priority.
    private func updateWeight(_ ticket: Ticket) {
        let changed = state.withLock { state -> CallPriority? in
            state.running[ticket.name]?.updateWeight(ticket.id)
            guard let shared = state.running[ticket.name] else { return nil }
            return shared.updatePriority() ? shared.priority : nil
        }
        changed?.notify()
    }

    /// Ends the wait of a caller with a `CancellationError`. Does nothing when the caller has its result.
    package func leave(_ ticket: Ticket) {
        let key = ticket.name
        let (waiter, promise, progress) = state.withLock { state -> (Waiter?, Promise<Value>?, ProgressBoard?) in
            guard let waiter = state.running[key]?.remove(ticket.id) else {
                return (nil, nil, nil)
            }
            let progress = state.running[key]?.progress
            guard state.running[key]?.waiters.isEmpty == true, !waiter.lingers else { return (waiter, nil, progress) }
            return (waiter, state.running.removeValue(forKey: key)?.promise, progress)
        }
        guard let waiter else { return }
        progress?.remove(ticket.id)
        waiter.priority.forget(waiter.token)
        // Cancels first: whoever waits for the end of this caller may start work within `resume`, and must not share
        // the cancelled work.
        if let promise { promise.cancel() } else { updateWeight(ticket) }
        waiter.resume(.failure(CancellationError()))
    }
}
