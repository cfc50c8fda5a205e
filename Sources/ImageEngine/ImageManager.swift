internal import Platform

/// The engine's front door: joins caches, downloader and codec workers.
///
/// ``glance(at:in:options:needsBytes:burst:)`` answers what is cached, at once and on any thread;
/// ``retrieve(_:isMissing:end:)`` answers everything, and may take its time.
public final class ImageManager: Sendable {
    /// The settings of an engine.
    public typealias Configuration = EngineConfiguration

    let services: EngineServices
    private let surveyPool = BlockingPool(threads: 2)

    /// An engine; nothing is read, made or started until it is asked for something.
    public init(_ configuration: Configuration) { services = EngineServices(configuration) }

    // MARK: Its parts

    /// The settings that it was made with; see ``CacheRegistry/settings(of:)`` for those in force.
    public var configuration: Configuration { services.configuration }
    /// The caches.
    public var caches: CacheRegistry { services.caches }
    /// The downloader of all caches.
    public var downloader: ImageDownloader { services.downloader }
    /// The workers that make pictures of others.
    public var codec: CodecPool { services.codec }
    /// The failures that are repeated without asking.
    public var failures: FailureMemory { services.failures }

    /// The cache called `name`, opened if need be; see ``CacheRegistry/cache(_:)``.
    public func cache(_ name: String) -> ImageCache? { services.caches.cache(name) }

    // MARK: Asking for images

    /// Tells whether a cache has an image that may be answered. Takes no more than an index look-up.
    ///
    /// - Parameter needsBytes: `true` to find the image only if memory holds its bytes.
    public func glance(
        at resource: Resource, in cache: ImageCache, options: ImageOptions, needsBytes: Bool, burst: UInt64
    ) throws(ImageError) -> CacheGlance {
        try services.lookup.glance(at: resource, in: cache, options: options, needsBytes: needsBytes, burst: burst)
    }

    /// Starts a request.
    ///
    /// - Parameters:
    ///   - isMissing: `true` when a ``glance(at:in:options:needsBytes:burst:)`` has just found that the cache does not have
    ///     the image; the cache is then not asked again before the download gets its slot.
    ///   - end: Receives the result once, from any thread: an image, an ``ImageError``, or a `CancellationError` when the
    ///     request was cancelled.
    public func retrieve(
        _ request: ImageRequest, isMissing: Bool = false, end: @escaping ImageTask.End
    ) -> ImageTask {
        RequestPipeline(engine: services).retrieve(request, isMissing: isMissing, end: end)
    }

    /// The image: from the cache, otherwise from its source.
    ///
    /// - Parameter isMissing: See ``retrieve(_:isMissing:end:)``.
    /// - Throws: ``ImageError``, or `CancellationError` when the task is cancelled.
    public func image(_ request: ImageRequest, isMissing: Bool = false) async throws -> ImageResult {
        try await RequestPipeline(engine: services).image(request, isMissing: isMissing)
    }

    /// The result with the bytes of its image, read now if need be.
    public func loadingBytes(
        of result: ImageResult, in cache: ImageCache, options: ImageOptions
    ) async throws -> ImageResult {
        try await services.lookup.loadingBytes(of: result, in: cache, options: options, services.pool)
    }

    /// The result with a placeholder of its image; see ``PreviewMaker``.
    public func addingPreview(
        to result: ImageResult, in cache: ImageCache, options: ImageOptions
    ) async throws -> ImageResult {
        try await PreviewMaker(engine: services).addingPreview(to: result, in: cache, options)
    }

    /// What a picture is, from its first kilobytes: from the cache if it is there, else from its source; nothing is cached.
    /// A server that knows no ranges sends all of it, as far as ``DownloadLimits/maxBytes`` goes.
    public func probe(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, caller: ImageCaller? = nil
    ) async throws -> ProbedImage {
        try await ImageProber(engine: services).probe(resource, in: cache, options: options, caller: caller)
    }

    /// What a request would do now, and why. Nothing is loaded, promoted, extended or leased, and no delegate is asked. Waits
    /// for the disk.
    public func explain(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions
    ) throws(ImageError) -> Explanation {
        try Explainer(engine: services).explain(resource, in: cache, options: options)
    }

    /// `true` when nothing is to be loaded from the network.
    public func isOffline(_ options: ImageOptions) -> Bool { services.lookup.isOffline(options) }

    // MARK: Storing and removing

    /// Stores an image under a key. A large file is copied piece by piece.
    ///
    /// - Parameter then: Receives the result, once and from another thread; it must not wait, for other stores do.
    public func store(
        _ given: GivenImage, for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool = true,
        metadata: String? = nil, then: @escaping @Sendable (Result<ImageResult, ImageError>) -> Void
    ) {
        ImageStorer(engine: services)
            .store(
                given, for: key, in: cache, options: options, overwrites: overwrites, metadata: metadata, then: then)
    }

    /// Stores what the recipe of the options makes of an image, and the image itself if the options want originals kept;
    /// without a recipe the image itself. It is decoded completely before, if the options or the cache want that.
    ///
    /// - Parameter overwrites: `true` when what is there is replaced: the made image, and the original.
    /// - Returns: The made image, from where it is now.
    public func storeVariant(
        of given: GivenImage, for key: String, in cache: ImageCache, options: ImageOptions, overwrites: Bool = true,
        metadata: String? = nil
    ) async throws -> ImageResult {
        try await ImageStorer(engine: services)
            .storeVariant(
                of: given, for: key, in: cache, options: options, overwrites: overwrites, metadata: metadata)
    }

    /// Removes an image from the tiers chosen; see ``ImageCache/remove(_:fromMemory:fromDisk:allVariants:)``.
    ///
    /// - Parameter then: Receives what was removed, once and from another thread; it must not wait, for others do.
    public func remove(
        _ key: CacheKey, from cache: ImageCache, fromMemory: Bool = true, fromDisk: Bool = true,
        allVariants: Bool = false, then: @escaping @Sendable (Result<ImageCache.Removed, ImageError>) -> Void
    ) {
        // What stays in memory is read first, and variants may be many.
        let isBrief = fromMemory && !allVariants
        services.pool.submit(briefFor: isBrief ? cache.ifBrief : nil) {
            cache.remove(key, fromMemory, fromDisk, allVariants, in: cache.queue, then: then)
        }
    }

    // MARK: Waiting for the disk, measuring, the end

    /// Sets the receiver, which is called from any thread, of images that turned out to be others when they were refreshed
    /// in the background; `nil` for none.
    public func onChange(_ receiver: (@Sendable (ImageChange) -> Void)?) { services.changes.set(receiver) }

    /// Sets the receiver, which is called from any thread and in order, of the number of running downloads when that changes;
    /// `nil` for none. It must return at once and ask the engine nothing.
    public func onActivity(_ receiver: (@Sendable (_ running: Int) -> Void)?) { services.activity.set(receiver) }

    /// Begins `work` where it may wait for the disk.
    public func perform(_ work: @escaping @Sendable () -> Void) { services.pool.submit(work) }

    /// Runs `work` where it may wait for the disk.
    public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await services.pool.run(work)
    }

    /// Runs long work on a cache where it keeps nobody waiting.
    public func surveying<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await surveyPool.run(work)
    }

    /// Writes down what is only remembered, and waits for stores that nobody waited for; called before the process ends.
    /// Takes milliseconds.
    public func flush() {
        caches.stopCleaning()
        services.unawaited.wait()
        caches.close()
    }

    /// The counters of the engine.
    public var statistics: EngineStatistics { EngineStatistics(services) }
}
