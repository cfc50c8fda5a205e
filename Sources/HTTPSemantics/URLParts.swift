internal import Platform

/// What the text of a URL shows of its parts without libcurl: for names, keys and counts. Credentials are limited to the origin
/// of a ``WebURL``.
package enum URLParts {
    /// The scheme of a URL in lower case. `nil`: it has none.
    package static func scheme(of url: String) -> String? {
        url.utf8.firstIndex(of: UInt8(ascii: ":")).map { String(url[..<$0]).quicklyLowercased }
    }

    /// The host of an http or https URL, in lower case and without port. `nil`: another scheme, or no host.
    package static func host(of url: String) -> String? {
        guard let scheme = scheme(of: url), scheme == "http" || scheme == "https" else { return nil }
        return host(of: url, after: scheme.utf8.count)
    }

    /// The host of a proxy, which may have any scheme, or none as libcurl allows it. `nil`: no host.
    package static func host(ofProxy proxy: String) -> String? {
        guard let slashes = proxy.firstRange(of: "://") else { return host(of: "://" + proxy, after: 0) }
        return host(of: proxy, after: proxy.utf8.distance(from: proxy.startIndex, to: slashes.lowerBound))
    }

    /// The text between the slashes and the path, without user, password and port. Works on bytes, because characters cost ten
    /// times as much and this runs several times for each image.
    private static func host(of url: String, after scheme: Int) -> String? {
        var url = url
        return url.withUTF8 { text in
            let rest = UnsafeRawBufferPointer(text).dropFirst(scheme + 1)
            let slashes = rest.prefix { $0 == UInt8(ascii: "/") }.count
            // As many as libcurl takes.
            guard (1...3).contains(slashes) else { return nil }
            var host = rest.dropFirst(slashes).prefix { !endsAuthority($0) }
            if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[(at + 1)...] }
            if let colon = host.lastIndex(of: UInt8(ascii: ":")), !host[colon...].contains(UInt8(ascii: "]")) {
                host = host[..<colon]
            }
            return host.isEmpty ? nil : String(lowercasing: UnsafeRawBufferPointer(rebasing: host))
        }
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\\"): true
        default: false
        }
    }
}
