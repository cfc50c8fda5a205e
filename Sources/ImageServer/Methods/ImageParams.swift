internal import ImageEngine
internal import JSONRPC

/// The place of an image, for methods that find a cached one by its key alone.
let imageURLParam = Param<URLText?>(
    "url", "Where the image is: an http, https, file or data URL. Without it, the image cached under key.",
    default: nil)
/// The key of an image that is named by its URL, its key, or both.
let imageKeyParam = Param<KeyText?>(
    "key", "The cache key; the URL without its fragment when left out. Alone, nothing is loaded.", default: nil)

extension Resource {
    /// The image that a request names by its URL, by its key, or by both. With its key alone only the cache is asked.
    init(_ url: URLText?, _ key: KeyText?, in cache: ImageCache, _ options: inout ImageOptions?) throws {
        if let url {
            self = cache.resource(url.text, key: key?.text)
            return
        }
        guard let key else {
            throw RPCError.invalidParams(
                "Give \"url\", \"key\" or both.", param: "url", expected: "one of url and key", received: "neither")
        }
        var looking = options ?? ImageOptions()
        looking.lookup.onlyFromCache = true
        options = looking
        self = Resource(url: "", cacheKey: cache.key(of: key.text))
    }
}
