internal import Platform
internal import Synchronization

/// Loads images before somebody wants them: the least urgent of all downloads, until somebody joins one.
///
/// Runs once: a stopped prefetcher does not start again.
public final class ImagePrefetcher: Sendable {
    /// One image that could not be had.
    public struct Failure: Sendable {
        /// The URL.
        public let url: String
        /// An ``ImageError``, or `CancellationError` for what was stopped.
        public let error: any Error
    }

    /// The outcome of all URLs: each is in one of the lists, once.
    public struct Report: Sendable {
        /// The URLs that were loaded.
        public var completed: [String] = []
        /// The URLs that were cached already.
        public var skipped: [String] = []
        /// The URLs that failed or were stopped.
        public var failed: [Failure] = []
        /// Those of `completed` that no tier keeps.
        public var notStored: [(url: String, reason: NotStoredReason)] = []

        /// The number of settled URLs.
        public var count: Int { completed.count + skipped.count + failed.count }
    }

    /// The numbers of settled URLs so far.
    public struct Progress: Sendable, Equatable {
        /// The number of loaded URLs.
        public let completed: Int
        /// The number of URLs that were cached already.
        public let skipped: Int
        /// The number of URLs that failed or were stopped.
        public let failed: Int
        /// The number of loaded URLs whose images no tier keeps.
        public let notStored: Int
        /// The number of all URLs, each counted once.
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

    /// The images that are not settled, and what stops those that are loaded.
    private struct Open: Sendable {
        var urls: Set<ExactText>
        var stops: [ExactText: Stop] = [:]
    }

    /// The number of images that are loaded at once by default, as in Kingfisher.
    public static let defaultConcurrency = 5

    private let manager: ImageManager
    private let cache: ImageCache
    private let urls: [String]
    private let options: ImageOptions
    private let concurrency: Int
    /// The priority; may be changed while it runs.
    public let priority: CallPriority
    private let open: Mutex<Open>
    /// The ends of loads; `nil` when it is stopped.
    private let ends = AsyncStream.makeStream(of: (url: String, result: Result<ImageResult, any Error>)?.self)
    private let isStopped = Atomic(false)

    /// - Parameters:
    ///   - urls: The URLs to load; each is loaded once, however often it is named.
    ///   - concurrency: The largest number of images that are loaded at once.
    ///   - priority: Default: the lowest of all.
    public init(
        _ urls: [String], manager: ImageManager, cache: ImageCache, options: ImageOptions,
        concurrency: Int = defaultConcurrency, priority: CallPriority = CallPriority(CallPriority.background)
    ) {
        (self.manager, self.cache, self.concurrency, self.priority) = (manager, cache, concurrency, priority)
        var seen: Set<ExactText> = []
        self.urls = urls.filter { seen.insert(ExactText($0)).inserted }
        var options = options
        // A prefetch hands no path out.
        options.storage.lease = 0
        options.caller.slot = nil
        options.network.onFailureImage = nil
        if options.caller.alsoPrefetchToMemory { options.storage.queryDataWhenInMemory = true }
        self.options = options
        open = Mutex(Open(urls: seen))
    }

    /// Ends it: what is loaded is cancelled, and with what waits it counts as failed.
    public func stop() {
        isStopped.store(true, ordering: .relaxed)
        stopLoads()
    }

    /// Leaves one image out, if it is not settled yet: it counts as failed, and the others go on.
    ///
    /// - Returns: `true` when there was such an image.
    public func cancel(_ url: String) -> Bool {
        let (wasOpen, stop) = open.withLock { open in
            (open.urls.remove(ExactText(url)) != nil, open.stops[ExactText(url)])
        }
        if wasOpen { stop?() }
        return wasOpen
    }

