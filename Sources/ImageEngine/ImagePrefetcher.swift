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
        /// Those of `completed` that no tier keeps.
        public var notStored: [(url: String, reason: NotStoredReason)] = []

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
        /// What stops those that are being loaded.
        var stops: [ExactText: @Sendable () -> Void] = [:]
    }

    private enum Outcome: Sendable {
        case completed(String, NotStoredReason?)
        case skipped(String)
        case failed(String, any Error)
        /// Somebody stopped it, or there is nothing left to stop.
        case stopped

        var url: String? {
            switch self {
            case .completed(let url, _), .skipped(let url), .failed(let url, _): url
            case .stopped: nil
            }
        }
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
        options.storage.lease = 0
        options.caller.slot = nil
        options.network.onFailureImage = nil
        if options.caller.alsoPrefetchToMemory { options.storage.queryDataWhenInMemory = true }
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
        let (wasOpen, stop) = single.withLock { single -> (Bool, (@Sendable () -> Void)?) in
            guard single.open.remove(url) != nil else { return (false, nil) }
            single.cancelled.insert(url)
            return (true, single.stops[url])
        }
        stop?()
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
            /// Those of them that have been looked for, and are to be loaded.
            var missing: ArraySlice<String> = []
            /// The keys of those that are being loaded, and the URLs that wait for one of them: by the rules for keys they
            /// lead to the same (C-04).
            var loading: Set<ExactText> = []
            var waiting: [ExactText: ArraySlice<String>] = [:]
            if !urls.isEmpty {
                group.addTask { [stopping] in
                    for await _ in stopping.stream {}
                    return .stopped
                }
            }
            func note(_ outcome: Outcome) {
                switch outcome {
                case .completed(let url, let reason):
                    result.completed.append(url)
                    if let reason { result.notStored.append((url, reason)) }
                case .skipped(let url): result.skipped.append(url)
                case .failed(let url, let error): result.failed.append(Failure(url: url, error: error))
                case .stopped:
                    // What waits has failed; what is under way says so itself.
                    for url in missing + rest + waiting.values.joined() {
                        result.failed.append(Failure(url: url, error: CancellationError()))
                    }
                    (missing, rest, waiting) = ([], [], [:])
                    group.cancelAll()
                }
                report(
                    Progress(
                        completed: result.completed.count, skipped: result.skipped.count, failed: result.failed.count,
                        total: urls.count))
            }
            /// Begins with the next one, and returns its key; nil if there is none.
            func begin() async -> ExactText? {
                // What is left of one that is stopped is settled by the end that has been told.
                while !isStopped.load(ordering: .relaxed) {
                    while missing.isEmpty, !rest.isEmpty, !Task.isCancelled {
                        let batch = rest.prefix(lookahead)
                        rest = rest.dropFirst(lookahead)
                        for (url, outcome) in await look(for: batch) {
                            if let outcome { note(outcome) } else { missing.append(url) }
                        }
                    }
                    guard let url = missing.popFirst() ?? rest.popFirst() else { return nil }
                    let key = key(of: url)
                    if !loading.contains(key) {
                        group.addTask { [self] in await load(url) }
                        return key
                    }
                    waiting[key, default: []].append(url)
                }
                return nil
            }
            repeat {
                while loading.count < concurrency, let key = await begin() { loading.insert(key) }
                guard result.count < urls.count, let outcome = await group.next() else { break }
                if let url = outcome.url {
                    let key = key(of: url)
                    loading.remove(key)
                    // They are looked for once more: it may have brought what they want, or have failed.
                    if let again = waiting.removeValue(forKey: key) { rest = again + rest }
                }
                note(outcome)
            } while result.count < urls.count
            group.cancelAll()
            return result
        }
        if !isStopped.load(ordering: .relaxed) { try Task.checkCancellation() }
        return settled
    }

    private func key(of url: String) -> ExactText { ExactText(cache.resource(url).cacheKey) }

    private func load(_ url: String) async -> Outcome {
        do {
            try Task.checkCancellation()
            let resource = cache.resource(url)
            let image = try await loadAlone(resource)
            guard settle(url) else { return .failed(url, CancellationError()) }
            // It may have been stored since it was looked for.
            return image.cacheType == .none || image.isRevalidated
                ? .completed(url, image.notStored) : .skipped(url)
        } catch {
            return failure(url, error)
        }
    }

    private func failure(_ url: String, _ error: any Error) -> Outcome {
        // What is broken off may say anything.
        let isBrokenOff = !settle(url) || isStopped.load(ordering: .relaxed)
        return .failed(url, isBrokenOff ? CancellationError() : error)
    }

    /// Loads one image, which can be cancelled by itself.
    private func loadAlone(_ resource: Resource) async throws -> ImageResult {
        let url = ExactText(resource.url)
        defer { single.withLock { $0.stops[url] = nil } }
        let request = ImageRequest(
            resource, in: cache, options: options, needs: options.storage.cacheMemoryOnly ? [] : .file,
            caller: ImageCaller(priority: priority))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = manager.retrieve(request, isMissing: true) { continuation.resume(with: $0) }
                keep({ task.cancel() }, for: url)
            }
        } onCancel: {
            single.withLock { $0.stops[url] }?()
        }
    }

    /// Notes what stops the loading of an image; stops it at once if it is to be stopped.
    private func keep(_ stop: @escaping @Sendable () -> Void, for url: ExactText) {
        let isOpen = single.withLock { single in
            single.stops[url] = stop
            return single.open.contains(url)
        }
        if !isOpen || Task.isCancelled { stop() }
    }

    /// Notes that an image is settled; returns false if it was cancelled by itself.
    private func settle(_ url: String) -> Bool {
        single.withLock { single in
            single.open.remove(ExactText(url))
            return !single.cancelled.contains(ExactText(url))
        }
    }

    // MARK: What is there

    /// How many images are looked for at once: to ask whether one is there costs less than to go to a thread that may.
    private var lookahead: Int { options.caller.alsoPrefetchToMemory ? 1 : 32 }

    /// Whether being there does not settle an image: it may have to be checked with its server, or decoded.
    private func mayBeChecked(_ resource: Resource) -> Bool {
        cache.revalidation(options) != .never && resource.isOnNetwork || cache.verifiesDecode(options)
    }

    /// What came of those for which nothing is to be done; nil for those that are to be loaded.
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
            case .failure(let error): (url, failure(url, error))
            }
        }
    }

    /// Whether nothing is to be done for an image; one that is to be in memory too is brought there.
    private func isCached(_ url: String) throws -> Bool {
        let resource = cache.resource(url)
        if options.lookup.forceRefresh || mayBeChecked(resource) { return false }
        let key = options.processing.recipe.cacheKey(resource.cacheKey)
        guard let hit = try cache.knownHit(for: key) else { return false }
        let isUsable =
            options.processing.recipe.isEmpty
            ? manager.services.lookup.answers(hit, to: resource, in: cache, options)
            : try manager.services.lookup.isUsable(hit.record, of: resource, in: cache, options)
        if !isUsable { return false }
        guard options.caller.alsoPrefetchToMemory, !cache.holdsBytes(key),
            let hit = try cache.hit(for: key, options: options.storage, burst: 0, mayWait: true)
        else { return true }
        _ = try cache.loadBytes(of: hit.record, options: options.storage)
        return true
    }
}
