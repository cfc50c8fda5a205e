internal import CCurl
internal import Glibc
package import HTTPSemantics
package import ImageErrors
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

    var accept = TransportSettings.anyImage
    /// Both fields by lower-case names, for the comparison of requests by what they send.
    var addedFields: [String: String] { ["accept": accept, "user-agent": userAgent] }
    var policy = NetworkPolicy()
    var tls = TLSSettings()
    package var proxies = ProxyTable()
    var connectTimeout: Double?
    var repeatsChanges = false
    var cookies: CookieFile?
    var netrc: String?
    /// The netrc file if it is a regular file: with a pipe libcurl would wait forever for a writer, and all transfers
    /// with it.
    var netrcFile: String? { netrc.flatMap { FileStamp(following: $0) == nil ? nil : $0 } }
    /// The classification of addresses. Tests replace it, because they have no public address to serve from.
    package var classify: @Sendable (IPAddress) -> AddressClass = { AddressClass($0) }
    /// Host names with their addresses in the form of `CURLOPT_RESOLVE`, for tests.
    var resolve: @Sendable () -> [String] = { [] }
    var variable: @Sendable (String) -> String? = { getenv($0).map { String(cString: $0) } }
    /// The engine's monotonic clock, in nanoseconds.
    var now: @Sendable () -> Int = { monotonicNanoseconds() }
    /// The time for which idle connections are kept while nothing is loaded, in nanoseconds.
    var idleSpan = 60_000_000_000
    /// Creates libcurl's multi handle. `nil`: out of memory, which tests simulate.
    var makeMulti: @Sendable () -> UnsafeMutableRawPointer? = { hc_multi_init() }
}

extension TransportSettings {
    /// The error for a URL that the policy refuses, as far as that is known without the network. `nil`: it does not.
    ///
    /// - Parameters:
    ///   - origin: The most public address that led here by a redirect. `nil`: none.
    ///   - judgesAddress: `true` when an address that is the host counts.
    package func refusal(
        of url: WebURL, after origin: AddressClass? = nil, judgesAddress: Bool = true
    ) -> ImageError? {
        if let reason = policy.refusal(scheme: url.scheme) { return .invalidURL(url.text, reason: reason) }
        let address = judgesAddress ? IPAddress(url.host).map(classify) : nil
        let reason = policy.refusal(host: url.host) ?? address.flatMap { policy.refusal($0, after: origin) }
        return reason.map { .forbiddenAddress(url: url.text, reason: $0) }
    }
}

/// Credentials that the configuration adds to a request, and marks that distinguish one set of them from another. A
/// response fetched with credentials answers only requests with the same.
extension TransportSettings {
    /// The request with everything that the configuration adds: by rules, and cookies.
    func configured(_ outgoing: HTTPRequest, by rules: RequestRules) -> HTTPRequest {
        var configured = outgoing.applying(rules)
        if let cookies, !configured.fields.contains(where: { $0.name.text.asciiLowercased == "cookie" }),
            let value = cookies.value(for: outgoing.url, now: wallSeconds())
        {
            configured.fields += HTTPRequest.fields([("Cookie", value)])
        }
        return configured
    }

    /// The marks of the credentials that make `outgoing` the `configured` request.
    func configuredLogins(of outgoing: HTTPRequest, configured: HTTPRequest) -> [String] {
        var marks: [String] = []
        if let mark = netrcMark(for: outgoing, configured: configured) { marks.append(mark) }
        let secrets = configured.fields.dropFirst(outgoing.fields.count).filter {
            !RequestContent.crossesOrigins($0.name.text)
        }
        var added = secrets.map { "\($0.name.text.asciiLowercased) \($0.value.text)" }
        if outgoing.authorization == nil, let authorization = configured.authorization {
            added.append(authorization.scopeText)
        }
        if !added.isEmpty { marks.append("host " + Digest(of: added.joined(separator: "\n")).hex) }
        if let certificate = certificate(for: configured) {
            // Counts even if the server does not request the certificate, because that is not known beforehand.
            let bytes = try? Files.read(certificate.file, followsLinks: true)
            marks.append(
                "certificate " + (bytes?.withUnsafeBytes { Digest(of: $0) } ?? Digest(of: certificate.file)).hex)
        }
        return marks
    }

    /// The certificate that the server of a request receives if it requests one.
    package func certificate(for outgoing: HTTPRequest) -> ClientCertificate? {
        guard outgoing.url.isSecure else { return nil }
        if let certificate = outgoing.certificate { return certificate }
        return outgoing.isAtOriginalOrigin
            ? tls.clientCertificate.map { ClientCertificate(file: $0, key: tls.clientKey) } : nil
    }

    /// `true` when a request, with what the rules add to it, is sent with credentials of the netrc file.
    func hasNetrcLogin(for sent: HTTPRequest) -> Bool { netrcMark(for: sent, configured: sent) != nil }

    /// A mark that distinguishes netrc files with credentials for the host of a request. `nil`: none are sent.
    ///
    /// libcurl parses the file. Here it is enough to know whether it may be used, so every change of the file counts.
    private func netrcMark(for outgoing: HTTPRequest, configured: HTTPRequest) -> String? {
        let host = outgoing.url.host
        guard configured.authorization == nil, outgoing.mayUseNetrc, let netrc,
            let bytes = try? Files.read(netrc, followsLinks: true)
        else { return nil }
        // netrc files name IPv6 addresses without brackets, and words in any case, in quotes, and with backslashes.
        let text = String(decoding: bytes, as: UTF8.self).filter { $0 != "\\" }.lowercased()
        let words = Set(text.split { $0.isWhitespace || $0 == "\"" })
        let bare = host.filter { $0 != "[" && $0 != "]" }
        guard [host, bare, "default"].contains(where: { words.contains($0[...]) }) else { return nil }
        return "netrc " + bytes.withUnsafeBytes { Digest(of: $0) }.hex
    }
}
