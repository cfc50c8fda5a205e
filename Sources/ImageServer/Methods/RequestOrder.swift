internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Synchronization

/// Manages the ``KeyOrder`` of every cache and starts the requests that may run. Callable from any thread.
///
/// A request on all caches has its place in the order of each, and runs when all of them let it.
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

    /// A request on all caches that has not ended.
    private struct Everywhere {
        let request: any OrderedRequest
        /// The number of orders that do not let it run yet.
        var missing: Int
    }

    private struct State {
        var orders: [String: KeyOrder] = [:]
        /// In order of arrival.
        var everywhere: [Everywhere] = []
        /// By the priority, which is the request's own.
        var waiting: [ObjectIdentifier: Waiting] = [:]
        /// The priorities of the waiting requests, by lane.
        var tallies: [Lane: PriorityTally] = [:]
    }

    private let state = Mutex(State())

    /// `true` when a request would run at once. Only the thread that calls ``enter(_:)`` may rely on it.
    func isFree(_ cache: String, _ scope: KeyOrder.Scope, _ kind: @autoclosure () -> KeyOrder.Kind) -> Bool {
        state.withLock { $0.orders.isEmpty || $0.orders[cache]?.isFree(scope, kind()) ?? $0.everywhere.isEmpty }
    }

    /// Adds a request to the order and starts it when it may run: now, or later from another thread.
    func enter(_ request: any OrderedRequest) {
        let (runs, raised) = state.withLock { state -> (Bool, [CallPriority]) in
            let runs = Self.place(request, &state)
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

    /// Places a request in the order of its cache, or of all caches; returns `true` if it may run now.
    private static func place(_ request: any OrderedRequest, _ state: inout State) -> Bool {
        let isEverywhere = request.scope == .allCaches
        if !isEverywhere, state.everywhere.isEmpty {
            return state.orders[request.cacheName, default: KeyOrder()].enter(request)
        }
        if state.orders[request.cacheName] == nil {
            // The requests on all caches that have not ended come first in a new order.
            var order = KeyOrder()
            for index in state.everywhere.indices where !order.enter(state.everywhere[index].request) {
                state.everywhere[index].missing += 1
            }
            state.orders[request.cacheName] = order
        }
        guard isEverywhere else { return state.orders[request.cacheName]?.enter(request) ?? true }
        var missing = 0
        for index in state.orders.values.indices where !state.orders.values[index].enter(request) { missing += 1 }
        state.everywhere.append(Everywhere(request: request, missing: missing))
        return missing == 0
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
            let started = Self.advance(past: request, goesOn: goesOn, &state)
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

    private static func advance(
        past request: any OrderedRequest, goesOn: Bool, _ state: inout State
    ) -> [any OrderedRequest] {
        func advance(in cache: String) -> [any OrderedRequest] {
            guard let index = state.orders.index(forKey: cache) else { return [] }
            defer { if state.orders.values[index].isEmpty { state.orders.remove(at: index) } }
            return goesOn ? state.orders.values[index].goOn(request) : state.orders.values[index].leave(request)
        }
        if state.everywhere.isEmpty { return advance(in: request.cacheName) }
        let isEverywhere = request.scope == .allCaches
        if isEverywhere { state.everywhere.removeAll { $0.request === request } }
        let caches = isEverywhere ? Array(state.orders.keys) : [request.cacheName]
        return caches.flatMap { advance(in: $0) }.filter { next in
            guard let index = state.everywhere.firstIndex(where: { $0.request === next }) else { return true }
            state.everywhere[index].missing -= 1
            return state.everywhere[index].missing == 0
        }
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