    /// Loads everything.
    ///
    /// - Parameter report: Receives the progress after each image.
    /// - Throws: `CancellationError` when the task is cancelled; not when it was stopped.
    public func run(report: @escaping @Sendable (Progress) -> Void = { _ in }) async throws -> Report {
        var result = Report()
        var queue = PrefetchQueue(
            urls, concurrency: concurrency,
            // To ask whether an image is there costs less than to go to a thread that may.
            lookahead: options.caller.alsoPrefetchToMemory ? 1 : 32
        ) { [cache] in ExactText(cache.resource($0).cacheKey) }
        func note(_ outcome: Outcome) {
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
                    for url in queue.removeAll() { note(.failed(url, CancellationError())) }
                    if result.count == urls.count { return }
                }
                switch queue.next() {
                case .look(let batch):
                    for (url, outcome) in await look(for: batch) {
                        if let outcome { note(outcome) } else { queue.add(missing: url) }
                    }
                case .load(let url): load(url)
                case .wait:
                    guard let end = await ends.next() else { throw CancellationError() }
                    guard let (url, result) = end else { continue }
                    queue.ended(url)
                    note(outcome(of: result, url))
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

    /// Cancels what is loaded, and wakes the one that waits for an end.
    private func stopLoads() {
        for stop in open.withLock({ Array($0.stops.values) }) { stop() }
        ends.continuation.yield(nil)
    }

    private func outcome(of result: Result<ImageResult, any Error>, _ url: String) -> Outcome {
        switch result {
        case .success(let image):
            guard settle(url) else { return .failed(url, CancellationError()) }
            // It may have been stored since it was looked for.
            return image.cacheType == .none || image.isRevalidated
                ? .completed(url, image.notStored) : .skipped(url)
        case .failure(let error):
            // What is broken off may say anything.
            let isBrokenOff = !settle(url) || isStopped.load(ordering: .relaxed)
            return .failed(url, isBrokenOff ? CancellationError() : error)
        }
    }

    /// Notes that an image is settled.
    ///
    /// - Returns: `false` when it was cancelled by itself.
    private func settle(_ url: String) -> Bool {
        open.withLock { open in
            open.stops[ExactText(url)] = nil
            return open.urls.remove(ExactText(url)) != nil
        }
    }

    // MARK: Looking

    /// The outcomes of URLs for which nothing is to be done; `nil` for those that are to be loaded.
    private func look(for urls: ArraySlice<String>) async -> [(url: String, outcome: Outcome?)] {
        let found: [Result<Bool, any Error>]
        do {
            found = try await manager.blocking { [self] in urls.map { url in Result { try isCached(url) } } }
        } catch {
            found = urls.map { _ in .failure(error) }
        }
        return zip(urls, found).map { url, isCached in
            switch isCached {
            case .success(true): (url, settle(url) ? .skipped(url) : .failed(url, CancellationError()))
            case .success(false): (url, nil)
            case .failure(let error): (url, outcome(of: .failure(error), url))
            }
        }
    }

    /// `true` when nothing is to be done for an image; one that is to be in memory too is brought there.
    private func isCached(_ url: String) throws -> Bool {
        let (resource, lookup) = (cache.resource(url), manager.services.lookup)
        // It may have to be revalidated or decoded.
        let mayBeChecked =
            cache.revalidation(options) != .never && resource.isOnNetwork || cache.verifiesDecode(options)
        if options.lookup.forceRefresh || mayBeChecked { return false }
        let key = options.processing.recipe.cacheKey(resource.cacheKey)
        guard let hit = try cache.knownHit(for: key) else { return false }
        let isUsable =
            options.processing.recipe.isEmpty
            ? lookup.answers(hit, to: resource, in: cache, options)
            : try lookup.isUsable(hit.record, of: resource, in: cache, options)
        if !isUsable { return false }
        guard options.caller.alsoPrefetchToMemory, !cache.holdsBytes(key),
            let hit = try cache.hit(for: key, options: options.storage, burst: 0, mayWait: true)
        else { return true }
        _ = try cache.loadBytes(of: hit.record, options: options.storage)
        return true
    }
}
