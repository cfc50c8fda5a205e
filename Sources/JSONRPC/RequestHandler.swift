/// Handles the requests of one connection.
public protocol RequestHandler: Sendable {
    /// `true` when a message without a usable id is answered with the id `null`, as JSON-RPC 2.0 says; `false` when it is
    /// dropped, and a request with that id too, as in MCP.
    var answersNull: Bool { get }

    /// Starts to answer one request or notification, on the reading thread.
    ///
    /// Called in the order of arrival, one at a time. It must not block: long work is deferred.
    ///
    /// - Parameters:
    ///   - method: The method's name.
    ///   - params: The object or array of parameters; `nil` when omitted, `null`, `{}` or `[]`.
    ///   - message: The request's id and the context of the message.
    ///   - result: Receives the result, as one JSON value, when the answer is ``Disposition/answered``.
    func handle(
        _ method: String, params: JSONView?, message: MessageContext, result: inout JSONWriter
    ) -> Disposition

    /// Called, from any thread, when a deferred request has been answered or cancelled.
    func ended(_ timing: CallTiming)

    /// Called on the reading thread when the input has ended; requests received before are still answered.
    func inputEnded()
}

extension RequestHandler {
    /// As in JSON-RPC.
    public var answersNull: Bool { true }

    /// Does nothing.
    public func ended(_ timing: CallTiming) {}

    /// Does nothing.
    public func inputEnded() {}
}

/// The context of a request.
public struct MessageContext: Sendable {
    /// The id to answer; `nil` for a notification.
    public let id: RequestID?
    /// A number that grows with every read of input. Any state of the outside world observed under the same number was
    /// observed after the client had sent this message, and need not be observed again.
    public let burst: UInt64
}

/// The start of a request, for the handler that measures how long requests take.
public struct CallTiming: Sendable {
    /// The time, in nanoseconds of a monotonic clock.
    public let start: Int
    /// The number of the method in the list of the handler.
    public let method: UInt16

    /// The start of a request of the method with a number.
    public init(method: Int = 0, start: Int = 0) { (self.method, self.start) = (UInt16(clamping: method), start) }
}

/// The reaction of a handler to a request.
public enum Disposition: Sendable {
    /// The result has been written.
    case answered
    /// The request fails.
    case failed(RPCError)
    /// The closure starts the work at once; the work ends by answering its ``Call``.
    case deferred(CallTiming = CallTiming(), @Sendable (Call) -> Void)
    /// The client asked the process to exit with this code.
    case exit(Int32)
}

/// The limits of one connection.
public struct ConnectionLimits: Sendable {
    /// The length of the longest accepted message, in bytes.
    public var messageBytes = 64 << 20
    /// The largest number of members of one batch.
    public var batchCount = 1000
    /// The largest number of requests being worked on. Further requests are queued, and above ``heldBytes`` they stay
    /// unread.
    public var requestsInFlight = 16384
    /// The number of bytes, made for the client and not yet taken by it, above which no new request starts.
    public var outputBytes = 64 << 20
    /// The most bytes of all answers to one batch.
    public var batchBytes = 4 << 30
    /// The number of bytes of queued requests above which reading stops.
    public var heldBytes = 8 << 20

    /// The default limits.
    public init() {}
}
