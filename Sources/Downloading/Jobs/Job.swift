internal import Platform
internal import Synchronization

/// One piece of work that callers share: who waits for it, how urgent it is, and what stops it.
///
/// It ends once, with ``end(_:)``, on the thread where its last part ends; a part that needs a task is run with
/// ``continueInTask(_:)``. It is cancelled when the last caller leaves, unless that one asked for it to be finished.
package final class Job<Value: Sendable>: Sendable {
    package typealias End = @Sendable (Result<Value, any Error>) -> Void
    package typealias Report = @Sendable (DownloadProgress) -> Void

    /// One who waits for the result.
    struct Subscriber: Sendable {
        let end: End
        var report: Report?
        let priority: CallPriority
        /// `true` when the work goes on after this one has left as the last.
        let lingers: Bool
        /// The observation of ``priority``.
        fileprivate var token: UInt64?
        /// The priority that the tally counts.
        fileprivate var weight = 0.0

        init(priority: CallPriority, lingers: Bool, report: Report?, end: @escaping End) {
            (self.priority, self.lingers, self.report, self.end) = (priority, lingers, report, end)
        }
    }

    private enum Phase: Sendable {
        case running, cancelled, ended
    }

    private struct State: Sendable {
        var phase = Phase.running
        var subscribers = OneOrMany<UInt64, Subscriber>()
        var tally = PriorityTally()
        var lastID: UInt64 = 0
        var latest: DownloadProgress?
        var stops: [@Sendable () -> Void] = []
    }

    /// The highest priority of the subscribers. Changes as they join, leave and change theirs.
    package let priority: CallPriority
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
        subscribers?.forEach { $0.report?(progress) }
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
        // No key path here: in generic code it is looked up each time, which takes longer than the rest.
        subscribers?.forEach { subscriber in
            if let token = subscriber.token { subscriber.priority.forget(token) }
            subscriber.end(result)
        }
    }

    /// Continues the work in a task, which is cancelled with it and ends it.
    package func continueInTask(_ work: @escaping @Sendable () async throws -> Value) {
        let task = Task {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            end(result)
        }
        onCancel { task.cancel() }
    }

    // MARK: The subscribers

    /// The number of subscribers.
    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// Adds a subscriber; ``observe(_:)`` follows.
    ///
    /// - Returns: Its number, and the latest progress.
    func add(_ subscriber: Subscriber) -> (id: UInt64, latest: DownloadProgress?) {
        state.withLock { state in
            state.lastID += 1
            var subscriber = subscriber
            subscriber.weight = subscriber.priority.value
            state.tally.add(subscriber.weight)
            state.subscribers[state.lastID] = subscriber
            return (state.lastID, state.latest)
        }
    }

    /// Follows the priority of a subscriber from now on.
    func observe(_ id: UInt64, _ priority: CallPriority) {
        let token = priority.observe { [weak self] in self?.updateWeight(id) }
        let isGone = state.withLock { state in
            state.subscribers[id]?.token = token
            return state.subscribers[id] == nil
        }
        if isGone { return priority.forget(token) }
        updateWeight(id)
    }

    /// Replaces the receiver of a subscriber's progress. The new one receives the latest progress at once.
    func setReport(_ id: UInt64, _ report: @escaping Report) {
        let latest = state.withLock { state -> DownloadProgress? in
            guard state.subscribers[id] != nil else { return nil }
            state.subscribers[id]?.report = report
            return state.latest
        }
        if let latest { report(latest) }
    }

    /// Removes a subscriber.
    ///
    /// - Returns: The subscriber, and `true` when nobody wants the work any more: then ``cancel()`` follows. `nil` when the
    ///   subscriber is not there.
    func remove(_ id: UInt64) -> (subscriber: Subscriber, isAbandoned: Bool)? {
        state.withLock { state in
            guard let subscriber = state.subscribers.removeValue(forKey: id) else { return nil }
            state.tally.remove(subscriber.weight)
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

    /// Gives the work the priority of its most urgent subscriber, after one has left.
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

    /// Ends the wait of a subscriber that was removed.
    static func dismiss(_ subscriber: Subscriber) {
        if let token = subscriber.token { subscriber.priority.forget(token) }
        subscriber.end(.failure(CancellationError()))
    }
}
