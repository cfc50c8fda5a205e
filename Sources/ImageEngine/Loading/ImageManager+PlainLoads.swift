internal import Platform

/// Images that are loaded without a task, as long as nothing out of the ordinary happens.
///
/// A task for each part of a load, with frames for everything that might happen, costs several times what the transfer of
/// a small image does. So a plain request goes from thread to thread by itself: the one that asks queues it, the
/// transport's sends it, one of the pool's stores what came and answers. Whatever else happens goes on in a task.
extension ImageManager {
    /// Begins to load an image that is not to be had from the cache.
    ///
    /// A deadline among the options is not seen to: the caller ends its own wait.
    ///
    /// - Parameters:
    ///   - isMissing: Whether a ``glance(at:in:options:needsBytes:burst:)`` has just found it missing.
    ///   - then: Hears of the end, once and from any thread; not before this returns, unless the caller leaves.
    /// - Returns: What ends the wait of this caller, with a `CancellationError`. nil if the request is not plain, and
    ///   nothing has been done: ``image(_:in:options:needs:caller:isMissing:)`` takes every one.
    public func begin(
        _ resource: Resource, in cache: ImageCache, options given: ImageOptions, needs: ImageNeeds, caller: ImageCaller,
        isMissing: Bool, then: @escaping @Sendable (Result<ImageResult, any Error>) -> Void
    ) -> (@Sendable () -> Void)? {
        let options = completed(given, for: cache)
        if !options.processing.recipe.isEmpty {
            return beginMaking(resource, in: cache, options, needs, caller, then: then)
        }
        let key = CacheKey(resource.cacheKey)
        guard options.isPlain, !isOffline(options),
            // What has been stored here since is in memory.
            options.lookup.forceRefresh || isMissing && cache.memory.peek(key) == nil,
            case .network(let url)? = try? source(of: resource.url),
            let request = try? DownloadRequest(url: url, options: options.network),
            (try? admit(request, key, in: cache, options)) != nil
        else { return nil }
        count(.none)
        let started = configuration.clock.monotonic()
        let plan = FetchPlan(
            resource: resource, key: key, cache: cache, request: request,
            outgoing: OutgoingRequest(url: url, options: options), needs: needs, started: started)
        guard options.mayTryAgain else { return join(plan, options, caller, then: then) }
        // The first attempt needs no task, for it is the one that may wait long before it begins.
        let promise = Promise(then)
        let meter = AttemptMeter()
        let stop = join(plan, options, meter.counting(caller)) { [self] result in
            guard case .failure(let error as ImageError) = result else { return promise.end(result) }
            let seconds = Double(configuration.clock.monotonic() - started) / 1e9
            let failed = ImageError.Attempt(url: url, error: error, seconds: seconds, bytes: meter.bytes)
            promise.goOn { [self] in
                try await load(
                    resource, in: cache, options, needs, caller, after: FailedAttempt(attempt: failed, started: started)
                )
            }
        }
        promise.onCancel(stop)
        return { promise.cancel() }
    }

    /// Joins those who want the same.
    ///
    /// - Returns: What leaves them.
    private func join(
        _ plan: FetchPlan, _ options: ImageOptions, _ caller: ImageCaller,
        then: @escaping @Sendable (Result<ImageResult, any Error>) -> Void
    ) -> @Sendable () -> Void {
        let place = loads.join(
            plan.jobKey, priority: caller.priority, lingers: options.caller.onLastCancel == .finish,
            report: caller.report
        ) { [self] effort, promise in
            begin(plan, effort, promise)
        } resume: { [self] result in
            guard case .failure(let error as ImageError) = result else { return then(result) }
            noteFailure(error, of: plan.outgoing.url, key: plan.key.key, in: plan.cache, options)
            then(.failure(error.first))
        }
        caller.joined()
        return { [loads] in loads.leave(place.ticket) }
    }

    /// Begins to load what an image is to be made of, when nothing of it is at hand.
    private func beginMaking(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds, _ caller: ImageCaller,
        then: @escaping @Sendable (Result<ImageResult, any Error>) -> Void
    ) -> (@Sendable () -> Void)? {
        // What is made of the image takes its time too, and the deadline is for the download alone.
        guard resource.isOnNetwork, options.isPlainlyLoaded, options.network.onFailureImage == nil,
            options.caller.deadline == nil
        else {
            return nil
        }
        let promise = Promise(then)
        let isQueued = Once(true)
        // A long chain has many beginnings to look for: not on the thread that asks.
        pool.submit { [self] in
            guard isQueued.take() != nil else { return }
            let home = originals(for: cache, options)
            guard lacks(resource, in: cache, home, options),
                let stop = beginOriginal(of: resource, home, for: cache, options, needs, caller, promise)
            else {
                return promise.goOn { [self] in try await variant(resource, in: cache, options, needs, caller) }
            }
            promise.onCancel(stop)
        }
        promise.onCancel { if isQueued.take() != nil { promise.end(.failure(CancellationError())) } }
        return { promise.cancel() }
    }

