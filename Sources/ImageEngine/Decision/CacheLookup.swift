internal import Platform

/// Looks into caches, and tells how requests stand to what they have. Decides nothing itself: ``RetrievalPolicy`` does.
final class CacheLookup: Sendable {
    private let offline: Bool
    private let caches: CacheRegistry
    private let scopes: RequestScopes
    let counts: EngineCounts

    init(
        _ configuration: EngineConfiguration, _ caches: CacheRegistry, _ scopes: RequestScopes,
        _ counts: EngineCounts
    ) {
        (offline, self.caches, self.scopes, self.counts) = (configuration.offline, caches, scopes, counts)
    }

    // MARK: What a request allows

    /// `true` when nothing is to be loaded from the network.
    func isOffline(_ options: ImageOptions) -> Bool { options.lookup.offline || offline }

    /// What a request for a resource allows. What needs no network is neither revalidated nor affected by `offline`.
    ///
    /// - Parameter mode: Counts instead of the options' own.
    func policy(_ resource: Resource, _ options: ImageOptions, mode: Revalidation? = nil) -> RetrievalPolicy {
        let lookup = options.lookup
        guard resource.isOnNetwork else {
            return RetrievalPolicy(isForced: lookup.forceRefresh, onlyFromCache: lookup.onlyFromCache)
        }
        let mode = mode ?? lookup.revalidate ?? .never
        return RetrievalPolicy(
            mode: mode, isForced: lookup.forceRefresh, isOffline: isOffline(options),
            onlyFromCache: lookup.onlyFromCache, staleIfError: lookup.staleIfError,
            wanted: mode == .http ? options.cacheControl : nil)
    }

    // MARK: How it stands to what is stored

    /// What is stored, as a request stands to it.
    ///
    /// - Parameter isIntegral: `true` when the bytes have one of the digests that the request names, if it names any. `nil`:
    ///   it is found out, for which the file of the image may be read.
    func entry(
        of found: ImageCache.Candidate, as request: OutgoingRequest, in cache: ImageCache, _ policy: RetrievalPolicy,
        isIntegral: Bool? = nil
    ) -> RetrievalPolicy.Entry {
        let (record, options) = (found.hit.record, request.options)
        var entry: RetrievalPolicy.Entry
        if policy.mode == .never {
            // Neither freshness nor `Vary` counts, and a hit asks for this on the thread that reads.
            entry = RetrievalPolicy.Entry(
                expiredFor: found.expiredFor,
                isForeign: record.isPersonal && !scopes.mayAnswer(record, to: request.url, options))
        } else {
            entry = found.entry(for: scopes.scopes(of: request.url, options, for: record), at: cache.disk.clock.now)
        }
        entry.isIntegral = isIntegral ?? options.lookup.integrity?.allows(found.hit) ?? true
        entry.isDamaged = options.lookup.verifyDecode == true && record.decodeVerdict == .damaged
        entry.isDecoded = record.decodeVerdict != nil
        return entry
    }

    /// `true` when a cached image that is not expired may be answered to a request without asking its server, whatever the
    /// request says about revalidation. May read its file.
    func answers(
        _ hit: ImageCache.Hit, to resource: Resource, in cache: ImageCache, _ options: ImageOptions
    ) -> Bool {
        isFresh(hit, for: OutgoingRequest(url: resource.url, options: options), in: cache, RetrievalPolicy())
    }

    /// `true` when an image that another download has stored is the one that this request would bring.
    ///
    /// - Parameter mayWait: `true` when the file of the image may be read to calculate its digest.
    func satisfies(
        _ hit: ImageCache.Hit, in cache: ImageCache, _ resource: Resource, _ request: OutgoingRequest,
        _ storedCandidate: StoredCandidate?, mayWait: Bool
    ) -> Bool {
        let mode = request.options.lookup.revalidate ?? .never
        // An image that is revalidated with each use satisfies it only when it is news.
        if mode == .always, let old = storedCandidate?.hit.record, !hit.record.isNews(since: old) { return false }
        let isIntegral = mayWait ? nil : request.options.lookup.integrity.map { $0.allowsAtOnce(hit) ?? false }
        let policy = policy(resource, request.options, mode: mode == .http ? .http : .never)
        return isFresh(hit, for: request, in: cache, policy, isIntegral: isIntegral)
    }

