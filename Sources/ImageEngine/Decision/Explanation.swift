internal import Platform

/// What a request would be answered with, and why (C-03): a plain value.
public struct Explanation: Sendable, Equatable {
    /// What would be done.
    public enum Verdict: String, Sendable, CaseIterable {
        /// What is stored is answered.
        case answer
        /// What is stored is answered, though the request would have it checked: offline.
        case answerStale
        /// What is stored is answered, and loaded anew behind that.
        case answerAndRefresh
        /// The server is asked whether what is stored has changed.
        case revalidate
        /// The image is loaded.
        case load
        /// The request fails.
        case fail
    }

    /// The key under which the image is kept.
    public var key: String
    /// Where the image is on disk, or would be.
    public var path: String
    /// Which tier has an image of the key whose time is not over.
    public var cacheType = CacheType.none
    /// When what is stored was stored, in seconds since 1970; nil when nothing is.
    public var storedAt: Int?
    /// When its time on disk is over; nil for never.
    public var expiresAt: Int?
    /// Whether what is stored is not as fresh as the request wants it; nil when nothing is.
    public var isStale: Bool?
    /// What would be done.
    public var verdict = Verdict.load
    /// Whether the network would be used.
    public var usesNetwork = false
    /// The URL that would be asked first; nil when none would.
    public var url: String?
    /// Why, step by step, each a sentence.
    public var reasons: [String] = []
    /// What the request would fail with, as far as that is known without asking anybody.
    public var error: ImageError?

    /// The same, but the request fails.
    fileprivate func failing(_ error: ImageError, _ reason: String) -> Explanation {
        var failing = self
        (failing.verdict, failing.error) = (.fail, error)
        failing.reasons.append(reason)
        return failing
    }
}

extension ImageManager {
    /// What ``image(_:in:options:needs:caller:)`` would do now, by the same ``CacheDecision``. Nothing is loaded, promoted,
    /// extended or leased, and no delegate is asked. Waits for the disk.
    public func explain(
        _ resource: Resource, in cache: ImageCache, options given: ImageOptions
    ) throws(ImageError) -> Explanation {
        let options = completed(given, for: cache)
        let key = CacheKey(resource.cacheKey)
        var told = Explanation(key: key.key, path: cache.disk.path(for: key))
        if ExactText(resource.url) != ExactText(resource.cacheKey) {
            told.reasons.append("The key is not the URL: it was given, or made by keyRules.")
        }
        told.cacheType = try cache.cacheType(for: key, burst: 0, mayWait: true) ?? .none
        let policy = policy(resource, options)
        let entry = try storedEntry(resource, in: cache, options, policy, &told)
        let decision = policy.decision(for: entry)
        told.reasons.append(Self.words(decision, policy, entry, options))
        if entry != nil { told.isStale = !decision.isFreshAnswer }
        switch decision.action {
        case .answer(let isStale): told.verdict = isStale ? .answerStale : .answer
        case .answerAndRefresh: told.verdict = .answerAndRefresh
        case .revalidate: told.verdict = .revalidate
        case .load, .fail: told.verdict = .load
        }
        if case .answer = decision.action {
            if options.lookup.verifyDecode == true, entry?.isDecoded == false {
                told.reasons.append("All of it is decoded first (verifyDecode), and if that fails it is loaded.")
            }
            return told
        }
        if decision.action == .load || decision.action == .fail,
            policy.mayCopyFromOtherCache(hasEntry: entry != nil),
            let name = try otherCache(with: key, besides: cache, resource, options)
        {
            told.verdict = .answer
            told.reasons.append("The cache \"\(name)\" has it (originalCache), and it is copied from there.")
            return told
        }
        if decision.action == .fail {
            let why = policy.onlyFromCache ? "onlyFromCache" : "only-if-cached"
            return told.failing(.notCached(key: key.key), "Nothing may be loaded (\(why)).")
        }
        let isLocalSource = options.network.alternativeSources.contains { !Resource(url: $0).isOnNetwork }
        if policy.isOffline, !isLocalSource {
            return told.failing(.offline(key: key.key), "Nothing may be loaded from the network (offline).")
        }
        try explainLoading(resource, in: cache, options, &told)
        return told
    }

