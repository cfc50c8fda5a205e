internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Synchronization

/// One `retrieve` request: answered at once if the image is available, otherwise when the order allows it, and without
/// a task while it only waits for a download.
final class Retrieval: Sendable {
    private let server: ImageServer
    private let cache: ImageCache
    private let resource: Resource
    private let given: ImageOptions?
    private let options: ImageOptions
    private let form: ResultForm
    private let burst: UInt64
    private let progress: RetrieveProgress?
    /// The request that this one supersedes in its slot.
    private let previous: OpenRequests.Entry?
    /// `true` when the first look-up has found that the cache does not have the image. The download then starts at
    /// once, because no earlier request on its key is running.
    private let isMissing = Atomic(false)

    private var manager: ImageManager { server.manager }

    /// A request for the image at `url`, as a client has sent it.
    ///
    /// - Throws: ``RPCError`` when the name of the cache is not valid.
    init(
        _ invocation: Invocation, _ url: String, key: String?, cache name: String?, options: ImageOptions?,
        _ form: ResultForm
    ) throws {
        server = invocation.server
        cache = try server.cache(name)
        resource = cache.resource(url, key: key)
        given = server.addingClientDelegate(to: options)
        self.options = given ?? ImageOptions()
        self.form = form
        burst = invocation.message.burst
        progress = invocation.progress.map(RetrieveProgress.init)
        previous = self.options.caller.slot.flatMap { [server] in server.openRequests.supersede(slot: $0) }
    }

    /// The outcome for the method's handler.
    var outcome: Outcome<ImageReply> {
        // Options for processing are left out: the engine shares that work itself, and also downloads with different
        // limits.
        let filled = given?.decidingTheEntry
        let filling = KeyOrder.Filling(url: ExactText(resource.url), options: filled == ImageOptions() ? nil : filled)
        let access = RequestOrder.Access(
            cache: cache.name, scope: .key(ExactText(resource.cacheKey)),
            kind: options.lookup.onlyFromCache ? .look : .fill(filling),
            isLocal: options.lookup.onlyFromCache || manager.isOffline(options) || !resource.url.hasPrefix("http"))
        return .ordered(access) {
            try self.immediateReply()
        } later: { call in
            self.deferred(call)
        }
    }

    /// The answer, if it is available at once.
    private func immediateReply() throws -> ImageReply? {
        if form == .pixels { return nil }
        let needsBytes = form.needsBytes || options.storage.queryDataWhenInMemory
        let glance = try manager.glance(
            at: resource, in: cache, options: options, needsBytes: needsBytes, burst: burst)
        if case .missing = glance { isMissing.store(true, ordering: .relaxed) }
        guard case .found(let image) = glance, !options.processing.wantsPreview || image.record.preview != nil else {
            return nil
        }
        let found = try ImageReply(image: image, form: form, showsPreview: options.processing.wantsPreview).checked()
        previous?.stop()
        return found
    }

    private func deferred(_ call: Call) -> Deferred<ImageReply> {
        let entry = OpenRequests.Entry(
            cache: cache.name, urls: [resource.url], slot: options.caller.slot,
            priority: CallPriority(options.caller.downloadPriority), previous: previous)
        server.openRequests.add(entry, call)
        let arrived = manager.configuration.clock.monotonic()
        let deadline = RequestDeadline()
        return Deferred(priority: entry.priority) { [self] in
            // The request may wait for the one that it supersedes.
            entry.stopPrevious()
            deadline.start(call, resource.url, options.caller.deadline)
        } begin: { [self] call, end in
            startDownload(call, entry, arrived, deadline, end)
        } work: { [self] call in
            deadline.handOver()
            let caller = caller(call, entry, arrived)
            if form == .pixels {
                let made = try await manager.pixels(of: resource, in: cache, options: options, caller: caller)
                return ImageReply(image: made.original, form: form, pixels: made.pixels)
            }
            return try await reply(to: call, caller)
        }
    }

    private func caller(_ call: Call, _ entry: OpenRequests.Entry, _ arrived: Int) -> ImageCaller {
        ImageCaller(
            priority: entry.priority, report: progress?.begin(call, resource.url),
            joined: { entry.stopPrevious() }, arrived: arrived)
    }

    // MARK: Without a task

