/// What a server does with the requests of one connection.
public protocol RequestHandler: Sendable {
    /// Begins to answer one request or notification, on the thread that reads.
    ///
    /// Called in the order of arrival, one at a time. It must not wait for anything: what takes time is deferred.
    ///
    /// - Parameters:
    ///   - method: The method's name.
    ///   - params: The object or array of parameters; nil when omitted, `null`, `{}` or `[]`.
    ///   - message: The request's id, and what else its handler may need to know.
    ///   - result: Takes the result, as one JSON value, when the answer is ``Disposition/answered``.
    func handle(
        _ method: String, params: JSONView?, message: MessageContext, result: inout JSONWriter
    ) -> Disposition

    /// Hears that the client will ask for nothing more, on the thread that reads; what it has asked for is still answered.
    func inputEnded()
}

extension RequestHandler {
    /// Does nothing.
    public func inputEnded() {}
}

/// What surrounds a request.
public struct MessageContext: Sendable {
    /// The id to answer; nil for a notification.
    public let id: RequestID?
    /// Grows whenever new input was read. Whatever was observed about the outside world under the same number was
    /// observed after the client had sent this message, and need not be observed again.
    public let burst: UInt64
}

/// How a request was taken.
public enum Disposition: Sendable {
    /// The result has been written.
    case answered
    /// The request fails.
    case failed(RPCError)
    /// The work is begun by the closure, at once, and ends by answering its ``Call``.
    case deferred(@Sendable (Call) -> Void)
    /// The client asked the process to end with this code.
    case exit(Int32)
}

/// The limits of one connection.
public struct ConnectionLimits: Sendable {
    /// The longest message, in bytes.
    public var messageBytes = 64 << 20
    /// The most members of one batch.
    public var batchCount = 1000
    /// The most requests being worked on; more wait, unread in the end.
    public var requestsInFlight = 16384
    /// Past this many unsent bytes no new request is begun.
    public var unsentBytes = 8 << 20
    /// Past this many bytes of requests not begun, reading stops.
    public var heldBytes = 8 << 20

    /// The default limits.
    public init() {}
}
