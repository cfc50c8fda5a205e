internal import CLinux
public import Platform
internal import Synchronization

/// The engine's front door: joins caches and downloader.
///
/// ``cachedImage(_:in:options:burst:)`` answers what is cached, at once and on any thread;
/// ``retrieve(_:isMissing:end:)`` answers everything, and may take its time.
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

    /// The settings that it was made with; see ``settings(of:)`` for those in force.
    public let configuration: Configuration
    /// The downloader of all caches.
    public let downloader: ImageDownloader
    let caches: Mutex<CacheTable>
    private let cleaning = CleaningHook()
    let changes = ChangeHook()
    /// Credentials that downloads were given besides those of their requests.
    let knownLogins = Logins()
    private let activity = ActivityHook()
    private let cleaner = Mutex<ImageCleaner?>(nil)
    /// The work that requests share.
    let jobs = JobTable<JobKey, JobValue>()
    /// The failures that are remembered, by the name of their cache.
    let failures = Mutex<[String: NegativeCache]>([:])
    /// The workers that make pictures of others.
    public let codec: CodecPool
    let pool = BlockingPool(threads: ImageManager.diskThreads)
    /// How many threads may wait for the disk at once, besides those of surveys.
    static let diskThreads = 8
    /// What has been read of users' files and waits to be stored together with others.
    let readAhead = Allowance(bytes: 4 << 20)
    /// Stores that are answered before they are done.
    let unawaited = Backlog()
    let notStored = NotStoredCounts()
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
    let waitingClaims = Atomic(0)

    /// An engine; nothing is read, made or started until it is asked for something.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        caches = Mutex(CacheTable(configuration))
        let root = configuration.cacheRoot
        let settings = configuration.caches[Self.defaultCacheName] ?? configuration.defaults
        let spool = StorageFolder(
            path: settings.disk.folder.isEmpty ? root + "/" + Self.defaultCacheName : settings.disk.folder)
        self.spool = spool
        spool.resumeLimit.store(ResumeFolder.bytesLimit(beside: settings.disk.bytesLimit), ordering: .relaxed)
        codec = CodecPool(configuration.codec, now: configuration.clock.monotonic)
        downloader = ImageDownloader(
            configuration.downloader,
            accept: AcceptHeader.text(decoding: codec.isAvailable ? CodecFormats().decoded : nil),
            now: configuration.clock.monotonic,
            activity: { [activity] in activity.report($0) },
            spool: SpoolPlace(
                makePath: { try spool.partialPath() }, resume: ResumeFolder(spool), observer: ScanMap()))
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
                onClean: { [cleaning] report in cleaning.report(report) },
                onRemove: { [weak self] key in self?.failures.withLock { $0[name]?.forget(key) } })
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

    /// Writes down what is only remembered, and waits for stores that nobody waited for; called before the process ends.
    /// Takes milliseconds.
    public func flush() {
        isClosing.store(true, ordering: .relaxed)
        unawaited.wait()
        for cache in caches.withLock({ Array($0.opened.values) }) { cache.disk.close() }
        spool.session.end()
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

    /// Takes note of an answer.
    func count(_ type: CacheType) {
        switch type {
        case .memory: memoryHits.add(1, ordering: .relaxed)
        case .disk: diskHits.add(1, ordering: .relaxed)
        case .none: misses.add(1, ordering: .relaxed)
        }
    }

    /// What the engine has done so far.
    public var statistics: EngineStatistics {
        let counts = downloader.counts
        let load = downloader.load
        let caches = caches.withLock { Array($0.opened.values) }
        return EngineStatistics(
            memoryHits: memoryHits.load(ordering: .relaxed), diskHits: diskHits.load(ordering: .relaxed),
            misses: misses.load(ordering: .relaxed),
            merged: jobs.mergedCount + counts.merged,
            downloads: counts.finished, sharedDownloads: sharedDownloads.load(ordering: .relaxed),
            failedDownloads: counts.failed, downloadedBytes: counts.bytes,
            runningDownloads: load.running, stalledDownloads: load.stalled,
            waitingDownloads: load.waiting + waitingClaims.load(ordering: .relaxed),
            evictions: caches.reduce(0) { $0 + $1.disk.evictionCount },
            damagedFiles: caches.reduce(0) { $0 + $1.disk.damageCount },
            rememberedFailures: failures.withLock { failures in
                failures.values.reduce(0) { $0 + $1.count(now: configuration.clock.monotonic()) }
            }, notStored: notStored.all)
    }
}
