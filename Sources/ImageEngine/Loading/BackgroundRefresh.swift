internal import Platform

/// The event that a background refresh has brought other bytes for an image.
public struct ImageChange: Sendable, Equatable {
    /// The name of its cache.
    public let cache: String
    /// Its key.
    public let key: String
    /// The URL of the request.
    public let url: String
    /// The path of its file; `nil` when it is only in memory.
    public let path: String?

    /// A change of an image.
    public init(cache: String, key: String, url: String, path: String? = nil) {
        (self.cache, self.key, self.url, self.path) = (cache, key, url, path)
    }
}

/// Loads stale images again in the background, after answers with them.
struct BackgroundRefresh: Sendable {
    let engine: EngineServices

    var count: Int { engine.jobs.runningCount { $0 is HashedOnce<RefreshKey> } }

    /// Loads a stored image again in the background, unless that is running or its failure is remembered. The new image is
    /// stored unless the old one has been removed or replaced meanwhile; a failure is remembered, and changes nothing else.
    func start(
        _ resource: Resource, _ storedCandidate: StoredCandidate, _ cache: ImageCache, _ outgoing: OutgoingRequest
    ) {
        var options = outgoing.options
        options.change { options in
            options.storage.waitForCache = true
            // It is tried once, so that its failure is final.
            options.network.retry = .never
        }
        guard
            let plan = try? FetchPlan(
                resource, engine.scopes.ownKey(resource.cacheKey, of: outgoing), in: cache,
                OutgoingRequest(url: outgoing.url, options: options, wasAsked: outgoing.wasAsked), needs: [],
                storedCandidate: storedCandidate, started: engine.now, isRefresh: true),
            (try? engine.failures.check(plan.request, in: cache, options)) != nil
        else { return }
        let old = storedCandidate.hit
        engine.jobs.startAlone(HashedOnce(RefreshKey(cache.name, old.record))) {
            FetchJob(plan, engine, $0).start()
        } end: { [engine, options] result in
            // A delegate may change the request differently the next time.
            if !outgoing.wasAsked {
                engine.failures.note(result, of: outgoing.url, key: resource.cacheKey, in: cache, options)
            }
            guard case .success(let new as ImageResult) = result, new.isAnother(than: old) else { return }
            engine.changes.report(
                ImageChange(cache: cache.name, key: resource.cacheKey, url: resource.url, path: new.record.path))
        }
    }
}

extension ImageResult {
    /// `true` when the bytes differ from those of `old`, as far as that is known without reading a file.
    fileprivate func isAnother(than old: ImageCache.Hit) -> Bool {
        if isRevalidated { return false }
        if let one = old.record.checksum, let other = record.checksum { return one != other }
        guard let one = old.bytes, let other = entry?.bytes ?? bytes else { return true }
        return one != other
    }
}
