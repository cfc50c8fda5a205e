internal import Platform

extension ImageManager {
    /// What is stored already when an image is loaded.
    struct StoredCandidate: Sendable {
        let hit: ImageCache.Hit
        /// What makes the request conditional; nil when the image is loaded whatever its server says.
        var validators: Validators?
        /// Set when it is not the image itself, but something that was made of it.
        var variant: VariantJobKey?

        /// The same for another source, to which the validators say nothing.
        var unasked: StoredCandidate { StoredCandidate(hit: hit, validators: nil) }
    }

    /// What a server has answered, and to whom.
    struct Arrival: Sendable {
        var download: Download
        let request: DownloadRequest
        let resource: Resource
        var scope: HTTPScope
        let cache: ImageCache
        let options: ImageOptions
        let needs: ImageNeeds

        var key: CacheKey { CacheKey(resource.cacheKey) }

        /// Where the image comes from, with what its server says about keeping it.
        var origin: ImageOrigin {
            let response = download.response
            var origin = ImageOrigin(url: response.url, etag: response.etag, lastModified: response.lastModified)
            let clock = cache.disk.clock
            origin.http =
                HTTPMetadata(
                    response.fields, status: response.status, to: scope, at: clock.now, wall: clock.wallNow,
                    delay: download.delay,
                    isAlternative: ExactText(request.url) != ExactText(resource.url),
                    route: RedirectConstraints(
                        download.route, wanted: request.cacheControl, at: clock.wallNow)
                ).text
            return origin
        }

        /// The origin of an image that its server has just said to be unchanged: what came replaces what was.
        ///
        /// - Returns: nil if the server speaks of another image than the one that is stored.
        func origin(renewing old: ImageOrigin, _ metadata: HTTPMetadata?) -> ImageOrigin? {
            let response = download.response
            if let etag = response.etag {
                guard let known = old.etag, Self.isWeaklyEqual(etag, known) else { return nil }
            } else if let date = response.lastModified, date != old.lastModified {
                return nil
            }
            let clock = cache.disk.clock
            var origin = old
            origin.etag = response.etag ?? old.etag
            origin.lastModified = response.lastModified ?? old.lastModified
            // A request that wants nothing kept says that of what comes, not of what is there.
            let route = RedirectConstraints(download.route, wanted: nil, at: clock.wallNow)
            let merged =
                metadata?.merging(
                    response.fields, to: scope, at: clock.now, wall: clock.wallNow, delay: download.delay, route: route)
                ?? HTTPMetadata(
                    response.fields, to: scope, at: clock.now, wall: clock.wallNow, delay: download.delay, route: route)
            // What was noted about the image is still so.
            origin.http = ([merged.text] + ImageNotes.notes(in: old.http)).joined(separator: "\n")
            return origin
        }

        private static func isWeaklyEqual(_ one: String, _ other: String) -> Bool {
            func opaque(_ tag: String) -> ExactText { ExactText(tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag) }
            return opaque(one) == opaque(other)
        }
    }

    /// Whether nothing is to be loaded from the network.
    public func isOffline(_ options: ImageOptions) -> Bool { options.lookup.offline || configuration.offline }

    // MARK: Before anything is loaded

    /// The image itself, whether or not it can be decoded: from the cache as the ``CacheDecision`` says, else loaded.
    ///
    /// - Parameters:
    ///   - options: Are completed, and have no recipe.
    ///   - isMissing: `true` when the cache has just told that it does not have the image.
    @inline(never)
    func anyImage(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds, _ caller: ImageCaller,
        isMissing: Bool = false
    ) async throws -> ImageResult {
        let policy = policy(resource, options)
        var outgoing = OutgoingRequest(url: resource.url, options: options)
        // What has been stored here since is in memory.
        let isMissing = isMissing && !policy.usesExpired && cache.memory.peek(CacheKey(resource.cacheKey)) == nil
        var found = isMissing ? nil : try await stored(resource, in: cache, policy, outgoing)
        var decision = policy.decision(for: found?.entry)
        if let known = found, options.asksToModify, !policy.isForced, !decision.isFreshAnswer,
            known.entry.isForeign || !policy.isOffline && !policy.onlyFromCache
        {
            // It is decided by what will be sent: the delegate may make an image of others this caller's.
            outgoing = try await modified(resource.url, options)
            let entry = entry(
                of: known.candidate, as: outgoing, in: cache, policy, isIntegral: known.entry.isIntegral)
            found = StoredImage(candidate: known.candidate, entry: entry)
            decision = policy.decision(for: entry)
        }
        var storedCandidate: StoredCandidate?
        if let found {
            let scope = scope(of: outgoing.url, outgoing.options)
            let hit = found.candidate.hit
            switch decision.action {
            case .answer(let isStale):
                count(hit.cacheType)
                return try await answer(found.candidate, isStale: isStale, in: cache, options, needs)
            case .answerAndRefresh:
                count(hit.cacheType)
                refresh(
                    resource, StoredCandidate(hit: hit, validators: found.candidate.validators(for: scope)), cache,
                    outgoing)
                return try await answer(found.candidate, isStale: true, in: cache, options, needs)
            case .revalidate:
                storedCandidate = StoredCandidate(hit: hit, validators: found.candidate.validators(for: scope))
            case .load, .fail: storedCandidate = policy.usesExpired ? StoredCandidate(hit: hit) : nil
            }
        }
        if policy.mayCopyFromOtherCache(decision),
            let original = try await originalImage(resource, for: cache, options, needs)
        {
            count(original.cacheType)
            return original
        }
        try Task.checkCancellation()
        if decision.action == .fail { throw ImageError.notCached(key: resource.cacheKey) }
        do {
            let result = try await load(
                resource, in: cache, options, needs, caller, storedCandidate, outgoing: outgoing)
            count(result.cacheType)
            return result
        } catch let error as ImageError {
            count(.none)
            guard let found, policy.mayStandIn(found.entry, after: error) else { throw error }
            return try await answer(found.candidate, isStale: true, in: cache, options, needs)
        }
    }

