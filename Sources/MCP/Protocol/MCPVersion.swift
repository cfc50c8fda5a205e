/// A version of the Model Context Protocol that the server speaks. The newest names its version in each request and has no
/// session; the others begin with `initialize`.
enum MCPVersion: String, CaseIterable, Sendable {
    case july2026 = "2026-07-28"
    case november2025 = "2025-11-25"
    case june2025 = "2025-06-18"
    case march2025 = "2025-03-26"

    /// The version of a session whose client has not asked for one that there is.
    static let newestWithSession = november2025

    /// `true` when each request names its version, and results say that they are complete and how long they may be kept.
    var isStateless: Bool { self == .july2026 }

    /// `true` when a result of a tool may be a link to a resource.
    var hasLinks: Bool { self != .march2025 }

    /// The version of a session that a client asks for in `initialize`; another one than those with sessions is answered
    /// with the newest of them.
    static func session(_ requested: String?) -> MCPVersion {
        guard let version = requested.flatMap(MCPVersion.init), !version.isStateless else { return newestWithSession }
        return version
    }

    /// The names of all versions, the newest first.
    static let names = allCases.map(\.rawValue)
}
