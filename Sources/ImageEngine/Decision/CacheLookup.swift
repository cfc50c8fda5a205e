internal import Platform

/// Looks up cached images and describes them as a ``RetrievalPolicy/Entry``; the decision is ``RetrievalPolicy``'s.
final class CacheLookup: Sendable {
    private let offline: Bool
    private let caches: CacheRegistry
    let scopes: RequestScopes
    let counts: EngineCounts

    init(
        _ configuration: EngineConfiguration, _ caches: CacheRegistry, _ scopes: RequestScopes,
        _ counts: EngineCounts
    ) {
        (offline, self.caches, self.scopes, self.counts) = (configuration.offline, caches, scopes, counts)
    }

    // MARK: Policies

    /// `true` when nothing may be loaded from the network.
    func isOffline(_ options: ImageOptions) -> Bool { options.lookup.offline || offline }

    /// The policy of a request. A local resource is neither revalidated nor affected by `offline`; what is asked for by its key
    /// alone has no source, and is not revalidated.
    ///
    /// - Parameter mode: Replaces the mode of the options.
    func policy(_ resource: Resource, _ options: ImageOptions, mode: Revalidation? = nil) -> RetrievalPolicy {
        let lookup = options.lookup
        guard resource.isOnNetwork else {
            return RetrievalPolicy(
                isForced: lookup.forceRefresh, isOffline: resource.url.isEmpty && isOffline(options),
                onlyFromCache: lookup.onlyFromCache)
        }
        let mode = mode ?? lookup.revalidate ?? .never
        return RetrievalPolicy(
            mode: mode, isForced: lookup.forceRefresh, isOffline: isOffline(options),
            onlyFromCache: lookup.onlyFromCache, staleIfError: lookup.staleIfError,
            wanted: mode == .http ? options.cacheControl : nil)
    }

    // MARK: Entries

    /// The description of a stored image from the view of a request.
    ///
    /// - Parameters:
    ///   - isForeign: See ``RetrievalPolicy/Entry/isForeign``; computed here when `nil`.
    ///   - isIntegral: `true` when the bytes match one of the request's digests or it has none. `nil`: computed here, which
    ///     may read the file of the image.
    func entry(
        of found: ImageCache.Candidate, as request: OutgoingRequest, in cache: ImageCache, _ policy: RetrievalPolicy,
        isForeign: Bool? = nil, isIntegral: Bool? = nil
    ) -> RetrievalPolicy.Entry {
        let (record, options) = (found.hit.record, request.options)
        var entry: RetrievalPolicy.Entry
        if policy.mode == .never {
            // Neither freshness nor `Vary` matters, and hits do this on the reader thread.
            entry = RetrievalPolicy.Entry(expiredFor: found.expiredFor)
        } else {
            entry = found.entry(for: scopes.scopes(of: request), at: cache.disk.clock.now)
        }
        entry.isForeign = isForeign ?? scopes.isForeign(record, to: request)
        entry.mayBePermitted = entry.isForeign && scopes.mayPermit(found, to: request)
        entry.isIntegral = isIntegral ?? options.lookup.integrity?.allows(found.hit) ?? true
        entry.isDamaged = options.lookup.verifyDecode == true && record.decodeVerdict == .damaged
        entry.isDecoded = record.decodeVerdict != nil
        return entry
    }

    /// `true` when a cached image that is not expired may answer a request without asking its server, regardless of the
    /// request's revalidation. May read its file.
    func answers(
        _ hit: ImageCache.Hit, to resource: Resource, in cache: ImageCache, _ options: ImageOptions
    ) -> Bool {
        isFresh(hit, for: OutgoingRequest(url: resource.url, options: options), in: cache, RetrievalPolicy())
    }

    /// `true` when an image stored by another download can replace the download of this request.
    ///
    /// - Parameter mayWait: `true` when the file of the image may be read to compute its digest.
    func satisfies(
        _ hit: ImageCache.Hit, in cache: ImageCache, _ resource: Resource, _ request: OutgoingRequest,
        _ storedCandidate: StoredCandidate?, mayWait: Bool
    ) -> Bool {
        let mode = request.options.lookup.revalidate ?? .never
        if let old = storedCandidate, !old.isForeign, old.hit.record.key.partition != hit.record.key.partition {
            // Both may answer the request. This one was passed over when it was decided what to do.
            return false
        }
        // A request that revalidates on every use needs an image newer than the one it started with.
        if mode == .always, let old = storedCandidate?.hit.record, !hit.record.isNews(since: old) { return false }
        let isIntegral = mayWait ? nil : request.options.lookup.integrity.map { $0.allowsAtOnce(hit) ?? false }
        let policy = policy(resource, request.options, mode: mode == .http ? .http : .never)
        return isFresh(
            hit, for: request, in: cache, policy, isForeign: hit.record.key.partition.isEmpty ? nil : false,
            isIntegral: isIntegral)
    }

