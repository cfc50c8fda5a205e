import Synchronization

@testable import ImageServer

/// What an order has started.
final class Seen: Sendable {
    private let state = Mutex<[(name: String, place: RequestOrder.Place)]>([])
    var names: [String] { state.withLock { $0.map(\.name) } }
    var places: [RequestOrder.Place] { state.withLock { $0.map(\.place) } }

    /// Notes a request that keeps its place.
    func keep(_ name: String, _ place: RequestOrder.Place) -> Bool {
        state.withLock { $0.append((name, place)) }
        return true
    }
}
