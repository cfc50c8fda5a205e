internal import JSONRPC

/// The errors of the protocol itself. What goes wrong with a picture is no such error, but a result that says so.
extension RPCError {
    /// −32601: there is no such method in MCP, or not here.
    static func noSuchMethod(_ method: String, among names: [String]) -> RPCError {
        let likely = nearestName(to: method, in: names).map { "; did you mean \"\($0)\"?" } ?? "."
        return RPCError(
            code: -32601, name: "methodNotFound", message: "There is no method \"\(method.excerpt)\"\(likely)")
    }

    /// −32022: the version that a request names is not spoken here.
    static func unsupportedVersion(_ requested: String) -> RPCError {
        RPCError(
            code: -32022, name: "unsupportedProtocolVersion",
            message: "The protocol version \"\(requested.excerpt)\" is not supported; use one of data.supported.",
            details: [("supported", .strings(MCPVersion.names)), ("requested", .string(requested.excerpt))])
    }

    /// A resource that there is not: −32002 in sessions, −32602 without.
    static func noSuchResource(_ uri: String, _ version: MCPVersion) -> RPCError {
        RPCError(
            code: version.isStateless ? -32602 : -32002, name: "resourceNotFound",
            message: "There is no resource \"\(uri.excerpt)\"; resources/list names those there are.",
            details: [("uri", .string(uri.excerpt))])
    }
}
