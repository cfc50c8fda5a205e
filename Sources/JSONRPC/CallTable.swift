/// The requests in flight, by id, as a plain value.
struct CallTable {
    private var named: [RequestID: Call] = [:]
    /// The calls without an id, or with `null`, which identifies no request.
    private var unnamed: [ObjectIdentifier: Call] = [:]

    var count: Int { named.count + unnamed.count }

    var all: [Call] { Array(named.values) + unnamed.values }

    /// `true` when a request with this id is in flight. `null` identifies no request.
    func contains(_ id: RequestID) -> Bool { named[id] != nil }

    func call(_ id: RequestID) -> Call? { named[id] }

    mutating func insert(_ call: Call) {
        if let id = call.id, id != .null { named[id] = call } else { unnamed[ObjectIdentifier(call)] = call }
    }

    mutating func remove(_ call: Call) {
        if let id = call.id, named[id] === call { named[id] = nil } else { unnamed[ObjectIdentifier(call)] = nil }
    }
}
