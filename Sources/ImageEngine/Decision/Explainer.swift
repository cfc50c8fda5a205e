internal import Platform

/// Explains what a request would do now, with the ``CacheDecision`` that a request uses, and the ``StoragePlan`` that it
/// uses if the image is as large as the stored one, and its server says the same about storing it.
struct Explainer: Sendable {
    let engine: EngineServices

    /// The explanation; see ``ImageManager/explain(_:in:options:)``.
    func explain(
        _ resource: Resource, in cache: ImageCache, options given: ImageOptions
    ) throws(ImageError) -> Explanation {
        let options = cache.completed(given, for: engine.downloader)
        var told = try explainAlone(resource, in: cache, options)
        guard told.verdict == .fail, let name = options.network.onFailureImage else { return told }
        let standIn = ImageLoader(engine: engine).standIn(name, for: resource.url, options)
        let other = try explain(cache.resource(standIn.url), in: cache, options: standIn.options)
        (told.usesNetwork, told.url) = (other.usesNetwork, other.url)
        told.reasons.append(
            other.verdict == .fail
                ? "The onFailureImage cannot be answered either." : "The onFailureImage is answered instead.")
        return told
    }

    /// The explanation without the failure image.
    private func explainAlone(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions
    ) throws(ImageError) -> Explanation {
        if let error = ImageLoader(engine: engine).refusal(of: resource, options) {
            let key = options.processing.recipe.cacheKey(engine.lookup.ownKey(resource, options))
            return Explanation(resource, path: cache.disk.path(for: key)).failing(error, "\(error)")
        }
        return options.processing.recipe.isEmpty
            ? try explain(resource, in: cache, options) : try explainMade(resource, in: cache, options)
    }

    /// - Parameter options: Completed options without a recipe.
    private func explain(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions
    ) throws(ImageError) -> Explanation {
        let key = engine.lookup.ownKey(resource, options)
        var told = Explanation(resource, path: cache.disk.path(for: key))
        let policy = engine.lookup.policy(resource, options)
        let found = try stored(resource, in: cache, options, policy, &told)
        let (entry, storedKey) = (found?.entry, found?.candidate.hit.record.key)
        let decision = policy.decision(for: entry)
        told.reasons.append(Self.words(decision, policy, entry, options))
        if entry != nil { told.isStale = !decision.isFreshAnswer }
        let storedPath = told.path
        switch decision.action {
        case .answer(let isStale): told.verdict = isStale ? .answerStale : .answer
        case .answerAndRefresh: told.verdict = .answerAndRefresh
        case .revalidate, .load, .fail:
            told.verdict = decision.action == .revalidate ? .revalidate : .load
            // What is loaded, or confirmed for another user, goes to the request's own entry.
            if storedKey != key { told.path = cache.disk.path(for: key) }
        }
        if case .answer = decision.action {
            if options.lookup.verifyDecode == true, entry?.isDecoded == false {
                told.reasons.append("All of it is decoded first (verifyDecode), and if that fails it is loaded.")
            }
            return told
        }
        if policy.mayCopyFromOtherCache(decision),
            let name = try otherCache(besides: cache, resource, options)
        {
            told.verdict = .answer
            told.reasons.append("The cache \"\(name)\" has it (originalCache), and it is copied from there.")
            return told
        }
        if decision.action == .fail {
            let why = policy.onlyFromCache ? "onlyFromCache" : "only-if-cached"
            let url = resource.url.isEmpty ? nil : resource.url
            return told.failing(.notCached(key: key.key, url: url), "Nothing may be downloaded (\(why)).")
        }
        let isLocalSource = options.network.alternativeSources.contains { !Resource(url: $0).isOnNetwork }
        if policy.isOffline, !isLocalSource {
            return told.failing(
                .offline(key: key.key, url: resource.url), "Nothing may be loaded from the network (offline).")
        }
        explainRequest(resource, in: cache, options, policy, entry, &told)
        if told.verdict == .answerStale {
            told.path = storedPath
        } else {
            explainRest(found, in: cache, options, &told)
        }
        return told
    }

