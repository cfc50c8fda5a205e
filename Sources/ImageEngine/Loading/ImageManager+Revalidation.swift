internal import Platform

extension ImageManager {
    /// What is stored already when an image is loaded.
    struct Standing: Sendable {
        let hit: ImageCache.Hit
        /// What makes the request conditional; nil when the image is loaded whatever its server says.
        var validators: Validators?
        /// Set when it is not the image itself, but something that was made of it.
        var variant: VariantWish?

        /// The same for another source, to which the validators say nothing.
        var unasked: Standing { Standing(hit: hit, validators: nil) }
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
                    route: HTTPRoute(
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
            let route = HTTPRoute(download.route, wanted: nil, at: clock.wallNow)
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

    /// - Parameter mode: What counts instead of the options' own.
    func policy(_ options: ImageOptions, mode: Revalidation? = nil) -> RetrievalPolicy {
        let mode = mode ?? options.lookup.revalidate ?? .never
        return RetrievalPolicy(
            mode: mode, isOffline: isOffline(options), onlyFromCache: options.lookup.onlyFromCache,
            staleIfError: options.lookup.staleIfError, wanted: mode == .http ? options.cacheControl : nil)
    }

    // MARK: Before anything is loaded

    /// The image by a request that goes by more than the cache's own time: checked with its server, or offline.
    ///
    /// - Returns: nil for a request of the ordinary kind, and for what needs no network.
    @inline(never)
    func judgedImage(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds, _ caller: ImageCaller
    ) async throws -> ImageResult? {
        let policy = policy(options)
        guard policy.mode != .never || policy.isOffline || policy.staleIfError != nil, resource.isOnNetwork else {
            return nil
        }
        let key = CacheKey(resource.cacheKey)
        var outgoing = OutgoingRequest(url: resource.url, options: options)
        // What is found for `forceRefresh` may only stand in when loading fails; offline it is all there is.
        let found = try await pool.run { [self, outgoing] () throws -> ImageCache.Candidate? in
            guard var found = try cache.candidate(for: key, options: options.storage, evenExpired: true) else {
                return nil
            }
            if options.lookup.verifyDecode == true, found.hit.record.decodeVerdict == .damaged { return nil }
            if policy.verdict(self.entry(of: found, to: outgoing, in: cache)) != .answer(isStale: false) {
                found = ImageCache.Candidate(
                    hit: try cache.renewed(found.hit, options: options.storage), expiredFor: found.expiredFor)
            }
            return found
        }
        var entry = found.map { self.entry(of: $0, to: outgoing, in: cache) }
        if let found, let judged = entry, options.asksToModify, !options.lookup.forceRefresh,
            policy.verdict(judged) != .answer(isStale: false),
            judged.isForeign || !policy.isOffline && !policy.onlyFromCache
        {
            // It is to be judged by what will be sent.
            outgoing = try await modified(resource.url, options)
            entry = self.entry(of: found, to: outgoing, in: cache)
        }
        let scope = scope(of: outgoing.url, outgoing.options)
        var standing: Standing?
        if let found {
            switch options.lookup.forceRefresh && !policy.isOffline ? .load : policy.verdict(entry) {
            case .answer(let isStale):
                count(found.hit.cacheType)
                return try await answer(
                    found, isStale: isStale || options.lookup.forceRefresh, in: cache, options, needs)
            case .answerAndRefresh:
                count(found.hit.cacheType)
                refresh(resource, Standing(hit: found.hit, validators: found.validators(for: scope)), cache, outgoing)
                return try await answer(found, isStale: true, in: cache, options, needs)
            case .revalidate: standing = Standing(hit: found.hit, validators: found.validators(for: scope))
            case .load: standing = Standing(hit: found.hit)
            }
        }
        if found == nil, [.never, .ifExpired].contains(policy.mode) || policy.isOffline,
            let original = try await originalImage(resource, for: cache, options, needs)
        {
            count(original.cacheType)
            return original
        }
        try Task.checkCancellation()
        if options.staysInCache { throw ImageError.notCached(key: resource.cacheKey) }
        do {
            let result = try await load(resource, in: cache, options, needs, caller, standing, outgoing: outgoing)
            count(result.cacheType)
            return result
        } catch let error as ImageError {
            count(.none)
            guard let found, let entry, policy.mayStandIn(entry, after: error) else { throw error }
            return try await answer(found, isStale: true, in: cache, options, needs)
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

    /// Whether an image may be answered without asking its server.
    func isFresh(_ hit: ImageCache.Hit, _ url: String, in cache: ImageCache, _ options: ImageOptions) -> Bool {
        let policy = policy(options, mode: .http)
        let outgoing = OutgoingRequest(url: url, options: options)
        return policy.verdict(entry(of: ImageCache.Candidate(hit: hit), to: outgoing, in: cache))
            == .answer(isStale: false)
    }

    /// What is stored, as a request stands to it.
    func entry(
        of found: ImageCache.Candidate, to request: OutgoingRequest, in cache: ImageCache
    ) -> RetrievalPolicy.Entry {
        found.entry(
            for: scopes(of: request.url, request.options, for: found.hit.record), at: cache.disk.clock.now)
    }

    /// Whether what another flight has brought is what this one would bring.
    func satisfies(
        _ hit: ImageCache.Hit, in cache: ImageCache, _ request: OutgoingRequest, _ standing: Standing?
    ) -> Bool {
        switch request.options.lookup.revalidate ?? .never {
        case .never, .ifExpired: return true
        case .http: return isFresh(hit, request.url, in: cache, request.options)
        case .always:
            guard let old = standing?.hit.record else { return true }
            let isSame = old.stamp == hit.record.stamp && old.storedAt == hit.record.storedAt
            // Heard of since, by another process that asked its server.
            let heard = hit.record.answer?.metadata.receivedAt ?? 0
            return !isSame || heard > old.answer?.metadata.receivedAt ?? 0
        }
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
    func revive(_ standing: Standing?, _ arrival: Arrival) async throws -> ImageResult? {
        guard arrival.download.response.isConfirmation, let standing else { return nil }
        let cache = arrival.cache
        let options = standing.variant?.options ?? arrival.options
        return try await pool.run { [self] in
            let old = standing.hit.record
            guard let origin = arrival.origin(renewing: old.origin, old.answer?.metadata),
                let hit = try cache.revive(standing.hit, origin, options: options.storage)
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
    func forgetChanged(_ urls: [String], by flying: Flying, keepsOwn: Bool) async throws {
        if urls.isEmpty { return }
        try await pool.run { [self] in try forget(urls, changedBy: flying, keepsOwn: keepsOwn) }
    }

    /// The same on a thread that may wait.
    func forget(_ urls: [String], changedBy flying: Flying, keepsOwn: Bool) throws {
        guard flying.outgoing.options.lookup.revalidate == .http else { return }
        let keys = Set(urls.map { CacheKey(flying.cache.resource($0).cacheKey) })
        for key in keys where !keepsOwn || key != flying.key { _ = try flying.cache.remove(key, allVariants: true) }
    }

    /// What is to be stored of an answer.
    func store(_ arrival: Arrival) -> Storing {
        Storing(
            content: .body(arrival.download.body), key: arrival.key, cache: arrival.cache, source: arrival.request.url,
            origin: arrival.origin, options: arrival.options, needs: arrival.needs,
            contentType: arrival.request.dataModifier == nil ? arrival.download.response.contentType : nil)
    }
}

extension ImageOptions {
    /// What the request's own header fields ask of caches.
    fileprivate var cacheControl: CacheControl? {
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

extension Storing {
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
