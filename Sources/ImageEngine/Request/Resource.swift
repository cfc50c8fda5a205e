/// What to load, and under which key to keep it.
public struct Resource: Hashable, Sendable {
    /// Where the image comes from, as given: http, https, file or data.
    public let url: String
    /// The key of the cache; the URL as given unless chosen.
    public let cacheKey: String

    /// A resource kept under its URL unless `cacheKey` says otherwise.
    public init(url: String, cacheKey: String? = nil) {
        self.url = url
        self.cacheKey = cacheKey ?? url
    }
}
