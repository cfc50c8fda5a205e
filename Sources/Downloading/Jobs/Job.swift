internal import Platform
internal import Synchronization

/// One piece of work that callers share: who waits for it, how urgent it is, and what stops it.
///
/// It ends once, with ``end(_:)``, on the thread where its last part ends; a part that needs a task is run with
/// ``continueInTask(_:)``. It is cancelled when the last caller leaves, unless that one asked for it to be finished.
package final class Job<Key: Hashable & Sendable, Value: Sendable>: PriorityObserver {
    package typealias End = @Sendable (Result<Value, any Error>) -> Void
    package typealias Report = @Sendable (DownloadProgress) -> Void

    struct Subscriber: Sendable {
        let priority: CallPriority
        /// `true` when the work goes on after this one has left as the last.
        let lingers: Bool
        let report: Report?
        /// The caller of a download, who is held to its own limits.
        var caller: DownloadCaller?
        let end: End
        /// The priority that the tally counts.
        var weight = 0.0
    }

    /// In a value of its own: a bare closure in a generic value is wrapped once more.
    private struct Stop: Sendable { let stop: @Sendable () -> Void }

    private enum Phase: Sendable {
        case running, cancelled, ended
    }

    private struct State: Sendable {
        var phase = Phase.running
        /// `true` when nobody may join any more.
        var isClosed = false
        var subscribers = OneOrMany<UInt64, Subscriber>()
        var tally = PriorityTally()
        var lastID: UInt64 = 0
        var latest: DownloadProgress?
        var stops = OneOrMany<Int, Stop>()

        mutating func remove(_ id: UInt64) -> Subscriber? {
            guard let subscriber = subscribers.removeValue(forKey: id) else { return nil }
            tally.remove(subscriber.weight)
            return subscriber
        }
    }

    /// The highest priority of the subscribers. Changes as they join, leave and change theirs.
    package let priority: CallPriority
    /// The moment since when the server of a download has been silent, in nanoseconds of a monotonic clock; `Int.max` while
    /// nothing is awaited from it.
    let silentSince = Atomic(Int.max)
    let name: HashedOnce<Key>
    private let table: JobTable<Key, Value>
    private let state = Mutex(State())

    init(_ name: HashedOnce<Key>, in table: JobTable<Key, Value>, priority: CallPriority) {
        (self.name, self.table, self.priority) = (name, table, CallPriority(priority))
    }

    // MARK: The work

    /// `true` when nobody wants the work any more.
    package var isCancelled: Bool { state.withLock { $0.phase == .cancelled } }

    /// Adds an action that stops a part of the work. It runs at once when the work is cancelled already. It may also run
    /// after its part has ended and must do nothing then.
    package func onCancel(_ stop: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if state.phase == .running { state.stops[state.stops.count] = Stop(stop: stop) }
            return state.phase == .cancelled
        }
        if isCancelled { stop() }
    }

    /// Reports progress to the subscribers. Called for every received piece; without effect after the end.
    package func report(_ progress: DownloadProgress) {
        let subscribers = state.withLock { state -> OneOrMany<UInt64, Subscriber>? in
            guard state.phase == .running else { return nil }
            state.latest = progress
            return state.subscribers
        }
        subscribers?.forEach { $1.report?(progress) }
    }

    /// Ends the work. Only the first result counts.
    package func end(_ result: Result<Value, any Error>) {
        // Before the subscribers are told: nobody joins after it.
        table.remove(self)
        let subscribers = state.withLock { state -> OneOrMany<UInt64, Subscriber>? in
            guard state.phase == .running else { return nil }
            state.phase = .ended
            defer { (state.subscribers, state.stops) = (OneOrMany(), OneOrMany()) }
            return state.subscribers
        }
        subscribers?.forEach { finish($1, $0, with: result) }
    }

    /// Continues the work in a task, which is cancelled with it and ends it.
    package func continueInTask(_ work: @escaping @Sendable () async throws -> Value) {
        let task = Task {
            do { end(.success(try await work())) } catch { end(.failure(error)) }
        }
        onCancel { task.cancel() }
    }

    // MARK: The callers of a download

    /// One of the callers; `nil` when none is left.
    var anyCaller: DownloadCaller? { state.withLock { $0.subscribers.first?.caller } }

    /// Ends the wait of the callers for which `check` finds an error, while the work goes on for the others.
    ///
    /// - Parameter isLast: `true` when nobody may join after this check.
    /// - Returns: The error of the last one when none would be left: the work has to end with it, and nobody joins any more.
    func dismiss(isLast: Bool = false, _ check: (DownloadCaller) -> (any Error)?) -> (any Error)? {
        var gone: [(id: UInt64, subscriber: Subscriber, error: any Error)] = []
        let last = state.withLock { state -> (any Error)? in
            var refused: [(id: UInt64, error: any Error)] = []
            state.subscribers.forEach { id, subscriber in
                if let error = subscriber.caller.flatMap(check) { refused.append((id, error)) }
            }
            let last = refused.count == state.subscribers.count ? refused.popLast()?.error : nil
            if isLast || last != nil { state.isClosed = true }
            gone = refused.compactMap { id, error in state.remove(id).map { (id, $0, error) } }
            return last
        }
        if !gone.isEmpty { updatePriority() }
        for (id, subscriber, error) in gone { finish(subscriber, id, with: .failure(error)) }
        return last
    }

    // MARK: The subscribers

    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// Adds a subscriber; ``updatePriority()`` follows. Returns its number, and the latest progress. Returns `nil` when it
    /// must not join: the work is about to end, or its server has been silent for too long for this caller.
    func add(_ subscriber: Subscriber) -> (id: UInt64, latest: DownloadProgress?)? {
        state.withLock { state in
            if state.isClosed || subscriber.caller?.isTooImpatient(silentSince.load(ordering: .relaxed)) == true {
                return nil
            }
            state.lastID += 1
            let id = state.lastID
            var subscriber = subscriber
            // Before it is read, so that no change is missed.
            subscriber.priority.add(self, id)
            subscriber.weight = subscriber.priority.value
            state.tally.add(subscriber.weight)
            state.subscribers[id] = subscriber
            return (id, state.latest)
        }
    }

    /// Removes a subscriber. Returns the subscriber, and `true` when nobody wants the work any more: then ``cancel()``
    /// follows. `nil` when the subscriber is not there.
    func remove(_ id: UInt64) -> (subscriber: Subscriber, isAbandoned: Bool)? {
        state.withLock { state in
            guard let subscriber = state.remove(id) else { return nil }
            let isAbandoned = state.subscribers.isEmpty && !subscriber.lingers
            if isAbandoned { state.phase = .cancelled }
            return (subscriber, isAbandoned)
        }
    }

    /// Stops what runs of the work, after the last subscriber has left.
    func cancel() {
        let stops = state.withLock { state in
            defer { state.stops = OneOrMany() }
            return state.stops
        }
        stops.forEach { $1.stop() }
    }

    /// Gives the work the priority of its most urgent subscriber, after one has joined or left.
    func updatePriority() {
        let isChanged = state.withLock { priority.store($0.tally.most ?? CallPriority.background) }
        if isChanged { priority.notify() }
    }

    /// Counts a subscriber with the priority that it has now.
    package func priorityChanged(_ priority: CallPriority, _ id: UInt64) {
        state.withLock { state in
            guard let subscriber = state.subscribers[id] else { return }
            let weight = priority.value
            state.tally.remove(subscriber.weight)
            state.tally.add(weight)
            state.subscribers[id]?.weight = weight
        }
        updatePriority()
    }

    /// Tells a subscriber that was removed.
    func finish(_ subscriber: Subscriber, _ id: UInt64, with result: Result<Value, any Error>) {
        subscriber.priority.remove(self, id)
        subscriber.end(result)
    }
}
