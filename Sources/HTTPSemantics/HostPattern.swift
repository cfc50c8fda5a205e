/// Operations on host names and patterns for them: a name or an address, or `*.example.com` for every name below one.
public enum HostPattern {
    /// `true` when `text` is a name or an address, optionally a name after `*.`. A URL, or a host with a port, is not
    /// one.
    public static func isValid(_ text: String) -> Bool {
        let host = text.hasPrefix("*.") ? String(text.dropFirst(2)) : text
        return !host.isEmpty && !host.contains { "/*?#@ \t".contains($0) }
            && (host.filter { $0 == ":" }.count != 1)
    }

    /// `true` when a host matches a pattern: an equal name, or any name below the one after `*.`.
    package static func matches(_ host: String, _ pattern: String) -> Bool {
        let (host, pattern) = (bare(host), bare(pattern))
        guard pattern.hasPrefix("*.") else { return host == pattern }
        return host.hasSuffix(pattern.dropFirst(1)) && host.count > pattern.count - 1
    }

    /// The host in lower case, without square brackets and without a dot at the end.
    package static func bare(_ host: String) -> String {
        var host = host.lowercased()
        if host.hasSuffix(".") { host.removeLast() }
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}
