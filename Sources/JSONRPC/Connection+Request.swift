/// The reasons why a request to the client has no result.
public enum ClientRequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The client did not answer in time.
    case timedOut
    /// The connection is ending: no answer can arrive any more.
    case ended
    /// The client answered with an error.
    case refused(code: Int, message: String)
    /// The client's answer is not valid JSON-RPC; the reason has no full stop.
    case malformed(String)

    /// One sentence for the user.
    public var description: String {
        switch self {
        case .timedOut: "The client did not answer in time."
        case .ended: "The connection is ending, so the client cannot answer any more."
        case .refused(let code, let message): "The client answered with the error \(code): \(message)"
        case .malformed(let reason): "The client's answer cannot be used: \(reason)."
        }
    }
}

/// A receiver of requests: the client of a connection.
public protocol RequestSender: AnyObject, Sendable {
    /// Sends a request for `method` and waits for the answer.
    ///
    /// - Parameters:
    ///   - timeout: The number of seconds to wait for an answer.
    ///   - params: Writes the parameters as one JSON value.
    ///   - decode: Reads the result on the reading thread; the view is valid only during the call. It must not block.
    ///     Its errors are rethrown here.
    /// - Throws: ``ClientRequestError``, `CancellationError`, or an error of `decode`.
    func request<Value: Sendable>(
        _ method: StaticString, timeout: Double, params: (inout JSONWriter) -> Void,
        decode: @escaping @Sendable (JSONView) throws -> Value
    ) async throws -> Value
}

extension Connection: RequestSender {
    /// Sends the client a request for `method` and waits for its answer.
    ///
    /// At most 64 requests are with the client at a time, and none is sent while the client does not read; the others
    /// wait in order. The timeout starts when a request is sent. A request that has not been sent yet gets the full
    /// timeout again whenever the client answers another one. When an answer is no longer wanted, the client receives
    /// `$/cancelRequest`, and any later answer is ignored.
    ///
    /// - Throws: ``ClientRequestError/ended`` at once when the input has ended or the connection is ending.
    public func request<Value: Sendable>(
        _ method: StaticString, timeout: Double, params: (inout JSONWriter) -> Void,
        decode: @escaping @Sendable (JSONView) throws -> Value
    ) async throws -> Value {
        try await clientRequests.request(method, timeout: timeout, params: params, decode: decode)
    }

    /// Stops sending requests to the client; open requests fail with ``ClientRequestError/ended``.
    public func endRequestsToClient() { clientRequests.end() }

    /// The number of requests to the client that have no answer yet.
    public var requestsToClient: Int { clientRequests.count }
}
