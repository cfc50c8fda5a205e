/// Why a request to the client has no result.
public enum ClientRequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The client did not answer in time.
    case timedOut
    /// The connection is ending: no answer can come any more.
    case ended
    /// The client answered with an error.
    case refused(code: Int, message: String)
    /// The client's answer is no answer of JSON-RPC; the reason has no full stop.
    case malformed(String)

    /// One sentence.
    public var description: String {
        switch self {
        case .timedOut: "The client did not answer in time."
        case .ended: "The connection is ending, so the client cannot answer any more."
        case .refused(let code, let message): "The client answered with the error \(code): \(message)"
        case .malformed(let reason): "The client's answer cannot be used: \(reason)."
        }
    }
}

/// Something that can be asked by requests: the client of a connection.
public protocol RequestSender: AnyObject, Sendable {
    /// Asks for `method` and waits for the answer.
    ///
    /// - Parameters:
    ///   - timeout: Seconds to wait for an answer.
    ///   - params: Writes the parameters as one JSON value.
    ///   - decode: Reads the result, which is only lent, on the thread that reads: it must not wait for anything. What
    ///     it throws is thrown here.
    /// - Throws: ``ClientRequestError``, `CancellationError`, or what `decode` throws.
    func request<Value: Sendable>(
        _ method: StaticString, timeout: Double, params: (inout JSONWriter) -> Void,
        decode: @escaping @Sendable (JSONView) throws -> Value
    ) async throws -> Value
}

extension Connection: RequestSender {
    /// Asks the client for `method` and waits for its answer.
    ///
    /// At most 64 requests are with the client at a time, and none is sent to one that does not read; the others wait
    /// for their turn, in order. The time begins when a request is sent. While it waits for its turn, each answer to
    /// another one gives it as long again. A client whose answer is no longer wanted is told so by `$/cancelRequest`;
    /// whatever it answers then is ignored.
    ///
    /// - Throws: ``ClientRequestError/ended`` at once when the input has ended or the connection is ending.
    public func request<Value: Sendable>(
        _ method: StaticString, timeout: Double, params: (inout JSONWriter) -> Void,
        decode: @escaping @Sendable (JSONView) throws -> Value
    ) async throws -> Value {
        try await inquiries.request(method, timeout: timeout, params: params, decode: decode)
    }

    /// Asks the client nothing any more; what was asked fails with ``ClientRequestError/ended``.
    public func endRequestsToClient() { inquiries.end() }

    /// How many requests to the client have no answer yet.
    public var requestsToClient: Int { inquiries.count }
}
