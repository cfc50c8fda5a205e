internal import Platform

/// The load of an image for one request: from its sources, each with retries as the options say.
struct ImageLoad: Sendable {
    let engine: EngineServices
    let request: ImageRequest
    /// The stored image to revalidate with the first source.
    let storedCandidate: StoredCandidate?
    /// The reason why no cached image answers.
    let reason: CacheDecision.Reason
    /// The first request to the first source, when the delegate has been asked already.
    let outgoing: OutgoingRequest?
    /// The time of the first attempt, in nanoseconds; the attempts of a request wait for other processes once in total.
    let started: Int

    init(
        _ request: ImageRequest, storedCandidate: StoredCandidate? = nil, outgoing: OutgoingRequest? = nil,
        because reason: CacheDecision.Reason, _ engine: EngineServices
    ) {
        (self.engine, self.request, self.storedCandidate) = (engine, request, storedCandidate)
        self.reason = request.options.lookup.forceRefresh ? .forced : reason
        (self.outgoing, started) = (outgoing, engine.now)
    }

    /// The URL of the first source.
    var url: String { request.resource.url }

    /// Starts the load.
    ///
    /// - Parameter end: Receives the result once, on any thread.
    /// - Returns: The function that stops the load.
    func start(end: @escaping ImageTask.End) -> Stop {
        let options = request.options
        RequestLog.miss(url, reason)
        guard options.mayTakeSeveralAttempts else { return SourceAttempt(self, at: url, end: end).start(outgoing) }
        // The delegate is asked again before each further attempt.
        let first = Once(outgoing)
        let attempts = SourceAttempts<ImageResult>(
            [url] + options.network.alternativeSources, options.network, clock: engine.configuration.clock.monotonic,
            hasNetwork: engine.configuration.hasNetwork,
            givenUp: { [self] source, error in note(.failure(error), of: source, isGivenUp: true) }
        ) { [self] source, meter, end in
            SourceAttempt(self, at: source, meter, end: end).start(isFirst(source) ? first.take() : nil)
        }
        attempts.start(deadline: request.deadline(at: started), end: end)
        return { attempts.stop() }
    }

    /// Remembers a failure, or forgets it after a success.
    func note(_ result: Result<ImageResult, any Error>, of source: String, isGivenUp: Bool = false) {
        engine.failures.note(
            result, of: source, key: request.resource.cacheKey, in: request.cache, options(for: source),
            isGivenUp: isGivenUp)
    }

    func isFirst(_ source: String) -> Bool { ExactText(source) == ExactText(url) }

    func options(for source: String) -> ImageOptions { request.options.scoped(from: url, to: source) }

    /// The plan of a request that may be sent; throws for any other.
    func plan(for source: String, _ outgoing: OutgoingRequest) throws(ImageError) -> FetchPlan {
        let key = request.resource.cacheKey
        // An image of another source goes to the entry of the user who asked for it too.
        let asked = engine.scopes.ownKey(key, of: request.outgoing)
        let isOwn = isFirst(source) || asked.partition.isEmpty
        let plan = try FetchPlan(
            request.resource, isOwn ? engine.scopes.ownKey(key, of: outgoing) : asked, in: request.cache, outgoing,
            needs: request.needs,
            storedCandidate: isFirst(source) ? storedCandidate : storedCandidate?.unasked, started: started)
        try ImageLoader(engine: engine).admit(plan.request, key: key, in: plan.cache, outgoing.options)
        return plan
    }
}
