internal import Platform

extension ImageManager {
    /// What is stored already when an image is loaded.
    struct StoredCandidate: Sendable {
        let hit: ImageCache.Hit
        /// What makes the request conditional; nil when the image is loaded whatever its server says.
        var validators: Validators?
        /// Set when it is not the image itself, but something that was made of it.
        var variant: JobKey.Variant?

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

    /// What a server has answered, and to whom.
    func arrival(of download: Download, _ plan: FetchPlan) -> Arrival {
        let options = plan.outgoing.options
        noteLogin(of: download, for: plan.request, options)
        return Arrival(
            download: download, request: plan.request, resource: plan.resource,
            scope: scope(of: plan.request.url, options, login: download.login), cache: plan.cache,
            options: plan.storing, needs: plan.needs)
    }

    /// The stored image, which its server has just confirmed. Waits for the disk.
    ///
    /// - Returns: `nil` when the confirmed image is not there any more.
    func revive(_ storedCandidate: StoredCandidate?, _ arrival: Arrival) throws -> ImageResult? {
        guard let storedCandidate else { return nil }
        let (old, cache) = (storedCandidate.hit.record, arrival.cache)
        let options = storedCandidate.variant?.options ?? arrival.options
        guard let origin = arrival.origin(renewing: old.origin, old.answer?.metadata),
            let hit = try cache.revive(storedCandidate.hit, origin, options: options.storage)
        else { return nil }
        var result = try answer(hit, in: cache, options, arrival.needs)
        result.isRevalidated = true
        return result
    }

    /// Forgets what is kept of URLs at which a request that is no GET has changed something (RFC 9111, 4.4), if the request
    /// goes by HTTP. Waits for the disk.
    ///
    /// - Parameter keepsOwn: `true` when the entry under the request's own key is left for the answer that replaces it.
    func forget(_ urls: [String], changedBy plan: FetchPlan, keepsOwn: Bool) throws {
        if urls.isEmpty { return }
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

extension ImageRecord {
    /// `true` when this is another image than `old`, or its server has been heard of since.
    fileprivate func isNews(since old: ImageRecord) -> Bool {
        let isSame = old.stamp == stamp && old.storedAt == storedAt
        return !isSame || (answer?.metadata.receivedAt ?? 0) > old.answer?.metadata.receivedAt ?? 0
    }
}
