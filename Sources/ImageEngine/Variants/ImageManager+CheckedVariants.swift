internal import Platform

/// What was made of originals that are not kept themselves, as far as their servers may have to be asked.
extension ImageManager {
    /// What was made before, checked with the server of its original: it knows what that said of the original, and by what
    /// to ask for it.
    ///
    /// - Returns: nil if the original is at hand, or if what was made is not there or cannot be asked about: then the
    ///   original is loaded.
    func checkedVariant(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds, _ caller: ImageCaller
    ) async throws -> ImageResult? {
        guard !options.lookup.forceRefresh, mayBeChecked(with: options, in: cache) else { return nil }
        let key = options.processing.recipe.cacheKey(resource.cacheKey)
        var looking = options
        looking.lookup.verifyDecode = nil
        guard let found = try await variantWithoutOriginal(resource, key, in: cache, looking) else { return nil }
        let policy = policy(resource, options)
        let outgoing = OutgoingRequest(url: resource.url, options: options)
        let entry = entry(of: found, as: outgoing, in: cache, policy)
        switch policy.decision(for: entry).action {
        case .answer(let isStale):
            count(found.hit.cacheType)
            return try await answer(found, isStale: isStale, in: cache, looking, needs)
        // There is nothing that could be loaded anew behind the answer.
        case .answerAndRefresh, .revalidate: break
        case .load, .fail: return nil
        }
        guard let validators = found.validators(for: scope(of: outgoing.url, options)),
            let mark = VariantSource.mark(of: found.hit.record)
        else { return nil }
        let jobKey = VariantJobKey(
            cache: cache.name, key: key, mark: mark, options: options.keepingForVariants, needs: needs)
        let loading = options.loadingOriginal(of: resource)
        let result: ImageResult
        do {
            result = try await load(
                resource, in: cache, loading, loading.needsOfOriginal, caller,
                StoredCandidate(hit: found.hit, validators: validators, variant: jobKey))
            count(result.cacheType)
        } catch let error as ImageError {
            count(.none)
            guard policy.mayStandIn(entry, after: error) else { throw error }
            return try await answer(found, isStale: true, in: cache, looking, needs)
        }
        guard result.record.key != key else {
            return needs.contains(.bytes) ? try await loadingBytes(of: result, in: cache, options: looking) : result
        }
        // It has become another one.
        let original = try await pool.run { [self] in try self.original(result, in: cache, loading, mark: nil) }
        if options.processing.recipe.isNothing(for: result.record.header) {
            return try await untouched(result, in: cache, options, needs)
        }
        do {
            return try await variant(of: original, resource, in: cache, options, needs, caller)
        } catch ImageError.storageFailed where result.isGone {
            return nil
        }
    }

    /// `true` when a made image may be revalidated in the place of its original.
    ///
    /// Digests are those of the original's bytes, and another cache has a time of its own.
    func mayBeChecked(with options: ImageOptions, in cache: ImageCache) -> Bool {
        !options.asksToModify && options.lookup.integrity == nil && originals(for: cache, options) === cache
    }

    /// What was made, also if its time is over, when the original is not there at all.
    private func variantWithoutOriginal(
        _ resource: Resource, _ key: CacheKey, in cache: ImageCache, _ options: ImageOptions
    ) async throws -> ImageCache.Candidate? {
        let original = CacheKey(resource.cacheKey)
        guard try cache.cacheType(for: original, burst: 0, mayWait: false) == CacheType.none else { return nil }
        return try await pool.runIfWanted { () throws -> ImageCache.Candidate? in
            guard try cache.disk.recordEvenExpired(original) == nil,
                let found = try cache.candidate(for: key, options: options.storage, evenExpired: true)
            else { return nil }
            return ImageCache.Candidate(
                hit: try cache.renewed(found.hit, options: options.storage), expiredFor: found.expiredFor)
        }
    }
}

extension ImageOptions {
    /// How what is made is kept.
    var keepingForVariants: ImageOptions {
        var keeping = keepingOnlyCacheOptions
        keeping.change { [self] keeping in
            keeping.lookup.integrity = nil
            keeping.lookup.verifyDecode = nil
            keeping.processing.recipe = self.processing.recipe
            keeping.processing.limits = self.processing.limits
        }
        return keeping
    }

    /// How the original is loaded of what is to be made.
    func loadingOriginal(of resource: Resource) -> ImageOptions {
        var loading = self
        let isLocal = !resource.isOnNetwork
        loading.change { loading in
            loading.processing.recipe = ImageRecipe()
            loading.network.onFailureImage = nil
            loading.storage.forcedCacheFileExtension = nil
            loading.storage.queryDataWhenInMemory = false
            loading.lookup.originalCache = nil
            if !loading.processing.cacheOriginalImage || isLocal {
                loading.storage.cacheMemoryOnly = true
                loading.storage.keepsInMemory = false
            }
            // What lies here is read here, whatever the cache has under its name (E2-69).
            if isLocal { loading.lookup.forceRefresh = true }
        }
        return loading
    }

    /// What is needed of an original that is loaded with these options: its file, or its bytes where there may be none.
    var needsOfOriginal: ImageNeeds {
        if self.storage.cacheMemoryOnly { return .bytes }
        // Its server may forbid to keep it.
        return self.lookup.revalidate == .http ? [.file, .bytes] : .file
    }
}
