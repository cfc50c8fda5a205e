/// The requests in flight, by id, as a plain value.
struct CallTable {
    /// The calls whose id is a number, of which there may be thousands.
    private var numbered: [Int: Call] = [:]
    private var named: [RequestID: Call] = [:]
    /// The calls without an id, or with `null`, which identifies no request.
    private var unnamed: [ObjectIdentifier: Call] = [:]

    var count: Int { numbered.count + named.count + unnamed.count }

    var all: [Call] { Array(numbered.values) + named.values + unnamed.values }

    private subscript(id: RequestID) -> Call? {
        get { if case .integer(let number) = id { numbered[number] } else { named[id] } }
        set { if case .integer(let number) = id { numbered[number] = newValue } else { named[id] = newValue } }
    }

    /// `true` when a request with this id is in flight. `null` identifies no request.
    func contains(_ id: RequestID) -> Bool { self[id] != nil }

    func call(_ id: RequestID) -> Call? { self[id] }

    mutating func insert(_ call: Call) {
        if let id = call.id, id != .null { self[id] = call } else { unnamed[ObjectIdentifier(call)] = call }
    }

    mutating func remove(_ call: Call) {
        if let id = call.id, self[id] === call { self[id] = nil } else { unnamed[ObjectIdentifier(call)] = nil }
    }
}
