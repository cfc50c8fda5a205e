internal import Platform

/// One caller's request for an image: what it is, where it is kept, and how it is answered.
public struct ImageRequest: Sendable {
    /// What is loaded, and its key.
    public let resource: Resource
    /// The cache that answers and stores.
    public let cache: ImageCache
    /// The options of the request. The engine fills in the settings of the cache where they are open.
    public var options: ImageOptions
    /// What the result must hold.
    public var needs: ImageNeeds
    /// The one who waits.
    public var caller: ImageCaller

    /// A request.
    ///
    /// - Parameter caller: Default: one with the priority of the options.
    public init(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, needs: ImageNeeds,
        caller: ImageCaller? = nil
    ) {
        (self.resource, self.cache, self.options, self.needs) = (resource, cache, options, needs)
        self.caller = caller ?? ImageCaller(priority: CallPriority(options.caller.downloadPriority))
    }

    /// The key of the image itself.
    var key: CacheKey { CacheKey(resource.cacheKey) }

    /// The key of what the recipe of the options makes of the image.
    var madeKey: CacheKey { options.processing.recipe.cacheKey(resource.cacheKey) }

    /// The request as it is sent when no delegate changes it.
    var outgoing: OutgoingRequest { OutgoingRequest(url: resource.url, options: options) }

    /// `true` when what the cache has may have to be revalidated with its server.
    var mayRevalidate: Bool { (options.lookup.revalidate ?? .never) != .never && resource.isOnNetwork }

    /// The same request with other options.
    func with(_ options: ImageOptions) -> ImageRequest {
        var request = self
        request.options = options
        return request
    }
}
