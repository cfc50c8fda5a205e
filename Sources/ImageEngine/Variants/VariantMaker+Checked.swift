internal import ImageRecipes
internal import Platform

/// Revalidation of made images whose originals are not stored.
extension VariantMaker {
    /// Answers with a stored made image, or revalidates it with the server of its original: its entry has the
    /// original's metadata and validators.
    ///
    /// - Returns: `nil` when the original is stored, or the made image is not stored or cannot be revalidated: then it
    ///   is made from the original.
    func checkedVariantStep(_ request: ImageRequest) async throws -> RequestStep? {
        let (cache, options) = (request.cache, request.options)
        let key = options.processing.recipe.cacheKey(engine.lookup.ownKey(request.resource, options))
        guard engine.lookup.mayBeChecked(with: options, in: cache) else { return nil }
        var looking = options
        looking.lookup.verifyDecode = nil
        let known = try await found(for: request) {
            try await variantWithoutOriginal(request.resource, in: cache, looking)
        }
        guard let found = known else { return nil }
        let (policy, asking) = (engine.lookup.policy(request.resource, options), request.with(looking))
        let entry = engine.lookup.entry(of: found, as: request.outgoing, in: cache, policy)
        let (validators, mark): (Validators, String)
        switch policy.use(ofMade: found, entry, for: engine.scopes.scope(of: request.resource.url, options)) {
        case .answer(let isStale):
            engine.counts.count(found.hit.cacheType)
            return .answer(try await pipeline.answer(found, isStale: isStale, asking))
        case .revalidate(let known, let original): (validators, mark) = (known, original)
        case .makeAnew: return nil
        }
        let jobKey = VariantKey(
            cache: cache.name, key: key, mark: mark, options: options.keepingForVariants, needs: request.needs)
        let loading = request.loadingOriginal(in: cache)
        let candidate = StoredCandidate(hit: found.hit, validators: validators, variant: jobKey)
        return .loadThen(ImageLoad(loading, storedCandidate: candidate, because: .stale, engine)) { [self] result in
            switch result {
            case .success(let loaded) where loaded.record.key.identifier == key.identifier:
                return .answer(
                    request.needs.contains(.bytes)
                        ? try await engine.lookup.loadingBytes(
                            of: loaded, in: cache, options: asking.options, engine.pool) : loaded)
            // The original has changed.
            case .success(let loaded):
                return try await stepWithOriginal(loaded, by: loading, request) { [self] in
                    try await variant(of: $0, request)
                }
            case .failure(let error as ImageError) where policy.mayStandIn(entry, after: error):
                return .answer(try await pipeline.answer(found, isStale: true, asking))
            case .failure(let error): throw error
            }
        }
    }

    /// The stored made image, even if expired, when the original is not stored.
    private func variantWithoutOriginal(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions
    ) async throws -> ImageCache.Candidate? {
        let originals = engine.lookup.keys(resource, options)
        if try engine.lookup.has(originals, in: cache) { return nil }
        return try await engine.pool.runIfWanted { [engine] () throws -> ImageCache.Candidate? in
            guard try engine.lookup.lacksEvenExpired(originals, in: cache) else { return nil }
            for key in engine.lookup.madeKeys(resource, options) {
                guard
                    var found = try cache.candidate(
                        for: key, options: options.storage, evenExpired: true, patience: options.patience)
                else { continue }
                found.hit = cache.renewed(found.hit, options: options.storage, patience: options.patience)
                return found
            }
            return nil
        }
    }
}

extension ImageOptions {
    /// The required parts of an original loaded with these options. Its server may forbid storing it, and the disk may fail.
    fileprivate var needsOfOriginal: ImageNeeds { self.storage.cacheMemoryOnly ? .bytes : [.file, .content] }
}

extension ImageRequest {
    /// The request for the original of a made image, which `home` stores.
    func loadingOriginal(in home: ImageCache) -> ImageRequest {
        let loading = options.loadingOriginal(of: resource)
        return ImageRequest(resource, in: home, options: loading, needs: loading.needsOfOriginal, caller: caller)
    }
}
