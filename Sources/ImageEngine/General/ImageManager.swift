internal import CLinux
internal import Glibc
internal import Platform
internal import Synchronization

/// The engine's front door: joins caches and downloader.
///
/// ``cachedImage(_:in:options:burst:)`` answers what is cached, at once and on any thread;
/// ``image(_:in:options:needsBytes:report:)`` answers everything, and may take its time.
public final class ImageManager: Sendable {
    /// The settings of an engine.
    public struct Configuration: Sendable {
        /// The folder under which every cache has its own.
        public var cacheRoot: String
        /// The settings of every cache that has none of its own; the folder in it does not count.
        public var defaults = ImageCache.Configuration(folder: "")
        /// The settings of single caches, by name. An empty folder is the one called like the cache, under
        /// ``cacheRoot``.
        public var caches: [String: ImageCache.Configuration] = [:]
        /// Whether nothing is loaded from the network, whoever asks.
        public var offline = false
        /// The downloader.
        public var downloader = ImageDownloader.Configuration()
        /// Seconds from one cleaning of the caches to the next, when nothing else is to do; 120 by default, 0 for never.
        public var cleanInterval = 120.0
        /// The workers that make pictures of others.
        public var codec = CodecPool.Configuration()
        /// The clocks.
        public var clock = EngineClock.system
        /// Whether this machine has a network; another answer in tests.
        var hasNetwork: @Sendable () -> Bool = { hl_has_network() != 0 }

        /// The default settings under a folder.
        public init(cacheRoot: String) { self.cacheRoot = cacheRoot }
    }

    /// What makes two callers want the same image at the same time.
    struct Wish: Hashable, Sendable {
        let cache: String
        let key: CacheKey
        let request: DownloadRequest
        let options: ImageOptions
        let needs: ImageNeeds
    }

    /// The settings that it was made with; see ``settings(of:)`` for those in force.
    public let configuration: Configuration
    /// The downloader of all caches.
    public let downloader: ImageDownloader
    let caches: Mutex<CacheTable>
    private let cleaning = CleaningHook()
    /// Images that are loaded anew behind an answer.
    let refreshes = Refreshes()
    /// Credentials that downloads were given besides those of their requests.
    let knownLogins = Logins()
    private let activity = ActivityHook()
    private let cleaner = Mutex<ImageCleaner?>(nil)
    let wishes = Coalescer<Wish, ImageResult>()
    /// The workers that make pictures of others.
    public let codec: CodecPool
    let variants = Coalescer<VariantWish, ImageResult>()
    let renders = Coalescer<RenderWish, RenderedFile>()
    let verifications = Coalescer<VerificationWish, Verification>()
    let pool = BlockingPool(threads: ImageManager.diskThreads)
    /// How many threads may wait for the disk at once, besides those of surveys.
    static let diskThreads = 8
    private let surveyPool = BlockingPool(threads: 2)
    /// The folder of the default cache, where large bodies are gathered.
    let spool: StorageFolder
    private let memoryHits = Atomic(0)
    private let diskHits = Atomic(0)
    private let misses = Atomic(0)
    private let isClosing = Atomic(false)
    /// Answers that another process had downloaded meanwhile.
    let sharedDownloads = Atomic(0)
    /// Downloads that wait for another process.
    let waitingFlights = Atomic(0)

