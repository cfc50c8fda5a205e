internal import Platform

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

    /// The lower-case scheme, and the text between `//` and the path without user and password. Compares bytes, because
    /// characters cost ten times as much and this runs several times for each image.
    private static func parts(of url: String) -> (scheme: String, authority: Substring)? {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = String(url[..<colon]).quicklyLowercased
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = url.utf8[colon...].dropFirst()
        guard rest.starts(with: "//".utf8) else { return nil }
        let start = rest.index(rest.startIndex, offsetBy: 2)
        let end = rest[start...].firstIndex { "/?#\\".utf8.contains($0) } ?? rest.endIndex
        let authority = url[start..<end]
        guard let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return (scheme, authority) }
        return (scheme, authority[authority.utf8.index(after: at)...])
    }
}
