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
    package var credentials: Authorization? { authority.credentials }

    /// What stands before the path. A class, because URLs of one host share it while they wait.
    package final class Authority: Hashable, Sendable {
        fileprivate let origin: String
        fileprivate let host: String
        fileprivate let credentials: Authorization?
        fileprivate let isSecure: Bool

        package init(origin: String, host: String, credentials: Authorization? = nil) {
            (self.origin, self.host, self.credentials) = (origin, host, credentials)
            isSecure = origin.hasPrefix("https:")
        }

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
    package var scheme: String { isSecure ? "https" : "http" }
    package var isSecure: Bool { authority.isSecure }

    /// Creates a URL from parsed parts; see `init(_:)` in the target `Downloading`.
    package init(parsed text: ExactText, _ authority: Authority) { (exactText, self.authority) = (text, authority) }

    package var withoutCredentials: WebURL {
        credentials == nil ? self : WebURL(parsed: exactText, Authority(origin: origin, host: host))
    }
}