    /// The stored image for a resource, from the view of the request; `nil` when nothing is stored.
    private func stored(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ policy: RetrievalPolicy,
        _ told: inout Explanation
    ) throws(ImageError) -> StoredImage? {
        let request = OutgoingRequest(url: resource.url, options: options)
        func find(isAnew: Bool) throws(ImageError) -> StoredImage? {
            try engine.lookup.stored(resource, for: request, in: cache, policy) { (key) throws(ImageError) in
                try known(key, in: cache, options, isAnew: isAnew)
            }
        }
        guard var found = try find(isAnew: false) else { return nil }
        // Before its server is asked, a load looks whether another process has done that.
        if found.candidate.hit.cacheType == .memory, !policy.decision(for: found.entry).isFreshAnswer {
            found = try find(isAnew: true) ?? found
        }
        let (hit, over) = (found.candidate.hit, found.candidate.expiredFor)
        told.cacheType = over == nil ? hit.cacheType : .none
        told.note(hit.record, in: cache)
        told.reasons.append(
            over.map { "It is stored, but expired \($0) s ago (diskCacheExpiration, or the cache's setting)." }
                ?? "It is stored in the \(told.cacheType == .memory ? "memory" : "disk") tier.")
        return found
    }

    /// The image of an entry, also when its time is over.
    ///
    /// - Parameter isAnew: `true` for what the index says of it instead of memory.
    private func known(
        _ key: CacheKey, in cache: ImageCache, _ options: ImageOptions, isAnew: Bool = false
    ) throws(ImageError) -> ImageCache.Candidate? {
        let inMemoryOnly = options.storage.fromMemoryCacheOrRefresh
        let tier = try cache.cacheType(for: key, burst: 0, mayWait: true).value
        if tier == .memory || tier == .disk && !inMemoryOnly {
            return try cache.knownHit(for: key).map { hit in
                ImageCache.Candidate(hit: isAnew ? cache.seenAnew(hit, patience: options.patience) : hit)
            }
        }
        guard !inMemoryOnly, let record = try cache.disk.recordEvenExpired(key) else { return nil }
        return ImageCache.Candidate(record, at: cache.disk.clock.now)
    }

    /// The explanation for a made image: by the stored made image, otherwise by its original.
    private func explainMade(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions
    ) throws(ImageError) -> Explanation {
        let own = options.processing.recipe.cacheKey(engine.lookup.ownKey(resource, options))
        var told = Explanation(resource, path: cache.disk.path(for: own))
        if try isAnsweredByMade(resource, in: cache, options, &told) { return told }
        var loading = options.loadingOriginal(of: resource)
        loading.network.onFailureImage = options.network.onFailureImage
        var original = try explain(resource, in: engine.lookup.originals(for: cache, options), loading)
        original.reasons.insert("It is made from its original, which the other sentences describe.", at: 0)
        (original.path, original.cacheType) = (told.path, .none)
        let isStale = original.isStale
        (original.storedAt, original.expiresAt, original.isStale) = (nil, nil, nil)
        // Made before: of this original, or of another one or for another request, and then made anew.
        if let made = try cache.knownHit(for: own) {
            let isUsable = try engine.lookup.isUsable(made.record, of: resource, in: cache, options)
            original.note(made.record, in: cache)
            (original.cacheType, original.isStale) = isUsable ? (made.cacheType, isStale) : (.none, true)
        }
        return original
    }

    /// `true` when a stored made image is answered or revalidated; then `told` says so.
    private func isAnsweredByMade(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ told: inout Explanation
    ) throws(ImageError) -> Bool {
        let (policy, request) = (
            engine.lookup.policy(resource, options), OutgoingRequest(url: resource.url, options: options)
        )
        if policy.isForced { return false }
        if policy.mode != .never {
            guard engine.lookup.mayBeChecked(with: options, in: cache),
                try engine.lookup.lacksEvenExpired(engine.lookup.keys(resource, options), in: cache)
            else { return false }
        }
        for key in engine.lookup.madeKeys(resource, options) {
            guard let found = try known(key, in: cache, options) else { continue }
            var (use, entry) = (MadeImageUse.answer(isStale: false), RetrievalPolicy.Entry?.none)
            if policy.mode == .never {
                guard found.expiredFor == nil,
                    try engine.lookup.isUsable(found.hit.record, of: resource, in: cache, options)
                else { continue }
            } else {
                let known = engine.lookup.entry(of: found, as: request, in: cache, policy)
                use = policy.use(ofMade: found, known, for: engine.scopes.scope(of: resource.url, options))
                entry = known
            }
            let ownPath = told.path
            switch use {
            case .makeAnew: return false
            case .answer(let isStale):
                (told.verdict, told.isStale) = (isStale ? .answerStale : .answer, isStale)
                told.reasons.append("It was made before.")
            case .revalidate:
                (told.verdict, told.isStale) = (.revalidate, true)
                told.reasons.append("It was made before, and its server is asked about it.")
                explainRequest(resource, in: cache, options.loadingOriginal(of: resource), policy, entry, &told)
            }
            told.cacheType = found.expiredFor == nil ? found.hit.cacheType : .none
            told.note(found.hit.record, in: cache)
            // What is confirmed for another user goes to the request's own entry.
            let isOwn = key.partition == engine.lookup.ownKey(resource, options).partition
            if told.verdict == .revalidate, !isOwn { told.path = ownPath }
            return true
        }
        return false
    }

