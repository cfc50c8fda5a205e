internal import Platform
package import RemoteStorage

/// The engine's public interface: combines caches, downloader and codec workers.
///
/// ``glance(at:in:options:needs:burst:)`` answers cached images at once and on any thread;
/// ``retrieve(_:isMissing:end:)`` answers every request and may wait.
public final class ImageManager: Sendable {
    let services: EngineServices
    private let spool = ByteSpool()
    private let surveyPool = BlockingPool(threads: 2)

    /// Creates an engine; nothing is read, created or started before its first use.
    public init(_ configuration: EngineConfiguration) { services = EngineServices(configuration) }

    // MARK: Parts

    /// The initial settings; see ``CacheRegistry/settings(of:)`` for the current ones.
    public var configuration: EngineConfiguration { services.configuration }

    /// The time in nanoseconds, from a monotonic clock.
    package var now: Int { services.now }
    /// The caches.
    public var caches: CacheRegistry { services.caches }
    /// The downloader of all caches.
    public var downloader: ImageDownloader { services.downloader }
    /// The codec workers, which process images.
    public var codec: CodecPool { services.codec }
    /// The failures that are repeated without a new request.
    public var failures: FailureMemory { services.failures }

    /// The cache with that name, opened if necessary; see ``CacheRegistry/cache(_:)``.
    public func cache(_ name: String) -> ImageCache? { services.caches.cache(name) }

    // MARK: Asking for images

    /// Looks for an image that may be answered, with no more than an index look-up.
    ///
    /// - Parameter needs: With bytes, the image is found only if memory holds them; with a file, only if there is one.
    public func glance(
        at resource: Resource, in cache: ImageCache, options: ImageOptions, needs: ImageNeeds, burst: UInt64
    ) throws(ImageError) -> CacheGlance {
        if ImageLoader(engine: services).refusal(of: resource, options) != nil { return .unknown }
        return try services.lookup.glance(
            at: resource, in: cache, options: options, needs: needs, burst: burst)
    }

    /// Starts a request.
    ///
    /// - Parameters:
    ///   - isMissing: `true` when ``glance(at:in:options:needs:burst:)`` has just not found the image; the cache
    ///     is then not searched again before the download gets its slot.
    ///   - looked: Called from any thread, before `end`, when the cache alone does not answer; sometimes twice.
    ///   - end: Receives the result once, from any thread: an image, an ``ImageError``, or a `CancellationError` when the
    ///     request was cancelled.
    public func retrieve(
        _ request: ImageRequest, isMissing: Bool = false, looked: @escaping @Sendable () -> Void = {},
        end: @escaping ImageTask.End
    ) -> ImageTask {
        RequestPipeline(engine: services).retrieve(request, isMissing: isMissing, looked: looked, end: end)
    }

    /// The image: from the cache, otherwise from its source.
    ///
    /// - Parameters:
    ///   - isMissing: See ``retrieve(_:isMissing:looked:end:)``.
    ///   - looked: See there too.
    /// - Throws: ``ImageError``, or `CancellationError` when the task is cancelled.
    public func image(
        _ request: ImageRequest, isMissing: Bool = false, looked: @escaping @Sendable () -> Void = {}
    ) async throws -> ImageResult {
        try await RequestPipeline(engine: services).image(request, isMissing: isMissing, looked: looked)
    }

    /// The result with the bytes of its image, read now if necessary.
    public func loadingBytes(
        of result: ImageResult, in cache: ImageCache, options: ImageOptions
    ) async throws -> ImageResult {
        try await services.lookup.loadingBytes(of: result, in: cache, options: options, services.pool)
    }

    /// The result without bytes in memory, for an answer that has to wait; ``loadingBytes(of:in:options:)`` reads them
    /// again: from the file of the cache, else from a temporary one.
    public func settingBytesAside(of result: ImageResult) async throws -> ImageResult {
        var waiting = result
        (waiting.bytes, waiting.entry, waiting.hold) = (nil, nil, nil)
        // What is freed between other blocks stays with the process otherwise, and thousands may wait.
        if services.counts.bytesAside.add(result.record.byteCount, ordering: .relaxed).newValue >= 32 << 20 {
            services.counts.bytesAside.store(0, ordering: .relaxed)
            services.pool.submit { AllocatorTrimmer.giveBack() }
        }
        if result.record.path != nil { return waiting }
        let content = result.bytes.map { DiskStorage.Content.bytes($0) } ?? result.content
        guard let content, content.isInMemory else { return result }
        waiting.content = nil
        waiting.aside = try await services.pool.runIfWanted { [spool] in try spool.keep(ImageCache.bytes(of: content)) }
        return waiting
    }

