/// Scheme, host and port of a URL: who gets to see credentials.
struct URLOrigin: Hashable, Sendable {
    private let text: String

    /// The origin of an http or https URL; nil for anything else.
    init?(_ url: String) {
        guard let colon = url.firstIndex(of: ":") else { return nil }
        let scheme = url[..<colon].lowercased()
        guard scheme == "http" || scheme == "https", url[colon...].hasPrefix("://") else { return nil }
        var authority = url[colon...].dropFirst(3).prefix { !"/?#\\".contains($0) }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        var host = authority.lowercased()
        let defaultPort = scheme == "http" ? ":80" : ":443"
        if host.hasSuffix(defaultPort) { host.removeLast(defaultPort.count) }
        text = scheme + "://" + host
    }
}

extension URLOrigin {
    /// The host that a URL names, in small letters and without its port; nil for anything else.
    static func host(of url: String) -> String? {
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://"),
            ["http", "https"].contains(url[..<colon].lowercased())
        else { return nil }
        var authority = url[colon...].dropFirst(3).prefix { !"/?#\\".contains($0) }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            authority = authority[..<colon]
        }
        return authority.isEmpty ? nil : authority.lowercased()
    }
}

extension ImageOptions {
    /// The options for loading `url` instead of `original`: credentials stay with the origin they were given for.
    func scoped(from original: String, to url: String) -> ImageOptions {
        guard URLOrigin(original) != URLOrigin(url) else { return self }
        var options = self
        options.authorization = nil
        options.headers = headers.filter { name, _ in Hop.crossesOrigins(name) }
        return options
    }
}
