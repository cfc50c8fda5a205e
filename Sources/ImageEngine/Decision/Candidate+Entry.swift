extension ImageManager {
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

    /// `true` when a cached image that is not expired may be answered to a request without asking its server, whatever the
    /// request says about revalidation. May read its file.
    func answers(
        _ hit: ImageCache.Hit, to resource: Resource, in cache: ImageCache, _ options: ImageOptions
    ) -> Bool {
        let policy = RetrievalPolicy()
        let request = OutgoingRequest(url: resource.url, options: options)
        return policy.decision(for: entry(of: ImageCache.Candidate(hit: hit), as: request, in: cache, policy))
            .isFreshAnswer
    }

    /// What is stored, as a request stands to it. May read the file of the image when a digest of it has to be calculated.
    func entry(
        of found: ImageCache.Candidate, as request: OutgoingRequest, in cache: ImageCache, _ policy: RetrievalPolicy
    ) -> RetrievalPolicy.Entry {
        entry(
            of: found, as: request, in: cache, policy,
            isIntegral: request.options.lookup.integrity?.allows(found.hit) ?? true)
    }

    /// What is stored, as a request stands to it.
    ///
    /// - Parameter isIntegral: `true` when the bytes have one of the digests that the request names, if it names any.
    func entry(
        of found: ImageCache.Candidate, as request: OutgoingRequest, in cache: ImageCache, _ policy: RetrievalPolicy,
        isIntegral: Bool
    ) -> RetrievalPolicy.Entry {
        let (record, options) = (found.hit.record, request.options)
        var entry: RetrievalPolicy.Entry
        if policy.mode == .never {
            // Neither freshness nor `Vary` counts, and a hit asks for this on the thread that reads.
            entry = RetrievalPolicy.Entry(
                expiredFor: found.expiredFor,
                isForeign: record.isPersonal && !mayAnswer(record, to: request.url, options))
        } else {
            entry = found.entry(for: scopes(of: request.url, options, for: record), at: cache.disk.clock.now)
        }
        entry.isIntegral = isIntegral
        entry.isDamaged = options.lookup.verifyDecode == true && record.decodeVerdict == .damaged
        entry.isDecoded = record.decodeVerdict != nil
        return entry
    }
}

extension ImageCache.Candidate {
    /// What HTTP says of a stored image.
    ///
    /// - Parameter scopes: The scopes in which the request may be answered; the first is that of what it sends itself.
    func entry(for scopes: [HTTPScope], at moment: Int) -> RetrievalPolicy.Entry {
        let record = hit.record
        let answer = record.answer
        let scope = scopes.first ?? HTTPScope()
        return RetrievalPolicy.Entry(
            expiredFor: expiredFor, freshness: answer?.freshness,
            age: answer?.metadata.age(at: moment) ?? HTTPFreshness.span(from: record.storedAt, to: moment),
            // Of an image that was stored before such things were kept, nobody knows whose it is.
            suits: answer.map { answer in scopes.contains { answer.metadata.suits($0) } }
                ?? (scope.credentials == nil),
            isForeign: !hit.record.belongs(to: scopes),
            hasValidators: validators(for: scope) != nil)
    }
}
