internal import HTTPSemantics
internal import Platform

/// The parts of a URL that make no other image: a plain value.
///
/// Signed URLs change with every request, though the image stays the same. A rule takes query parameters out of the keys
/// that are http or https URLs of some hosts; the request is sent as it was.
public struct KeyRule: Sendable, Hashable {
    /// The hosts: names, addresses, or `*.example.com` for every name below one; all when empty.
    public var hosts: [String]
    /// The only query parameters that count; all when `nil`. A name may end in `*`.
    public var keepQuery: [String]?
    /// Query parameters that do not count. A name may end in `*`.
    public var dropQuery: [String]

    /// A rule.
    public init(hosts: [String] = [], keepQuery: [String]? = nil, dropQuery: [String] = []) {
        self.hosts = hosts
        self.keepQuery = keepQuery
        self.dropQuery = dropQuery
    }

    /// The key that `rules` make of a text. Text that is no http or https URL, or has no query, stays as it is, and so does
    /// the order of the parameters. Made once more from its result, the key is the same.
    package static func key(of text: String, _ rules: [KeyRule]) -> String {
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")), let host = URLParts.host(of: text),
            let rule = rules.first(where: { $0.matches(host) })
        else { return text }
        let parts = bytes[bytes.index(after: mark)..<end]
            .split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let kept = parts.filter { rule.keeps($0) }
        if kept.count == parts.count { return text }
        let query = kept.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "&")
        return String(text[..<mark]) + (kept.isEmpty ? "" : "?") + query + text[end...]
    }

    private func matches(_ host: String) -> Bool {
        hosts.isEmpty || hosts.contains { HostPattern.matches(host, $0) }
    }

    private func keeps(_ parameter: Substring.UTF8View) -> Bool {
        let name = percentDecoded(
            Substring(decoding: parameter.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self))
        if let keepQuery, !keepQuery.contains(where: { Self.matches(name, $0) }) { return false }
        return !dropQuery.contains { Self.matches(name, $0) }
    }

    private static func matches(_ name: [UInt8], _ pattern: String) -> Bool {
        pattern.hasSuffix("*") ? name.starts(with: pattern.utf8.dropLast()) : name.elementsEqual(pattern.utf8)
    }
}
