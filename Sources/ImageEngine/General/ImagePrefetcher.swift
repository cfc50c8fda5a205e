internal import Platform
internal import Synchronization

/// Loads images before somebody wants them: the least urgent of all downloads, until somebody joins one (A-145, B-006).
///
/// Runs once: a stopped prefetcher does not start again.
public final class ImagePrefetcher: Sendable {
    /// One image that could not be had.
    public struct Failure: Sendable {
        /// Its URL.
        public let url: String
        /// Why: an ``ImageError``, or `CancellationError` for what was stopped.
        public let error: any Error
    }

    /// What came of all URLs: each is in one of the lists, once.
    public struct Report: Sendable {
        /// Loaded now.
        public var completed: [String] = []
        /// Cached already.
        public var skipped: [String] = []
        /// Not to be had, or stopped.
        public var failed: [Failure] = []

        /// How many URLs are settled.
        public var count: Int { completed.count + skipped.count + failed.count }
    }

    /// How far it is.
    public struct Progress: Sendable, Equatable {
        /// Loaded now.
        public let completed: Int
        /// Cached already.
        public let skipped: Int
        /// Not to be had, or stopped.
        public let failed: Int
        /// All URLs, each counted once.
        public let total: Int

        /// So many of so many.
        public init(completed: Int, skipped: Int, failed: Int, total: Int) {
            self.completed = completed
            self.skipped = skipped
            self.failed = failed
            self.total = total
        }
    }

    private enum Outcome: Sendable {
        case completed(String)
        case skipped(String)
        case failed(String, any Error)
        /// Somebody stopped it, or there is nothing left to stop.
        case stopped
    }

    /// How many are loaded at once when nobody says otherwise, as in Kingfisher.
    public static let defaultConcurrency = 5

    private let manager: ImageManager
    private let cache: ImageCache
    private let urls: [String]
    private let options: ImageOptions
    private let concurrency: Int
    private let stopping = AsyncStream.makeStream(of: Void.self)
    private let isStopped = Atomic(false)

    /// - Parameters:
    ///   - urls: What to load; each is loaded once, however often it is named.
    ///   - concurrency: How many are loaded at once.
    public init(
        _ urls: [String], manager: ImageManager, cache: ImageCache, options: ImageOptions,
        concurrency: Int = defaultConcurrency
    ) {
        self.manager = manager
        self.cache = cache
        var seen: Set<ExactText> = []
        self.urls = urls.filter { seen.insert(ExactText($0)).inserted }
        var options = options
        // Who prefetches hands no path out.
        options.lease = 0
        options.slot = nil
        options.onFailureImage = nil
        if options.alsoPrefetchToMemory { options.queryDataWhenInMemory = true }
        self.options = options
        self.concurrency = max(concurrency, 1)
    }

    /// Ends it: what is under way is cancelled, and with what waits it counts as failed.
    public func stop() {
        isStopped.store(true, ordering: .relaxed)
        stopping.continuation.finish()
    }

    /// Loads everything.
    ///
    /// - Parameter report: Hears how far it is, after each image.
    /// - Throws: `CancellationError` when the task is cancelled; not when it was stopped.
    public func run(report: @escaping @Sendable (Progress) -> Void = { _ in }) async throws -> Report {
        let settled = await withTaskGroup(of: Outcome.self) { group in
            var result = Report()
            var rest = urls[...]
            if !urls.isEmpty {
                group.addTask { [stopping] in
                    for await _ in stopping.stream {}
                    return .stopped
                }
            }
            func begin() {
                guard let url = rest.popFirst() else { return }
                group.addTask { [self] in await load(url) }
            }
            for _ in 0..<min(concurrency, urls.count) { begin() }
            while result.count < urls.count, let outcome = await group.next() {
                switch outcome {
                case .completed(let url): result.completed.append(url)
                case .skipped(let url): result.skipped.append(url)
                case .failed(let url, let error): result.failed.append(Failure(url: url, error: error))
                case .stopped:
                    // What waits has failed; what is under way says so itself.
                    for url in rest { result.failed.append(Failure(url: url, error: CancellationError())) }
                    rest = []
                    group.cancelAll()
                }
                report(
                    Progress(
                        completed: result.completed.count, skipped: result.skipped.count, failed: result.failed.count,
                        total: urls.count))
                begin()
            }
            group.cancelAll()
            return result
        }
        if !isStopped.load(ordering: .relaxed) { try Task.checkCancellation() }
        return settled
    }

    private func load(_ url: String) async -> Outcome {
        do {
            try Task.checkCancellation()
            let resource = Resource(url: url)
            // What may have to be checked with its server is not settled by being there.
            let mayBeChecked = cache.revalidation(options) != .never && resource.isOnNetwork
            if !options.forceRefresh, !mayBeChecked, try await isCached(resource) { return .skipped(url) }
            let image = try await manager.image(
                resource, in: cache, options: options, needs: options.cacheMemoryOnly ? [] : .file,
                caller: ImageCaller(priority: CallPriority(CallPriority.background)))
            let isLoaded = image.cacheType == .none || image.isRevalidated
            return isLoaded || !mayBeChecked ? .completed(url) : .skipped(url)
        } catch {
            // What is broken off may say anything.
            return .failed(url, isStopped.load(ordering: .relaxed) ? CancellationError() : error)
        }
    }

    /// Whether nothing is to be done for an image; one that is to be in memory too is brought there.
    private func isCached(_ resource: Resource) async throws -> Bool {
        try await manager.blocking { [manager, cache, options] in
            let key = CacheKey(resource.cacheKey)
            guard let record = try cache.knownRecord(for: key),
                manager.mayAnswer(record, to: resource.url, options)
            else { return false }
            guard options.alsoPrefetchToMemory, !cache.holdsBytes(key),
                let hit = try cache.hit(for: key, options: options, burst: 0, mayWait: true)
            else { return true }
            _ = try cache.loadBytes(of: hit.record, options: options)
            return true
        }
    }
}
