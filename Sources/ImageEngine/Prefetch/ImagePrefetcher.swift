package import Platform
internal import Synchronization

/// Loads images in advance, with the lowest priority of all downloads until a request joins one.
///
/// Runs once: a stopped prefetcher does not start again.
public final class ImagePrefetcher: Sendable {
    /// One image that was not loaded.
    public struct Failure: Sendable {
        /// The URL.
        public let url: String
        /// An ``ImageError``, or a `CancellationError` for a stopped load.
        public let error: any Error
    }

    /// The outcome of all URLs; each is in exactly one of `completed`, `skipped` and `failed`.
    public struct Report: Sendable {
        /// The URLs that were loaded.
        public var completed: [String] = []
        /// The URLs that were cached already.
        public var skipped: [String] = []
        /// The URLs that failed or were stopped.
        public var failed: [Failure] = []
        /// The URLs in `completed` whose images no tier keeps.
        public var notStored: [(url: String, reason: NotStoredReason)] = []

        /// The number of finished URLs.
        public var count: Int { completed.count + skipped.count + failed.count }
    }

    /// The numbers of finished URLs so far.
    public struct Progress: Sendable, Equatable {
        /// The number of loaded URLs.
        public let completed: Int
        /// The number of URLs that were cached already.
        public let skipped: Int
        /// The number of URLs that failed or were stopped.
        public let failed: Int
        /// The number of loaded URLs whose images no tier keeps.
        public let notStored: Int
        /// The number of different URLs.
        public let total: Int

        /// Creates a progress value.
        public init(completed: Int, skipped: Int, failed: Int, notStored: Int = 0, total: Int) {
            (self.completed, self.skipped, self.failed) = (completed, skipped, failed)
            (self.notStored, self.total) = (notStored, total)
        }
    }

    private enum Outcome: Sendable {
        case completed(String, NotStoredReason?)
        case skipped(String)
        case failed(String, any Error)
    }

    /// The unfinished URLs, and the stop functions of the running loads.
    private struct Open: Sendable {
        var urls: Set<ExactText>
        var stops: [ExactText: Stop] = [:]
    }

    /// The default number of simultaneous loads, as in Kingfisher.
    public static let defaultConcurrency = 5

    private let manager: ImageManager
    private let cache: ImageCache
    private let urls: [String]
    private let options: ImageOptions
    private let concurrency: Int
    /// The priority, which may change while the prefetcher runs.
    public let priority: CallPriority
    private let open: Mutex<Open>
    /// The results of loads; `nil` wakes the loop after a stop.
    private let ends = AsyncStream.makeStream(of: (url: String, result: Result<ImageResult, any Error>)?.self)
    private let isStopped = Atomic(false)

    /// - Parameters:
    ///   - urls: The URLs to load; duplicates are ignored.
    ///   - concurrency: The largest number of simultaneous loads.
    ///   - priority: Default: the lowest of all.
    public init(
        _ urls: [String], manager: ImageManager, cache: ImageCache, options: ImageOptions,
        concurrency: Int = defaultConcurrency, priority: CallPriority = CallPriority(CallPriority.background)
    ) {
        (self.manager, self.cache, self.concurrency, self.priority) = (manager, cache, concurrency, priority)
        var seen: Set<ExactText> = []
        self.urls = urls.filter { seen.insert(ExactText($0)).inserted }
        var options = options
        // A prefetch returns no path that a lease could protect.
        options.storage.lease = 0
        options.caller.slot = nil
        options.network.onFailureImage = nil
        if options.caller.alsoPrefetchToMemory { options.storage.queryDataWhenInMemory = true }
        self.options = options
        open = Mutex(Open(urls: seen))
    }

    /// Stops the prefetcher: running loads are cancelled, and all unfinished URLs count as failed.
    public func stop() {
        isStopped.store(true, ordering: .relaxed)
        stopLoads()
    }

    /// Cancels one unfinished URL: it counts as failed, and the others continue. O(n) in the number of URLs.
    ///
    /// - Parameter url: In the form of ``Resource/comparable(_:)``.
    /// - Returns: `true` when the URL was unfinished.
    package func cancel(_ url: ExactText) -> Bool {
        let (wasOpen, stops) = open.withLock { open in
            let same = open.urls.filter { Resource.comparable($0.text) == url }
            open.urls.subtract(same)
            return (!same.isEmpty, same.compactMap { open.stops[$0] })
        }
        for stop in stops { stop() }
        return wasOpen
    }

