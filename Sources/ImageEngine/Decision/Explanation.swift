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
}

extension ImageManager {
    /// What ``image(_:in:options:needs:caller:)`` would do now. Nothing is loaded, promoted, prolonged or lent, and nobody
    /// is asked. Waits for the disk.
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
        var record = try cache.knownRecord(for: key)
        if options.storage.fromMemoryCacheOrRefresh, told.cacheType != .memory { record = nil }
        if record == nil, !options.storage.fromMemoryCacheOrRefresh { record = try cache.disk.recordEvenExpired(key) }
        let judged = judge(record, resource, in: cache, options, &told)
        switch judged {
        case .answer(let isStale):
            told.verdict = isStale ? .answerStale : .answer
            return told
        case .answerAndRefresh: told.verdict = .answerAndRefresh
        case .revalidate: told.verdict = .revalidate
        case .load:
            told.verdict = .load
            if let name = try original(of: key, in: cache, resource, options) {
                told.verdict = .answer
                told.reasons.append("The cache \"\(name)\" has it (originalCache), and it is copied from there.")
                return told
            }
        }
        let staysInCache = options.lookup.onlyFromCache || options.staysInCache && resource.isOnNetwork
        if staysInCache || isOffline(options) && resource.isOnNetwork {
            told.verdict = .fail
            let why = options.lookup.onlyFromCache ? "onlyFromCache" : "only-if-cached"
            told.reasons.append(
                staysInCache
                    ? "Nothing may be loaded (\(why))." : "Nothing may be loaded from the network (offline).")
            told.error = staysInCache ? .notCached(key: key.key) : .offline(key: key.key)
            return told
        }
        try explainLoading(resource, in: cache, options, &told)
        return told
    }

    /// What is done with what is stored.
    private func judge(
        _ record: ImageRecord?, _ resource: Resource, in cache: ImageCache, _ options: ImageOptions,
        _ told: inout Explanation
    ) -> RetrievalPolicy.Verdict {
        guard let record else {
            told.reasons.append(
                "Nothing is stored under the key\(options.storage.fromMemoryCacheOrRefresh ? " in memory" : "").")
            return .load
        }
        let over =
            told.cacheType == .none
            ? record.expiryTime.map { HTTPFreshness.span(from: $0, to: cache.disk.clock.now) } : nil
        let hit = ImageCache.Hit(entry: ImageCache.MemoryEntry(record: record, bytes: nil), cacheType: told.cacheType)
        told.path = record.path ?? told.path
        (told.storedAt, told.expiresAt) = (cache.disk.clock.wall(record.storedAt), record.expiresAt)
        told.reasons.append(
            over.map { "It is stored, and its time in the cache has been over for \($0) s." }
                ?? "It is stored in the \(told.cacheType == .memory ? "memory" : "disk") tier.")
        let candidate = ImageCache.Candidate(hit: hit, expiredFor: over)
        let entry = candidate.entry(
            for: scopes(of: resource.url, options, for: record), at: cache.disk.clock.now)
        let policy = policy(options, mode: resource.isOnNetwork ? nil : .never)
        let verdict = policy.verdict(entry)
        told.isStale = verdict != .answer(isStale: false)
        if entry.isForeign {
            told.reasons.append("It was fetched with credentials that this request does not have.")
        } else if options.lookup.verifyDecode == true, record.decodeVerdict == .damaged {
            told.reasons.append("It cannot be decoded whole, as was found before (verifyDecode).")
            return .load
        } else if !Self.allows(hit, options, mayWait: true) {
            told.reasons.append("Its bytes are not those that integrity names.")
            return .load
        } else if policy.mode != .never {
            told.reasons.append(Self.words(verdict, policy, entry))
        }
        if options.lookup.forceRefresh, !policy.isOffline {
            told.reasons.append("It is not looked at (forceRefresh).")
            return .load
        }
        if options.lookup.verifyDecode == true, record.decodeVerdict == nil {
            told.reasons.append("All of it is decoded first (verifyDecode), and if that fails it is loaded.")
        }
        return verdict
    }

    private static func words(
        _ verdict: RetrievalPolicy.Verdict, _ policy: RetrievalPolicy, _ entry: RetrievalPolicy.Entry
    ) -> String {
        let age = "It is \(entry.age) s old, and revalidate is \"\(policy.mode.rawValue)\""
        return switch verdict {
        case .answer(false): "\(age): it is fresh."
        case .answer(true) where policy.isOffline || policy.onlyFromCache:
            "\(age): it would be checked, but nothing may be loaded."
        case .answer(true): "\(age): it is stale, and the request takes it so (Cache-Control)."
        case .answerAndRefresh: "\(age): it is stale, but its server lets it be used while it is loaded anew."
        case .revalidate: "\(age): its server is asked whether it has changed."
        case .load where !entry.suits: "\(age): it was stored for another request (Vary)."
        case .load: "\(age): it is stale, and its server cannot be asked about it."
        }
    }

    /// The name of the other cache that has the image.
    private func original(
        of key: CacheKey, in cache: ImageCache, _ resource: Resource, _ options: ImageOptions
    ) throws(ImageError) -> String? {
        guard let name = options.lookup.originalCache, name != cache.name, !options.lookup.forceRefresh,
            !resource.isOnNetwork || [.never, .ifExpired].contains(options.lookup.revalidate ?? .never)
                || isOffline(options),
            let original = self.cache(name), let record = try original.knownRecord(for: key),
            mayAnswer(record, to: resource.url, options)
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
