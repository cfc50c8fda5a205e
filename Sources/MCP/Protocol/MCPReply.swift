internal import JSONRPC

/// The form of results in a version of the protocol.
struct MCPReply: Sendable {
    let version: MCPVersion
    /// The name and version of the program.
    let serverInfo: JSONLiteral

    /// The name of the member that says who made a result, where there is no session that has said it.
    private static let infoName = "io.modelcontextprotocol/serverInfo"

    /// Writes a result.
    ///
    /// - Parameters:
    ///   - seconds: How long a client may keep the result; `nil` for one that is not kept.
    ///   - members: Writes the members of the result.
    func write(to writer: inout JSONWriter, keptFor seconds: Int? = nil, _ members: (inout JSONWriter) -> Void) {
        writer.object { result in
            members(&result)
            guard version.isStateless else { return }
            result.field("resultType", "complete")
            if let seconds {
                result.field("ttlMs", seconds * 1000)
                // The cache and the roots belong to the user of the process.
                result.field("cacheScope", "private")
            }
            result.key("_meta")
            result.object { meta in
                meta.key(Self.infoName)
                serverInfo.write(to: &meta)
            }
        }
    }
}
