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

/// What a result must hold of its image.
public struct ImageNeeds: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Needs with the given bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A file that exists when the result does.
    public static let file = ImageNeeds(rawValue: 1)
    /// The bytes; even where the disk cannot be written, as long as the image can be had.
    public static let bytes = ImageNeeds(rawValue: 2)
    /// A file of raw pixels instead of an image; see ``PixelFile``.
    public static let pixels = ImageNeeds(rawValue: 4)
}

/// The one who waits for an image: its priority, and the receiver of progress.
public struct ImageCaller: Sendable {
    /// The priority; may be changed while it waits.
    public var priority: CallPriority
    /// Receives the download's progress, from any thread.
    public var report: (@Sendable (DownloadProgress) -> Void)?
    /// Called, from any thread, when the caller shares in a download: now another may leave it without its being broken
    /// off. Not called when the image takes no download.
    public var joined: @Sendable () -> Void
    /// The time of its request in nanoseconds of the engine's clock, for its deadline. `nil`: the time when it asks the
    /// engine.
    public var arrived: Int?

    /// A caller.
    public init(
        priority: CallPriority, report: (@Sendable (DownloadProgress) -> Void)? = nil,
        joined: @escaping @Sendable () -> Void = {}, arrived: Int? = nil
    ) {
        (self.priority, self.report, self.joined, self.arrived) = (priority, report, joined, arrived)
    }
}

/// A request as it is sent: its delegate may have changed it.
struct OutgoingRequest: Sendable {
    let url: String
    let options: ImageOptions
}

extension ImageOptions {
    /// `true` when a delegate is asked to change the request before it is sent.
    var asksToModify: Bool { self.network.delegates?.questions.contains(.modifyRequest) == true }
}
