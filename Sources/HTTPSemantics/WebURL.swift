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

/// Scheme, host and port of a URL: the scope of credentials.
package struct URLOrigin: Hashable, Sendable {
    private let text: String

    /// The origin of an http or https URL. `nil`: another scheme.
    package init?(_ url: String) {
        let origin = Self.withAuthority(of: url) { scheme, authority in
            let defaultPort = (scheme == "http" ? ":80" : ":443").utf8
            let isDefault = authority.suffix(defaultPort.count).elementsEqual(defaultPort)
            let host = authority.dropLast(isDefault ? defaultPort.count : 0)
            return scheme + "://" + String(lowercasing: UnsafeRawBufferPointer(rebasing: host))
        }
        guard let origin else { return nil }
        text = origin
    }

    /// The host of an http or https URL, in lower case and without port. `nil`: another scheme, or no host.
    package static func host(of url: String) -> String? {
        withAuthority(of: url) { _, authority in
            var host = authority
            if let colon = host.lastIndex(of: UInt8(ascii: ":")), !host[colon...].contains(UInt8(ascii: "]")) {
                host = host[..<colon]
            }
            return host.isEmpty ? nil : String(lowercasing: UnsafeRawBufferPointer(rebasing: host))
        }
    }

    /// The scheme of a URL in lower case. `nil`: it has none.
    package static func scheme(of url: String) -> String? {
        url.utf8.firstIndex(of: UInt8(ascii: ":")).map { String(url[..<$0]).quicklyLowercased }
    }

    /// Calls `body` with the lower-case scheme of an http or https URL, and the text between `//` and the path without user and
    /// password. Works on bytes, because characters cost ten times as much and this runs several times for each image.
    private static func withAuthority(
        of url: String, _ body: (_ scheme: String, _ authority: UnsafeRawBufferPointer.SubSequence) -> String?
    ) -> String? {
        guard let scheme = scheme(of: url), scheme == "http" || scheme == "https" else { return nil }
        var url = url
        return url.withUTF8 { text in
            let rest = UnsafeRawBufferPointer(text).dropFirst(scheme.utf8.count + 1)
            guard rest.starts(with: "//".utf8) else { return nil }
            let authority = rest.dropFirst(2).prefix { !endsAuthority($0) }
            guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return body(scheme, authority) }
            return body(scheme, authority[(at + 1)...])
        }
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\\"): true
        default: false
        }
    }
}