    /// The result with a placeholder of its image; see ``PreviewMaker``.
    public func addingPreview(
        to result: ImageResult, in cache: ImageCache, options: ImageOptions
    ) async throws -> ImageResult {
        try await PreviewMaker(engine: services).addingPreview(to: result, in: cache, options)
    }

    /// The properties of an image from its first kilobytes, in the cache or else at its source; nothing is cached. A
    /// server without support for ranges sends the whole image, up to ``DownloadLimits/maxBytes``.
    public func probe(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, caller: ImageCaller? = nil
    ) async throws -> ProbedImage {
        try await beginProbe(resource, in: cache, options: options, caller: caller)()
    }

    /// The look into the cache for ``probe(_:in:options:caller:)``. What it returns gives the properties, from the source if the
    /// cache does not have the image.
    public func beginProbe(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, caller: ImageCaller? = nil
    ) async throws -> @Sendable () async throws -> ProbedImage {
        try await ImageProber(engine: services).begin(resource, in: cache, options: options, caller: caller)
    }

    /// The answer that a request would get now, and why. Nothing is loaded, promoted, extended or leased, and no
    /// delegate is asked. Waits for the disk.
    public func explain(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions
    ) throws(ImageError) -> Explanation {
        try Explainer(engine: services).explain(resource, in: cache, options: options)
    }

    /// `false` when the image that a recipe has made under a key was made from another original than the one that the caches
    /// know now: no request is answered with it.
    ///
    /// - Returns: `nil` when that takes waiting and `mayWait` is `false`.
    public func isOfKnownOriginal(
        _ key: CacheKey, in cache: ImageCache, options: ImageOptions?, mayWait: Bool
    ) throws(ImageError) -> Bool? {
        let (lookup, options) = (services.lookup, options ?? ImageOptions())
        let url = (try? ImageSource(url: key.key)) == nil ? "" : key.key
        let resource = Resource(url: url, cacheKey: key.key)
        if mayWait {
            guard let record = try cache.knownHit(for: key)?.record else { return true }
            return try lookup.isOfKnownOriginal(record, of: resource, in: cache, options)
        }
        guard let record = cache.memory.peek(key)?.record else {
            return try lookup.lacks([key], in: cache) ? true : nil
        }
        // Another process may have replaced it: the answer is then about that image.
        guard cache.isCurrent(record, burst: 0, mayWait: false) == true else { return nil }
        let own = lookup.ownKey(resource, options)
        return lookup.isCurrent(record, of: resource, own, for: cache, options) ? true : nil
    }

    /// `true` when nothing may be loaded from the network.
    public func isOffline(_ options: ImageOptions) -> Bool { services.lookup.isOffline(options) }

    // MARK: Storing and removing

    /// The entry that a caller means by a key with options: that of the user whom the options name, if they do; otherwise
    /// `isAnyones` is `true`, and the entry that users share is meant, or whatever the users have.
    public func entry(_ key: String, _ options: ImageOptions) -> (key: CacheKey, isAnyones: Bool) {
        services.scopes.entry(key, options)
    }

    /// Stores an image under a key. A large file is copied piece by piece.
    public func store(
        _ given: GivenImage, for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool = true,
        metadata: String? = nil, then: @escaping StoreEnd
    ) {
        let sharing = RemoteAccess.sharing(key, in: cache, options, services)
        ImageStorer(engine: services)
            .store(
                given, for: key, in: cache, options: options, overwrites: overwrites, metadata: metadata
            ) { result in
                if let sharing, case .success(let image) = result { sharing.upload(image) }
                then(result)
            }
    }

    /// Stores the result of the options' recipe, and the image itself if the options keep originals; without a recipe,
    /// the image itself. It is decoded completely first if the options or the cache require that.
    ///
    /// - Parameter overwrites: `true` when an existing made image and an existing original are replaced.
    /// - Returns: The made image, as stored.
    public func storeVariant(
        of given: GivenImage, for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool = true,
        metadata: String? = nil
    ) async throws -> ImageResult {
        let image = try await ImageStorer(engine: services)
            .storeVariant(
                of: given, for: key, in: cache, options: options, overwrites: overwrites, metadata: metadata)
        RemoteAccess.sharing(image.record.key, in: cache, options, services)?.upload(image)
        return image
    }

    /// Makes the result of the options' recipe, with its bytes, of an image that is not looked up and that no cache keeps.
    ///
    /// - Parameter name: Stands for the image in errors.
    package func made(
        of given: GivenImage, named name: String, in cache: ImageCache, options: ImageOptions
    ) async throws -> ImageResult {
        try await ImageStorer(engine: services).made(of: given, named: name, in: cache, options: options)
    }

