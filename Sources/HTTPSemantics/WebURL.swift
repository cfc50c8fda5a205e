package import Platform

/// An http or https URL in parts. libcurl, which performs the request, also parses it, so that the host that is checked
/// is the host that is connected to.
package struct WebURL: Hashable, Sendable {
    /// The URL as it is sent, normalised: without user, password and fragment, and with a non-ASCII host in its ASCII
    /// form (RFC 5891).
    package let exactText: ExactText
    /// The scheme, host and port as text. Connections are counted by it, and credentials are limited to it.
    package let origin: String
    /// The host in lower case. An IPv6 address is in square brackets.
    package let host: String
    /// The user and password of the URL.
    package let credentials: Authorization?

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
    package init(parsed text: ExactText, origin: String, host: String, credentials: Authorization?) {
        (exactText, self.origin, self.host, self.credentials) = (text, origin, host, credentials)
    }

    /// The URL without the user and password.
    package var withoutCredentials: WebURL { WebURL(parsed: exactText, origin: origin, host: host, credentials: nil) }
}
