internal import Platform

/// One load of an image for one request: from its sources, each with retries as the options say. One object holds the
/// whole load, because thousands may wait.
final class ImageLoad: Sendable {
    private let engine: EngineServices
    private let request: ImageRequest
    /// The stored image to revalidate with the first source.
    private let storedCandidate: StoredCandidate?
    /// The first request to the first source, when the delegate has been asked already.
    private let outgoing: OutgoingRequest?
    /// The time of the first attempt, in nanoseconds; the attempts of a request wait for other processes once in total.
    private let started: Int

    init(
        _ request: ImageRequest, storedCandidate: StoredCandidate? = nil, outgoing: OutgoingRequest? = nil,
        _ engine: EngineServices
    ) {
        (self.engine, self.request, self.storedCandidate) = (engine, request, storedCandidate)
        (self.outgoing, started) = (outgoing, engine.now)
    }

    private var url: String { request.resource.url }

    /// Starts the load and counts its answer.
    ///
    /// - Parameter end: Receives the result once, on any thread.
    /// - Returns: The function that stops the load.
    func start(end: @escaping ImageTask.End) -> Stop {
        let options = request.options
        guard options.mayTakeSeveralAttempts else {
            return attempt(url, request.caller, outgoing) { [self] in finish($0, end) }
        }
        // The delegate is asked again before each further attempt.
        let first = Once(outgoing)
        let attempts = SourceAttempts<ImageResult>(
            [url] + options.network.alternativeSources, options.network, clock: engine.configuration.clock.monotonic,
            hasNetwork: engine.configuration.hasNetwork
        ) { [self] source, meter, end in
            attempt(source, meter.counting(request.caller), isFirst(source) ? first.take() : nil, end: end)
        }
        attempts.start(deadline: Deadline(request, at: started).failure(url, at: started)) { [self] in finish($0, end) }
        return { attempts.stop() }
    }

    private func finish(_ result: Result<ImageResult, any Error>, _ end: ImageTask.End) {
        switch result {
        case .success(let image): engine.counts.count(image.cacheType)
        case .failure(let error): if error is ImageError { engine.counts.count(.none) }
        }
        end(result)
    }

    // MARK: One attempt

    /// Loads the image from one of its sources.
    ///
    /// - Parameter outgoing: The request as changed by its delegate, when that has been asked.
    private func attempt(
        _ source: String, _ caller: ImageCaller, _ outgoing: OutgoingRequest?, end: @escaping ImageTask.End
    ) -> Stop {
        let ended: ImageTask.End = { [self] in finishAttempt($0, at: source, end) }
        let (options, loader) = (options(for: source), ImageLoader(engine: engine))
        do {
            switch try loader.source(of: source, options) {
            case .network(let asked):
                if engine.lookup.isOffline(options) {
                    throw ImageError.offline(key: request.resource.cacheKey, url: source)
                }
                if let outgoing, !outgoing.options.asksToModify { return try join(source, caller, outgoing, ended) }
                if !options.asksToModify {
                    return try join(source, caller, OutgoingRequest(url: asked, options: options), ended)
                }
                return inTask(ended) { [self] in
                    let plan = try plan(for: source, try await loader.modified(asked, options))
                    return try await engine.jobs.value(
                        for: plan.jobKey, priority: caller.priority, lingers: lingers, report: caller.report,
                        joined: { _ in caller.joined() }, start: { [engine] in FetchJob(plan, engine, $0).start() }
                    ).image.get()
                }
            case .data(let bytes):
                let limits = options.network.limits
                guard bytes.count <= limits.maxBytes else { throw limits.tooLarge(source) }
                return inTask(ended) { [self] in
                    try await ImageStorer(engine: engine).storeLoaded(
                        PendingStore(
                            content: .bytes(bytes), key: ownKey, cache: request.cache, source: url,
                            origin: ImageOrigin(), options: options, needs: request.needs))
                }
            case .file(let path):
                return inTask(ended) { [self] in
                    try await LocalFile(path: path, options: options).read(on: engine.pool) {
                        [request, ownKey, clock = engine.configuration.clock] file in
                        try file.image(ownKey, in: request.cache, needs: request.needs, now: clock.wall())
                    }
                }
            }
        } catch {
            ended(.failure(error))
            return {}
        }
    }

    private func isFirst(_ source: String) -> Bool { ExactText(source) == ExactText(url) }

    private func options(for source: String) -> ImageOptions { request.options.scoped(from: url, to: source) }

    private var ownKey: CacheKey { engine.lookup.ownKey(request.resource, request.options) }

    private var lingers: Bool { request.options.caller.onLastCancel == .finish }

    private func finishAttempt(_ result: Result<ImageResult, any Error>, at source: String, _ end: ImageTask.End) {
        guard case .failure(let error as ImageError) = result else { return end(result) }
        engine.failures.note(
            error, of: source, key: request.resource.cacheKey, in: request.cache, options(for: source))
        end(.failure(error.first))
    }

    /// The plan of a request that may be sent; throws for any other.
    private func plan(for source: String, _ outgoing: OutgoingRequest) throws(ImageError) -> FetchPlan {
        let key = request.resource.cacheKey
        // An image of another source goes to the entry of the user who asked for it too.
        let asked = engine.scopes.ownKey(key, of: request.outgoing)
        let isOwn = isFirst(source) || asked.partition.isEmpty
        let plan = try FetchPlan(
            request.resource, isOwn ? engine.scopes.ownKey(key, of: outgoing) : asked, in: request.cache, outgoing,
            needs: request.needs,
            storedCandidate: isFirst(source) ? storedCandidate : storedCandidate?.unasked, started: started)
        try ImageLoader(engine: engine).admit(plan.request, plan.key, in: plan.cache, outgoing.options)
        return plan
    }

    /// Joins the job that fetches the image, or starts it.
    private func join(
        _ source: String, _ caller: ImageCaller, _ outgoing: OutgoingRequest, _ end: @escaping ImageTask.End
    ) throws(ImageError) -> Stop {
        let plan = try plan(for: source, outgoing)
        let ticket = engine.jobs.join(plan.jobKey, priority: caller.priority, lingers: lingers, report: caller.report) {
            FetchJob(plan, engine, $0).start()
        } end: {
            end($0.flatMap(\.image))
        }
        caller.joined()
        return { [jobs = engine.jobs] in jobs.leave(ticket) }
    }
}
