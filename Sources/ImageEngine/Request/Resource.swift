/// The URL of an image, and the key under which it is cached.
public struct Resource: Hashable, Sendable {
    /// The URL as given: http, https, file or data.
    public let url: String
    /// The key in the cache; the URL unless another key is given.
    public let cacheKey: String

    /// A resource whose key is its URL unless `cacheKey` is given.
    public init(url: String, cacheKey: String? = nil) {
        self.url = url
        self.cacheKey = cacheKey ?? url
    }

    /// `true` when the image comes over the network: its scheme is http or https, in any case.
    public var isOnNetwork: Bool { ImageSource.isOnNetwork(url) }
}
