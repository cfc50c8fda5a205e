internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Synchronization

/// Manages the ``KeyOrder`` of every cache and starts the requests that may run. Callable from any thread.
///
/// A running request has at least the priority of the requests that wait for it.
final class RequestOrder: PriorityObserver {
    /// The part of a cache that a request reads or changes.
    struct Access: Sendable {
        let cache: String
        let scope: KeyOrder.Scope
        let kind: KeyOrder.Kind
    }

    /// One key of one cache.
    private struct Lane: Hashable {
        let cache: String
        let key: ExactText
    }

    /// A request with a priority that waits for others on its key.
    private struct Waiting {
        let lane: Lane
        /// The weight with which it is counted in its lane.
        var weight: Double
    }

    private struct State {
        var orders: [String: KeyOrder] = [:]
        /// By the priority, which is the request's own.
        var waiting: [ObjectIdentifier: Waiting] = [:]
        /// The priorities of the waiting requests, by lane.
        var tallies: [Lane: PriorityTally] = [:]
    }

    private let state = Mutex(State())

    /// `true` when a request would run at once. Only the thread that calls ``enter(_:)`` may rely on it.
    func isFree(_ cache: String, _ scope: KeyOrder.Scope, _ kind: @autoclosure () -> KeyOrder.Kind) -> Bool {
        state.withLock { $0.orders.isEmpty || $0.orders[cache]?.isFree(scope, kind()) ?? true }
    }

    /// Adds a request to the order and starts it when it may run: now, or later from another thread.
    func enter(_ request: any OrderedRequest) {
        let (runs, raised) = state.withLock { state -> (Bool, [CallPriority]) in
            let runs = state.orders[request.cacheName, default: KeyOrder()].enter(request)
            guard !runs, let priority = request.priority, case .key(let key) = request.scope else { return (runs, []) }
            let lane = Lane(cache: request.cacheName, key: key)
            priority.add(self)
            let weight = priority.value
            state.waiting[ObjectIdentifier(priority)] = Waiting(lane: lane, weight: weight)
            return (false, Self.updateTally(lane, &state) { $0.add(weight) })
        }
        for priority in raised { priority.notify() }
        guard runs else { return request.wait() }
        if !request.start() { leave(request) }
    }

    /// Removes a request; the requests that waited for it start.
    func leave(_ request: any OrderedRequest) { startNext(after: request, goesOn: false) }

    /// Lets a request go to the network, for it has looked into the cache; the requests that waited for that start.
    func goOn(_ request: any OrderedRequest) { startNext(after: request, goesOn: true) }

    private func startNext(after request: any OrderedRequest, goesOn: Bool) {
        // A loop instead of recursion: thousands of requests may have been cancelled while they waited.
        var left = startable(after: request, goesOn: goesOn).filter { !$0.start() }
        while let request = left.popLast() {
            left += startable(after: request, goesOn: false).filter { !$0.start() }
        }
    }

    /// Removes the priority of a waiting request from those it waits for, because nobody waits for its answer any more.
    func withdraw(_ request: any OrderedRequest) {
        let raised = state.withLock { state in
            endWaiting(request, &state).map { lane, weight in
                Self.updateTally(lane, &state) { $0.remove(weight) }
            } ?? []
        }
        for priority in raised { priority.notify() }
    }

    /// The requests that start when a request leaves, or goes on to the network.
    private func startable(after request: any OrderedRequest, goesOn: Bool) -> [any OrderedRequest] {
        let (started, raised) = state.withLock { state -> ([any OrderedRequest], [CallPriority]) in
            guard let index = state.orders.index(forKey: request.cacheName) else { return ([], []) }
            let started =
                goesOn ? state.orders.values[index].goOn(request) : state.orders.values[index].leave(request)
            if state.orders.values[index].isEmpty { state.orders.remove(at: index) }
            var lanes: Set<Lane> = []
            for next in started {
                guard let (lane, weight) = endWaiting(next, &state) else { continue }
                state.tallies[lane]?.remove(weight)
                lanes.insert(lane)
            }
            return (started, lanes.flatMap { Self.raiseRunning($0, &state) })
        }
        for priority in raised { priority.notify() }
        return started
    }

    // MARK: Priorities

    /// Applies the changed priority of a waiting request to its lane.
    func priorityChanged(_ priority: any ChangingPriority, _: UInt64) {
        let raised = state.withLock { state -> [CallPriority] in
            guard let waiting = state.waiting[ObjectIdentifier(priority)] else { return [] }
            let now = priority.currentPriority
            state.waiting[ObjectIdentifier(priority)]?.weight = now
            return Self.updateTally(waiting.lane, &state) { tally in
                tally.remove(waiting.weight)
                tally.add(now)
            }
        }
        for priority in raised { priority.notify() }
    }

    /// Marks a request as no longer waiting; the caller removes the returned weight from the tally.
    private func endWaiting(
        _ request: any OrderedRequest, _ state: inout State
    ) -> (lane: Lane, weight: Double)? {
        guard let priority = request.priority,
            let waiting = state.waiting.removeValue(forKey: ObjectIdentifier(priority))
        else { return nil }
        priority.remove(self)
        return (waiting.lane, waiting.weight)
    }

    /// Changes the priorities of the requests that wait on a key; returns the priorities of running requests that
    /// changed.
    private static func updateTally(
        _ lane: Lane, _ state: inout State, _ change: (inout PriorityTally) -> Void
    ) -> [CallPriority] {
        let before = state.tallies[lane]?.most
        change(&state.tallies[lane, default: PriorityTally()])
        return state.tallies[lane]?.most == before ? [] : raiseRunning(lane, &state)
    }

    /// Raises the running requests on a key to the highest priority that waits there; returns the priorities that
    /// changed.
    private static func raiseRunning(_ lane: Lane, _ state: inout State) -> [CallPriority] {
        let most = state.tallies[lane]?.most
        if most == nil { state.tallies[lane] = nil }
        let running = state.orders[lane.cache]?.running(lane.key) ?? []
        return running.compactMap(\.priority).filter { $0.raise(to: most) }
    }
}

/// A request in the order of effects that does not wait for the network.
final class OrderedWork: OrderedRequest {
    private let access: RequestOrder.Access
    private let work: @Sendable (OrderedWork) -> Bool

    /// - Parameter work: See ``OrderedRequest/start()``.
    init(_ access: RequestOrder.Access, _ work: @escaping @Sendable (OrderedWork) -> Bool) {
        (self.access, self.work) = (access, work)
    }

    var cacheName: String { access.cache }
    var scope: KeyOrder.Scope { access.scope }
    var kind: KeyOrder.Kind { access.kind }
    var isLocal: Bool { true }
    var priority: CallPriority? { nil }

    func wait() {}

    func start() -> Bool { work(self) }
}
