private import Platform

/// The JSON-RPC error of one request: a stable code, a sentence, and the details that a program needs to react.
public struct RPCError: Error, Sendable, Equatable {
    /// A member of the error's `data`.
    public enum Detail: Sendable, Equatable {
        case string(String)
        case integer(Int)
        case number(Double)
        case boolean(Bool)
        case strings([String])
        case objects([[Member]])
    }

    /// A member of an object within the error's `data`.
    public struct Member: Sendable, Equatable {
        /// The name of the member.
        public let name: String
        /// The value of the member.
        public let value: Detail

        /// A member with the given name and value.
        public init(_ name: String, _ value: Detail) {
            self.name = name
            self.value = value
        }
    }

    /// The stable number of the error.
    public var code: Int
    /// The stable name of the error, `data.name`.
    public var name: String
    /// One sentence that a user can act on.
    public var message: String
    /// `true` when the same request may succeed later without a change, `data.retryable`.
    public var isRetryable: Bool
    /// Further members of `data`, in order.
    public var details: [(name: String, value: Detail)]

    /// An error with the given parts.
    public init(
        code: Int, name: String, message: String, isRetryable: Bool = false,
        details: [(name: String, value: Detail)] = []
    ) {
        self.code = code
        self.name = name
        self.message = message
        self.isRetryable = isRetryable
        self.details = details
    }

    /// Compares code, name, message, `isRetryable` and details.
    public static func == (one: RPCError, other: RPCError) -> Bool {
        one.code == other.code && one.name == other.name && one.message == other.message
            && one.isRetryable == other.isRetryable && one.details.count == other.details.count
            && zip(one.details, other.details).allSatisfy { $0 == $1 }
    }

    /// Writes the error object of JSON-RPC.
    public func write(to writer: inout JSONWriter) {
        writer.object { error in
            error.field("code", code)
            error.field("message", message)
            error.key("data")
            error.object { data in
                data.field("name", name)
                data.field("retryable", isRetryable)
                for detail in details {
                    data.key(detail.name)
                    detail.value.write(to: &data)
                }
            }
        }
    }
}

extension RPCError.Detail {
    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .string(let text): writer.write(text)
        case .integer(let number): writer.write(number)
        case .number(let number): writer.write(number)
        case .boolean(let flag): writer.write(flag)
        case .strings(let list): writer.array { array in list.forEach { array.write($0) } }
        case .objects(let list):
            writer.array { array in
                for members in list {
                    array.object { object in
                        for member in members {
                            object.key(member.name)
                            member.value.write(to: &object)
                        }
                    }
                }
            }
        }
    }
}

/// The errors of JSON-RPC itself and of the language server protocol.
extension RPCError {
    /// −32700: the text is not JSON.
    public static func parseError(_ message: String) -> RPCError {
        RPCError(code: -32700, name: "parseError", message: message)
    }

    /// −32600: the JSON is not a request, or the request is not allowed now.
    public static func invalidRequest(_ message: String, limit: String? = nil) -> RPCError {
        RPCError(
            code: -32600, name: "invalidRequest", message: message,
            details: limit.map { [("limit", .string($0))] } ?? [])
    }

    /// −32601: the method does not exist; the message suggests the nearest name.
    public static func methodNotFound(_ method: String, suggestion: String?) -> RPCError {
        let hint = suggestion.map { " Did you mean \"\($0)\"?" } ?? " Ask rpc.discover for the methods there are."
        return RPCError(
            code: -32601, name: "methodNotFound", message: "There is no method \"\(method.excerpt)\".\(hint)",
            details: [("method", .string(method.excerpt))] + (suggestion.map { [("suggestion", .string($0))] } ?? []))
    }

    /// The code of an error about a parameter that is missing, unknown, or of the wrong kind.
    public static let invalidParamsCode = -32602

    /// The error with ``invalidParamsCode``.
    public static func invalidParams(
        _ message: String, param: String? = nil, expected: String? = nil, received: String? = nil,
        suggestion: String? = nil
    ) -> RPCError {
        var details: [(String, Detail)] = []
        if let param { details.append(("param", .string(param))) }
        if let expected { details.append(("expected", .string(expected))) }
        if let received { details.append(("received", .string(received))) }
        if let suggestion { details.append(("suggestion", .string(suggestion))) }
        return RPCError(code: invalidParamsCode, name: "invalidParams", message: message, details: details)
    }

    /// −32603: an internal failure of the server.
    public static func internalError(_ message: String) -> RPCError {
        RPCError(code: -32603, name: "internalError", message: message)
    }

    /// −32800: the client cancelled the request.
    public static let requestCancelled = RPCError(
        code: -32800, name: "requestCancelled", message: "The request was cancelled.")

    /// −32802: the server is shutting down.
    public static let serverCancelled = RPCError(
        code: -32802, name: "serverCancelled",
        message: "The server is shutting down; send the request to a new one.", isRetryable: true)
}
