package import Platform

/// An http or https URL in parts. It is parsed by libcurl, the library that will follow it, so that the host that is checked is
/// the host that is dialled.
package struct WebURL: Hashable, Sendable {
    /// The URL as it is sent, normalised: without user, password and fragment, and with a host that is not ASCII as
    /// resolvers have it (RFC 5891).
    package let exactText: ExactText
    /// The scheme, host and port, written out: what connections are counted by, and who gets to see credentials.
    package let origin: String
    /// The host in small letters; a number in square brackets when it is of version 6.
    package let host: String
    /// The user and password that stood in it.
    package let credentials: Authorization?

    /// The URL as it is sent, normalised: without user, password and fragment.
    package var text: String { exactText.text }
    /// The path, without the query.
    package var path: String {
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        return path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
    }
    /// The path and the query, as they are sent.
    package var target: Substring.UTF8View {
        text.utf8.dropFirst(scheme.utf8.count + 3).drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    }
    /// `http` or `https`.
    package var scheme: String { isSecure ? "https" : "http" }
    /// Whether it is https.
    package var isSecure: Bool { origin.hasPrefix("https:") }

    /// A URL that has been parsed; see `init(_:)` of the target that downloads.
    package init(parsed text: ExactText, origin: String, host: String, credentials: Authorization?) {
        (exactText, self.origin, self.host, self.credentials) = (text, origin, host, credentials)
    }

    /// The same without the user and password that stood in it.
    package var withoutCredentials: WebURL { WebURL(parsed: exactText, origin: origin, host: host, credentials: nil) }
}
