/// The requests in flight, by serial number and by id, as a plain value.
struct CallTable {
    private var calls: [UInt64: Call] = [:]
    private var serials: [RequestID: UInt64] = [:]
    private var lastSerial: UInt64 = 0

    var count: Int { calls.count }

    var all: [Call] { Array(calls.values) }

    /// `true` when a request with this id is in flight. `null` identifies no request.
    func contains(_ id: RequestID) -> Bool { id != .null && serials[id] != nil }

    func call(_ id: RequestID) -> Call? {
        id == .null ? nil : serials[id].flatMap { calls[$0] }
    }

    mutating func nextSerial() -> UInt64 {
        lastSerial += 1
        return lastSerial
    }

    mutating func insert(_ call: Call) {
        calls[call.serial] = call
        if let id = call.id, id != .null { serials[id] = call.serial }
    }

    mutating func remove(_ call: Call) {
        calls[call.serial] = nil
        if let id = call.id, serials[id] == call.serial { serials[id] = nil }
    }
}