    /// An engine; nothing is read, made or started until it is asked for something.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        caches = Mutex(CacheTable(configuration))
        let root = configuration.cacheRoot
        let settings = configuration.caches[Self.defaultCacheName] ?? configuration.defaults
        let spool = StorageFolder(
            path: settings.disk.folder.isEmpty ? root + "/" + Self.defaultCacheName : settings.disk.folder)
        self.spool = spool
        codec = CodecPool(configuration.codec, now: configuration.clock.monotonic)
        downloader = ImageDownloader(
            configuration.downloader,
            accept: AcceptHeader.text(decoding: codec.isAvailable ? CodecFormats().decoded : nil),
            now: configuration.clock.monotonic,
            activity: { [activity] in activity.report($0) },
            spool: SpoolPlace(makePath: { try spool.partialPath() }, resume: ResumeFolder(spool)))
    }

    /// The cache that is used when none is named.
    public static let defaultCacheName = "default"

    // MARK: Caches

    /// The cache called `name`, opened if need be.
    ///
    /// - Returns: nil if that is no name for a cache: 1…64 letters, digits, `-`, `_` and `.`, not beginning with a dot.
    public func cache(_ name: String) -> ImageCache? {
        caches.withLock { caches in
            if let cache = caches.opened[name] { return cache }
            guard Self.isCacheName(name) else { return nil }
            let settings = caches.settings(of: name)
            let cache = ImageCache(
                name: name, configuration: settings, clock: configuration.clock,
                folder: settings.disk.folder == spool.path ? spool : nil,
                queue: WorkQueue { [pool] in pool.submit($0) },
                onClean: { [cleaning] report in cleaning.report(report) })
            caches.opened[name] = cache
            startCleaning()
            return cache
        }
    }

    /// Sees to it that open caches are cleaned now and then.
    private func startCleaning() {
        cleaner.withLock { cleaner in
            guard cleaner == nil else { return }
            let made = ImageCleaner(
                interval: configuration.cleanInterval, now: configuration.clock.monotonic,
                work: { [weak self] in self?.workCount ?? 0 }, clean: { [weak self] in self?.clean() })
            made.start()
            cleaner = made
        }
    }

    /// Grows with everything that is asked for.
    private var workCount: Int {
        memoryHits.load(ordering: .relaxed) + diskHits.load(ordering: .relaxed) + misses.load(ordering: .relaxed)
            + pool.submittedCount
    }

    /// One round of cleaning of all open caches.
    func clean() {
        for cache in caches.withLock({ Array($0.opened.values) }) {
            cache.clean { [weak self] in self?.isClosing.load(ordering: .relaxed) ?? true }
        }
    }

    /// Sets who hears, from any thread, what cleaning takes out of the caches; nil for nobody.
    public func onClean(_ receiver: (@Sendable (CleaningReport) -> Void)?) { cleaning.set(receiver) }

    /// Sets who hears, from any thread and in order, how many downloads run when that changes; nil for nobody. It must
    /// return at once and ask the engine nothing.
    public func onActivity(_ receiver: (@Sendable (_ running: Int) -> Void)?) { activity.set(receiver) }

    /// Writes down what is only remembered; called before the process ends. Takes milliseconds.
    public func flush() {
        isClosing.store(true, ordering: .relaxed)
        for cache in caches.withLock({ Array($0.opened.values) }) { cache.disk.close() }
        spool.session.end()
    }

    // MARK: Answering at once

    /// What a look into a cache tells at once.
    public enum Glance: Sendable {
        /// The image is there, and the options allow that answer.
        case found(ImageResult)
        /// Neither tier has it.
        case missing
        /// That takes longer to tell, or the options want more than what is there.
        case unknown
    }

    /// The image, if a cache has it and the options allow that answer; see ``glance(at:in:options:needsBytes:burst:)``.
    public func cachedImage(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, needsBytes: Bool, burst: UInt64
    ) throws(ImageError) -> ImageResult? {
        switch try glance(at: resource, in: cache, options: options, needsBytes: needsBytes, burst: burst) {
        case .found(let image): image
        case .missing, .unknown: nil
        }
    }

    /// Whether a cache has the image. Takes no more than an index lookup.
    ///
    /// - Parameter needsBytes: Answers only if memory holds the bytes.
    public func glance(
        at resource: Resource, in cache: ImageCache, options: ImageOptions, needsBytes: Bool, burst: UInt64
    ) throws(ImageError) -> Glance {
        if options.forceRefresh { return .unknown }
        let isMade = !options.recipe.isEmpty
        let key = isMade ? options.recipe.cacheKey(resource.cacheKey) : CacheKey(resource.cacheKey)
        let mode = cache.revalidation(options)
        if isMade ? mode != .never : mode == .always, resource.isOnNetwork { return .unknown }
        // Bytes that must be read take the other way from the start, so that the hit is counted once.
        if needsBytes, !cache.holdsBytes(key) { return .unknown }
        guard let seen = try cache.look(for: key, options: options, burst: burst, mayWait: false) else {
            return .unknown
        }
        guard let hit = seen else { return isMade ? .unknown : .missing }
        // What memory held was of a file that another process has replaced.
        if needsBytes, hit.bytes == nil { return .unknown }
        if hit.record.isPersonal, !mayAnswer(hit.record, to: resource.url, options) { return .unknown }
        if !isMade, cache.verifiesDecode(options), hit.record.decodeVerdict != .sound { return .unknown }
        if isMade {
            if !isCurrent(hit.record, of: resource, for: cache, options) { return .unknown }
        } else if !Self.allows(hit, options, mayWait: false) {
            return .unknown
        }
        // Only in memory, but wanted as a file from now on: that takes writing.
        if hit.record.path == nil, !options.cacheMemoryOnly { return .unknown }
        if mode == .http, !isMade, resource.isOnNetwork, !isFresh(hit, resource.url, in: cache, options) {
            return .unknown
        }
        count(hit.cacheType)
        return .found(result(hit, in: cache, options))
    }

    func result(_ hit: ImageCache.Hit, in cache: ImageCache, _ options: ImageOptions) -> ImageResult {
        let record = options.cacheMemoryOnly && hit.record.path != nil ? hit.record.withoutFile() : hit.record
        return ImageResult(
            record: record, cache: cache.name, cacheType: hit.cacheType, bytes: hit.bytes, entry: hit.entry)
    }

    func count(_ type: CacheType) {
        switch type {
        case .memory: memoryHits.add(1, ordering: .relaxed)
        case .disk: diskHits.add(1, ordering: .relaxed)
        case .none: misses.add(1, ordering: .relaxed)
        }
    }

    // MARK: Answering

    /// The image: from the cache, else from its source, whence it is cached.
    ///
    /// - Parameters:
    ///   - needs: What the result must hold; see ``ImageNeeds``.
    ///   - caller: Who waits; one as urgent as the options say when nil.
    ///   - isMissing: Whether a ``glance(at:in:options:needsBytes:burst:)`` has just told so: then the cache is not asked
    ///     again before the download's turn comes.
    /// - Throws: ``ImageError``, or `CancellationError` when the task is cancelled.
    public func image(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, needs: ImageNeeds,
        caller: ImageCaller? = nil, isMissing: Bool = false
    ) async throws -> ImageResult {
        let options = completed(options, for: cache)
        let caller = caller ?? ImageCaller(priority: CallPriority(options.downloadPriority))
        do {
            if !options.recipe.isEmpty { return try await variant(resource, in: cache, options, needs, caller) }
            return options.verifyDecode == true
                ? try await verifiedImage(resource, in: cache, options, needs, caller)
                : try await anyImage(resource, in: cache, options, needs, caller, isMissing: isMissing)
        } catch let error as ImageError {
            guard let standIn = options.onFailureImage else { throw error }
            return try await placeholder(standIn, for: resource, in: cache, options, needs, caller, after: error)
        }
    }

    /// The image itself, whether or not it can be decoded.
    ///
    /// - Parameter options: Are completed, and have no recipe.
    func anyImage(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds, _ caller: ImageCaller,
        isMissing: Bool = false
    ) async throws -> ImageResult {
        if let found = try await judgedImage(resource, in: cache, options, needs, caller) { return found }
        var outgoing = OutgoingRequest(url: resource.url, options: options)
        // What has been stored here since is in memory.
        let isMissing = isMissing && cache.memory.peek(CacheKey(resource.cacheKey)) == nil
        var lookup = isMissing ? .missing : try await cached(resource, in: cache, options, as: outgoing)
        if case .foreign = lookup, options.asksToModify {
            // Somebody else's, unless the delegate makes it this one's.
            outgoing = try await modified(resource.url, options)
            lookup = try await cached(resource, in: cache, options, as: outgoing)
        }
        if case .found(let found) = lookup { return found }
        if let found = try await originalImage(resource, for: cache, options, needs) {
            count(found.cacheType)
            return found
        }
        try Task.checkCancellation()
        if options.onlyFromCache { throw ImageError.notCached(key: resource.cacheKey) }
        count(.none)
        return try await load(resource, in: cache, options, needs, caller, outgoing: outgoing)
    }

    /// The options with the settings of the cache and the downloader where they say nothing.
    func completed(_ options: ImageOptions, for cache: ImageCache) -> ImageOptions {
        var options = cache.completed(options)
        options.timeout = options.timeout ?? downloader.timeout
        return options
    }

    /// The result with the bytes of its image, read now if need be.
    public func loadingBytes(of result: ImageResult, in cache: ImageCache, options: ImageOptions) async throws
        -> ImageResult
    {
        if result.bytes != nil { return result }
        return try await pool.runIfWanted {
            var loaded = result
            if let content = result.content {
                loaded.bytes = try ImageCache.bytes(of: content)
                return loaded
            }
            // The record handed out may have no path although there is a file (`cacheMemoryOnly`).
            let record = result.entry?.record ?? result.record
            let (bytes, kept) = try cache.loadBytes(of: record, options: options)
            (loaded.bytes, loaded.entry, loaded.admission) = (bytes, kept.entry, kept.admission)
            return loaded
        }
    }

    /// What a look into the cache came to.
    private enum Lookup: Sendable {
        case found(ImageResult)
        case missing
        /// It was fetched with credentials that the request does not have.
        case foreign
    }

    /// Looks in the cache, and writes the file that the answer needs.
    ///
    /// - Parameter outgoing: The request as it would be sent.
    private func cached(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, as outgoing: OutgoingRequest
    ) async throws -> Lookup {
        guard !options.forceRefresh else { return .missing }
        let key = CacheKey(resource.cacheKey)
        // Most of what comes here is to be loaded, and that can be told at once.
        if try cache.cacheType(for: key, burst: 0, mayWait: false) == CacheType.none { return .missing }
        return try await pool.runIfWanted { [self] in
            guard var hit = try cache.hit(for: key, options: options, burst: 0, mayWait: true) else { return .missing }
            if hit.record.path == nil, !options.cacheMemoryOnly, !options.fromMemoryCacheOrRefresh,
                let newer = try cache.hit(for: key, storedAfter: hit.record, options: options)
            {
                hit = newer
            }
            guard mayAnswer(hit.record, to: outgoing.url, outgoing.options) else { return .foreign }
            guard Self.allows(hit, options, mayWait: true) else { return .missing }
            count(hit.cacheType)
            return .found(try answer(hit, in: cache, options))
        }
    }

    /// The answer with what was found; writes the file that it needs.
    func answer(_ hit: ImageCache.Hit, in cache: ImageCache, _ options: ImageOptions) throws -> ImageResult {
        var result = result(hit, in: cache, options)
        if hit.record.path == nil, !options.cacheMemoryOnly, let bytes = hit.bytes {
            let record = hit.record
            let kept = try cache.store(
                .bytes(bytes), for: record.key, header: record.header, origin: record.origin, options: options,
                keepsBytes: true, lease: options.lease ?? ImageCache.lease)
            (result.record, result.entry, result.admission) = (kept.entry.record, kept.entry, kept.admission)
        } else if options.queryDataWhenInMemory {
            // A reader to come finds them in memory; that they cannot be read now is its business.
            result.admission = (try? cache.loadBytes(of: hit.record, options: options))?.kept.admission
        }
        return result
    }

    /// Tries the sources in order, each as often as the options say.
    ///
    /// - Parameters:
    ///   - standing: What is stored already; the first source is asked if it has changed.
    ///   - outgoing: The first request to the first source, if its delegate has been asked about it already.
    func load(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds,
        _ caller: ImageCaller, _ standing: Standing? = nil, outgoing: OutgoingRequest? = nil
    ) async throws -> ImageResult {
        let started = configuration.clock.monotonic()
        // Of each further attempt the delegate is asked anew.
        let first = Once(outgoing.flatMap { options.asksToModify && !$0.options.asksToModify ? $0 : nil })
        let deadline = Deadline(seconds: options.deadline, arrived: caller.arrived ?? started)
        return try await deadline.hold(resource.url, now: started) { [self] in
            try await loadAny(of: [resource.url] + options.alternativeSources, options) { [self] url, meter in
                let standing = ExactText(url) == ExactText(resource.url) ? standing : standing?.unasked
                let options = options.scoped(from: resource.url, to: url)
                do {
                    return try await load(
                        try source(of: url), resource, in: cache, options, needs, started: started,
                        meter.counting(caller), standing,
                        outgoing: ExactText(url) == ExactText(resource.url) ? first.take() : nil)
                } catch let error as ImageError {
                    // What is tried again soon is not settled yet.
                    let isTriedAgain = options.retry.maxRetries > 0 && error.first.isRetryable
                    if !isTriedAgain { remember(error.first, url, key: resource.cacheKey, in: cache, options) }
                    throw error
                }
            }
        }
    }

    private func load(
        _ source: ImageSource, _ resource: Resource, in cache: ImageCache, _ options: ImageOptions,
        _ needs: ImageNeeds, started: Int, _ caller: ImageCaller, _ standing: Standing?, outgoing: OutgoingRequest?
    ) async throws -> ImageResult {
        let key = CacheKey(resource.cacheKey)
        switch source {
        case .network(let asked):
            if isOffline(options) { throw ImageError.offline(key: key.key) }
            let outgoing = if let outgoing { outgoing } else { try await modified(asked, options) }
            let options = outgoing.options
            let request = try DownloadRequest(url: outgoing.url, options: options, validators: standing?.validators)
            try admit(request, key, in: cache, options)
            let flying = Flying(
                resource: resource, key: key, cache: cache, request: request, outgoing: outgoing, needs: needs,
                standing: standing, started: started)
            return try await wishes.value(
                for: flying.wish, priority: caller.priority, lingers: options.onLastCancel == .finish,
                report: caller.report, joined: caller.joined
            ) { [self] effort, landing in
                begin(flying, effort, landing)
            }
        case .data(let bytes):
            guard bytes.count <= options.maxBytes else { throw Self.tooLarge(resource.url, options) }
            return try await keep(
                Storing(
                    content: .bytes(bytes), key: key, cache: cache, source: resource.url, origin: ImageOrigin(),
                    options: options, needs: needs))
        case .file(let path):
            return try await pool.run { [clock = configuration.clock] in
                try LocalFile(path: path, options: options).image(key, in: cache, needs: needs, now: clock.wall())
            }
        }
    }

    /// Where a URL leads, if that scheme may be loaded from (D-13).
    func source(of url: String) throws(ImageError) -> ImageSource {
        let source = try ImageSource(url: url)
        if let reason = configuration.downloader.policy.refusal(scheme: ImageSource.scheme(of: url)) {
            throw .invalidURL(url, reason: reason)
        }
        return source
    }

    static func tooLarge(_ source: String, _ options: ImageOptions) -> ImageError {
        .limitExceeded(
            limit: "maxBytes", reason: "it is over the limit of \(options.maxBytes) bytes", source: source)
    }

    /// Validates what was loaded and stores it, so that the answer may go out.
    ///
    /// - Parameter flight: Is given back when the image is stored.
    func keep(_ store: Storing, _ flight: Flight? = nil) async throws -> ImageResult {
        if store.isToBeForgotten {
            if store.options.verifyDecode == true { _ = try await verified(store) }
            return try await pool.run { try store.forgetting() }
        }
        var store = store.options.verifyDecode == true ? try await verified(store) : store
        store.maySurpass = store.needs.contains(.file)
        return try await keep(asked: store, flight)
    }

    private func keep(asked store: Storing, _ flight: Flight?) async throws -> ImageResult {
        if !store.options.waitForCache, !store.needs.contains(.file) {
            // Nobody waits for the file: the answer goes out first.
            let result = try await pool.run { try store.withoutFile() }
            Task {
                defer { withExtendedLifetime(flight) {} }
                _ = try await pool.run { try store.run() }
            }
            return result
        }
        return try await withCheckedThrowingContinuation { continuation in
            pool.submit {
                Self.keep(store) { continuation.resume(with: $0) }
            }
        }
    }

    /// Stores an image that has been loaded; waits for the disk, but not for the index.
    ///
    /// - Parameter then: Is told the answer, once, on this thread or on another one; it must not wait, for other stores
    ///   do.
    static func keep(_ store: Storing, then: @escaping @Sendable (Result<ImageResult, ImageError>) -> Void) {
        store.run { result in
            then(Result { () throws(ImageError) in try answer(to: store, result) })
        }
    }

    private static func answer(
        to store: Storing, _ result: Result<ImageResult, ImageError>
    ) throws(ImageError) -> ImageResult {
        do {
            let result = try result.get()
            return store.needs.contains(.bytes) ? result : try checked(result)
        } catch {
            switch error {
            // An image larger than the disk tier is answered and not cached.
            case .limitExceeded("bytesLimit", _, _) where !store.needs.contains(.file): break
            // The disk is no reason to keep from the caller what has been loaded.
            case .storageFailed where store.needs.contains(.bytes): break
            default: throw error
            }
            return try store.withoutFile()
        }
    }

    /// The result, unless neither tier nor the caller has the image.
    static func checked(_ result: ImageResult) throws(ImageError) -> ImageResult {
        guard result.record.path == nil, let admission = result.admission, admission != .occupied,
            let setting = admission.setting,
            let reason = admission.reason
        else { return result }
        throw .limitExceeded(
            limit: setting, reason: "it was to be kept in memory only: \(reason)", source: result.record.key.key)
    }

    /// The image that stands in for one that could not be had.
    ///
    /// - Throws: The original error if the stand-in cannot be had either.
    private func placeholder(
        _ standIn: String, for resource: Resource, in cache: ImageCache, _ options: ImageOptions,
        _ needs: ImageNeeds, _ caller: ImageCaller, after error: ImageError
    ) async throws -> ImageResult {
        let isURL = standIn.contains("://") || standIn.hasPrefix("data:") || standIn.hasPrefix("file:")
        let url = isURL ? standIn : FileURL.text(absolutePath(standIn))
        var options = options.scoped(from: resource.url, to: url)
        options.onFailureImage = nil
        options.onlyFromCache = false
        options.alternativeSources = []
        options.integrity = nil
        options.dataModifier = nil
        (options.method, options.body) = (.get, nil)
        options.recipe = ImageRecipe()
        do {
            var result = try await image(cache.resource(url), in: cache, options: options, needs: needs, caller: caller)
            result.isPlaceholder = true
            return result
        } catch is ImageError {
            throw error
        }
    }

    // MARK: Waiting for the disk, measuring

    /// Begins `work` where it may wait for the disk.
    public func perform(_ work: @escaping @Sendable () -> Void) { pool.submit(work) }

    /// Runs `work` where it may wait for the disk.
    public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await pool.run(work)
    }

    /// Runs long work on a cache where it keeps nobody waiting.
    public func surveying<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await surveyPool.run(work)
    }

    /// What the engine has done so far.
    public var statistics: EngineStatistics {
        let counts = downloader.counts
        let load = downloader.load
        let caches = caches.withLock { Array($0.opened.values) }
        return EngineStatistics(
            memoryHits: memoryHits.load(ordering: .relaxed), diskHits: diskHits.load(ordering: .relaxed),
            misses: misses.load(ordering: .relaxed),
            merged: wishes.mergedCount + variants.mergedCount + renders.mergedCount + counts.merged,
            downloads: counts.finished, sharedDownloads: sharedDownloads.load(ordering: .relaxed),
            failedDownloads: counts.failed, downloadedBytes: counts.bytes,
            runningDownloads: load.running, stalledDownloads: load.stalled,
            waitingDownloads: load.waiting + waitingFlights.load(ordering: .relaxed),
            evictions: caches.reduce(0) { $0 + $1.disk.evictionCount },
            damagedFiles: caches.reduce(0) { $0 + $1.disk.damageCount },
            rememberedFailures: caches.reduce(0) { count, cache in
                count + cache.failures.withLock { $0.count(now: configuration.clock.monotonic()) }
            })
    }
}
