package import Platform

/// The URL of an image, and the key under which it is cached.
public struct Resource: Hashable, Sendable {
    /// The URL as given, without its fragment: http, https, file or data. Empty for an image that only its key names.
    public let url: String
    /// The key in the cache; the URL unless another key is given.
    public let cacheKey: String

    /// The text that messages name it by: its URL, or the key of an image that has none.
    package var name: String { url.isEmpty ? cacheKey : url }

    /// A resource whose key is its URL unless `cacheKey` is given.
    public init(url: String, cacheKey: String? = nil) {
        self.url = Self.withoutFragment(url)
        self.cacheKey = cacheKey ?? self.url
    }

    /// The URL without its fragment, which is never sent and names no other image. What follows a `#` in a data URL is
    /// data.
    public static func withoutFragment(_ url: String) -> String {
        guard url.has("#"), let end = url.utf8.firstIndex(of: UInt8(ascii: "#")), URLParts.scheme(of: url) != "data"
        else { return url }
        return String(url[..<end])
    }

    /// The URL for comparison with others: without its fragment, and with its scheme and host in lower case, in which letters
    /// of any case mean the same (RFC 3986, 6.2.2.1).
    package static func comparable(_ url: String) -> ExactText {
        let text = withoutFragment(url)
        guard ImageSource.isOnNetwork(text), let slashes = text.firstRange(of: "//") else { return ExactText(text) }
        let end = text.utf8[slashes.upperBound...].firstIndex { "/?".utf8.contains($0) } ?? text.endIndex
        let user = text.utf8[slashes.upperBound..<end].lastIndex(of: UInt8(ascii: "@"))
        let host = user.map { text.utf8.index(after: $0) } ?? slashes.upperBound
        return ExactText(
            text[..<slashes.lowerBound].lowercased() + text[slashes.lowerBound..<host] + text[host..<end].lowercased()
                + text[end...])
    }

    /// `true` when the image comes over the network: its scheme is http or https, in any case.
    public var isOnNetwork: Bool { ImageSource.isOnNetwork(url) }

    /// `true` when a cached image counts before its source, as what is processed too. A user's file is always read again,
    /// and so is a data URL that is its own key.
    var prefersCache: Bool {
        isOnNetwork || url.isEmpty
            || URLParts.scheme(of: url) == "data" && ExactText(url) != ExactText(cacheKey)
    }
}
