internal import JSONRPC

/// What each request says beside its parameters: its version, and a token for progress.
struct MCPRequest: Sendable {
    let version: MCPVersion
    let progressToken: RequestID?

    /// Reads `_meta`.
    ///
    /// - Parameter session: The version of the session, for a request that names none.
    init(_ params: JSONView?, method: String, session: MCPVersion) throws(RPCError) {
        if let params, params.kind != .object {
            throw .invalidParams("The params of MCP are an object, not \(params.kind.article).")
        }
        let meta = params?.member("_meta")
        if let meta, meta.kind != .object {
            throw .invalidParams("\"_meta\" must be an object, not \(meta.kind.article).", param: "_meta")
        }
        progressToken = try Self.token(meta)
        guard let named = meta?.member("io.modelcontextprotocol/protocolVersion") else {
            if method == MCPServer.discover {
                throw .invalidParams("\(method) needs \"_meta\" with \"io.modelcontextprotocol/protocolVersion\".")
            }
            version = session
            return
        }
        guard let text = named.string else {
            throw .invalidParams("\"io.modelcontextprotocol/protocolVersion\" must be a string.")
        }
        guard let version = MCPVersion(rawValue: text) else { throw .unsupportedVersion(text) }
        if version.isStateless, meta?.member("io.modelcontextprotocol/clientCapabilities")?.kind != .object {
            throw .invalidParams("\"_meta\" needs the object \"io.modelcontextprotocol/clientCapabilities\".")
        }
        self.version = version
    }

    private static func token(_ meta: JSONView?) throws(RPCError) -> RequestID? {
        guard let view = meta?.member("progressToken") else { return nil }
        guard [.string, .integer].contains(view.kind), let token = RequestID(view) else {
            throw .invalidParams("\"progressToken\" must be a string or an integer.", param: "_meta.progressToken")
        }
        return token
    }
}
