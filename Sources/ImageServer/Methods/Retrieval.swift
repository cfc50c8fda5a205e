internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Synchronization

/// One request for an image: answered at once if that is at hand, else when its turn has come, and without a task as long
/// as it only waits for a download.
final class Retrieval: Sendable {
    private let server: ImageServer
    private let cache: ImageCache
    private let resource: Resource
    private let given: ImageOptions?
    private let options: ImageOptions
    private let form: ResultForm
    private let burst: UInt64
    private let progress: RetrieveProgress?
    /// The request whose place this one takes.
    private let previous: OpenRequests.Entry?
    /// Whether the first look has found that the cache does not have the image. It is begun at once then, for nothing before
    /// it in the order of its key is under way.
    private let isMissing = Atomic(false)

    private var manager: ImageManager { server.manager }

    /// A request for the image at `url`, as a client has sent it.
    ///
    /// - Throws: ``RPCError`` when there can be no cache of that name.
    init(
        _ invocation: Invocation, _ url: String, key: String?, cache name: String?, options: ImageOptions?,
        _ form: ResultForm
    ) throws {
        server = invocation.server
        cache = try server.cache(name)
        resource = cache.resource(url, key: key)
        given = server.asking(options)
        self.options = given ?? ImageOptions()
        self.form = form
        burst = invocation.message.burst
        progress = invocation.progress.map(RetrieveProgress.init)
        previous = self.options.caller.slot.flatMap { [server] in server.openRequests.vacate($0) }
    }

    /// What is done for it.
    var outcome: Outcome<ImageReply> {
        // What is made of it is the engine's to share, and so is a download within other bounds.
        let filled = given?.decidingTheEntry
        let filling = KeyOrder.Filling(url: ExactText(resource.url), options: filled == ImageOptions() ? nil : filled)
        let access = RequestOrder.Access(
            cache: cache.name, scope: .key(ExactText(resource.cacheKey)),
            kind: options.lookup.onlyFromCache ? .look : .fill(filling),
            isLocal: options.lookup.onlyFromCache || manager.isOffline(options) || !resource.url.hasPrefix("http"))
        return .ordered(access) {
            try self.found()
        } later: { call in
            self.deferred(call)
        }
    }

    /// The answer, if it can be had at once.
    private func found() throws -> ImageReply? {
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
        let turn = Turn()
        return Deferred(priority: entry.priority) { [self] in
            // The request whose place this one has taken may be what it waits for.
            entry.stopPrevious()
            turn.limit(call, resource.url, options.caller.deadline)
        } begin: { [self] call, end in
            begin(call, entry, arrived, turn, end)
        } work: { [self] call in
            turn.come()
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

    /// Begins the download, if nothing else is to be done.
    ///
    /// - Returns: false if something is, and nothing has been done.
    private func begin(
        _ call: Call, _ entry: OpenRequests.Entry, _ arrived: Int, _ turn: Turn,
        _ end: @escaping @Sendable (Result<ImageReply, any Error>) -> Void
    ) -> Bool {
        if form == .pixels || options.processing.wantsPreview { return false }
        let (form, caller) = (form, caller(call, entry, arrived))
        let stops = form.needsBytes ? Stops() : nil
        // Thousands may wait like this: what most of them do not need is not held for them.
        let finish: @Sendable (Result<ImageResult, any Error>) -> Void
        if let stops {
            finish = finishing(call, caller, turn, stops, end)
        } else {
            finish = { result in end(result.map { ImageReply(image: $0, form: form) }) }
        }
        let stop = manager.begin(
            resource, in: cache, options: options, needs: form.needs, caller: caller, isMissing: isSurelyMissing,
            then: finish)
        guard let stop else { return false }
        turn.limit(call, resource.url, options.caller.deadline)
        if let stops {
            stops.add(stop)
            call.onCancel { stops.fire() }
        } else {
            call.onCancel(stop)
        }
        return true
    }

    /// Answers with the bytes of the image that has come, for which there may have to be room first.
    private func finishing(
        _ call: Call, _ caller: ImageCaller, _ turn: Turn, _ stops: Stops,
        _ end: @escaping @Sendable (Result<ImageReply, any Error>) -> Void
    ) -> @Sendable (Result<ImageResult, any Error>) -> Void {
        { [self] result in
            guard case .success(let image) = result else {
                return end(result.map { ImageReply(image: $0, form: form) })
            }
            turn.come()
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

    /// Whether the cache does not have the image, as far as that can be told at once.
    private var isSurelyMissing: Bool {
        if isMissing.load(ordering: .relaxed) { return true }
        let type = try? cache.cacheType(for: CacheKey(resource.cacheKey), burst: 0, mayWait: false)
        return type == CacheType.none
    }

    // MARK: In a task

    /// The answer.
    ///
    /// - Parameter given: The image, if it has been found.
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
                // The file was changed behind our back, and has been taken out: load it anew, once.
                (given, isLastTry) = (nil, true)
            }
        }
    }
}

/// Tells the client how far a request is, from when its turn has come.
private final class RetrieveProgress: Sendable {
    private let tokens: ProgressTokens
    private let reporter = Mutex<ProgressReporter?>(nil)

    init(_ tokens: ProgressTokens) { self.tokens = tokens }

    /// What takes how far it is; begins with the first call.
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

/// What stops a request, one thing after the other, whichever is told of first.
private final class Stops: Sendable {
    private struct State {
        var isFired = false
        var stops: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// Adds something, which is stopped at once if the others have been.
    func add(_ stop: @escaping @Sendable () -> Void) {
        let isFired = state.withLock { state in
            if !state.isFired { state.stops.append(stop) }
            return state.isFired
        }
        if isFired { stop() }
    }

    /// Stops everything.
    func fire() {
        let stops = state.withLock { state in
            state.isFired = true
            defer { state.stops = [] }
            return state.stops
        }
        for stop in stops { stop() }
    }
}
