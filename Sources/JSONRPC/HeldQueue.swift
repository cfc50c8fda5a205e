/// Requests that have not begun, in the order they came: a plain value.
///
/// They wait for the client to read its answers, or for others to finish.
///
/// - Complexity: O(1) for everything but ``removeAll()``: a client may send a hundred thousand before it reads.
struct HeldQueue: Sendable {
    struct Request: Sendable {
        let text: [UInt8]
        /// The id by which it can be cancelled; nil for notifications and batches.
        let id: RequestID?
    }

    /// About what a request takes besides its text, in bytes.
    private static let overhead = 128

    private var requests: [UInt64: Request] = [:]
    private var serials: [RequestID: UInt64] = [:]
    private var first: UInt64 = 0
    private var next: UInt64 = 0
    /// What the requests take, in bytes.
    private(set) var bytes = 0

    var count: Int { requests.count }
    var isEmpty: Bool { requests.isEmpty }

    mutating func append(_ request: Request) {
        requests[next] = request
        // `null` names nobody; of two requests with one id the first is meant.
        if let id = request.id, id != .null, serials[id] == nil { serials[id] = next }
        next += 1
        bytes += request.text.count + Self.overhead
    }

    mutating func popFirst() -> Request? {
        while first < next {
            defer { first += 1 }
            if let request = take(first) { return request }
        }
        return nil
    }

    /// Takes the request with `id` out; false when there is none.
    mutating func remove(_ id: RequestID) -> Bool {
        guard let serial = serials[id] else { return false }
        return take(serial) != nil
    }

    /// Takes every request out, in order.
    mutating func removeAll() -> [Request] {
        var all: [Request] = []
        while let request = popFirst() { all.append(request) }
        return all
    }

    private mutating func take(_ serial: UInt64) -> Request? {
        guard let request = requests.removeValue(forKey: serial) else { return nil }
        if let id = request.id, serials[id] == serial { serials[id] = nil }
        bytes -= request.text.count + Self.overhead
        if requests.isEmpty {
            // Gives the memory back.
            requests = [:]
            serials = [:]
        }
        return request
    }
}
