internal import Platform

/// Everything from which the configuration takes the credentials that it adds to requests: when one part changes, a
/// request may be sent as another user's.
package struct ConfiguredCredentials: Sendable, Hashable {
    private let rules: RequestRules
    /// The files with cookies, passwords and certificates; `nil` for one that is not there.
    private let files: [FileStamp?]
    /// The number of cookies that have not expired.
    private let cookies: Int

    /// - Returns: `nil` when the configuration adds none to any request.
    init?(_ settings: TransportSettings, _ rules: RequestRules) {
        let certificates = rules.hosts.compactMap(\.certificate)
        let paths =
            [settings.cookies?.path, settings.netrc, settings.tls.clientCertificate].compactMap { $0 }
            + certificates.map(\.file)
        if rules.hosts.isEmpty, paths.isEmpty { return nil }
        self.rules = rules
        files = paths.map { FileStamp(following: $0) }
        cookies = settings.cookies?.count(at: wallSeconds()) ?? 0
    }
}
