internal import Synchronization

/// Keeps the ``KeyOrder`` of every cache and starts what may run. Callable from any thread.
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

    private struct State {
        var orders: [String: KeyOrder] = [:]
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
    ///   - wait: Called when that is not now.
    ///   - start: Returns whether it keeps the place, and will ``leave(_:)`` it; otherwise that is given up at once.
    func enter(
        _ access: Access, wait: () -> Void = {}, start: @escaping @Sendable (Place) -> Bool
    ) {
        let (place, runs) = state.withLock { state in
            state.lastTicket += 1
            let ticket = state.lastTicket
            let runs = state.orders[access.cache, default: KeyOrder()]
                .enter(ticket, access.scope, access.kind, isLocal: access.isLocal)
            if !runs { state.starters[ticket] = start }
            return (Place(cache: access.cache, ticket: ticket), runs)
        }
        guard runs else { return wait() }
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

    /// What starts when a place is given up.
    private func take(after place: Place) -> [(Place, @Sendable (Place) -> Bool)] {
        state.withLock { state in
            let tickets = state.orders[place.cache]?.leave(place.ticket) ?? []
            if state.orders[place.cache]?.isEmpty == true { state.orders[place.cache] = nil }
            return tickets.compactMap { ticket in
                state.starters.removeValue(forKey: ticket).map { (Place(cache: place.cache, ticket: ticket), $0) }
            }
        }
    }
}