    /// What a cache has for a request, and how the request stands to it.
    private struct StoredImage: Sendable {
        let candidate: ImageCache.Candidate
        let entry: RetrievalPolicy.Entry
    }

    /// What a cache has for a request; `nil` when it has nothing that could matter.
    private func stored(
        _ resource: Resource, in cache: ImageCache, _ policy: RetrievalPolicy, _ request: OutgoingRequest
    ) async throws -> StoredImage? {
        let (key, options) = (CacheKey(resource.cacheKey), request.options)
        if !policy.usesExpired {
            if policy.isForced { return nil }
            // Most of what comes here is to be loaded, and that can be told at once.
            if try cache.cacheType(for: key, burst: 0, mayWait: false) == CacheType.none { return nil }
        }
        return try await pool.runIfWanted { [self] () throws -> StoredImage? in
            guard
                var found = try cache.candidate(
                    for: key, options: options.storage, evenExpired: policy.usesExpired)
            else { return nil }
            var entry = entry(of: found, as: request, in: cache, policy)
            if policy.usesExpired, !policy.decision(for: entry).isFreshAnswer {
                // Another process may have heard of its server.
                found = ImageCache.Candidate(
                    hit: try cache.renewed(found.hit, options: options.storage), expiredFor: found.expiredFor)
                entry = self.entry(of: found, as: request, in: cache, policy, isIntegral: entry.isIntegral)
            }
            return StoredImage(candidate: found, entry: entry)
        }
    }

    /// The answer with what was found, also if its time is over.
    func answer(
        _ found: ImageCache.Candidate, isStale: Bool, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds
    ) async throws -> ImageResult {
        try await pool.run { [self] in
            var result = try answer(found.hit, in: cache, options)
            result.isStale = isStale
            // In memory it would look like one whose time is not over.
            if found.expiredFor != nil, needs.contains(.bytes) {
                result.bytes = try cache.disk.data(of: found.hit.record)
            }
            return result
        }
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
        var isIntegral = true
        if let integrity = request.options.lookup.integrity {
            guard let told = mayWait ? integrity.allows(hit) : integrity.allowsAtOnce(hit) else { return false }
            isIntegral = told
        }
        let policy = RetrievalPolicy(
            mode: mode == .http ? .http : .never, wanted: mode == .http ? request.options.cacheControl : nil)
        let entry = entry(
            of: ImageCache.Candidate(hit: hit), as: request, in: cache, policy, isIntegral: isIntegral)
        return policy.decision(for: entry).isFreshAnswer
    }

    /// Refuses a request that is not to be sent.
    func admit(
        _ request: DownloadRequest, _ key: CacheKey, in cache: ImageCache, _ options: ImageOptions
    ) throws(ImageError) {
        if isOffline(options) { throw .offline(key: key.key) }
        guard (options.lookup.negativeCache ?? 0) > 0, !options.lookup.forceRefresh else { return }
        let now = configuration.clock.monotonic()
        if let error = failures.withLock({
            $0[cache.name]?.failure(of: NegativeCache.Request(request, options), now: now)
        }) {
            throw .remembered(error)
        }
    }

    /// Takes note of a failure that would come again.
    func remember(_ error: ImageError, _ url: String, key: String, in cache: ImageCache, _ options: ImageOptions) {
        guard let seconds = options.lookup.negativeCache, seconds > 0,
            let request = try? DownloadRequest(url: url, options: options.network)
        else { return }
        let now = configuration.clock.monotonic()
        failures.withLock {
            let failed = NegativeCache.Request(request, options)
            $0[cache.name, default: NegativeCache()].note(
                error, of: failed, key: key, for: seconds, retryAfter: error.retryAfter, now: now)
        }
    }

    /// The failures of a cache that are remembered, the oldest first (D-11).
    public func rememberedFailures(in cache: ImageCache) -> [RememberedFailure] {
        let now = configuration.clock.monotonic()
        return failures.withLock { $0[cache.name]?.list(now: now) ?? [] }
    }