    private func beginOriginal(
        of resource: Resource, _ home: ImageCache, for cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds,
        _ caller: ImageCaller, _ promise: Promise<ImageResult>
    ) -> (@Sendable () -> Void)? {
        let loading = options.loadingOriginal(of: resource)
        return begin(
            resource, in: home, options: loading, needs: loading.needsOfOriginal, caller: caller, isMissing: true
        ) { [self] result in
            switch result {
            case .success(let loaded):
                promise.goOn { [self] in
                    try await variant(resource, in: cache, options, needs, caller, of: loaded, from: home)
                }
            case .failure(let error): promise.end(.failure(error))
            }
        }
    }

    /// Whether nothing is at hand of an image that is made: neither itself, nor its original, nor a beginning of its chain.
    private func lacks(
        _ resource: Resource, in cache: ImageCache, _ home: ImageCache, _ options: ImageOptions
    ) -> Bool {
        if options.lookup.forceRefresh { return true }
        func isMissing(_ key: CacheKey, _ cache: ImageCache) -> Bool {
            (try? cache.cacheType(for: key, burst: 0, mayWait: false)) == CacheType.none
        }
        return isMissing(CacheKey(resource.cacheKey), home)
            && isMissing(options.processing.recipe.cacheKey(resource.cacheKey), cache)
            && ChainPrefix.all(of: options.processing.recipe, forPixels: false).allSatisfy {
                isMissing($0.recipe.cacheKey(resource.cacheKey), cache)
            }
    }

    /// Begins the work that all share who want the image.
    func begin(
        _ plan: FetchPlan, _ effort: Coalescer<JobKey, ImageResult>.Effort, _ promise: Promise<ImageResult>
    ) {
        if plan.mayBeHeld, let held = heldOriginals.result(for: plan.jobKey) {
            return pool.submit { promise.end(.success(held)) }
        }
        let claim = claim(of: plan)
        guard plan.isPlain else { return promise.goOn { [self] in try await download(plan, claim, effort) } }
        let ticket = downloader.begin(
            plan.request, priority: effort.priority, report: effort.report,
            hooks: hooks(plan, claim)
        ) { [self] result in
            switch result {
            case .success(let download):
                claim.arrive()
                pool.submit(briefFor: download.body.isInMemory ? plan.cache.ifBrief : nil) { [self] in
                    storeLoaded(download, plan, promise) { [self] result in
                        promise.end(result.map { held($0, plan) })
                        withExtendedLifetime(claim) {}
                    }
                }
            // Nobody waits any more, and thousands may have left at once.
            case .failure(let error) where promise.isCancelled: promise.end(.failure(error))
            case .failure(is Interruption), .failure(is ImageDownloader.EndedForAnother):
                promise.goOn { [self] in try await download(plan, claim, effort) }
            // Not on the thread that tells: whoever waits may begin anew at once.
            case .failure(let error): promise.goOn { throw error }
            }
        }
        promise.onCancel { [downloader] in downloader.leave(ticket) }
    }

    /// The result, which others find while it is worked on if no cache keeps it.
    func held(_ result: ImageResult, _ plan: FetchPlan) -> ImageResult {
        plan.mayBeHeld ? heldOriginals.holding(result, for: plan.jobKey) : result
    }

    /// Stores what has come. Waits for the disk, but not for the index.
    private func storeLoaded(
        _ download: Download, _ plan: FetchPlan, _ promise: Promise<ImageResult>,
        then: @escaping @Sendable (Result<ImageResult, any Error>) -> Void
    ) {
        if promise.isCancelled { return then(.failure(CancellationError())) }
        var store = store(arrival(of: download, plan))
        store.allowsOversize = store.needs.contains(.file)
        Self.storeLoaded(store) { then($0.mapError { $0 }) }
    }
}

extension ImageManager.FetchPlan {
    /// Whether what comes is stored as it is, if it is an image.
    fileprivate var isPlain: Bool {
        let options = jobKey.options
        return storedCandidate == nil && request.dataModifier == nil && options.lookup.verifyDecode != true
            && options.lookup.revalidate != .http && (options.storage.waitForCache || needs.contains(.file))
    }
}

extension ImageOptions {
    /// Whether the image itself is to be loaded from its URL, without asking anybody before. The cache's own settings are
    /// in the options already.
    fileprivate var isPlain: Bool {
        let fields = box.fields
        return isPlainlyLoaded && fields.processing.recipe.isEmpty && fields.lookup.originalCache == nil
            && fields.network.onFailureImage == nil
    }

    /// Whether the image, or what it is made of, is loaded from its URL without asking anybody before.
    fileprivate var isPlainlyLoaded: Bool {
        let fields = box.fields
        return fields.lookup.verifyDecode != true && !fields.processing.wantsPreview
            && fields.network.alternativeSources.isEmpty
            && fields.network.delegates == nil && (fields.lookup.revalidate ?? .never) == .never
            && fields.lookup.staleIfError == nil
            && !fields.lookup.onlyFromCache
    }

    /// Whether one failed attempt may not be the end.
    fileprivate var mayTryAgain: Bool {
        box.fields.network.retry.maxRetries > 0 || box.fields.network.waitForConnectivity != nil
    }
}