    private static func words(
        _ decision: CacheDecision, _ policy: RetrievalPolicy, _ entry: RetrievalPolicy.Entry?, _ options: ImageOptions
    ) -> String {
        let limit = entry.flatMap { policy.ageLimit(of: $0) }.map { ", \($0)," } ?? ","
        let age = "It is \(entry?.age ?? 0) s old\(limit) and revalidate is \"\(policy.mode.rawValue)\""
        return switch decision.reason {
        case .nothingStored:
            "Nothing is stored under the key\(options.storage.fromMemoryCacheOrRefresh ? " in memory" : "")."
        case .forced: "The cache is not read (forceRefresh)."
        case .foreign where decision.action == .revalidate:
            "It was fetched with other credentials than this request has: its server is asked whether it is the same."
        case .foreign: "It was fetched with other credentials than this request has, or with none."
        case .otherBytes: "Its bytes are not those that integrity names."
        case .damaged: "It cannot be decoded whole, as was found before (verifyDecode)."
        case .otherRequest: "\(age): it was stored for another request (Vary)."
        case .fresh: policy.mode == .never ? "It has not expired." : "\(age): it is fresh."
        case .cacheOnly: "It is answered without the check that it needs, because nothing may be loaded."
        case .acceptedStale: "\(age): it is stale, and the request accepts that (Cache-Control)."
        case .staleWhileRevalidate:
            "\(age): it is stale, but its server allows its use while it is loaded again."
        case .stale where policy.mode == .never: "It has expired."
        case .stale where decision.action == .revalidate: "\(age): its server is asked whether it has changed."
        case .stale: "\(age): it is stale, and its server cannot be asked about it."
        }
    }

    private func otherCache(
        besides cache: ImageCache, _ resource: Resource, _ options: ImageOptions
    ) throws(ImageError) -> String? {
        guard let name = options.lookup.originalCache, name != cache.name, let original = engine.caches.cache(name)
        else { return nil }
        for key in engine.lookup.keys(resource, options) {
            guard let tier = try original.cacheType(for: key, burst: 0, mayWait: true).value,
                tier == .memory || !options.storage.fromMemoryCacheOrRefresh,
                let hit = try original.knownHit(for: key), !hit.record.isLocalFile,
                engine.lookup.answers(hit, to: resource, in: original, options)
            else { continue }
            return name
        }
        return nil
    }

    /// Explains the request for an image that is loaded or revalidated: whether it may be sent, and where to.
    private func explainRequest(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ policy: RetrievalPolicy,
        _ entry: RetrievalPolicy.Entry?, _ told: inout Explanation
    ) {
        // A refresh asks no other source.
        let others = told.verdict == .answerAndRefresh ? [] : options.network.alternativeSources
        var failure: ImageError?
        for url in [resource.url] + others {
            let scoped = options.scoped(from: resource.url, to: url)
            do throws(ImageError) {
                return try explainRequest(for: url, resource.cacheKey, in: cache, scoped, &told)
            } catch {
                told.reasons.append("\(error)")
                // That of the first is the one of the request.
                failure = failure ?? error
                told.error = failure
            }
        }
        let mayStandIn = failure.flatMap { error in entry.map { policy.mayStandIn($0, after: error) } } == true
        guard told.verdict == .answerAndRefresh || mayStandIn else { return told.verdict = .fail }
        (told.verdict, told.error) = (.answerStale, nil)
        told.reasons.append("The stored image is answered in its place.")
    }