    /// Forgets failures of a cache (D-11).
    ///
    /// - Parameter name: The URL or the cache key; of all when nil.
    /// - Returns: How many there were.
    public func forgetFailures(of name: String?, in cache: ImageCache) -> Int {
        let now = configuration.clock.monotonic()
        return failures.withLock { $0[cache.name]?.remove(name, now: now) ?? 0 }
    }

    // MARK: After an answer

    /// The stored image, if its server has just said that it has not changed.
    ///
    /// - Returns: nil if the answer is an image, or what it speaks of is not there any more.
    func revive(_ storedCandidate: StoredCandidate?, _ arrival: Arrival) async throws -> ImageResult? {
        guard arrival.download.response.isConfirmation, let storedCandidate else { return nil }
        let cache = arrival.cache
        let options = storedCandidate.variant?.options ?? arrival.options
        return try await pool.run { [self] in
            let old = storedCandidate.hit.record
            guard let origin = arrival.origin(renewing: old.origin, old.answer?.metadata),
                let hit = try cache.revive(storedCandidate.hit, origin, options: options.storage)
            else { return nil }
            var result = try answer(hit, in: cache, options)
            result.isRevalidated = true
            return result
        }
    }

    /// The answer with an image: when the server only said that nothing has changed, it is asked once more, without
    /// conditions.
    func wholeArrival(
        _ arrival: Arrival, _ priority: CallPriority, _ report: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Arrival {
        guard arrival.download.response.isConfirmation else { return arrival }
        var arrival = arrival
        arrival.download = try await downloader.download(
            arrival.request.unconditional, priority: priority, report: report)
        arrival.scope.login = arrival.download.login ?? arrival.scope.login
        return arrival
    }

    /// Forgets what is kept of URLs when their server has done something else there than to give it (RFC 9111, 4.4), if the
    /// request goes by HTTP.
    ///
    /// - Parameter keepsOwn: Whether what is kept under the request's own key is left for what has come to replace it.
    func forgetChanged(_ urls: [String], by plan: FetchPlan, keepsOwn: Bool) async throws {
        if urls.isEmpty { return }
        try await pool.run { [self] in try forget(urls, changedBy: plan, keepsOwn: keepsOwn) }
    }

    /// The same on a thread that may wait.
    func forget(_ urls: [String], changedBy plan: FetchPlan, keepsOwn: Bool) throws {
        guard plan.outgoing.options.lookup.revalidate == .http else { return }
        let keys = Set(urls.map { CacheKey(plan.cache.resource($0).cacheKey) })
        for key in keys where !keepsOwn || key != plan.key { _ = try plan.cache.remove(key, allVariants: true) }
    }

    /// What is to be stored of an answer.
    func store(_ arrival: Arrival) -> PendingStore {
        PendingStore(
            content: .body(arrival.download.body), key: arrival.key, cache: arrival.cache, source: arrival.request.url,
            origin: arrival.origin, options: arrival.options, needs: arrival.needs,
            contentType: arrival.request.dataModifier == nil ? arrival.download.response.contentType : nil)
    }
}

extension ImageOptions {
    /// What the request's own header fields ask of caches.
    var cacheControl: CacheControl? {
        self.network.request.headers.isEmpty ? nil : CacheControl(of: self.network.request.headers)
    }

    /// Whether nothing may be loaded from the network, as the options or, where headers count, the request's own say.
    var staysInCache: Bool {
        self.lookup.onlyFromCache || self.lookup.revalidate == .http && cacheControl?.onlyIfCached == true
    }
}

extension Resource {
    /// Whether it comes over the network.
    var isOnNetwork: Bool { url.utf8.prefix(4).map { $0 | 0x20 } == Array("http".utf8) }
}

extension PendingStore {
    /// Whether its server forbids to keep it, and the request goes by that.
    var isToBeForgotten: Bool {
        options.lookup.revalidate == .http
            && origin.http.flatMap(HTTPMetadata.init)?.freshness(lastModified: nil).control.noStore == true
    }

    /// The result, of which neither tier keeps anything: not of what was there before either.
    func forgetting() throws(ImageError) -> ImageResult {
        let result = try withoutFile()
        do { try cache.discard(key) } catch ImageError.storageFailed { /* Then it cannot be read either. */  }
        if needs.contains(.file), !needs.contains(.bytes) {
            throw .storageFailed(
                reason: "\(source.excerpt) must not be stored, as its server says (Cache-Control: no-store).",
                hint:
                    "retrieve has its data without storing it; to have it stored, set revalidate to another value than \"http\"."
            )
        }
        return result
    }
}

extension ImageRecord {
    /// `true` when this is another image than `old`, or its server has been heard of since.
    fileprivate func isNews(since old: ImageRecord) -> Bool {
        let isSame = old.stamp == stamp && old.storedAt == storedAt
        return !isSame || (answer?.metadata.receivedAt ?? 0) > old.answer?.metadata.receivedAt ?? 0
    }
}
