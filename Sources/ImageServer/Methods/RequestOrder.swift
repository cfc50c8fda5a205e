internal import ImageEngine
internal import Platform
internal import Synchronization

/// Keeps the ``KeyOrder`` of every cache and starts what may run. Callable from any thread.
///
/// What runs is at least as urgent as what waits for it to be over (B-006).
final class RequestOrder: Sendable {
    /// What a request touches.
    struct Access: Sendable {
        let cache: String
        let scope: KeyOrder.Scope
        let kind: KeyOrder.Kind
        var isLocal = true
    }

    /// A place in the order, to be given up with ``leave(_:)``.
    struct Place: Sendable {
        fileprivate let cache: String
        fileprivate let ticket: KeyOrder.Ticket
    }

    /// One key of one cache.
    private struct Lane: Hashable {
        let cache: String
        let key: ExactText
    }

    /// How urgent a request is that has a place.
    private struct Urgency {
        let priority: CallPriority
        /// Where it waits and as what it counts there; nil when it runs, or waits no more.
        var waiting: (lane: Lane, weight: Double, token: UInt64)?
    }

    private struct State {
        var orders: [String: KeyOrder] = [:]
        var urgencies: [KeyOrder.Ticket: Urgency] = [:]
        /// How urgent those are that wait.
        var tallies: [Lane: PriorityTally] = [:]
        var starters: [KeyOrder.Ticket: @Sendable (Place) -> Bool] = [:]
        var lastTicket: KeyOrder.Ticket = 0
    }

    private let state = Mutex(State())

    /// Whether a request would run at once. Only the thread that enters may rely on it.
    func isFree(_ access: Access) -> Bool {
        state.withLock { state in
            state.orders.isEmpty || state.orders[access.cache]?.isFree(access.scope, access.kind) ?? true
        }
    }

    /// Takes a place and calls `start` when its turn has come: now, or later from another thread.
    ///
    /// - Parameters:
    ///   - priority: How urgent it is. While it waits, so is what it waits for.
    ///   - wait: Called when its turn is not now.
    ///   - start: Returns whether it keeps the place, and will ``leave(_:)`` it; otherwise that is given up at once.
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
                let token = priority.observe { [weak self] in self?.weigh(place) }
                let weight = priority.value
                urgency.waiting = (lane, weight, token)
                raised = Self.change(lane, &state) { $0.add(weight) }
            }
            state.urgencies[ticket] = urgency
            return (place, runs, raised)
        }
        for priority in raised { priority.notify() }
        guard runs else { return wait(place) }
        if !start(place) { leave(place) }
    }

    /// Gives up a place; what waited for it starts.
    func leave(_ place: Place) {
        // One after the other: thousands may have been cancelled while they waited.
        var left = [place]
        while let place = left.popLast() {
            for (place, start) in take(after: place) where !start(place) { left.append(place) }
        }
    }

    /// Has what a place waits for be as urgent as if nobody waited there, for nobody does any more.
    func withdraw(_ place: Place) {
        let raised = state.withLock { state in
            Self.takeWaiting(place.ticket, &state).map { lane, weight in
                Self.change(lane, &state) { $0.remove(weight) }
            } ?? []
        }
        for priority in raised { priority.notify() }
    }

    /// What starts when a place is given up.
    private func take(after place: Place) -> [(Place, @Sendable (Place) -> Bool)] {
        let (started, raised) = state.withLock { state in
            var tickets: [KeyOrder.Ticket] = []
            if let index = state.orders.index(forKey: place.cache) {
                tickets = state.orders.values[index].leave(place.ticket)
                if state.orders.values[index].isEmpty { state.orders.remove(at: index) }
            }
            state.urgencies[place.ticket] = nil
            var lanes: Set<Lane> = []
            for ticket in tickets {
                guard let (lane, weight) = Self.takeWaiting(ticket, &state) else { continue }
                state.tallies[lane]?.remove(weight)
                lanes.insert(lane)
            }
            let raised = lanes.flatMap { Self.settle($0, &state) }
            let started = tickets.compactMap { ticket in
                state.starters.removeValue(forKey: ticket).map { (Place(cache: place.cache, ticket: ticket), $0) }
            }
            return (started, raised)
        }
        for priority in raised { priority.notify() }
        return started
    }

    // MARK: Urgency

    /// Counts a request that waits as urgent as it is now.
    private func weigh(_ place: Place) {
        let raised = state.withLock { state -> [CallPriority] in
            guard let urgency = state.urgencies[place.ticket], let (lane, weight, token) = urgency.waiting else {
                return []
            }
            let now = urgency.priority.value
            state.urgencies[place.ticket]?.waiting = (lane, now, token)
            return Self.change(lane, &state) { tally in
                tally.remove(weight)
                tally.add(now)
            }
        }
        for priority in raised { priority.notify() }
    }

    /// Takes a request out of those that wait; what it counted as is yet to be taken out of the tally.
    private static func takeWaiting(
        _ ticket: KeyOrder.Ticket, _ state: inout State
    ) -> (lane: Lane, weight: Double)? {
        guard let urgency = state.urgencies[ticket], let (lane, weight, token) = urgency.waiting else { return nil }
        urgency.priority.forget(token)
        state.urgencies[ticket]?.waiting = nil
        return (lane, weight)
    }

    /// Changes how urgent those are that wait on a key; returns the priorities that this has changed.
    private static func change(
        _ lane: Lane, _ state: inout State, _ change: (inout PriorityTally) -> Void
    ) -> [CallPriority] {
        let before = state.tallies[lane]?.most
        change(&state.tallies[lane, default: PriorityTally()])
        return state.tallies[lane]?.most == before ? [] : settle(lane, &state)
    }

    /// Has what runs on a key be as urgent as what waits there; returns the priorities that this has changed.
    private static func settle(_ lane: Lane, _ state: inout State) -> [CallPriority] {
        let most = state.tallies[lane]?.most
        if most == nil { state.tallies[lane] = nil }
        let running = state.orders[lane.cache]?.running(lane.key) ?? []
        return running.compactMap { state.urgencies[$0]?.priority }.filter { $0.raise(to: most) }
    }
}
