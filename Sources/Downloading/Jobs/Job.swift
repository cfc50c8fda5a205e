internal import Platform
internal import Synchronization

/// One piece of work that callers share: who waits for it, how urgent it is, and what stops it.
///
/// It ends once, with ``end(_:)``, on the thread where its last part ends; a part that needs a task is run with
/// ``continueInTask(_:)``. It is cancelled when the last caller leaves, unless that one asked for it to be finished.
package final class Job<Value: Sendable>: Sendable {
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
        /// The observation of ``priority``.
        var token: UInt64?
        /// The priority that the tally counts.
        var weight = 0.0
    }

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
        var stops: [@Sendable () -> Void] = []

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
    private let state = Mutex(State())
    private let onEnd: @Sendable (Job) -> Void

    /// - Parameter onEnd: Called when the work has ended and before the subscribers are told: nobody joins after it.
    init(priority: CallPriority, onEnd: @escaping @Sendable (Job) -> Void) {
        (self.priority, self.onEnd) = (CallPriority(priority), onEnd)
    }

    // MARK: The work

    /// `true` when nobody wants the work any more.
    package var isCancelled: Bool { state.withLock { $0.phase == .cancelled } }

    /// Adds an action that stops a part of the work. It runs at once when the work is cancelled already. It may also run
    /// after its part has ended and must do nothing then.
    package func onCancel(_ stop: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if state.phase == .running { state.stops.append(stop) }
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
        onEnd(self)
        let subscribers = state.withLock { state -> OneOrMany<UInt64, Subscriber>? in
            guard state.phase == .running else { return nil }
            state.phase = .ended
            defer { (state.subscribers, state.stops) = (OneOrMany(), []) }
            return state.subscribers
        }
        subscribers?.forEach { Self.end($1, with: result) }
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
        var gone: [(subscriber: Subscriber, error: any Error)] = []
        let last = state.withLock { state -> (any Error)? in
            var refused: [(id: UInt64, error: any Error)] = []
            state.subscribers.forEach { id, subscriber in
                if let error = subscriber.caller.flatMap(check) { refused.append((id, error)) }
            }
            let last = refused.count == state.subscribers.count ? refused.popLast()?.error : nil
            if isLast || last != nil { state.isClosed = true }
            gone = refused.compactMap { id, error in state.remove(id).map { ($0, error) } }
            return last
        }
        if !gone.isEmpty { updatePriority() }
        for (subscriber, error) in gone { Self.end(subscriber, with: .failure(error)) }
        return last
    }

    // MARK: The subscribers

    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// Adds a subscriber; ``updatePriority()`` follows. Returns its number, and the latest progress. Returns `nil` when it
    /// must not join: the work is about to end, or its server has been silent for too long for this caller.
    func add(_ subscriber: Subscriber) -> (id: UInt64, latest: DownloadProgress?)? {
        state.withLock { state in
            if state.isClosed || subscriber.caller?.isTooImpatient(for: self) == true { return nil }
            state.lastID += 1
            let id = state.lastID
            var subscriber = subscriber
            // Before it is read, so that no change is missed.
            subscriber.token = subscriber.priority.observe { [weak self] in self?.updateWeight(id) }
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
            defer { state.stops = [] }
            return state.stops
        }
        for stop in stops { stop() }
    }

    /// Gives the work the priority of its most urgent subscriber, after one has joined or left.
    func updatePriority() {
        let isChanged = state.withLock { priority.store($0.tally.most ?? CallPriority.background) }
        if isChanged { priority.notify() }
    }

    /// Counts a subscriber with the priority that it has now.
    private func updateWeight(_ id: UInt64) {
        state.withLock { state in
            guard let subscriber = state.subscribers[id] else { return }
            let weight = subscriber.priority.value
            state.tally.remove(subscriber.weight)
            state.tally.add(weight)
            state.subscribers[id]?.weight = weight
        }
        updatePriority()
    }

    /// Tells a subscriber that was removed.
    static func end(_ subscriber: Subscriber, with result: Result<Value, any Error>) {
        if let token = subscriber.token { subscriber.priority.forget(token) }
        subscriber.end(result)
    }
}