    /// Loads all URLs.
    ///
    /// - Parameter report: Receives the progress after each image.
    /// - Throws: `CancellationError` when the task is cancelled, but not after ``stop()``.
    public func run(report: @escaping @Sendable (Progress) -> Void = { _ in }) async throws -> Report {
        var result = Report()
        var queue = PrefetchQueue(
            urls, concurrency: concurrency,
            // A cache look-up costs less than the switch to a thread that may wait, so look-ups go in batches.
            lookahead: options.caller.alsoPrefetchToMemory ? 1 : 32
        ) { [cache] in ExactText(cache.resource($0).cacheKey) }
        func add(_ outcome: Outcome) {
            switch outcome {
            case .completed(let url, let reason):
                result.completed.append(url)
                if let reason { result.notStored.append((url, reason)) }
            case .skipped(let url): result.skipped.append(url)
            case .failed(let url, let error): result.failed.append(Failure(url: url, error: error))
            }
            report(
                Progress(
                    completed: result.completed.count, skipped: result.skipped.count, failed: result.failed.count,
                    notStored: result.notStored.count,
                    total: urls.count))
        }
        try await withTaskCancellationHandler {
            var ends = ends.stream.makeAsyncIterator()
            while result.count < urls.count {
                if isStopped.load(ordering: .relaxed) {
                    for url in queue.removeAll() { add(.failed(url, CancellationError())) }
                    if result.count == urls.count { return }
                }
                switch queue.next() {
                case .look(let batch):
                    for (url, outcome) in await look(for: batch) {
                        if let outcome { add(outcome) } else { queue.add(missing: url) }
                    }
                case .load(let url): load(url)
                case .wait:
                    guard let end = await ends.next() else { throw CancellationError() }
                    guard let (url, result) = end else { continue }
                    queue.ended(url)
                    add(outcome(of: result, url))
                }
            }
        } onCancel: {
            stopLoads()
        }
        if !isStopped.load(ordering: .relaxed) { try Task.checkCancellation() }
        return result
    }

    // MARK: Loading

    private func load(_ url: String) {
        let request = ImageRequest(
            cache.resource(url), in: cache, options: options, needs: options.storage.cacheMemoryOnly ? [] : .file,
            caller: ImageCaller(priority: priority))
        let task = manager.retrieve(request, isMissing: true) { [continuation = ends.continuation] result in
            continuation.yield((url, result))
        }
        let isOpen = open.withLock { open in
            open.stops[ExactText(url)] = { task.cancel() }
            return open.urls.contains(ExactText(url))
        }
        if !isOpen || Task.isCancelled || isStopped.load(ordering: .relaxed) { task.cancel() }
    }

    /// Cancels the running loads, and wakes the loop that waits for a result.
    private func stopLoads() {
        for stop in open.withLock({ Array($0.stops.values) }) { stop() }
        ends.continuation.yield(nil)
    }

    private func outcome(of result: Result<ImageResult, any Error>, _ url: String) -> Outcome {
        switch result {
        case .success(let image):
            guard finish(url) else { return .failed(url, CancellationError()) }
            // The image may have been stored since the look-up.
            return image.cacheType.isNew || image.isRevalidated
                ? .completed(url, image.notStored) : .skipped(url)
        case .failure(let error):
            // A cancelled load may end with any error.
            if !finish(url) || isStopped.load(ordering: .relaxed) { return .failed(url, CancellationError()) }
            // The image is there: only its file, for which the request asks, is missing.
            if let reason = (error as? ImageError)?.notStoredReason { return .completed(url, reason) }
            return .failed(url, error)
        }
    }

    /// Marks a URL as finished.
    ///
    /// - Returns: `false` when it has been cancelled with ``cancel(_:)``.
    private func finish(_ url: String) -> Bool {
        open.withLock { open in
            open.stops[ExactText(url)] = nil
            return open.urls.remove(ExactText(url)) != nil
        }
    }

    // MARK: Looking

    /// The outcomes of URLs that need no load; `nil` for those that do.
    private func look(for urls: ArraySlice<String>) async -> [(url: String, outcome: Outcome?)] {
        let found: [Result<Bool, any Error>]
        do {
            found = try await manager.blocking { [self] in urls.map { url in Result { try isCached(url) } } }
        } catch {
            found = urls.map { _ in .failure(error) }
        }
        return zip(urls, found).map { url, isCached in
            switch isCached {
            case .success(true): (url, finish(url) ? .skipped(url) : .failed(url, CancellationError()))
            case .success(false): (url, nil)
            case .failure(let error): (url, outcome(of: .failure(error), url))
            }
        }
    }

    /// `true` when the image is cached and usable; loads its bytes into memory if the options say so.
    private func isCached(_ url: String) throws -> Bool {
        let (resource, lookup) = (cache.resource(url), manager.services.lookup)
        // The request may have to revalidate or decode it.
        let mayBeChecked =
            cache.revalidation(options) != .never && resource.isOnNetwork || cache.verifiesDecode(options)
        if options.lookup.forceRefresh || mayBeChecked { return false }
        let usable = try lookup.madeKeys(resource, options).first { key in
            guard let hit = try cache.knownHit(for: key) else { return false }
            return options.processing.recipe.isEmpty
                ? lookup.answers(hit, to: resource, in: cache, options)
                : try lookup.isUsable(hit.record, of: resource, in: cache, options)
        }
        guard let key = usable else { return false }
        guard options.caller.alsoPrefetchToMemory, !cache.holdsBytes(key),
            let hit = try cache.hit(for: key, options: options.storage)
        else { return true }
        _ = try cache.loadBytes(of: hit.record, options: options.storage)
        return true
    }
}
