internal import Platform
internal import Synchronization

/// The failures that are repeated without a new request, by cache; see ``NegativeCache``. Callable from any thread.
public final class FailureMemory: Sendable {
    private let caches = Mutex<[String: NegativeCache]>([:])
    private let clock: EngineClock

    init(clock: EngineClock) { self.clock = clock }

    /// The remembered failures of a cache, the oldest first.
    public func list(in cache: ImageCache) -> [RememberedFailure] {
        let now = clock.monotonic()
        return caches.withLock { $0[cache.name]?.list(now: now) ?? [] }
    }

    /// Forgets failures of a cache.
    ///
    /// - Parameter name: The URL or the cache key; `nil` for all.
    /// - Returns: The number of failures that were remembered.
    public func forget(_ name: String?, in cache: ImageCache) -> Int {
        let now = clock.monotonic()
        return caches.withLock { $0[cache.name]?.remove(name, now: now) ?? 0 }
    }

    /// Forgets the failures of a key, which has been stored or removed; `nil` for all keys of the cache.
    func forget(_ key: CacheKey?, in cache: String) { caches.withLock { $0[cache]?.forget(key) } }

    var count: Int {
        let now = clock.monotonic()
        return caches.withLock { $0.values.reduce(0) { $0 + $1.count(now: now) } }
    }

    /// Throws the remembered failure of the request, if there is one and the options use it.
    func check(_ request: DownloadRequest, in cache: ImageCache, _ options: ImageOptions) throws(ImageError) {
        guard (options.lookup.negativeCache ?? 0) > 0, !options.lookup.forceRefresh else { return }
        let now = clock.monotonic()
        if let error = caches.withLock({
            $0[cache.name]?.failure(of: NegativeCache.Request(request, options), now: now)
        }) {
            throw .remembered(error)
        }
    }

    /// Remembers a failure for the time that the options say; not one that will be retried, because it is not final.
    func note(
        _ error: ImageError, of url: String, key: String, in cache: ImageCache, _ options: ImageOptions
    ) {
        if options.network.retry.maxRetries > 0, error.first.isRetryable { return }
        guard let seconds = options.lookup.negativeCache, seconds > 0,
            let request = try? DownloadRequest(url: url, options: options.network)
        else { return }
        let now = clock.monotonic()
        caches.withLock {
            let failed = NegativeCache.Request(request, options)
            $0[cache.name, default: NegativeCache()].note(
                error.first, of: failed, key: key, for: seconds, retryAfter: error.first.retryAfter, now: now)
        }
    }
}
