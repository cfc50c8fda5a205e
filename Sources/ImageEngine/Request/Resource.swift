internal import Platform

/// The URL of an image, and the key under which it is cached.
public struct Resource: Hashable, Sendable {
    /// The URL as given, without its fragment: http, https, file or data. Empty for an image that only its key names.
    public let url: String
    /// The key in the cache; the URL unless another key is given.
    public let cacheKey: String

    /// A resource whose key is its URL unless `cacheKey` is given.
    public init(url: String, cacheKey: String? = nil) {
        self.url = Self.withoutFragment(url)
        self.cacheKey = cacheKey ?? self.url
    }

    /// The URL without its fragment, which is never sent and names no other image. What follows a `#` in a data URL is
    /// data.
    public static func withoutFragment(_ url: String) -> String {
        guard let end = url.utf8.firstIndex(of: UInt8(ascii: "#")), ImageSource.scheme(of: url) != "data" else {
            return url
        }
        return String(url[..<end])
    }

    /// `true` when the image comes over the network: its scheme is http or https, in any case.
    public var isOnNetwork: Bool { ImageSource.isOnNetwork(url) }

    /// `true` when a cached image counts before its source, as what is processed too. A user's file is always read again,
    /// and so is a data URL that is its own key.
    var prefersCache: Bool {
        isOnNetwork || url.isEmpty
            || ImageSource.scheme(of: url) == "data" && ExactText(url) != ExactText(cacheKey)
    }
}
