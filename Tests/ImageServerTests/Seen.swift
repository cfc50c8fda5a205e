import ImageEngine
import Platform
import Synchronization

@testable import ImageServer

/// A request in an order, with a name for the test.
final class Placed: OrderedRequest {
    let name: String
    let access: RequestOrder.Access
    let isLocal: Bool
    let priority: CallPriority?
    private let seen: Seen?
    private let keepsPlace: Bool

    /// - Parameter keepsPlace: `false` for a request that leaves as soon as it is started.
    init(
        _ name: String = "", _ access: RequestOrder.Access, isLocal: Bool = true, priority: CallPriority? = nil,
        seen: Seen? = nil, keepsPlace: Bool = true
    ) {
        (self.name, self.access, self.isLocal, self.priority) = (name, access, isLocal, priority)
        (self.seen, self.keepsPlace) = (seen, keepsPlace)
    }

    var cacheName: String { access.cache }
    var scope: KeyOrder.Scope { access.scope }
    var kind: KeyOrder.Kind { access.kind }

    func wait() {}

    func start() -> Bool {
        if keepsPlace { seen?.note(self) }
        return keepsPlace
    }
}

/// What an order has started.
final class Seen: Sendable {
    private let state = Mutex<[Placed]>([])
    var names: [String] { places.map(\.name) }
    var places: [Placed] { state.withLock { $0 } }

    fileprivate func note(_ request: Placed) { state.withLock { $0.append(request) } }
}

extension RequestOrder {
    func isFree(_ access: Access) -> Bool { isFree(access.cache, access.scope, access.kind) }
}
