internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Synchronization

/// One `retrieve` request: answered at once if the image is available, otherwise when the order allows it.
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
    /// `true` when the first look-up has found that the cache does not have the image.
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
            isLocal: options.lookup.onlyFromCache || manager.isOffline(options) || !resource.isOnNetwork)
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
        } work: { [self] call, end in
            deadline.handOver()
            let caller = ImageCaller(
                priority: entry.priority, report: progress?.begin(call, resource.url),
                joined: { entry.stopPrevious() }, arrived: arrived)
            let needs = form == .pixels ? .pixels : form.needs
            let request = ImageRequest(resource, in: cache, options: options, needs: needs, caller: caller)
            retrieve(request, for: call, end)
        }
    }

    private func retrieve(
        _ request: ImageRequest, for call: Call, _ end: @escaping @Sendable (Result<ImageReply, any Error>) -> Void
    ) {
        let isMissing = isMissing.load(ordering: .relaxed)
        // Thousands of requests may wait like this, so state that most of them do not need is not allocated.
        guard form.needsBytes || options.processing.wantsPreview else {
            let task = manager.retrieve(request, isMissing: isMissing) { [form] result in
                end(result.flatMap { image in Result { try ImageReply(image: image, form: form).checked() } })
            }
            return call.onCancel { task.cancel() }
        }
        let task = Task { [self] in
            do { end(.success(try await replyWithBytes(to: call, request, isMissing: isMissing))) } catch {
                end(.failure(error))
            }
        }
        call.onCancel { task.cancel() }
    }

    /// The answer with the bytes of the image, which may have to wait for room first, or with its placeholder.
    private func replyWithBytes(
        to call: Call, _ request: ImageRequest, isMissing: Bool, isLastTry: Bool = false
    ) async throws -> ImageReply {
        var image = try await manager.image(request, isMissing: isMissing)
        if options.processing.wantsPreview {
            image = try await manager.addingPreview(to: image, in: cache, options: options)
        }
        let reply = try ImageReply(image: image, form: form, showsPreview: options.processing.wantsPreview).checked()
        guard form.needsBytes else { return reply }
        try await server.inlineGate.enter(image.record.byteCount, for: call)
        do {
            let loaded = try await manager.loadingBytes(of: image, in: cache, options: options)
            return ImageReply(image: loaded, form: form, showsPreview: options.processing.wantsPreview)
        } catch ImageError.notCached where !isLastTry {
            // Another program changed the file, and its entry was removed: the image is loaded again, once.
            return try await replyWithBytes(to: call, request, isMissing: false, isLastTry: true)
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
