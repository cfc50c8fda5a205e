internal import Platform
internal import Synchronization

/// One piece of work that callers share: who waits for it, how urgent it is, and what stops it.
///
/// It ends once, with ``end(_:)``, on the thread where its last part ends; a part that needs a task is run with
/// ``continueInTask(_:)``. It is cancelled when the last caller leaves, unless that one asked for it to be finished. Its
/// priority is that of its most urgent subscriber; it changes as they join, leave and change theirs.
package final class Job: ChangingPriority, PriorityObserver {
    /// A subscriber's place in the job.
    struct Place: Sendable {
        let subscriber: any JobSubscriber
        let priority: any ChangingPriority
        /// The priority that the tally counts.
        var weight = 0.0
        /// `true` when the work goes on after this one has left as the last.
        let lingers: Bool
    }

    private enum Phase: Sendable {
        case running, cancelled, ended
    }

    /// In an order without gaps, because thousands of jobs may wait.
    private struct State: Sendable {
        var places = OneOrMany<UInt64, Place>()
        var phase = Phase.running
        /// `true` when nobody may join any more.
        var isClosed = false
        /// `true` when the priority has changed, and the observers are not told yet.
        var isNew = false
        private var tally = PriorityTally()
        var lastID: UInt32 = 0
        var observers = PriorityObservers()
        /// What stops the first part, and the others.
        var stop: (@Sendable () -> Void)?
        var otherStops: [@Sendable () -> Void] = []
        /// The work that goes on though nobody waits for it; `nil` until the last one has left it so.
        var unawaited: Backlog?
        /// At most one: none while the work waits.
        var latest: [DownloadProgress] = []

        var priority: Double { tally.most ?? CallPriority.background }

        mutating func remove(_ id: UInt64) -> Place? {
            guard let place = places[id] else { return nil }
            places[id] = nil
            count { $0.remove(place.weight) }
            return place
        }

        mutating func count(_ change: (inout PriorityTally) -> Void) {
            let before = priority
            change(&tally)
            if priority != before { isNew = true }
        }
    }

    package let arrival: Int
    /// The moment since when the server of a download has been silent, in nanoseconds of a monotonic clock; `Int.max` while
    /// nothing is awaited from it.
    let silentSince = Atomic(Int.max)
    let key: any JobKey
    private let table: JobTable
    private let state = Mutex(State())

    init(_ key: any JobKey, in table: JobTable, arrival: Int = 0) {
        (self.key, self.table, self.arrival) = (key, table, arrival)
    }

    // MARK: The work

    /// `true` when nobody wants the work any more.
    package var isCancelled: Bool { state.withLock { $0.phase == .cancelled } }

    /// Adds a part of the work, which `stop` stops when the work is cancelled: at once when it is cancelled already. Also
    /// called after the part has ended, and does nothing then. One that captures a single object takes no memory.
    package func onCancel(_ stop: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if state.phase == .running {
                if state.stop == nil { state.stop = stop } else { state.otherStops.append(stop) }
            }
            return state.phase == .cancelled
        }
        if isCancelled { stop() }
    }

    /// Reports progress to the subscribers. Called for every received piece; without effect after the end.
    package func report(_ progress: DownloadProgress) {
        let places = state.withLock { state -> OneOrMany<UInt64, Place>? in
            guard state.phase == .running else { return nil }
            if state.latest.isEmpty { state.latest.append(progress) } else { state.latest[0] = progress }
            return state.places
        }
        places?.forEach { $1.subscriber.jobReported(progress) }
    }

    /// Ends the work. Only the first result counts.
    package func end(_ result: JobResult) {
        // Before the subscribers are told: nobody joins after it.
        table.remove(self)
        let (places, unawaited) = state.withLock { state -> (OneOrMany<UInt64, Place>?, Backlog?) in
            defer { state.unawaited = nil }
            guard state.phase == .running else { return (nil, state.unawaited) }
            state.phase = .ended
            defer { (state.places, state.stop, state.otherStops) = (OneOrMany(), nil, []) }
            return (state.places, state.unawaited)
        }
        places?.forEach { finish($1, $0, with: result) }
        unawaited?.end()
    }

    /// Continues the work in a task, which is cancelled with it and ends it.
    package func continueInTask(_ work: @escaping @Sendable () async throws -> any Sendable) {
        let task = Task {
            do { end(.success(try await work())) } catch { end(.failure(error)) }
        }
        onCancel { task.cancel() }
    }

    // MARK: The callers of a download

    /// One of the callers; `nil` when none is left.
    var anyCaller: (any DownloadCaller)? { state.withLock { $0.places.first?.subscriber.caller } }

    /// Ends the wait of the callers for which `check` finds an error, while the work goes on for the others.
    ///
    /// - Parameter isLast: `true` when nobody may join after this check.
    /// - Returns: The error of the last one when none would be left: the work has to end with it, and nobody joins any more.
    func dismiss(isLast: Bool = false, _ check: (any DownloadCaller) -> (any Error)?) -> (any Error)? {
        var gone: [(id: UInt64, place: Place, error: any Error)] = []
        let last = state.withLock { state -> (any Error)? in
            var refused: [(id: UInt64, error: any Error)] = []
            state.places.forEach { id, place in
                if let caller = place.subscriber.caller, let error = check(caller) { refused.append((id, error)) }
            }
            let last = refused.count == state.places.count ? refused.popLast()?.error : nil
            if isLast || last != nil { state.isClosed = true }
            gone = refused.compactMap { id, error in state.remove(id).map { (id, $0, error) } }
            return last
        }
        if !gone.isEmpty { updatePriority() }
        for (id, place, error) in gone { finish(place, id, with: .failure(error)) }
        return last
    }

    // MARK: The subscribers

    var subscriberCount: Int { state.withLock { $0.places.count } }

    /// Adds a subscriber; ``updatePriority()`` follows. Returns its number, and the latest progress. Returns `nil` when it
    /// must not join: the work is about to end, or its server has been silent for too long for this caller.
    func add(_ place: Place) -> (id: UInt64, latest: DownloadProgress?)? {
        state.withLock { state in
            let silence = silentSince.load(ordering: .relaxed)
            if state.isClosed || silence != .max && place.subscriber.caller?.isTooImpatient(silence) == true {
                return nil
            }
            state.lastID &+= 1
            let id = UInt64(state.lastID)
            var place = place
            // Before it is read, so that no change is missed.
            place.priority.add(self, id)
            place.weight = place.priority.currentPriority
            state.count { $0.add(place.weight) }
            state.places[id] = place
            return (id, state.latest.first)
        }
    }

    /// Removes a subscriber. Returns its place, and `true` when nobody wants the work any more: then ``cancel()``
    /// follows; or the work, when it goes on without any. `nil` when the subscriber is not there.
    func remove(_ id: UInt64) -> (place: Place, isAbandoned: Bool, unawaited: Backlog?)? {
        state.withLock { state in
            guard let place = state.remove(id) else { return nil }
            let isLast = state.places.isEmpty
            if isLast, !place.lingers { state.phase = .cancelled }
            if isLast, place.lingers, state.unawaited == nil, state.phase == .running {
                state.unawaited = Backlog()
                state.unawaited?.begin()
            }
            return (place, isLast && !place.lingers, isLast ? state.unawaited : nil)
        }
    }

    /// Stops what runs of the work, after the last subscriber has left.
    func cancel() {
        let (first, others) = state.withLock { state in
            defer { (state.stop, state.otherStops) = (nil, []) }
            return (state.stop, state.otherStops)
        }
        first?()
        for stop in others { stop() }
    }

    // MARK: The priority

    package var currentPriority: Double { state.withLock { $0.priority } }

    package func add(_ observer: any PriorityObserver, _ id: UInt64) {
        state.withLock { $0.observers.add(observer, id) }
    }

    package func remove(_ observer: any PriorityObserver, _ id: UInt64) {
        state.withLock { $0.observers.remove(observer, id) }
    }

    /// Gives the work the priority of its most urgent subscriber, after one has joined or left.
    func updatePriority() {
        let observers = state.withLock { state -> PriorityObservers? in
            defer { state.isNew = false }
            return state.isNew ? state.observers : nil
        }
        observers?.notify(of: self)
    }

    /// Counts a subscriber with the priority that it has now.
    package func priorityChanged(_ priority: any ChangingPriority, _ id: UInt64) {
        state.withLock { state in
            guard let place = state.places[id] else { return }
            let weight = priority.currentPriority
            state.count {
                $0.remove(place.weight)
                $0.add(weight)
            }
            state.places[id]?.weight = weight
        }
        updatePriority()
    }

    /// Tells a subscriber that was removed.
    func finish(_ place: Place, _ id: UInt64, with result: JobResult) {
        place.priority.remove(self, id)
        place.subscriber.jobEnded(result)
    }
}
