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
        var starters: [KeyOrder.Ticket: @Sendable (Place) -> Void] = [:]
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
    /// - Parameter wait: Called when that is not now.
    func enter(
        _ access: Access, wait: () -> Void = {}, start: @escaping @Sendable (Place) -> Void
    ) {
        let (place, runs) = state.withLock { state in
            state.lastTicket += 1
            let ticket = state.lastTicket
            let runs = state.orders[access.cache, default: KeyOrder()]
                .enter(ticket, access.scope, access.kind, isLocal: access.isLocal)
            if !runs { state.starters[ticket] = start }
            return (Place(cache: access.cache, ticket: ticket), runs)
        }
        if runs { start(place) } else { wait() }
    }

    /// Gives up a place; what waited for it starts.
    func leave(_ place: Place) {
        let started = state.withLock { state in
            let tickets = state.orders[place.cache]?.leave(place.ticket) ?? []
            if state.orders[place.cache]?.isEmpty == true { state.orders[place.cache] = nil }
            return tickets.compactMap { ticket in
                state.starters.removeValue(forKey: ticket).map { (Place(cache: place.cache, ticket: ticket), $0) }
            }
        }
        for (place, start) in started { start(place) }
    }
}