    /// Starts the download, if nothing else is needed.
    ///
    /// - Returns: `false` if a task is needed; nothing has been done then.
    private func startDownload(
        _ call: Call, _ entry: OpenRequests.Entry, _ arrived: Int, _ deadline: RequestDeadline,
        _ end: @escaping @Sendable (Result<ImageReply, any Error>) -> Void
    ) -> Bool {
        if form == .pixels || options.processing.wantsPreview { return false }
        let (form, caller) = (form, caller(call, entry, arrived))
        let stops = form.needsBytes ? StopList() : nil
        // Thousands of requests may wait like this, so state that most of them do not need is not allocated.
        let finish: @Sendable (Result<ImageResult, any Error>) -> Void
        if let stops {
            finish = finishing(call, caller, deadline, stops, end)
        } else {
            finish = { result in end(result.map { ImageReply(image: $0, form: form) }) }
        }
        let stop = manager.begin(
            resource, in: cache, options: options, needs: form.needs, caller: caller, isMissing: isSurelyMissing,
            then: finish)
        guard let stop else { return false }
        deadline.start(call, resource.url, options.caller.deadline)
        if let stops {
            stops.add(stop)
            call.onCancel { stops.run() }
        } else {
            call.onCancel(stop)
        }
        return true
    }

    /// Answers with the bytes of the downloaded image, which may have to wait for room first.
    private func finishing(
        _ call: Call, _ caller: ImageCaller, _ deadline: RequestDeadline, _ stops: StopList,
        _ end: @escaping @Sendable (Result<ImageReply, any Error>) -> Void
    ) -> @Sendable (Result<ImageResult, any Error>) -> Void {
        { [self] result in
            guard case .success(let image) = result else {
                return end(result.map { ImageReply(image: $0, form: form) })
            }
            deadline.handOver()
            let task = Task {
                let replied: Result<ImageReply, any Error>
                do { replied = .success(try await reply(to: call, caller, with: image)) } catch {
                    replied = .failure(error)
                }
                end(replied)
            }
            stops.add { task.cancel() }
        }
    }

    /// `true` when the cache does not have the image, as far as that is known without waiting.
    private var isSurelyMissing: Bool {
        if isMissing.load(ordering: .relaxed) { return true }
        let type = try? cache.cacheType(for: CacheKey(resource.cacheKey), burst: 0, mayWait: false)
        return type == CacheType.none
    }

    // MARK: In a task

    /// The answer.
    ///
    /// - Parameter given: The image, if it is already loaded.
    private func reply(
        to call: Call, _ caller: ImageCaller, with given: ImageResult? = nil
    ) async throws -> ImageReply {
        var (given, isLastTry) = (given, false)
        while true {
            var image: ImageResult
            if let known = given {
                image = known
            } else {
                image = try await manager.image(
                    resource, in: cache, options: options, needs: form.needs, caller: caller,
                    isMissing: isMissing.exchange(false, ordering: .relaxed))
            }
            if options.processing.wantsPreview {
                image = try await manager.addingPreview(to: image, in: cache, options: options)
            }
            let reply = try ImageReply(image: image, form: form, showsPreview: options.processing.wantsPreview)
                .checked()
            guard form.needsBytes else { return reply }
            try await server.inlineGate.enter(image.record.byteCount, for: call)
            do {
                let loaded = try await manager.loadingBytes(of: image, in: cache, options: options)
                return ImageReply(image: loaded, form: form, showsPreview: options.processing.wantsPreview)
            } catch ImageError.notCached where !isLastTry {
                // Another program changed the file, and its entry was removed: the image is loaded again, once.
                (given, isLastTry) = (nil, true)
            }
        }
    }
}

/// Sends the client the progress of a request, from the time it runs.
private final class RetrieveProgress: Sendable {
    private let tokens: ProgressTokens
    private let reporter = Mutex<ProgressReporter?>(nil)

    init(_ tokens: ProgressTokens) { self.tokens = tokens }

    /// The receiver of progress; the first call announces the work.
    func begin(_ call: Call, _ url: String) -> @Sendable (DownloadProgress) -> Void {
        let (reporter, isNew) = reporter.withLock { reporter -> (ProgressReporter, Bool) in
            if let reporter { return (reporter, false) }
            let made = ProgressReporter(call: call, tokens: tokens)
            reporter = made
            return (made, true)
        }
        if isNew { reporter.begin(title: "retrieve", message: String(url.prefix(200))) }
        return { reporter.report($0) }
    }
}

/// The functions that stop a request; each runs once, also those added after ``run()``.
private final class StopList: Sendable {
    private struct State {
        var hasRun = false
        var stops: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// Adds a function, which runs at once if the others have run.
    func add(_ stop: @escaping @Sendable () -> Void) {
        let hasRun = state.withLock { state in
            if !state.hasRun { state.stops.append(stop) }
            return state.hasRun
        }
        if hasRun { stop() }
    }

    /// Runs every function.
    func run() {
        let stops = state.withLock { state in
            state.hasRun = true
            defer { state.stops = [] }
            return state.stops
        }
        for stop in stops { stop() }
    }
}