    /// `true` when the decision is to answer with the hit unchanged.
    func isFresh(
        _ hit: ImageCache.Hit, for request: OutgoingRequest, in cache: ImageCache, _ policy: RetrievalPolicy,
        isForeign: Bool? = nil, isIntegral: Bool? = nil
    ) -> Bool {
        let entry = entry(
            of: ImageCache.Candidate(hit: hit), as: request, in: cache, policy, isForeign: isForeign,
            isIntegral: isIntegral)
        return policy.decision(for: entry).isFreshAnswer
    }

    // MARK: Answers

    /// The answer for a hit; writes its file if the caller needs one, it is only in memory, and the options let it go on disk.
    func answer(
        _ hit: ImageCache.Hit, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds
    ) throws(ImageError) -> ImageResult {
        var result = ImageResult(hit, in: cache, options)
        if needs.wantsFile, hit.lacksFile(for: options.storage), let bytes = hit.bytes {
            var storing = ImageOptions()
            storing.storage = options.storage
            storing.storage.queryDataWhenInMemory = true
            let store = PendingStore(
                content: .bytes(bytes), key: hit.record.key, cache: cache, source: hit.record.key.key,
                origin: hit.record.origin, options: storing, needs: needs)
            let stored = Result { () throws(ImageError) in try store.run() }
            store.note(stored, in: counts, isAwaited: true)
            (result, result.cacheType) = (try stored.get(), hit.cacheType)
        } else if options.storage.queryDataWhenInMemory {
            // Puts the bytes into memory for the next reader; a failure to read them is not this request's error.
            result.admission = (try? cache.loadBytes(of: hit.record, options: options.storage))?.kept.admission
        }
        return result
    }

    func loadingBytes(
        of result: ImageResult, in cache: ImageCache, options: ImageOptions, _ pool: BlockingPool
    ) async throws -> ImageResult {
        if result.bytes != nil { return result }
        return try await pool.runIfWanted {
            var loaded = result
            if let aside = result.aside {
                loaded.bytes = try aside.bytes()
                return loaded
            }
            if let content = result.content {
                loaded.bytes = try ImageCache.bytes(of: content)
                return loaded
            }
            // The record of the result may have no path although there is a file (`cacheMemoryOnly`).
            let record = result.entry?.record ?? result.record
            let (bytes, kept) = try cache.loadBytes(of: record, options: options.storage)
            (loaded.bytes, loaded.entry, loaded.admission) = (bytes, kept.entry, kept.admission)
            return loaded
        }
    }

    /// The cache that stores the originals of the images made for `cache`.
    func originals(for cache: ImageCache, _ options: ImageOptions) -> ImageCache {
        options.lookup.originalCache.flatMap { caches.cache($0) } ?? cache
    }
}

extension ImageCache.Candidate {
    /// The entry with all that HTTP says about a stored image.
    ///
    /// - Parameter scopes: The scopes that may answer the request; the first is that of its own fields.
    func entry(for scopes: [HTTPScope], at moment: Int) -> RetrievalPolicy.Entry {
        let (record, scope) = (hit.record, scopes.first ?? HTTPScope())
        let answer = record.answer
        return RetrievalPolicy.Entry(
            expiredFor: expiredFor, freshness: answer?.freshness,
            age: answer?.metadata.age(at: moment) ?? HTTPFreshness.span(from: record.storedAt, to: moment),
            // An image stored by a version that kept no metadata may belong to any credentials.
            suits: answer.map { answer in scopes.contains { answer.metadata.suits($0) } }
                ?? (scope.credentials == nil || !record.key.partition.isEmpty),
            hasValidators: validators(for: scope) != nil)
    }
}

extension ImageRecord {
    /// `true` when this is another image than `old`, or its server has confirmed it since.
    fileprivate func isNews(since old: ImageRecord) -> Bool {
        let isSame = old.stamp == stamp && old.storedAt == storedAt
        return !isSame || (answer?.metadata.receivedAt ?? 0) > old.answer?.metadata.receivedAt ?? 0
    }
}
