package import Platform

/// An http or https URL in parts. libcurl, which performs the request, also parses it, so that the host that is checked
/// is the host that is connected to.
package struct WebURL: Hashable, Sendable {
    /// The URL as it is sent, normalised: without user, password and fragment, and with a non-ASCII host in its ASCII
    /// form (RFC 5891).
    package let exactText: ExactText
    private let authority: Authority
    /// The scheme, host and port as text. Connections are counted by it, and credentials are limited to it.
    package var origin: String { authority.origin }
    /// The host in lower case. An IPv6 address is in square brackets.
    package var host: String { authority.host }
    /// The user and password of the URL.
    package var credentials: Authorization? { authority.credentials }

    /// What stands before the path. A class, because URLs of one host share it while they wait.
    package final class Authority: Hashable, Sendable {
        fileprivate let origin: String
        fileprivate let host: String
        fileprivate let credentials: Authorization?

        /// An authority of parsed parts.
        package init(origin: String, host: String, credentials: Authorization? = nil) {
            (self.origin, self.host, self.credentials) = (origin, host, credentials)
        }

        /// `true` when all parts are equal.
        package static func == (one: Authority, other: Authority) -> Bool {
            one === other
                || (one.origin, one.host) == (other.origin, other.host) && one.credentials == other.credentials
        }

        /// Hashes what differs most.
        package func hash(into hasher: inout Hasher) { hasher.combine(origin) }
    }

    /// The URL as it is sent, normalised: without user, password and fragment.
    package var text: String { exactText.text }
    /// The path without the query.
    package var path: String {
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        return path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
    }
    /// The path and the query as they are sent.
    package var target: Substring.UTF8View {
        text.utf8.dropFirst(scheme.utf8.count + 3).drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    }
    /// `http` or `https`.
    package var scheme: String { isSecure ? "https" : "http" }
    /// `true` for https.
    package var isSecure: Bool { origin.hasPrefix("https:") }

    /// Creates a URL from parsed parts; see `init(_:)` in the target `Downloading`.
    package init(parsed text: ExactText, _ authority: Authority) { (exactText, self.authority) = (text, authority) }

    /// The URL without the user and password.
    package var withoutCredentials: WebURL {
        credentials == nil ? self : WebURL(parsed: exactText, Authority(origin: origin, host: host))
    }
}

/// Scheme, host and port of a URL: the scope of credentials.
package struct URLOrigin: Hashable, Sendable {
    private let text: String

    /// The origin of an http or https URL. `nil`: another scheme.
    package init?(_ url: String) {
        guard let (scheme, authority) = Self.parts(of: url) else { return nil }
        var host = String(authority).quicklyLowercased
        let defaultPort = scheme == "http" ? ":80" : ":443"
        if host.utf8.suffix(defaultPort.count).elementsEqual(defaultPort.utf8) { host.removeLast(defaultPort.count) }
        text = scheme + "://" + host
    }

    /// The host of an http or https URL, in lower case and without port. `nil`: another scheme, or no host.
    package static func host(of url: String) -> String? {
        guard let (_, whole) = parts(of: url) else { return nil }
        var authority = whole
        if let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")),
            !authority[colon...].utf8.contains(UInt8(ascii: "]"))
        {
            authority = authority[..<colon]
        }
        return authority.isEmpty ? nil : String(authority).quicklyLowercased
    }

    /// The scheme of a URL in lower case. `nil`: it has none.
    package static func scheme(of url: String) -> String? {
        url.utf8.firstIndex(of: UInt8(ascii: ":")).map { String(url[..<$0]).quicklyLowercased }
    }

    /// The lower-case scheme, and the text between `//` and the path without user and password. Compares bytes, because
    /// characters cost ten times as much and this runs several times for each image.
    private static func parts(of url: String) -> (scheme: String, authority: Substring)? {
        guard let scheme = scheme(of: url), scheme == "http" || scheme == "https" else { return nil }
        let rest = url.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst()
        guard rest.starts(with: "//".utf8) else { return nil }
        let start = rest.index(rest.startIndex, offsetBy: 2)
        let end = rest[start...].firstIndex(where: endsAuthority) ?? rest.endIndex
        let authority = url[start..<end]
        guard let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return (scheme, authority) }
        return (scheme, authority[authority.utf8.index(after: at)...])
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\\"): true
        default: false
        }
    }
}
