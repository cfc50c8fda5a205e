public import HTTPSemantics
package import ImageErrors
internal import Platform

/// What the configuration says about requests to certain hosts: a plain value (A-015, A-037, B-024, C-15).
public struct RequestRules: Sendable, Hashable {
    /// What is added to requests, by their hosts. Of several rules for one host the first that names something counts.
    public var hosts: [HostRule] = []
    /// Where requests go instead; the first that fits counts.
    public var rewrites: [URLRewrite] = []

    /// No rules.
    public init() {}

    /// The request that is sent instead of `outgoing`: to a mirror, if one is named. Credentials stay behind then.
    ///
    /// - Throws: ``ImageError/invalidURL(_:reason:)`` when what comes of it is no URL.
    package func rewritten(_ outgoing: HTTPRequest) throws(ImageError) -> HTTPRequest {
        for rewrite in rewrites {
            guard let text = try rewrite.target(of: outgoing.url) else { continue }
            return outgoing.following(to: try WebURL(text))
        }
        return outgoing
    }
}

/// What is added to requests for some hosts, where the request itself says nothing else.
public struct HostRule: Sendable, Hashable {
    /// The hosts: names, addresses, or `*.example.com` for every name below one.
    public var hosts: [String]
    /// Header fields.
    public var headers: [String: String] = [:]
    /// Credentials.
    public var authorization: Authorization?
    /// The certificate, in PEM, that the host gets to see if it asks for one.
    public var certificate: ClientCertificate?

    /// A rule that adds nothing yet.
    public init(hosts: [String]) { self.hosts = hosts }

    package func matches(_ host: String) -> Bool { hosts.contains { HostPattern.matches(host, $0) } }
}

/// A certificate of our own, and its private key.
public struct ClientCertificate: Sendable, Hashable {
    /// The path of the certificate, in PEM.
    public let file: String
    /// The path of its private key; the same file when nil.
    public let key: String?

    /// A certificate in a file.
    public init(file: String, key: String? = nil) {
        self.file = file
        self.key = key
    }
}

/// Requests for URLs that begin in one way go to URLs that begin in another: mirrors.
public struct URLRewrite: Sendable, Hashable {
    /// How the URLs begin: scheme, host and any part of the path.
    public let from: String
    /// What stands there instead.
    public let to: String

    /// - Returns: nil if one of them is no beginning of an http or https URL.
    public init?(from: String, to: String) {
        guard URLOrigin.host(of: from) != nil, URLOrigin.host(of: to) != nil else { return nil }
        self.from = from
        self.to = to
    }

    /// The URL instead of `url`; nil if the rule says nothing of it.
    package func target(of url: WebURL) throws(ImageError) -> String? {
        let from = try WebURL(from)
        // A capital letter in the host or a port of 443 makes no difference.
        guard url.origin == from.origin, url.target.starts(with: from.target) else { return nil }
        return try WebURL(to).text + String(decoding: url.target.dropFirst(from.target.count), as: UTF8.self)
    }
}

extension HTTPRequest {
    /// The request with what the rules add for its host. Not after a redirect from https to http.
    func dressed(by rules: RequestRules) -> HTTPRequest {
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

extension ImageDownloader {
    /// What goes with a request for `url` that names nothing itself: what the rules say of the host that it goes to, which
    /// may be that of a mirror, else the usual.
    package func addedFields(for url: String) -> AddedFields {
        let usual = transport.settings.addedFields
        let rules = rules
        guard !rules.hosts.isEmpty, let web = try? WebURL(url),
            let outgoing = try? rules.rewritten(HTTPRequest(web, RequestContent()))
        else { return usual }
        // Of several rules for one host the first that names a field counts.
        return rules.hosts.reversed().filter { $0.matches(outgoing.url.host) }
            .reduce(usual) { $0.replacing(with: $1.headers) }
    }
}
