import Glibc

/// What a server said to a number of requests.
public struct Replies: Sendable {
    /// The responses, by integer id.
    public private(set) var byID: [Int: JSON] = [:]
    /// Notifications, in the order they came.
    public private(set) var notifications: [JSON] = []
    /// Responses whose id had been answered before, or is no integer.
    public private(set) var unexpected: [JSON] = []
    /// The ids, in the order they were answered.
    public private(set) var order: [Int] = []

    /// Nothing said.
    public init() {}

    /// Takes in one message.
    public mutating func add(_ message: JSON) {
        if message["method"] != nil { return notifications.append(message) }
        guard let id = message["id"]?.integer, byID[id] == nil else { return unexpected.append(message) }
        byID[id] = message
        order.append(id)
    }

    /// The result of a request.
    public func result(_ id: Int) -> JSON? { byID[id]?["result"] }
    /// The code of the error a request got.
    public func code(_ id: Int) -> Int? { byID[id]?["error"]?["code"]?.integer }
}

extension ServerProcess {
    /// Reads until `count` responses have come.
    public func replies(_ count: Int) throws -> Replies {
        var replies = Replies()
        while replies.byID.count + replies.unexpected.count < count {
            guard let message = try next() else {
                throw PatienceExhausted(description: "the server ended after \(replies.byID.count) of \(count) answers")
            }
            replies.add(message)
        }
        return replies
    }

    /// Reads until the server closes its output.
    public func lastReplies() throws -> Replies {
        var replies = Replies()
        for message in try rest() { replies.add(message) }
        return replies
    }

    /// Sends a notification.
    public func notify(_ method: String, _ params: String) throws {
        try send(#"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params)}"#)
    }

    /// Sends many requests in one write.
    public func requestAll(_ requests: [(id: Int, method: String, params: String)]) throws {
        var bytes: [UInt8] = []
        for (id, method, params) in requests {
            bytes += frame(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
        }
        try sendRaw(bytes)
    }

    /// Asks for the counters until they are as wanted; only when nothing else is to be answered meanwhile.
    public func stats(_ what: String, until isReached: (JSON) -> Bool) throws {
        for _ in 0..<20_000 {
            if let counters = try call(-1, "stats")["result"], isReached(counters) { return }
        }
        throw PatienceExhausted(description: "\(what) did not come true in 20,000 looks at the counters")
    }
}

/// Text as a JSON string.
public func quoted(_ text: String) -> String { JSON.string(text).text }

/// Waits on this thread until `condition` holds; the bound of 120 s only turns a hang into a failure.
public func waitUntil(_ what: String, blocking condition: () throws -> Bool) throws {
    for _ in 0..<24_000 {
        if try condition() { return }
        usleep(5000)
    }
    throw PatienceExhausted(description: "\(what) did not come true within 120 s")
}

extension ServerProcess {
    /// Waits until the server has read everything that was sent.
    public func waitUntilRead() throws {
        let input = inputDescriptor
        try waitUntil("reading all that was sent") {
            var count: Int32 = 0
            return ioctl(input, UInt(FIONREAD), &count) == 0 && count == 0
        }
    }
}
