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

    /// Remembers a failure for the time that the options say. A success forgets the failure of the same request.
    ///
    /// - Parameter isGivenUp: `true` for the last of several attempts, and `false` for each of them: of one that may be retried,
    ///   only the last counts.
    func note<Value>(
        _ result: Result<Value, any Error>, of url: String, key: String, in cache: ImageCache,
        _ options: @autoclosure () -> ImageOptions, isGivenUp: Bool = false
    ) {
        func request(_ options: ImageOptions) -> NegativeCache.Request? {
            (try? DownloadRequest(url: url, options: options.network)).map { NegativeCache.Request($0, options) }
        }
        switch result {
        case .success:
            // Most caches remember nothing.
            guard caches.withLock({ $0[cache.name]?.isEmpty == false }), let request = request(options()) else {
                return
            }
            caches.withLock { $0[cache.name]?.noteSuccess(of: request) }
        case .failure(let error as ImageError):
            let options = options()
            if (options.network.retry.maxRetries > 0 && error.first.isRetryable) != isGivenUp { return }
            guard let seconds = options.lookup.negativeCache, seconds > 0, let request = request(options) else {
                return
            }
            let now = clock.monotonic()
            caches.withLock {
                $0[cache.name, default: NegativeCache()].note(
                    error.first, of: request, key: key, for: seconds, retryAfter: error.first.retryAfter, now: now)
            }
        case .failure: break
        }
    }
}