    /// Removes an image from the chosen tiers; see ``ImageCache/remove(_:fromMemory:fromDisk:allVariants:)``.
    ///
    /// - Parameter then: Receives the removed items once, on another thread; it must not block: other calls wait.
    public func remove(
        _ key: CacheKey, from cache: ImageCache, fromMemory: Bool = true, fromDisk: Bool = true,
        allVariants: Bool = false, allUsers: Bool = true,
        then: @escaping @Sendable (Result<ImageCache.Removed, ImageError>) -> Void
    ) {
        // An entry that stays in memory is read first, and there may be many variants.
        let isBrief = fromMemory && !allVariants
        services.pool.submit(briefFor: isBrief ? cache.ifBrief : nil) {
            let entries = EntrySelection(key, allVariants: allVariants, allUsers: allUsers)
            cache.remove(entries, fromMemory: fromMemory, fromDisk: fromDisk, in: cache.queue, then: then)
        }
    }

    /// Begins to remove from the remote tier the objects of a key, and of the entries of this machine with the same text. Requests
    /// from now on are not answered with them. Waits for the disk.
    public func beginRemoteRemoval(
        of key: CacheKey, in cache: ImageCache, allVariants: Bool = false, allUsers: Bool = true
    ) async throws -> PendingRemoteRemoval {
        let selection = EntrySelection(key, allVariants: allVariants, allUsers: allUsers)
        return try await surveying { [services] in
            try RemoteRemover(engine: services).begin(selection, in: cache)
        }
    }

    /// Removes the images that a query names from both tiers, expired ones too; all, without a query. Waits for the disk.
    ///
    /// - Parameters:
    ///   - isRemote: `true` to begin to remove them from the remote tier too.
    ///   - isCancelled: Asked now and then.
    public func clear(
        _ cache: ImageCache, where query: ListQuery?, isRemote: Bool, isCancelled: () -> Bool
    ) throws(ImageError) -> (removal: DiskStorage.Removal, remote: PendingRemoteRemoval?) {
        let keys = isRemote ? try cache.keys(where: query ?? ListQuery()) : []
        let remote = isRemote ? RemoteRemover(engine: services).begin(keys) : nil
        guard let query else { return (try cache.clear(), remote) }
        return (try cache.clear(where: query, isCancelled: isCancelled), remote)
    }

    /// Removes the objects from the remote tier, for all machines. A cancellation does not end it: the entries that name them are
    /// gone.
    public func removeRemotely(_ removal: PendingRemoteRemoval) async -> RemoteRemoval {
        await Task { [services] in await RemoteRemover(engine: services).remove(removal) }.value
    }

    /// The settings of the remote tier in force.
    package var remote: RemoteTier.Configuration { services.remoteSlot.configuration }

    /// Uses other settings for the remote tier from now on; what has begun ends with those before.
    package func useRemote(_ configuration: RemoteTier.Configuration) { services.remoteSlot.use(configuration) }

    /// Tries whether the remote tier can be read and written; `nil` when there is none.
    package func checkRemote() async -> RemoteCheck? { await services.remote?.check() }

    // MARK: Events, threads, counters

    /// Sets the receiver of images that a background refresh has changed, which is called from any thread; `nil`
    /// removes it.
    public func onChange(_ receiver: (@Sendable (ImageChange) -> Void)?) { services.changes.set(receiver) }

    /// Sets the receiver of changes of the remote tier's breaker, which is called from any thread; `nil` removes it.
    package func onRemoteChange(_ receiver: (@Sendable (RemoteChange) -> Void)?) {
        services.remoteChanges.set(receiver)
    }

    /// Sets the receiver of changes in the number of running downloads; `nil` removes it. It is called from any thread,
    /// in order, and must return at once without calling the engine.
    public func onActivity(_ receiver: (@Sendable (_ running: Int) -> Void)?) { services.activity.set(receiver) }

    /// Starts `work` on a thread that may wait for the disk.
    ///
    /// - Parameter isLong: `true` when it may take long; threads are left to the rest then.
    public func perform(isLong: Bool = false, _ work: @escaping @Sendable () -> Void) {
        services.pool.submit(isLong: isLong, work)
    }

    /// Runs `work` on a thread that may wait for the disk.
    ///
    /// - Parameter isLong: `true` for work that is not to keep all of these threads from brief work.
    public func blocking<Value: Sendable>(
        isLong: Bool = false, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await services.pool.run(isLong: isLong, work)
    }

    /// Runs long work on a cache on a separate pool, so that it delays no requests.
    public func surveying<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await surveyPool.run(work)
    }

    /// Writes pending changes to disk, waits for stores without a waiting caller, and interrupts downloads. Called before the
    /// process ends. Takes milliseconds.
    public func flush() {
        caches.stopCleaning()
        services.unawaited.wait()
        downloader.interrupt()
        services.remoteSlot.finish()
        caches.close()
    }

    /// The counters of the engine.
    public var statistics: EngineStatistics { EngineStatistics(services) }
}
