internal import ImageRecipes
internal import Platform

/// Loads images from their sources, and looks for a stand-in for one that could not be had.
struct ImageLoader: Sendable {
    let engine: EngineServices

    /// Loads an image from its sources, each as often as the options say, and counts the answer.
    ///
    /// - Parameter end: Receives the result once, from any thread.
    /// - Returns: What stops the load.
    func load(_ load: ImageLoad, end: @escaping ImageTask.End) -> Stop {
        let (request, options, now) = (load.request, load.request.options, engine.now)
        let counted: ImageTask.End = { [self] result in
            switch result {
            case .success(let image): engine.counts.count(image.cacheType)
            case .failure(let error): if error is ImageError { engine.counts.count(.none) }
            }
            end(result)
        }
        let url = request.resource.url
        guard options.mayTakeSeveralAttempts else {
            return loadOnce(url, load, request.caller, started: now, load.outgoing, end: counted)
        }
        // Before each further attempt, the delegate is asked again.
        let first = Once(load.outgoing)
        let attempts = SourceAttempts<ImageResult>(
            [url] + options.network.alternativeSources, options.network, clock: engine.configuration.clock.monotonic,
            hasNetwork: engine.configuration.hasNetwork
        ) { [self] source, meter, end in
            loadOnce(
                source, load, meter.counting(request.caller), started: now,
                ExactText(source) == ExactText(url) ? first.take() : nil, end: end)
        }
        attempts.start(deadline: Deadline(request, at: now).failure(url, at: now), end: counted)
        return { attempts.stop() }
    }

    /// Loads an image from one of its sources.
    ///
    /// - Parameters:
    ///   - started: The time of the first attempt.
    ///   - outgoing: The request as its delegate wants it, when that has been asked.
    private func loadOnce(
        _ url: String, _ load: ImageLoad, _ caller: ImageCaller, started: Int, _ outgoing: OutgoingRequest?,
        end: @escaping ImageTask.End
    ) -> Stop {
        let request = load.request
        let isFirst = ExactText(url) == ExactText(request.resource.url)
        let options = isFirst ? request.options : request.options.scoped(from: request.resource.url, to: url)
        let ended: ImageTask.End = { [self] result in
            guard case .failure(let error as ImageError) = result else { return end(result) }
            engine.failures.note(error, of: url, key: request.resource.cacheKey, in: request.cache, options)
            end(.failure(error.first))
        }
        func fetch(_ outgoing: OutgoingRequest) throws -> Stop {
            let plan = try fetchPlan(outgoing, load, isFirst: isFirst, started: started)
            return join(plan, caller, lingers: options.caller.onLastCancel == .finish, end: ended)
        }
        do {
            switch try source(of: url) {
            case .network(let asked):
                if engine.lookup.isOffline(options) { throw ImageError.offline(key: request.resource.cacheKey) }
                if let outgoing, !outgoing.options.asksToModify { return try fetch(outgoing) }
                if !options.asksToModify { return try fetch(OutgoingRequest(url: asked, options: options)) }
                return inTask(ended) { [self] in
                    let outgoing = try await modified(asked, options)
                    let plan = try fetchPlan(outgoing, load, isFirst: isFirst, started: started)
                    return try await engine.jobs.value(
                        for: plan.jobKey, priority: caller.priority, lingers: options.caller.onLastCancel == .finish,
                        report: caller.report, joined: { _ in caller.joined() },
                        start: { [self] in FetchJob(plan, engine, $0).start() }
                    ).image.get()
                }
            case .data(let bytes):
                guard bytes.count <= options.network.limits.maxBytes else { throw options.network.limits.tooLarge(url) }
                return inTask(ended) { [self] in
                    try await ImageStorer(engine: engine).storeLoaded(
                        PendingStore(
                            content: .bytes(bytes), key: request.key, cache: request.cache,
                            source: request.resource.url, origin: ImageOrigin(), options: options,
                            needs: request.needs))
                }
            case .file(let path):
                return inTask(ended) { [self] in
                    try await engine.pool.run { [clock = engine.configuration.clock] in
                        try LocalFile(path: path, options: options).image(
                            request.key, in: request.cache, needs: request.needs, now: clock.wall())
                    }
                }
            }
        } catch {
            ended(.failure(error))
            return {}
        }
    }

    /// The plan of a request that may be sent.
    private func fetchPlan(
        _ outgoing: OutgoingRequest, _ load: ImageLoad, isFirst: Bool, started: Int
    ) throws(ImageError) -> FetchPlan {
        let plan = try FetchPlan(
            load.request.resource, in: load.request.cache, outgoing, needs: load.request.needs,
            storedCandidate: isFirst ? load.storedCandidate : load.storedCandidate?.unasked, started: started)
        try admit(plan.request, plan.key, in: plan.cache, outgoing.options)
        return plan
    }

    /// Refuses a request that is not to be sent.
    func admit(
        _ request: DownloadRequest, _ key: CacheKey, in cache: ImageCache, _ options: ImageOptions
    ) throws(ImageError) {
        if engine.lookup.isOffline(options) { throw .offline(key: key.key) }
        try engine.failures.check(request, in: cache, options)
    }

    /// Joins the job that fetches an image, or starts it.
    private func join(
        _ plan: FetchPlan, _ caller: ImageCaller, lingers: Bool, end: @escaping ImageTask.End
    ) -> Stop {
        let ticket = engine.jobs.join(plan.jobKey, priority: caller.priority, lingers: lingers, report: caller.report) {
            FetchJob(plan, engine, $0).start()
        } end: {
            end($0.flatMap(\.image))
        }
        caller.joined()
        return { [engine] in engine.jobs.leave(ticket) }
    }

    /// The source that a URL names, if its scheme may be loaded from.
    func source(of url: String) throws(ImageError) -> ImageSource {
        let source = try ImageSource(url: url)
        if let reason = engine.configuration.downloader.policy.refusal(scheme: ImageSource.scheme(of: url)) {
            throw .invalidURL(url, reason: reason)
        }
        return source
    }

    /// The image that stands in for one that could not be had.
    ///
    /// - Throws: The original error if the stand-in cannot be had either.
    func placeholder(
        _ standIn: String, for request: ImageRequest, after error: ImageError
    ) async throws -> ImageResult {
        let isURL = standIn.contains("://") || standIn.hasPrefix("data:") || standIn.hasPrefix("file:")
        let url = isURL ? standIn : FileURL.text(absolutePath(standIn))
        var options = request.options.scoped(from: request.resource.url, to: url)
        options.change { options in
            options.network.onFailureImage = nil
            options.network.alternativeSources = []
            options.network.dataModifier = nil
            (options.network.request.method, options.network.request.body) = (.get, nil)
            // What was asked of answers was asked of the image's.
            options.network.request.headers = options.network.request.headers.filter {
                $0.key.lowercased() != "cache-control"
            }
            options.lookup.onlyFromCache = false
            options.lookup.integrity = nil
            options.processing.recipe = ImageRecipe()
        }
        do {
            var result = try await RequestPipeline(engine: engine).image(
                ImageRequest(
                    request.cache.resource(url), in: request.cache, options: options, needs: request.needs,
                    caller: request.caller))
            result.isPlaceholder = true
            return result
        } catch is ImageError {
            throw error
        }
    }
}

extension ImageOptions {
    /// `true` when one failed attempt may not be the end, or a deadline may be.
    fileprivate var mayTakeSeveralAttempts: Bool {
        let fields = box.fields
        return fields.network.retry.maxRetries > 0 || fields.network.waitForConnectivity != nil
            || !fields.network.alternativeSources.isEmpty || fields.caller.deadline != nil
    }
}
