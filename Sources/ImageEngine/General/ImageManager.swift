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
        /// The memory tier of every cache.
        public var memory = MemoryStorage<CacheKey, ImageCache.MemoryEntry>.Configuration()
        /// The most each disk tier may take, in bytes; 0 for no limit.
        public var diskBytesLimit = 2 << 30
        /// Whether a store waits until the bytes have reached the disk.
        public var syncsToDisk = false
        /// The downloader.
        public var downloader = ImageDownloader.Configuration()
        /// The clocks.
        public var clock = EngineClock.system

        /// The default settings under a folder.
        public init(cacheRoot: String) { self.cacheRoot = cacheRoot }
    }

    /// What makes two callers want the same image at the same time.
    private struct Wish: Hashable, Sendable {
        let cache: String
        let key: CacheKey
        let request: DownloadRequest
        let options: ImageOptions
        let keepsBytes: Bool
    }

    /// The settings.
    public let configuration: Configuration
    /// The downloader of all caches.
    public let downloader: ImageDownloader
    private let caches = Mutex<[String: ImageCache]>([:])
    private let wishes = Coalescer<Wish, ImageResult>()
    private let pool = BlockingPool(threads: 4)
    private let memoryHits = Atomic(0)
    private let diskHits = Atomic(0)
    private let misses = Atomic(0)

    /// An engine; nothing is read, made or started until it is asked for something.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        let root = configuration.cacheRoot
        let spool = StorageFolder(path: root + "/" + Self.defaultCacheName)
        downloader = ImageDownloader(configuration.downloader) { try spool.partialPath() }
    }

    /// The cache that is used when none is named.
    public static let defaultCacheName = "default"

    // MARK: Caches

    /// The cache called `name`, opened if need be.
    ///
    /// - Returns: nil if that is no name for a cache: 1…64 letters, digits, `-`, `_` and `.`, not beginning with a dot.
    public func cache(_ name: String) -> ImageCache? {
        caches.withLock { caches in
            if let cache = caches[name] { return cache }
            guard Self.isCacheName(name) else { return nil }
            var settings = ImageCache.Configuration(folder: configuration.cacheRoot + "/" + name)
            settings.memory = configuration.memory
            settings.disk.bytesLimit = configuration.diskBytesLimit
            settings.disk.syncsToDisk = configuration.syncsToDisk
            let cache = ImageCache(name: name, configuration: settings, clock: configuration.clock)
            caches[name] = cache
            return cache
        }
    }

    private static func isCacheName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && !name.hasPrefix(".")
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// Writes down what is only remembered; called before the process ends. Takes milliseconds.
    public func flush() {
        for cache in caches.withLock({ Array($0.values) }) { cache.disk.flushTouches() }
    }

    // MARK: Answering at once

    /// The image, if a cache has it and the options allow that answer. Takes no more than an index lookup.
    public func cachedImage(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, burst: UInt64
    ) throws(ImageError) -> ImageResult? {
        if options.forceRefresh { return nil }
        guard let hit = try cache.hit(for: CacheKey(resource.cacheKey), options: options, burst: burst) else {
            return nil
        }
        // Only in memory, but wanted as a file from now on: that takes writing.
        if hit.record.path == nil, !options.cacheMemoryOnly { return nil }
        count(hit.cacheType)
        return ImageResult(record: hit.record, cache: cache.name, cacheType: hit.cacheType, bytes: hit.bytes)
    }

    private func count(_ type: CacheType) {
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
    ///   - needsBytes: Whether the result must hold the bytes.
    ///   - report: Hears of the download's progress, from any thread.
    /// - Throws: ``ImageError``, or `CancellationError` when the task is cancelled.
    public func image(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, needsBytes: Bool,
        report: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> ImageResult {
        if let found = try await cached(resource, in: cache, options, needsBytes) { return found }
        try Task.checkCancellation()
        if options.onlyFromCache { throw ImageError.notCached(key: resource.cacheKey) }
        count(.none)
        do {
            return try await load(resource, in: cache, options, needsBytes, report)
        } catch let error as ImageError {
            guard let standIn = options.onFailureImage else { throw error }
            return try await placeholder(standIn, in: cache, options, needsBytes, after: error)
        }
    }

    /// Looks in the cache, and reads or writes what the answer needs.
    private func cached(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ needsBytes: Bool
    ) async throws -> ImageResult? {
        guard !options.forceRefresh else { return nil }
        return try await pool.run { [self] in
            guard let hit = try cache.hit(for: CacheKey(resource.cacheKey), options: options, burst: 0) else {
                return nil
            }
            do {
                let bytes =
                    needsBytes || options.queryDataWhenInMemory ? try cache.bytes(of: hit, options: options) : hit.bytes
                var record = hit.record
                if record.path == nil, !options.cacheMemoryOnly, let bytes = hit.bytes {
                    record = try cache.store(
                        .bytes(bytes), for: record.key, header: record.header,
                        origin: ImageOrigin(url: record.url, etag: record.etag, lastModified: record.lastModified),
                        options: options, keepsBytes: true)
                }
                count(hit.cacheType)
                return ImageResult(
                    record: record, cache: cache.name, cacheType: hit.cacheType, bytes: needsBytes ? bytes : nil)
            } catch ImageError.notCached {
                return nil
            }
        }
    }

    /// Tries the sources in order, each as often as the options say.
    private func load(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ needsBytes: Bool,
        _ report: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> ImageResult {
        var failure: ImageError?
        for url in [resource.url] + options.alternativeSources {
            var attempt = 0
            while true {
                do {
                    let source = try ImageSource(url: url)
                    return try await load(source, resource, in: cache, options, needsBytes, report)
                } catch let error as ImageError {
                    // The first source's failure is the one to tell: the others only stood by.
                    failure = failure ?? error
                    attempt += 1
                    guard let delay = options.retry.delay(before: attempt, after: error) else { break }
                    try await Task.sleep(for: .seconds(delay))
                }
            }
        }
        throw failure ?? .invalidURL(resource.url, reason: "There is no source.")
    }

    private func load(
        _ source: ImageSource, _ resource: Resource, in cache: ImageCache, _ options: ImageOptions,
        _ needsBytes: Bool, _ report: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> ImageResult {
        let key = CacheKey(resource.cacheKey)
        switch source {
        case .network(let url):
            let request = try DownloadRequest(url: url, options: options)
            var merged = options
            merged.downloadPriority = 0
            merged.retry = .never
            merged.alternativeSources = []
            merged.onFailureImage = nil
            let wish = Wish(cache: cache.name, key: key, request: request, options: merged, keepsBytes: needsBytes)
            let priority = options.downloadPriority
            return try await wishes.value(for: wish, report: report) { [self] report in
                let download = try await downloader.download(request, priority: priority, report: report)
                return try await keep(download, request.url, key, in: cache, wish.options, needsBytes)
            }
        case .data(let bytes):
            return try await pool.run {
                try Self.store(.bytes(bytes), key, in: cache, source: resource.url, ImageOrigin(), options, needsBytes)
            }
        case .file(let path):
            return try await pool.run { [clock = configuration.clock] in
                try Self.localImage(path, key, in: cache, options, needsBytes, now: clock.wall())
            }
        }
    }

    /// Validates a finished download and stores it; what is no image is never cached.
    private func keep(
        _ download: Download, _ url: String, _ key: CacheKey, in cache: ImageCache, _ options: ImageOptions,
        _ needsBytes: Bool
    ) async throws -> ImageResult {
        let origin = ImageOrigin(
            url: download.response.url, etag: download.response.etag, lastModified: download.response.lastModified)
        return try await pool.run {
            do {
                return try Self.store(
                    .body(download.body), key, in: cache, source: url, origin, options, needsBytes,
                    contentType: download.response.contentType)
            } catch ImageError.storageFailed(let reason, let hint) where needsBytes {
                // The disk is no reason to keep from the caller what has been downloaded.
                _ = (reason, hint)
                var memoryOnly = options
                memoryOnly.cacheMemoryOnly = true
                return try Self.store(.body(download.body), key, in: cache, source: url, origin, memoryOnly, needsBytes)
            }
        }
    }

    /// Reads the header, stores the content, and makes the result.
    private static func store(
        _ content: DiskStorage.Content, _ key: CacheKey, in cache: ImageCache, source: String, _ origin: ImageOrigin,
        _ options: ImageOptions, _ needsBytes: Bool, contentType: String? = nil
    ) throws(ImageError) -> ImageResult {
        let header = try header(of: content, source: source, contentType: contentType)
        let record = try cache.store(
            content, for: key, header: header, origin: origin, options: options,
            keepsBytes: needsBytes || options.queryDataWhenInMemory)
        let bytes = needsBytes ? try ImageCache.bytes(of: content) : nil
        return ImageResult(record: record, cache: cache.name, cacheType: .none, bytes: bytes)
    }

    private static func header(
        of content: DiskStorage.Content, source: String, contentType: String?
    ) throws(ImageError) -> ImageHeader {
        do {
            switch content {
            case .bytes(let bytes):
                return try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
            case .body(let body): return try body.header()
            }
        } catch let failure as ImageHeader.Failure {
            throw .badData(reason: sentence(failure, contentType), source: source)
        } catch {
            throw StorageFailure.error(error, folder: "the cache folder")
        }
    }

    private static func sentence(_ failure: ImageHeader.Failure, _ contentType: String?) -> String {
        switch failure {
        case .unrecognised:
            "The bytes have no signature of a known format"
                + (contentType.map { "; the server called them \($0)." } ?? ".")
        case .cutOff(let format): "The \(format.rawValue.uppercased()) data is cut off."
        case .malformed(let format): "The \(format.rawValue.uppercased()) data is malformed."
        }
    }

    // MARK: Files and stand-ins

    /// An image in a file of the user's: read where it lies, never copied, known to memory as long as it is unchanged.
    private static func localImage(
        _ path: String, _ key: CacheKey, in cache: ImageCache, _ options: ImageOptions, _ needsBytes: Bool, now: Int
    ) throws(ImageError) -> ImageResult {
        let url = "file://" + path
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .invalidURL(url, reason: "The file cannot be read: \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        guard let stamp = FileStamp(descriptor: descriptor) else {
            throw .invalidURL(url, reason: "It is no regular file.")
        }
        guard stamp.size <= options.maxBytes else {
            throw .limitExceeded(
                limit: "maxBytes", reason: "the file is over the limit of \(options.maxBytes) bytes", source: url)
        }
        let header: ImageHeader
        do {
            header = try ImageHeader(descriptor: descriptor, count: stamp.size)
        } catch {
            throw .badData(reason: sentence(error, nil), source: url)
        }
        let record = ImageRecord(
            key: key, header: header, byteCount: stamp.size, path: path, isLocalFile: true,
            origin: ImageOrigin(url: url), storedAt: now, lifetime: nil, expiresAt: nil,
            stamp: FileStamp(path: path), checksum: nil)
        // A link is followed for reading, but then nothing tells when the file behind it changes: it is not kept.
        if record.stamp != nil { cache.keep(record, bytes: nil, expiration: options.memoryCacheExpiration) }
        var bytes: [UInt8]?
        if needsBytes {
            do { bytes = try StorageFolder.read(path, followsLinks: true) } catch {
                throw .invalidURL(url, reason: "The file cannot be read.")
            }
        }
        return ImageResult(record: record, cache: cache.name, cacheType: .none, bytes: bytes)
    }

    /// The image that stands in for one that could not be had.
    ///
    /// - Throws: The original error if the stand-in cannot be had either.
    private func placeholder(
        _ standIn: String, in cache: ImageCache, _ options: ImageOptions, _ needsBytes: Bool, after error: ImageError
    ) async throws -> ImageResult {
        var options = options
        options.onFailureImage = nil
        options.alternativeSources = []
        let isURL = standIn.contains("://") || standIn.hasPrefix("data:") || standIn.hasPrefix("file:")
        let url = isURL ? standIn : "file://" + absolutePath(standIn)
        do {
            var result = try await image(Resource(url: url), in: cache, options: options, needsBytes: needsBytes)
            result.isPlaceholder = true
            return result
        } catch is ImageError {
            throw error
        }
    }

    // MARK: Storing, removing, measuring

    /// Stores bytes under a key.
    public func store(
        _ bytes: [UInt8], for key: CacheKey, in cache: ImageCache, options: ImageOptions
    ) async throws -> ImageResult {
        try await pool.run {
            // The bytes are in hand: memory holds them too, as Kingfisher's does.
            let result = try Self.store(.bytes(bytes), key, in: cache, source: key.key, ImageOrigin(), options, true)
            let type: CacheType = result.record.path == nil ? .memory : .disk
            return ImageResult(record: result.record, cache: cache.name, cacheType: type, bytes: nil)
        }
    }

    /// Stores the content of a file under a key.
    public func store(
        contentsOf path: String, for key: CacheKey, in cache: ImageCache, options: ImageOptions
    ) async throws -> ImageResult {
        let bytes = try await pool.run {
            do { return try StorageFolder.read(absolutePath(path), followsLinks: true) } catch let failure
                as StorageFailure
            {
                let reason = "The file cannot be read: \(String(cString: strerror(failure.code)))."
                throw ImageError.invalidURL(path, reason: reason)
            }
        }
        return try await store(bytes, for: key, in: cache, options: options)
    }

    /// Runs `work` where it may wait for the disk.
    public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await pool.run(work)
    }

    /// What the engine has done so far.
    public var statistics: EngineStatistics {
        let counts = downloader.counts
        let load = downloader.load
        let caches = caches.withLock { Array($0.values) }
        return EngineStatistics(
            memoryHits: memoryHits.load(ordering: .relaxed), diskHits: diskHits.load(ordering: .relaxed),
            misses: misses.load(ordering: .relaxed), merged: wishes.mergedCount + counts.merged,
            downloads: counts.finished, failedDownloads: counts.failed, downloadedBytes: counts.bytes,
            runningDownloads: load.running, waitingDownloads: load.waiting,
            evictions: caches.reduce(0) { $0 + $1.disk.evictionCount })
    }
}

/// Counters since the start of the process.
public struct EngineStatistics: Sendable, Equatable {
    /// Images answered from memory.
    public let memoryHits: Int
    /// Images answered from disk.
    public let diskHits: Int
    /// Images that no cache had.
    public let misses: Int
    /// Callers that joined work under way.
    public let merged: Int
    /// Downloads that ended well.
    public let downloads: Int
    /// Downloads that failed or were cancelled.
    public let failedDownloads: Int
    /// Bytes of bodies received.
    public let downloadedBytes: Int
    /// Downloads under way.
    public let runningDownloads: Int
    /// Downloads waiting for their turn.
    public let waitingDownloads: Int
    /// Images evicted from disk for their size.
    public let evictions: Int
}
