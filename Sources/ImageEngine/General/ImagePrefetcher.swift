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

    /// What is known of single images.
    private struct Single: Sendable {
        /// Those that are not settled.
        var open: Set<ExactText>
        var cancelled: Set<ExactText> = []
        var tasks: [ExactText: Task<ImageResult, any Error>] = [:]
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
    /// How urgent it is; may be changed while it runs.
    public let priority: CallPriority
    private let single: Mutex<Single>
    private let stopping = AsyncStream.makeStream(of: Void.self)
    private let isStopped = Atomic(false)

    /// - Parameters:
    ///   - urls: What to load; each is loaded once, however often it is named.
    ///   - concurrency: How many are loaded at once.
    ///   - priority: How urgent it is; the least urgent of all unless it is said.
    public init(
        _ urls: [String], manager: ImageManager, cache: ImageCache, options: ImageOptions,
        concurrency: Int = defaultConcurrency, priority: CallPriority = CallPriority(CallPriority.background)
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
        self.priority = priority
        single = Mutex(Single(open: seen))
    }

    /// Ends it: what is under way is cancelled, and with what waits it counts as failed.
    public func stop() {
        isStopped.store(true, ordering: .relaxed)
        stopping.continuation.finish()
    }

    /// Leaves one image out, if it is not settled yet: it counts as failed, and the others go on (B-123).
    ///
    /// - Returns: Whether there was such an image.
    public func cancel(_ url: String) -> Bool {
        let url = ExactText(url)
        let (wasOpen, task) = single.withLock { single -> (Bool, Task<ImageResult, any Error>?) in
            guard single.open.remove(url) != nil else { return (false, nil) }
            single.cancelled.insert(url)
            return (true, single.tasks[url])
        }
        task?.cancel()
        return wasOpen
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
            let resource = cache.resource(url)
            // What may have to be checked with its server, or decoded, is not settled by being there.
            let mayBeChecked =
                cache.revalidation(options) != .never && resource.isOnNetwork || cache.verifiesDecode(options)
            if !options.forceRefresh, !mayBeChecked, try await isCached(resource) {
                return settle(url) ? .skipped(url) : .failed(url, CancellationError())
            }
            let image = try await loadAlone(resource)
            guard settle(url) else { return .failed(url, CancellationError()) }
            let isLoaded = image.cacheType == .none || image.isRevalidated
            return isLoaded || !mayBeChecked ? .completed(url) : .skipped(url)
        } catch {
            // What is broken off may say anything.
            let isBrokenOff = !settle(url) || isStopped.load(ordering: .relaxed)
            return .failed(url, isBrokenOff ? CancellationError() : error)
        }
    }

    /// Loads one image, which can be cancelled by itself.
    private func loadAlone(_ resource: Resource) async throws -> ImageResult {
        let url = ExactText(resource.url)
        let task = Task { [manager, cache, options, priority] in
            try await manager.image(
                resource, in: cache, options: options, needs: options.cacheMemoryOnly ? [] : .file,
                caller: ImageCaller(priority: priority))
        }
        let isOpen = single.withLock { single in
            single.tasks[url] = task
            return single.open.contains(url)
        }
        if !isOpen { task.cancel() }
        defer { single.withLock { $0.tasks[url] = nil } }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Notes that an image is settled; returns false if it was cancelled by itself.
    private func settle(_ url: String) -> Bool {
        single.withLock { single in
            single.open.remove(ExactText(url))
            return !single.cancelled.contains(ExactText(url))
        }
    }

    /// Whether nothing is to be done for an image; one that is to be in memory too is brought there.
    private func isCached(_ resource: Resource) async throws -> Bool {
        try await manager.blocking { [manager, cache, options] in
            let key = options.recipe.cacheKey(resource.cacheKey)
            guard let record = try cache.knownRecord(for: key),
                manager.mayAnswer(record, to: resource.url, options),
                options.recipe.isEmpty || manager.isCurrent(record, of: resource, for: cache, options)
            else { return false }
            guard options.alsoPrefetchToMemory, !cache.holdsBytes(key),
                let hit = try cache.hit(for: key, options: options, burst: 0, mayWait: true)
            else { return true }
            _ = try cache.loadBytes(of: hit.record, options: options)
            return true
        }
    }
}
