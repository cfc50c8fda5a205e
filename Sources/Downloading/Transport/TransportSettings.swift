internal import CCurl
internal import Glibc
internal import HTTPSemantics
internal import Platform

/// Whom to trust over TLS, and as whom to show up.
public struct TLSSettings: Sendable, Hashable {
    /// A file of certificates, in PEM, of authorities to trust; those of libcurl's build when nil.
    public var caFile: String?
    /// A file with the certificate, in PEM, that servers get to see which ask for one.
    public var clientCertificate: String?
    /// The file of its private key; nil when that is in the same file.
    public var clientKey: String?
    /// The hosts whose certificates are not looked at: names, or `*.example.com`.
    public var trustedHosts: [String] = []

    /// The default settings.
    public init() {}
}

/// Everything about the network that is the same for all downloads.
package struct TransportSettings: Sendable {
    var userAgent = "halcyon"
    /// The `Accept` field of a client that takes any image.
    package static let anyImage = "image/*,*/*;q=0.8"

    /// The `Accept` of requests that have none.
    var accept = TransportSettings.anyImage
    /// Both of them, for who tells answers apart by what was sent.
    var addedFields = AddedFields(accept: TransportSettings.anyImage, userAgent: "halcyon")
    var policy = NetworkPolicy()
    var tls = TLSSettings()
    package var proxies = ProxyTable()
    /// Cookies to send.
    var cookies: CookieFile?
    /// A netrc file to find credentials in.
    var netrc: String?
    /// The same, if there is such a file: libcurl would wait for ever for somebody to write to a pipe, and all transfers with
    /// it.
    var netrcFile: String? {
        guard let netrc else { return nil }
        var status = stat()
        return stat(netrc, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? netrc : nil
    }
    /// How addresses are judged; another way in tests, which have no public address to serve from.
    package var classify: @Sendable (IPAddress) -> AddressClass = { AddressClass($0) }
    /// Names with the addresses they have, as `CURLOPT_RESOLVE` wants them: for tests.
    var resolve: @Sendable () -> [String] = { [] }
    /// The environment that names proxies.
    var variable: @Sendable (String) -> String? = { getenv($0).map { String(cString: $0) } }
    /// The engine's clock: nanoseconds that never go back.
    var now: @Sendable () -> Int = { monotonicNanoseconds() }
    /// For how many nanoseconds connections are kept when nothing is loaded.
    var idleSpan = 60_000_000_000
    /// Makes libcurl's handle for many transfers; nil when it has no memory, as in tests.
    var makeMulti: @Sendable () -> UnsafeMutableRawPointer? = { hc_multi_init() }
}
