/// The requests that have not started, in order of arrival, as a plain value.
///
/// They wait until the client reads its answers, or until other requests finish.
///
/// - Complexity: O(1) for everything but ``removeAll()``: a client may send a hundred thousand requests before it
///   reads.
struct HeldQueue: Sendable {
    struct Request: Sendable {
        let text: [UInt8]
        /// The id that a cancellation can name; `nil` for notifications.
        let id: RequestID?
        /// The destination of the response.
        let sink: Sink
    }

    /// The approximate memory of a request besides its text, in bytes.
    private static let overhead = 128

    private var requests: [UInt64: Request] = [:]
    private var serials: [RequestID: UInt64] = [:]
    private var first: UInt64 = 0
    private var next: UInt64 = 0
    /// The memory of the queued requests, in bytes.
    private(set) var bytes = 0

    var count: Int { requests.count }
    var isEmpty: Bool { requests.isEmpty }

    mutating func append(_ request: Request) {
        requests[next] = request
        // `null` identifies no request; of two requests with the same id, the id refers to the first.
        if let id = request.id, id != .null, serials[id] == nil { serials[id] = next }
        next += 1
        bytes += request.text.count + Self.overhead
    }

    mutating func popFirst() -> Request? {
        while first < next {
            defer { first += 1 }
            if let request = removeRequest(first) { return request }
        }
        return nil
    }

    /// Removes and returns the request with `id`.
    mutating func remove(_ id: RequestID) -> Request? { serials[id].flatMap { removeRequest($0) } }

    /// Removes every request and returns them in order.
    mutating func removeAll() -> [Request] {
        var all: [Request] = []
        while let request = popFirst() { all.append(request) }
        return all
    }

    private mutating func removeRequest(_ serial: UInt64) -> Request? {
        guard let request = requests.removeValue(forKey: serial) else { return nil }
        if let id = request.id, serials[id] == serial { serials[id] = nil }
        bytes -= request.text.count + Self.overhead
        if requests.isEmpty {
            // Frees the memory of the dictionaries.
            requests = [:]
            serials = [:]
        }
        return request
    }
}
