internal import Platform
internal import Synchronization

/// One attempt to load an image from one of its sources. One object holds the whole attempt, because thousands may wait.
final class SourceAttempt: JobSubscriber {
    private enum Work: Sendable {
        case job(JobTable.Ticket)
        case task(Stop)
    }

    private let load: ImageLoad
    private let source: String
    /// Counts the received bytes, if somebody asks for them.
    private let meter: AttemptMeter?
    private let end: ImageTask.End
    private let work = Mutex<Work?>(nil)

    private var engine: EngineServices { load.engine }
    private var request: ImageRequest { load.request }

    /// - Parameter end: Receives the result once, on any thread.
    init(_ load: ImageLoad, at source: String, _ meter: AttemptMeter? = nil, end: @escaping ImageTask.End) {
        (self.load, self.source, self.meter, self.end) = (load, source, meter, end)
    }

    /// Starts the attempt.
    ///
    /// - Parameter outgoing: The request as changed by its delegate, when that has been asked.
    /// - Returns: The function that stops the attempt.
    func start(_ outgoing: OutgoingRequest?) -> Stop {
        let options = load.options(for: source)
        do {
            switch try ImageLoader(engine: engine).source(of: source, options) {
            case .network(let asked): try fetch(asked, outgoing, options)
            case .data(let bytes):
                let limits = options.network.limits
                guard bytes.count <= limits.maxBytes else { throw limits.tooLarge(source) }
                run { [self] in
                    try await ImageStorer(engine: engine).verifyAndStore(
                        PendingStore(
                            content: .bytes(bytes), key: ownKey, cache: request.cache, source: load.url,
                            origin: ImageOrigin(), options: options, needs: request.needs))
                }
            case .file(let path):
                run { [self] in
                    try await LocalFile(path: path, options: options).read(on: engine.pool) {
                        [request, ownKey, clock = engine.configuration.clock] file in
                        try file.image(ownKey, in: request.cache, needs: request.needs, now: clock.wall())
                    }
                }
            }
        } catch {
            finish(.failure(error))
        }
        return { [self] in stop() }
    }

    private func stop() {
        switch work.withLock({ $0 }) {
        case .job(let ticket): engine.jobs.leave(ticket)
        case .task(let stop): stop()
        case nil: break
        }
    }

    private var ownKey: CacheKey { engine.lookup.ownKey(request.resource, request.options) }

    private func run(_ make: @escaping @Sendable () async throws -> ImageResult) {
        let stop = inTask({ [self] in finish($0) }, make)
        work.withLock { $0 = .task(stop) }
    }

    private func fetch(_ url: String, _ outgoing: OutgoingRequest?, _ options: ImageOptions) throws {
        if engine.lookup.isOffline(options) {
            throw ImageError.offline(key: request.resource.cacheKey, url: source)
        }
        if let outgoing, !outgoing.options.asksToModify { return try join(outgoing) }
        if !options.asksToModify { return try join(OutgoingRequest(url: url, options: options)) }
        run { [self] in
            let plan = try load.plan(for: source, try await ImageLoader(engine: engine).modified(url, options))
            return try await engine.jobs.value(
                for: plan, priority: request.caller.priority, lingers: lingers,
                report: { [self] in jobReported($0) }, joined: { [self] _ in request.caller.joined() },
                start: { [engine] in FetchJob(plan, engine, $0).start() })
        }
    }

    private var lingers: Bool { request.options.caller.onLastCancel == .finish }

    /// Joins the job that fetches the image, or starts it.
    private func join(_ outgoing: OutgoingRequest) throws(ImageError) {
        let plan = try load.plan(for: source, outgoing)
        let ticket = engine.jobs.join(plan, self, priority: request.caller.priority, lingers: lingers) {
            FetchJob(plan, engine, $0).start()
        }
        work.withLock { $0 = .job(ticket) }
        request.caller.joined()
    }

    func jobReported(_ progress: DownloadProgress) {
        meter?.note(progress)
        request.caller.report?(progress)
    }

    func jobGoesOn(_ work: Backlog) { request.caller.goesOn?(work) }

    func jobEnded(_ result: JobResult) { finish(result.of(ImageResult.self)) }

    private func finish(_ result: Result<ImageResult, any Error>) {
        load.note(result, of: source)
        guard case .failure(let error as ImageError) = result else { return end(result) }
        end(.failure(error.first))
    }
}
