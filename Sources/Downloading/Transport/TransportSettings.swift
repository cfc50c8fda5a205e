internal import CCurl
internal import Glibc
internal import HTTPSemantics
internal import Platform

/// The trusted authorities of TLS and the own certificate.
public struct TLSSettings: Sendable, Hashable {
    /// The path of a PEM file with the certificates of trusted authorities. `nil`: those of libcurl's build.
    public var caFile: String?
    /// The path of a PEM file with the certificate that is presented to servers that request one.
    public var clientCertificate: String?
    /// The path of its private key. `nil`: in the same file.
    public var clientKey: String?
    /// The hosts whose certificates are not verified: names, or `*.example.com`.
    public var trustedHosts: [String] = []

    /// Creates the default settings.
    public init() {}
}

/// The network settings common to all downloads.
package struct TransportSettings: Sendable {
    var userAgent = "halcyon"
    /// The `Accept` field of a client that accepts any image.
    package static let anyImage = "image/*,*/*;q=0.8"

    /// The `Accept` field of requests that have none.
    var accept = TransportSettings.anyImage
    /// Both fields, for the comparison of requests by what they send.
    var addedFields = AddedFields(accept: TransportSettings.anyImage, userAgent: "halcyon")
    var policy = NetworkPolicy()
    var tls = TLSSettings()
    package var proxies = ProxyTable()
    /// The cookies to send.
    var cookies: CookieFile?
    /// The path of a netrc file with credentials.
    var netrc: String?
    /// The netrc file if it is a regular file: with a pipe libcurl would wait forever for a writer, and all transfers
    /// with it.
    var netrcFile: String? {
        guard let netrc else { return nil }
        var status = stat()
        return stat(netrc, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? netrc : nil
    }
    /// The classification of addresses. Tests replace it, because they have no public address to serve from.
    package var classify: @Sendable (IPAddress) -> AddressClass = { AddressClass($0) }
    /// Host names with their addresses in the form of `CURLOPT_RESOLVE`, for tests.
    var resolve: @Sendable () -> [String] = { [] }
    /// The environment that names proxies.
    var variable: @Sendable (String) -> String? = { getenv($0).map { String(cString: $0) } }
    /// The engine's monotonic clock, in nanoseconds.
    var now: @Sendable () -> Int = { monotonicNanoseconds() }
    /// The time for which idle connections are kept while nothing is loaded, in nanoseconds.
    var idleSpan = 60_000_000_000
    /// Creates libcurl's multi handle. `nil`: out of memory, which tests simulate.
    var makeMulti: @Sendable () -> UnsafeMutableRawPointer? = { hc_multi_init() }
}
