internal import Platform

/// The stages of every request: the cache decision, the load if necessary, and the processing of the image.
struct RequestPipeline: Sendable {
    let engine: EngineServices

    /// Starts a request; see ``ImageManager/retrieve(_:isMissing:looked:end:)``.
    func retrieve(
        _ request: ImageRequest, isMissing: Bool, looked: @escaping @Sendable () -> Void, end: @escaping ImageTask.End
    ) -> ImageTask {
        let task = ImageTask(completed(request), self)
        task.start(isMissing: isMissing, looked: looked, end: end)
        return task
    }

    /// The image, for a caller that waits in a task.
    func image(
        _ request: ImageRequest, isMissing: Bool = false, looked: @escaping @Sendable () -> Void = {}
    ) async throws -> ImageResult {
        try await awaitResult {
            retrieve(request, isMissing: isMissing, looked: looked, end: $0)
        } cancel: {
            $0.cancel()
        }
    }

    /// The request with the settings of the cache and the downloader for options that are not given.
    private func completed(_ request: ImageRequest) -> ImageRequest {
        request.with(request.cache.completed(request.options, for: engine.downloader))
    }

    // MARK: Steps

    /// The first step of a request that needs neither a look-up nor processing, and can be loaded directly.
    ///
    /// - Returns: `nil` when finding the step may wait.
    func stepWithoutWaiting(_ request: ImageRequest, isMissing: Bool) -> RequestStep? {
        let options = request.options
        guard options.processing.recipe.isEmpty, options.lookup.verifyDecode != true,
            !request.needs.contains(.pixels)
        else { return nil }
        let policy = engine.lookup.policy(request.resource, options)
        guard !policy.usesExpired, options.lookup.originalCache == nil,
            policy.decision(for: nil).action == .load,
            engine.scopes.isPlain(request.outgoing),
            policy.isForced || lacks(CacheKey(request.resource.cacheKey), in: request.cache, isMissing: isMissing)
        else { return nil }
        return .load(ImageLoad(request, because: .nothingStored, engine))
    }

    /// `true` when others may be asked before the first step of a request is known: a delegate, or the remote tier for what was
    /// made.
    func asksOthersFirst(_ request: ImageRequest) -> Bool {
        request.options.asksToModify || engine.remote != nil && !request.options.processing.recipe.isEmpty
    }

    /// `true` when a cache certainly does not have an image, as far as that is known without waiting.
    private func lacks(_ key: CacheKey, in cache: ImageCache, isMissing: Bool) -> Bool {
        // An image that this process has stored since then is in memory.
        if isMissing { return cache.memory.peek(key) == nil }
        return (try? cache.cacheType(for: key, burst: 0, mayWait: false))?.isMissing == true
    }

    func firstStep(_ request: ImageRequest) async throws -> RequestStep {
        if let error = ImageLoader(engine: engine).refusal(of: request.resource, request.options) { throw error }
        if request.needs.contains(.pixels) { return try await VariantMaker(engine: engine).pixelsStep(request) }
        if !request.options.processing.recipe.isEmpty {
            return try await VariantMaker(engine: engine).variantStep(request)
        }
        if request.options.lookup.verifyDecode == true { return try await DecodeVerifier(engine: engine).step(request) }
        return try await imageStep(request)
    }

    /// Answers with the original image, without a check that it can be decoded: from the cache as the ``CacheDecision``
    /// says, otherwise from its sources.
    func imageStep(_ request: ImageRequest) async throws -> RequestStep {
        let (cache, options) = (request.cache, request.options)
        let (policy, loader) = (engine.lookup.policy(request.resource, options), ImageLoader(engine: engine))
        var (request, outgoing) = (request, request.outgoing)
        var found = try await stored(&request, as: &outgoing, policy)
        var decision = policy.decision(for: found?.entry)
        if options.asksToModify, request.resource.isOnNetwork, !policy.isForced, !decision.isFreshAnswer,
            found?.entry.isForeign == true || !policy.isOffline && !policy.onlyFromCache
        {
            // Decided again by the changed request: the delegate may add the credentials of a stored image.
            do { outgoing = try await modified(request) } catch let error as ImageError {
                guard let found, policy.mayStandIn(found.entry, after: error) else { throw error }
                return .answer(try await answer(found.candidate, isStale: true, request))
            }
            found = try await stored(&request, as: &outgoing, policy)
            decision = policy.decision(for: found?.entry)
        }
        var toAsk: StoredCandidate?
        if let found {
            let hit = found.candidate.hit
            let candidate = StoredCandidate(
                hit: hit,
                validators: found.candidate.validators(
                    for: engine.scopes.scope(of: outgoing.url, outgoing.options), isForeign: found.entry.isForeign),
                isForeign: found.entry.isForeign)
            switch decision.action {
            case .answer(let isStale):
                engine.counts.count(hit.cacheType)
                return .answer(try await answer(found.candidate, isStale: isStale, request))
            case .answerAndRefresh:
                engine.counts.count(hit.cacheType)
                // Read before the refresh, which may remove the file.
                let stale = try await answer(found.candidate, isStale: true, request)
                BackgroundRefresh(engine: engine).start(request.resource, candidate, cache, outgoing)
                return .answer(stale)
            case .revalidate: toAsk = candidate
            case .load, .fail: toAsk = policy.usesExpired ? candidate.unasked : nil
            }
        }
        if policy.mayCopyFromOtherCache(decision), let original = try await loader.imageOfOtherCache(request) {
            engine.counts.count(original.cacheType)
            return .answer(original)
        }
        try Task.checkCancellation()
        if decision.action == .fail {
            let resource = request.resource
            throw ImageError.notCached(key: resource.cacheKey, url: resource.url.isEmpty ? nil : resource.url)
        }
        let load = ImageLoad(
            request, storedCandidate: toAsk, outgoing: outgoing, because: decision.reason, engine)
        guard let found else { return .load(load) }
        return .loadThen(load) { [self, request] result in
            guard case .failure(let error as ImageError) = result, policy.mayStandIn(found.entry, after: error) else {
                return .answer(try result.get())
            }
            return .answer(try await answer(found.candidate, isStale: true, request))
        }
    }

