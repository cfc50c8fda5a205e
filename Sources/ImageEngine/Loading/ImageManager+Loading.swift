internal import Platform

/// Images that are loaded, and what stands in for those that could not be.
extension ImageManager {
    /// Tries the sources in order, each as often as the options say.
    ///
    /// - Parameters:
    ///   - storedCandidate: What is stored already; the first source is asked if it has changed.
    ///   - outgoing: The first request to the first source, if its delegate has been asked about it already.
    ///   - failed: The first attempt at the first source, if it has been made already.
    func load(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds,
        _ caller: ImageCaller, _ storedCandidate: StoredCandidate? = nil, outgoing: OutgoingRequest? = nil,
        after failed: FailedAttempt? = nil
    ) async throws -> ImageResult {
        let now = configuration.clock.monotonic()
        let started = failed?.started ?? now
        // Of each further attempt the delegate is asked anew.
        let first = Once(outgoing.flatMap { options.asksToModify && !$0.options.asksToModify ? $0 : nil })
        let deadline = Deadline(seconds: options.caller.deadline, arrived: caller.arrived ?? started)
        return try await deadline.hold(resource.url, now: now) { [self] in
            let urls = [resource.url] + options.network.alternativeSources
            return try await loadAny(of: urls, options, after: failed?.attempt) { [self] url, meter in
                let storedCandidate =
                    ExactText(url) == ExactText(resource.url) ? storedCandidate : storedCandidate?.unasked
                let options = options.scoped(from: resource.url, to: url)
                do {
                    return try await load(
                        try source(of: url), resource, in: cache, options, needs, started: started,
                        meter.counting(caller), storedCandidate,
                        outgoing: ExactText(url) == ExactText(resource.url) ? first.take() : nil)
                } catch let error as ImageError {
                    noteFailure(error, of: url, key: resource.cacheKey, in: cache, options)
                    throw error
                }
            }
        }
    }

    /// Remembers a failure, unless it is tried again soon: it is not settled yet then.
    func noteFailure(
        _ error: ImageError, of url: String, key: String, in cache: ImageCache, _ options: ImageOptions
    ) {
        if options.network.retry.maxRetries > 0, error.first.isRetryable { return }
        remember(error.first, url, key: key, in: cache, options)
    }

    @inline(never)
    private func load(
        _ source: ImageSource, _ resource: Resource, in cache: ImageCache, _ options: ImageOptions,
        _ needs: ImageNeeds, started: Int, _ caller: ImageCaller, _ storedCandidate: StoredCandidate?,
        outgoing: OutgoingRequest?
    ) async throws -> ImageResult {
        let key = CacheKey(resource.cacheKey)
        switch source {
        case .network(let asked):
            if isOffline(options) { throw ImageError.offline(key: key.key) }
            let outgoing = if let outgoing { outgoing } else { try await modified(asked, options) }
            let options = outgoing.options
            let request = try DownloadRequest(
                url: outgoing.url, options: options.network, validators: storedCandidate?.validators)
            try admit(request, key, in: cache, options)
            let plan = FetchPlan(
                resource: resource, key: key, cache: cache, request: request, outgoing: outgoing, needs: needs,
                storedCandidate: storedCandidate, started: started)
            return try await loads.value(
                for: plan.jobKey, priority: caller.priority, lingers: options.caller.onLastCancel == .finish,
                report: caller.report, joined: { _ in caller.joined() }
            ) { [self] effort, promise in
                begin(plan, effort, promise)
            }
        case .data(let bytes):
            guard bytes.count <= options.network.limits.maxBytes else { throw Self.tooLarge(resource.url, options) }
            return try await storeLoaded(
                PendingStore(
                    content: .bytes(bytes), key: key, cache: cache, source: resource.url, origin: ImageOrigin(),
                    options: options, needs: needs))
        case .file(let path):
            return try await pool.run { [clock = configuration.clock] in
                try LocalFile(path: path, options: options).image(key, in: cache, needs: needs, now: clock.wall())
            }
        }
    }

    /// Where a URL leads, if that scheme may be loaded from (D-13).
    func source(of url: String) throws(ImageError) -> ImageSource {
        let source = try ImageSource(url: url)
        if let reason = configuration.downloader.policy.refusal(scheme: ImageSource.scheme(of: url)) {
            throw .invalidURL(url, reason: reason)
        }
        return source
    }

    static func tooLarge(_ source: String, _ options: ImageOptions) -> ImageError {
        .limitExceeded(
            limit: "maxBytes", reason: "it is over the limit of \(options.network.limits.maxBytes) bytes",
            source: source)
    }

    /// The image that stands in for one that could not be had.
    ///
    /// - Throws: The original error if the stand-in cannot be had either.
    @inline(never)
    func placeholder(
        _ standIn: String, for resource: Resource, in cache: ImageCache, _ options: ImageOptions,
        _ needs: ImageNeeds, _ caller: ImageCaller, after error: ImageError
    ) async throws -> ImageResult {
        let isURL = standIn.contains("://") || standIn.hasPrefix("data:") || standIn.hasPrefix("file:")
        let url = isURL ? standIn : FileURL.text(absolutePath(standIn))
        var options = options.scoped(from: resource.url, to: url)
        options.network.onFailureImage = nil
        options.lookup.onlyFromCache = false
        options.network.alternativeSources = []
        options.lookup.integrity = nil
        options.network.dataModifier = nil
        (options.network.request.method, options.network.request.body) = (.get, nil)
        // What was asked of answers was asked of the image's.
        options.network.request.headers = options.network.request.headers.filter {
            $0.key.lowercased() != "cache-control"
        }
        options.processing.recipe = ImageRecipe()
        do {
            var result = try await image(cache.resource(url), in: cache, options: options, needs: needs, caller: caller)
            result.isPlaceholder = true
            return result
        } catch is ImageError {
            throw error
        }
    }
}
