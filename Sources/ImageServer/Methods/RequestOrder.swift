internal import ImageEngine
internal import Platform
internal import Synchronization

/// Manages the ``KeyOrder`` of every cache and starts the requests that may run. Callable from any thread.
///
/// A running request has at least the priority of the requests that wait for it.
final class RequestOrder: Sendable {
    /// The part of a cache that a request reads or changes.
    struct Access: Sendable {
        let cache: String
        let scope: KeyOrder.Scope
        let kind: KeyOrder.Kind
        var isLocal = true
    }

    /// The position of a request in the order, to be released with ``leave(_:)``.
    struct Place: Sendable {
        fileprivate let cache: String
        fileprivate let ticket: KeyOrder.Ticket
    }

    /// One key of one cache.
    private struct Lane: Hashable {
        let cache: String
        let key: ExactText
    }

    /// The priority of a request in the order.
    private struct Urgency {
        let priority: CallPriority
        /// The lane in which it waits, and the weight it is counted with there; nil when it runs or is withdrawn.
        var waiting: (lane: Lane, weight: Double, token: UInt64)?
    }

    private struct State {
        var orders: [String: KeyOrder] = [:]
        var urgencies: [KeyOrder.Ticket: Urgency] = [:]
        /// The priorities of the waiting requests, by lane.
        var tallies: [Lane: PriorityTally] = [:]
        var starters: [KeyOrder.Ticket: @Sendable (Place) -> Bool] = [:]
        var lastTicket: KeyOrder.Ticket = 0
    }

    private let state = Mutex(State())

    /// `true` when a request would run at once. Only the thread that calls ``enter(_:priority:wait:start:)`` may rely
    /// on it.
    func isFree(_ access: Access) -> Bool {
        state.withLock { state in
            state.orders.isEmpty || state.orders[access.cache]?.isFree(access.scope, access.kind) ?? true
        }
    }

    /// Adds a request to the order and calls `start` when it may run: now, or later from another thread.
    ///
    /// - Parameters:
    ///   - priority: The priority of the request. While it waits, the requests that it waits for get at least the same.
    ///   - wait: Called when the request may not run yet.
    ///   - start: Returns `true` if it keeps the place and will call ``leave(_:)``; otherwise the place is released at
    ///     once.
    func enter(
        _ access: Access, priority: CallPriority? = nil, wait: (Place) -> Void = { _ in },
        start: @escaping @Sendable (Place) -> Bool
    ) {
        let (place, runs, raised) = state.withLock { state -> (Place, Bool, [CallPriority]) in
            state.lastTicket += 1
            let ticket = state.lastTicket
            let place = Place(cache: access.cache, ticket: ticket)
            let runs = state.orders[access.cache, default: KeyOrder()]
                .enter(ticket, access.scope, access.kind, isLocal: access.isLocal)
            if !runs { state.starters[ticket] = start }
            guard let priority else { return (place, runs, []) }
            var urgency = Urgency(priority: priority)
            var raised: [CallPriority] = []
            if !runs, case .key(let key) = access.scope {
                let lane = Lane(cache: access.cache, key: key)
                let token = priority.observe { [weak self] in self?.updateWeight(place) }
                let weight = priority.value
                urgency.waiting = (lane, weight, token)
                raised = Self.updateTally(lane, &state) { $0.add(weight) }
            }
            state.urgencies[ticket] = urgency
            return (place, runs, raised)
        }
        for priority in raised { priority.notify() }
        guard runs else { return wait(place) }
        if !start(place) { leave(place) }
    }

    /// Releases a place; the requests that waited for it start.
    func leave(_ place: Place) {
        // A loop instead of recursion: thousands of requests may have been cancelled while they waited.
        var left = [place]
        while let place = left.popLast() {
            for (place, start) in startable(afterLeaving: place) where !start(place) { left.append(place) }
        }
    }

    /// Removes the priority of a waiting request from those it waits for, because nobody waits for its answer any more.
    func withdraw(_ place: Place) {
        let raised = state.withLock { state in
            Self.endWaiting(place.ticket, &state).map { lane, weight in
                Self.updateTally(lane, &state) { $0.remove(weight) }
            } ?? []
        }
        for priority in raised { priority.notify() }
    }

    /// The requests that start when a place is released.
    private func startable(afterLeaving place: Place) -> [(Place, @Sendable (Place) -> Bool)] {
        let (started, raised) = state.withLock { state in
            var tickets: [KeyOrder.Ticket] = []
            if let index = state.orders.index(forKey: place.cache) {
                tickets = state.orders.values[index].leave(place.ticket)
                if state.orders.values[index].isEmpty { state.orders.remove(at: index) }
            }
            state.urgencies[place.ticket] = nil
            var lanes: Set<Lane> = []
            for ticket in tickets {
                guard let (lane, weight) = Self.endWaiting(ticket, &state) else { continue }
                state.tallies[lane]?.remove(weight)
                lanes.insert(lane)
            }
            let raised = lanes.flatMap { Self.raiseRunning($0, &state) }
            let started = tickets.compactMap { ticket in
                state.starters.removeValue(forKey: ticket).map { (Place(cache: place.cache, ticket: ticket), $0) }
            }
            return (started, raised)
        }
        for priority in raised { priority.notify() }
        return started
    }

    // MARK: Priorities

    /// Applies the changed priority of a waiting request to its lane.
    private func updateWeight(_ place: Place) {
        let raised = state.withLock { state -> [CallPriority] in
            guard let urgency = state.urgencies[place.ticket], let (lane, weight, token) = urgency.waiting else {
                return []
            }
            let now = urgency.priority.value
            state.urgencies[place.ticket]?.waiting = (lane, now, token)
            return Self.updateTally(lane, &state) { tally in
                tally.remove(weight)
                tally.add(now)
            }
        }
        for priority in raised { priority.notify() }
    }

    /// Marks a request as no longer waiting; the caller removes the returned weight from the tally.
    private static func endWaiting(
        _ ticket: KeyOrder.Ticket, _ state: inout State
    ) -> (lane: Lane, weight: Double)? {
        guard let urgency = state.urgencies[ticket], let (lane, weight, token) = urgency.waiting else { return nil }
        urgency.priority.forget(token)
        state.urgencies[ticket]?.waiting = nil
        return (lane, weight)
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
        return running.compactMap { state.urgencies[$0]?.priority }.filter { $0.raise(to: most) }
    }
}