    /// The request as changed by its delegate, which has until the deadline.
    private func modified(_ request: ImageRequest) async throws -> OutgoingRequest {
        let asking = SourceAttempts<OutgoingRequest>(
            [request.resource.url], NetworkOptions(), clock: engine.configuration.clock.monotonic, hasNetwork: { true }
        ) { [engine] url, _, end in
            inTask(end) { try await ImageLoader(engine: engine).modified(url, request.options) }
        }
        return try await asking.value(deadline: request.deadline(at: engine.now))
    }

    /// The stored image for a request; `nil` when there is none that matters, or it cannot be looked for.
    private func stored(
        _ request: inout ImageRequest, as outgoing: inout OutgoingRequest, _ policy: RetrievalPolicy
    ) async throws -> StoredImage? {
        do { return try await lookedUp(request, as: outgoing, policy) } catch let error as ImageError
            where policy.mayLoad(after: error)
        {
            if policy.mode == .always {
                // An image that is found later may be the one whose server is to be asked.
                outgoing = OutgoingRequest(
                    url: outgoing.url, options: outgoing.options.refreshing, wasAsked: outgoing.wasAsked)
                request = request.with(request.options.refreshing)
            }
            return nil
        }
    }

    private func lookedUp(
        _ request: ImageRequest, as outgoing: OutgoingRequest, _ policy: RetrievalPolicy
    ) async throws -> StoredImage? {
        let (resource, cache, options) = (request.resource, request.cache, request.options)
        if !policy.usesExpired {
            if policy.isForced { return nil }
            // Most images here are not stored, and that is known without waiting.
            if engine.scopes.isPlain(outgoing), resource.isOnNetwork || !policy.onlyFromCache,
                try engine.lookup.lacks([CacheKey(resource.cacheKey)], in: cache)
            {
                return nil
            }
        }
        return try await engine.pool.runIfWanted { [engine] () throws -> StoredImage? in
            // The server may be asked about an expired image that is another user's.
            let evenExpired = policy.usesExpired || !engine.scopes.isPlain(outgoing)
            let found = try engine.lookup.stored(resource, for: outgoing, in: cache, policy) {
                (key) throws(ImageError) in
                try cache.candidate(
                    for: key, options: options.storage, evenExpired: evenExpired, patience: options.patience)
            }
            guard var found else { return nil }
            if policy.usesExpired, !found.entry.isForeign, !policy.decision(for: found.entry).isFreshAnswer {
                // Another process may have revalidated it.
                found.candidate.hit = cache.renewed(
                    found.candidate.hit, options: options.storage, patience: options.patience)
                found.entry = engine.lookup.entry(
                    of: found.candidate, as: outgoing, in: cache, policy, isForeign: false,
                    isIntegral: found.entry.isIntegral)
            }
            return found
        }
    }

    /// The answer with a stored image, which may be expired.
    func answer(
        _ found: ImageCache.Candidate, isStale: Bool, _ request: ImageRequest
    ) async throws -> ImageResult {
        let answer = { @Sendable [engine] in
            var result = try engine.lookup.answer(found.hit, in: request.cache, request.options, request.needs)
            result.isStale = isStale
            // In memory, an expired image would look unexpired, and a stale one may be replaced meanwhile.
            let isSmall = found.hit.record.byteCount <= BodySpool.memoryLimit
            if request.needs.contains(.bytes), result.bytes == nil, found.expiredFor != nil || isStale && isSmall {
                result.bytes = try request.cache.disk.data(of: found.hit.record)
            }
            return result
        }
        let isAtHand = found.hit.record.path != nil && !request.options.storage.queryDataWhenInMemory
        return isAtHand && !request.needs.contains(.bytes) ? try answer() : try await engine.pool.run(answer)
    }
}