    /// `true` when the decision about a hit is to answer with it as it is.
    func isFresh(
        _ hit: ImageCache.Hit, for request: OutgoingRequest, in cache: ImageCache, _ policy: RetrievalPolicy,
        isIntegral: Bool? = nil
    ) -> Bool {
        let found = ImageCache.Candidate(hit: hit)
        return policy.decision(for: entry(of: found, as: request, in: cache, policy, isIntegral: isIntegral))
            .isFreshAnswer
    }

    // MARK: Answers

    /// The answer with what was found; writes its file if memory alone has it and the options want it on disk.
    func answer(
        _ hit: ImageCache.Hit, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds
    ) throws(ImageError) -> ImageResult {
        var result = ImageResult(hit, in: cache, options)
        if hit.record.path == nil, !options.storage.cacheMemoryOnly, let bytes = hit.bytes {
            var storing = ImageOptions()
            storing.storage = options.storage
            storing.storage.queryDataWhenInMemory = true
            let store = PendingStore(
                content: .bytes(bytes), key: hit.record.key, cache: cache, source: hit.record.key.key,
                origin: hit.record.origin, options: storing, needs: needs)
            let stored = Result { () throws(ImageError) in try store.run() }
            store.note(stored, in: counts.notStored, isAwaited: true)
            (result, result.cacheType) = (try stored.get(), hit.cacheType)
        } else if options.storage.queryDataWhenInMemory {
            // A reader to come finds them in memory; that they cannot be read now is its business.
            result.admission = (try? cache.loadBytes(of: hit.record, options: options.storage))?.kept.admission
        }
        return result
    }

    /// The result with the bytes of its image, read now if need be.
    func loadingBytes(
        of result: ImageResult, in cache: ImageCache, options: ImageOptions, _ pool: BlockingPool
    ) async throws -> ImageResult {
        if result.bytes != nil { return result }
        return try await pool.runIfWanted {
            var loaded = result
            if let content = result.content {
                loaded.bytes = try ImageCache.bytes(of: content)
                return loaded
            }
            // The record handed out may have no path although there is a file (`cacheMemoryOnly`).
            let record = result.entry?.record ?? result.record
            let (bytes, kept) = try cache.loadBytes(of: record, options: options.storage)
            (loaded.bytes, loaded.entry, loaded.admission) = (bytes, kept.entry, kept.admission)
            return loaded
        }
    }

    /// The cache that keeps the originals of what is made for `cache`.
    func originals(for cache: ImageCache, _ options: ImageOptions) -> ImageCache {
        options.lookup.originalCache.flatMap { caches.cache($0) } ?? cache
    }
}

extension ImageCache.Candidate {
    /// What HTTP says of a stored image.
    ///
    /// - Parameter scopes: The scopes in which the request may be answered; the first is that of what it sends itself.
    func entry(for scopes: [HTTPScope], at moment: Int) -> RetrievalPolicy.Entry {
        let (record, scope) = (hit.record, scopes.first ?? HTTPScope())
        let answer = record.answer
        return RetrievalPolicy.Entry(
            expiredFor: expiredFor, freshness: answer?.freshness,
            age: answer?.metadata.age(at: moment) ?? HTTPFreshness.span(from: record.storedAt, to: moment),
            // Of an image that was stored before such things were kept, nobody knows whose it is.
            suits: answer.map { answer in scopes.contains { answer.metadata.suits($0) } }
                ?? (scope.credentials == nil),
            isForeign: !record.belongs(to: scopes), hasValidators: validators(for: scope) != nil)
    }
}

extension ImageRecord {
    /// `true` when this is another image than `old`, or its server has been heard of since.
    fileprivate func isNews(since old: ImageRecord) -> Bool {
        let isSame = old.stamp == stamp && old.storedAt == storedAt
        return !isSame || (answer?.metadata.receivedAt ?? 0) > old.answer?.metadata.receivedAt ?? 0
    }
}
