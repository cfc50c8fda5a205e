internal import Platform

/// Names of hosts, and patterns for them: a name or an address, or `*.example.com` for every name below one.
public enum HostPattern {
    /// Whether `text` is a name or an address, or `*.` before a name; not a URL, nor a host with a port.
    public static func isValid(_ text: String) -> Bool {
        let host = text.hasPrefix("*.") ? String(text.dropFirst(2)) : text
        return !host.isEmpty && !host.contains { "/*?#@ \t".contains($0) }
            && (host.filter { $0 == ":" }.count != 1)
    }

    /// Whether a host is meant by a pattern: a name, or `*.` and a name for everything below it.
    package static func matches(_ host: String, _ pattern: String) -> Bool {
        let (host, pattern) = (bare(host), bare(pattern))
        guard pattern.hasPrefix("*.") else { return host == pattern }
        return host.hasSuffix(pattern.dropFirst(1)) && host.count > pattern.count - 1
    }

    /// A host in small letters, without square brackets and a dot at the end.
    package static func bare(_ host: String) -> String {
        var host = host.lowercased()
        if host.hasSuffix(".") { host.removeLast() }
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}