    /// What is stored under the key of a resource, as a request stands to it; `nil` when nothing is.
    private func storedEntry(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ policy: RetrievalPolicy,
        _ told: inout Explanation
    ) throws(ImageError) -> RetrievalPolicy.Entry? {
        let key = CacheKey(resource.cacheKey)
        let inMemoryOnly = options.storage.fromMemoryCacheOrRefresh
        var record = inMemoryOnly && told.cacheType != .memory ? nil : try cache.knownRecord(for: key)
        if record == nil, !inMemoryOnly { record = try cache.disk.recordEvenExpired(key) }
        guard let record else { return nil }
        let moment = cache.disk.clock.now
        let over = told.cacheType == .none ? record.expiryTime.map { HTTPFreshness.span(from: $0, to: moment) } : nil
        told.path = record.path ?? told.path
        (told.storedAt, told.expiresAt) = (cache.disk.clock.wall(record.storedAt), record.expiresAt)
        told.reasons.append(
            over.map { "It is stored, and its time in the cache has been over for \($0) s." }
                ?? "It is stored in the \(told.cacheType == .memory ? "memory" : "disk") tier.")
        return entry(
            of: ImageCache.Candidate(hit: ImageCache.Hit(record: record), expiredFor: over),
            as: OutgoingRequest(url: resource.url, options: options), in: cache, policy)
    }

    /// The sentence for the rule that decided.
    private static func words(
        _ decision: CacheDecision, _ policy: RetrievalPolicy, _ entry: RetrievalPolicy.Entry?, _ options: ImageOptions
    ) -> String {
        let age = "It is \(entry?.age ?? 0) s old, and revalidate is \"\(policy.mode.rawValue)\""
        return switch decision.reason {
        case .nothingStored:
            "Nothing is stored under the key\(options.storage.fromMemoryCacheOrRefresh ? " in memory" : "")."
        case .forced: "It is not looked at (forceRefresh)."
        case .foreign: "It was fetched with credentials that this request does not have."
        case .otherBytes: "Its bytes are not those that integrity names."
        case .damaged: "It cannot be decoded whole, as was found before (verifyDecode)."
        case .otherRequest: "\(age): it was stored for another request (Vary)."
        case .fresh: policy.mode == .never ? "It has not expired." : "\(age): it is fresh."
        case .cacheOnly: "It is answered though it would be checked, because nothing may be loaded."
        case .acceptedStale: "\(age): it is stale, and the request takes it so (Cache-Control)."
        case .staleWhileRevalidate:
            "\(age): it is stale, but its server lets it be used while it is loaded anew."
        case .stale where policy.mode == .never: "It has expired."
        case .stale where decision.action == .revalidate: "\(age): its server is asked whether it has changed."
        case .stale: "\(age): it is stale, and its server cannot be asked about it."
        }
    }

    /// The name of the other cache that has the image.
    private func otherCache(
        with key: CacheKey, besides cache: ImageCache, _ resource: Resource, _ options: ImageOptions
    ) throws(ImageError) -> String? {
        guard let name = options.lookup.originalCache, name != cache.name, let original = self.cache(name),
            let record = try original.knownRecord(for: key), !record.isLocalFile,
            answers(ImageCache.Hit(record: record), to: resource, in: original, options)
        else { return nil }
        return name
    }

    /// What would come of asking the first source, as far as that is known.
    private func explainLoading(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ told: inout Explanation
    ) throws(ImageError) {
        do throws(ImageError) {
            guard case .network(let url) = try source(of: resource.url) else {
                told.reasons.append("The URL holds the image, or names a file of this machine: no network is used.")
                return
            }
            let request = try DownloadRequest(url: url, options: options.network)
            let hop = try downloader.rules.rewritten(Hop(request))
            if hop.url != request.webURL.withoutCredentials {
                told.reasons.append("It is loaded from elsewhere instead, as urlRewrites says.")
            }
            (told.usesNetwork, told.url) = (true, hop.url.text)
            if options.asksToModify { told.reasons.append("The client is asked first, and may change the request.") }
            let policy = configuration.downloader.policy
            if let reason = policy.refusal(scheme: hop.url.scheme) {
                throw ImageError.invalidURL(hop.url.text, reason: reason)
            }
            let address = IPAddress(hop.url.host).flatMap {
                policy.refusal(downloader.transport.settings.classify($0), after: nil)
            }
            if let reason = policy.refusal(host: hop.url.host) ?? address {
                throw ImageError.forbiddenAddress(url: hop.url.text, reason: reason)
            }
            try admit(request, CacheKey(resource.cacheKey), in: cache, options)
            if let proxy = downloader.transport.settings.proxies.proxy(for: hop.url),
                let host = URLOrigin.host(of: proxy)
            {
                told.reasons.append("It goes through the proxy \(host).")
            }
        } catch {
            if told.verdict == .answerAndRefresh { return }
            told.error = error
            told.reasons.append("\(error)")
            (told.usesNetwork, told.url) = (false, nil)
            if options.network.alternativeSources.isEmpty { told.verdict = .fail }
        }
        if !options.network.alternativeSources.isEmpty {
            told.reasons.append(
                "Of \(options.network.alternativeSources.count) other sources the next is tried if that fails.")
        }
        if options.network.onFailureImage != nil {
            told.reasons.append("If all fails, the onFailureImage stands in.")
        }
    }
}