    /// Explains the request for one source.
    ///
    /// - Throws: The reason why it is not sent.
    private func explainRequest(
        for url: String, _ key: String, in cache: ImageCache, _ options: ImageOptions, _ told: inout Explanation
    ) throws(ImageError) {
        let source = try ImageLoader(engine: engine).source(of: url, options)
        if case .file(let path) = source { told.path = path }
        guard case .network(let url) = source else {
            told.reasons.append("The URL holds the image, or names a file of this machine: no network is used.")
            return
        }
        let request = try DownloadRequest(url: url, options: options.network)
        let hop = try engine.downloader.rules.rewritten(HTTPRequest(request))
        if hop.url != request.webURL.withoutCredentials {
            told.reasons.append("It is loaded from elsewhere instead, as urlRewrites says.")
        }
        if options.asksToModify { told.reasons.append("The client is asked first, and may change the request.") }
        if let refusal = engine.downloader.transport.settings.refusal(of: hop.url) { throw refusal }
        try ImageLoader(engine: engine).admit(request, key: key, in: cache, options)
        (told.usesNetwork, told.url) = (true, hop.url.text)
        if let proxy = engine.downloader.transport.settings.proxies.proxy(for: hop.url),
            let host = URLParts.host(ofProxy: proxy)
        {
            told.reasons.append("It goes through the proxy \(host).")
        }
    }

    /// Explains what comes after the request for an image: other sources, the failure image and the tiers that keep it.
    ///
    /// - Parameter found: The stored image.
    private func explainRest(
        _ found: StoredImage?, in cache: ImageCache, _ options: ImageOptions, _ told: inout Explanation
    ) {
        if !options.network.alternativeSources.isEmpty {
            told.reasons.append(
                "Of \(options.network.alternativeSources.count) other sources the next is tried if that fails.")
        }
        if told.verdict != .fail, options.network.onFailureImage != nil {
            told.reasons.append("If everything fails, the onFailureImage is used.")
        }
        let known = found.flatMap { $0.entry.isForeign ? nil : $0.candidate.hit.record }
        let (count, isAsked) = (known?.byteCount ?? 0, options.cacheControl?.noStore == true)
        let plan = StoragePolicy(options, .bytes)
            .plan(
                for: StoragePolicy.Image(
                    byteCount: count, isNoStore: isAsked || known?.origin.isNoStore == true,
                    diskLimit: cache.disk.configuration.bytesLimit,
                    memory: cache.memory.configuration.admission(cost: count, isLight: false)))
        let reason: String? =
            switch plan.reason {
            case .notAsked: "the options name none (cacheMemoryOnly and memory)."
            case .memoryOff: "memory alone is to keep it, and memory is off."
            case .noStore where isAsked: "the request forbids that (Cache-Control no-store)."
            case .noStore: "what is stored came with Cache-Control no-store."
            case .tooLarge:
                "the stored one has \(count) bytes, more than \(plan.admission?.setting ?? "bytesLimit") allows."
            default: nil
            }
        if let reason { told.reasons.append("No tier keeps it: \(reason)") }
    }
}

extension RetrievalPolicy {
    /// The time for which the request takes an entry for fresh, in words, with what it comes from; `nil` when it does not
    /// follow HTTP or nothing is known.
    fileprivate func ageLimit(of entry: Entry) -> String? {
        guard mode == .http, let freshness = entry.freshness else { return nil }
        if wanted?.noCache == true { return "never fresh (no-cache of the request)" }
        if freshness.control.noCache { return "never fresh (Cache-Control no-cache)" }
        if let asked = wanted?.maxAge, asked < freshness.lifetime {
            return "fresh for \(asked) s (max-age of the request)"
        }
        let basis =
            switch freshness.basis {
            case .maxAge: "Cache-Control max-age"
            case .expires: "Expires"
            case .lastModified: "guessed by Last-Modified"
            case .redirect: "as the redirect to it says"
            case .nothing: "no header field says how long"
            }
        let less = wanted.map(\.minFresh).flatMap { $0 > 0 ? ", but min-fresh \($0) of the request" : nil } ?? ""
        return "fresh for \(freshness.lifetime) s (\(basis)\(less))"
    }
}
