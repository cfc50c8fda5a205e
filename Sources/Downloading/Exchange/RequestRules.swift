public import HTTPSemantics
package import ImageErrors
internal import Platform

/// The configured rules for requests to certain hosts.
public struct RequestRules: Sendable, Hashable {
    /// The additions to requests by their hosts. When several rules for one host name the same thing, the first one
    /// counts.
    public var hosts: [HostRule] = []
    /// The mirrors that requests are sent to. The first matching one counts.
    public var rewrites: [URLRewrite] = []

    /// Creates no rules.
    public init() {}

    /// The request that is sent instead of `outgoing`: to a mirror, if one matches, without the credentials.
    ///
    /// - Throws: ``ImageError/invalidURL(_:reason:)`` when the mirror's URL is invalid.
    package func rewritten(_ outgoing: HTTPRequest) throws(ImageError) -> HTTPRequest {
        for rewrite in rewrites {
            guard let text = try rewrite.target(of: outgoing.url) else { continue }
            return outgoing.following(to: try WebURL(text))
        }
        return outgoing
    }
}

/// Additions to requests for some hosts. What the request itself names takes precedence.
public struct HostRule: Sendable, Hashable {
    /// The hosts: names, addresses, or `*.example.com` for every name below one.
    public var hosts: [String]
    /// The header fields.
    public var headers: [String: String] = [:]
    /// The credentials.
    public var authorization: Authorization?
    /// The PEM certificate that is presented to the host if it requests one.
    public var certificate: ClientCertificate?

    /// Creates a rule without additions.
    public init(hosts: [String]) { self.hosts = hosts }

    package func matches(_ host: String) -> Bool { hosts.contains { HostPattern.matches(host, $0) } }
}

/// A client certificate and its private key.
public struct ClientCertificate: Sendable, Hashable {
    /// The path of the certificate, in PEM.
    public let file: String
    /// The path of its private key. `nil`: in the same file.
    public let key: String?

    /// Creates a certificate from a file.
    public init(file: String, key: String? = nil) { (self.file, self.key) = (file, key) }
}

/// A mirror: requests for URLs with one prefix are sent to URLs with another.
public struct URLRewrite: Sendable, Hashable {
    /// The prefix of the URLs: scheme, host and any part of the path.
    public let from: String
    /// The prefix that replaces it.
    public let to: String

    /// - Returns: `nil` if one of them is not the prefix of an http or https URL, or has a user, who would not be sent.
    public init?(from: String, to: String) {
        for text in [from, to] {
            guard URLParts.host(of: text) != nil, (try? WebURL(text))?.credentials == nil else { return nil }
        }
        (self.from, self.to) = (from, to)
    }

    /// The URL that replaces `url`. `nil`: the rule does not match.
    package func target(of url: WebURL) throws(ImageError) -> String? {
        let from = try WebURL(from)
        // The origins are compared, so upper-case hosts and default ports make no difference.
        guard url.origin == from.origin, url.target.starts(with: from.target) else { return nil }
        return try WebURL(to).text + String(decoding: url.target.dropFirst(from.target.count), as: UTF8.self)
    }
}

extension HTTPRequest {
    /// The request with the additions of the rules for its host. None after a redirect from https to http.
    func applying(_ rules: RequestRules) -> HTTPRequest {
        guard !rules.hosts.isEmpty, mayUseNetrc else { return self }
        var outgoing = self
        for rule in rules.hosts where rule.matches(url.host) {
            let names = Set(outgoing.fields.map { $0.name.text.asciiLowercased })
            if outgoing.authorization == nil, !names.contains("authorization") {
                outgoing.authorization = rule.authorization
            }
            outgoing.certificate = outgoing.certificate ?? rule.certificate
            outgoing.fields += Self.fields(
                rule.headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
                    .filter { !names.contains($0.name.asciiLowercased) })
        }
        return outgoing
    }
}
