internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Synchronization

/// One `retrieve` request: answered at once if the image is available, otherwise when the order allows it.
///
/// Thousands of requests may wait, so one object holds all of a request, and what most requests do not need is not
/// allocated.
final class Retrieval: OpenRequest, OrderedRequest {
    private enum Work {
        case load(ImageTask)
        case task(Task<Void, Never>)

        func cancel() {
            switch self {
            case .load(let load): load.cancel()
            case .task(let task): task.cancel()
            }
        }
    }

    private struct State {
        /// Set when the request is not answered at once.
        var call: Call?
        var priority: CallPriority?
        /// The time of the request in nanoseconds of the engine's clock, for its deadline.
        var arrived = 0
        var work: Work?
        var hasWaited = false
        var hasStarted = false
        var isStopped = false
        /// The download that goes on after the request was cancelled.
        var unawaited: Backlog?
    }

    private let server: ImageServer
    private let cache: ImageCache
    private let resource: Resource
    private let options: ImageOptions
    private let burst: UInt64
    private let tokens: ProgressTokens?
    let slotPlace: SlotPlace?
    private let form: ResultForm
    /// `true` when it has been looked for as the request arrived: then nothing had to come before it.
    private let wasLookedFor = Atomic(false)
    /// `true` when the first look-up has found that the cache does not have the image.
    private let isMissing = Atomic(false)
    private let state = Mutex(State())

    private var manager: ImageManager { server.manager }

    /// A request for the image at `url`, or under `key`, as a client has sent it.
    ///
    /// - Throws: ``RPCError`` when the name of the cache is not valid, or neither URL nor key is given.
    init(
        _ invocation: Invocation, _ url: URLText?, key: KeyText?, cache name: String?, options given: ImageOptions?,
        _ form: ResultForm
    ) throws {
        var options = given
        server = invocation.server
        cache = try server.cache(name)
        resource = try Resource(url, key, in: cache, &options)
        self.options = server.addingClientDelegate(to: options) ?? ImageOptions()
        self.form = form
        burst = invocation.message.burst
        tokens = invocation.progress
        slotPlace = self.options.caller.slot.map { [server] in server.openRequests.place(in: $0) }
    }

    // MARK: What others ask

    var hasProgress: Bool { tokens != nil }
    var url: String? { resource.url.isEmpty ? nil : resource.url }
    var priority: CallPriority? { state.withLock { $0.priority } }
    var prefetcher: ImagePrefetcher? { nil }
    var cacheName: String { cache.name }
    var scope: KeyOrder.Scope { .key(ExactText(resource.cacheKey)) }

    var kind: KeyOrder.Kind {
        // Options for processing are left out: the engine shares that work itself, and also downloads with different
        // limits.
        options.lookup.onlyFromCache
            ? .look : .fill(KeyOrder.Filling(url: ExactText(resource.url), options: options.decidingTheEntry))
    }

    var isLocal: Bool { options.lookup.onlyFromCache || manager.isOffline(options) || !resource.isOnNetwork }

    func loads(_ url: ExactText) -> Bool { Resource.comparable(resource.url) == url }

    // MARK: From the request to the answer

    /// The answer, if it is available at once.
    ///
    /// - Parameter isFirst: `true` for the look as the request arrives, which need not look again at a file that another one of
    ///   the same burst has looked at.
    func immediateReply(isFirst: Bool = true) throws -> ImageReply? {
        if form == .pixels { return nil }
        if isFirst { wasLookedFor.store(true, ordering: .relaxed) }
        let glance = try manager.glance(
            at: resource, in: cache, options: options, needs: form.needs, burst: isFirst ? burst : 0)
        if case .missing = glance { isMissing.store(true, ordering: .relaxed) }
        guard case .found(let image) = glance, !options.processing.wantsPreview || image.record.preview != nil else {
            return nil
        }
        let found = try ImageReply(image: image, form: form, for: options).checked()
        slotPlace?.stopPrevious()
        return found
    }

    /// Registers the request until it is answered, and starts it when the order allows it.
    func begin(_ call: Call) {
        let priority = CallPriority(options.caller.downloadPriority)
        let arrived = manager.now
        state.withLock { ($0.call, $0.priority, $0.arrived) = (call, priority, arrived) }
        server.openRequests.add(slotPlace, call)
        call.begin(self)
        server.order.enter(self)
    }

    func wait() {
        let call = state.withLock { state in
            state.hasWaited = true
            return state.call
        }
        // The request may wait for the one that it supersedes.
        slotPlace?.stopPrevious()
        guard let call, call.isOpen else { return server.order.withdraw(self) }
        // The engine enforces the deadline of a request that has started.
        call.end(after: options.caller.deadline) { [self] in
            guard !state.withLock({ $0.hasStarted }) else { return nil }
            return named(ImageError.timedOut(url: resource.name, option: "deadline", seconds: $0))
        }
    }

    func start() -> Bool {
        let (call, priority, arrived) = state.withLock { state in
            state.hasStarted = true
            return (state.call, state.priority, state.arrived)
        }
        // Cancelled while it waited: it leaves the order at once.
        guard let call, let priority, call.isOpen else { return false }
        var caller = ImageCaller(priority: priority, arrived: arrived)
        if let tokens {
            let reporter = ProgressReporter<DownloadProgress>(call: call, tokens: tokens)
            reporter.begin(title: "retrieve", message: String(resource.name.prefix(200)), .start)
            caller.report = { reporter.report($0) }
        }
        // What those before it have stored is answered before others begin, which may empty the cache.
        if !wasLookedFor.load(ordering: .relaxed), let reply = try? immediateReply(isFirst: false) {
            ImageServer.end(call, .success(reply))
            return false
        }
        if options.caller.onLastCancel == .finish {
            // Weakly: the request holds its task, which holds this. The order holds the request.
            caller.goesOn = { [weak self] work in self?.state.withLock { $0.unawaited = work } }
        }
        if let slotPlace { caller.joined = { slotPlace.stopPrevious() } }
        let needs = form == .pixels ? .pixels : form.needs
        let request = ImageRequest(resource, in: cache, options: options, needs: needs, caller: caller)
        retrieve(request, for: call)
        return true
    }

    func stop() {
        let work = state.withLock { state in
            state.isStopped = true
            return state.work
        }
        work?.cancel()
    }

    func callEnded() {
        server.openRequests.remove(slotPlace)
        if state.withLock({ $0.hasWaited }) { server.order.withdraw(self) }
    }

    private func retrieve(_ request: ImageRequest, for call: Call) {
        let isMissing = isMissing.load(ordering: .relaxed)
        let looked = { @Sendable [self] in server.order.goOn(self) }
        let work: Work
        if form.needsBytes || options.processing.wantsPreview {
            work = .task(
                Task { [self] in
                    do {
                        finish(.success(try await replyWithBytes(to: call, request, isMissing: isMissing, looked)))
                    } catch { finish(.failure(error)) }
                })
        } else {
            work = .load(
                manager.retrieve(request, isMissing: isMissing, looked: looked) { [self] result in
                    finish(
                        result.flatMap { image in
                            Result { try ImageReply(image: image, form: form, for: options).checked() }
                        })
                })
        }
        let isStopped = state.withLock { state in
            state.work = work
            return state.isStopped
        }
        if isStopped { work.cancel() }
    }

    private func finish(_ result: Result<ImageReply, any Error>) {
        if let call = state.withLock({ $0.call }) { ImageServer.end(call, result.mapError(named)) }
        // An image that is stored behind the answer takes effect then.
        let leave = { @Sendable [self] in server.order.leave(self) }
        switch result {
        case .success(let reply): reply.image.whenStored(leave)
        case .failure: if let work = state.withLock({ $0.unawaited }) { work.whenDone(leave) } else { leave() }
        }
    }

    /// A failure for the caller, with the key where no URL names the image.
    private func named(_ failure: any Error) -> any Error {
        guard url == nil, let failure = failure as? ImageError else { return failure }
        return failure.rpcError(of: resource)
    }

    /// The most times that an image is looked for again which was removed before its bytes were read. Processes that keep
    /// clearing a cache may remove it again.
    private static let mostRetries = 4

    /// The answer with the bytes of the image, which may have to wait for room first, or with its placeholder.
    private func replyWithBytes(
        to call: Call, _ request: ImageRequest, isMissing: Bool, _ looked: @escaping @Sendable () -> Void,
        retries: Int = 0
    ) async throws -> ImageReply {
        var image = try await manager.image(request, isMissing: isMissing, looked: looked)
        if options.processing.wantsPreview {
            image = try await manager.addingPreview(to: image, in: cache, options: options)
        }
        func checkedReply() throws -> ImageReply {
            try ImageReply(image: image, form: form, for: options).checked()
        }
        guard form.needsBytes else { return try checkedReply() }
        // Not kept: its bytes would be there while it waits.
        _ = try checkedReply()
        // Once: who waited again would wait for its own room.
        if retries == 0 {
            if !call.hasRoom(for: image.inlineMemory) { image = try await manager.settingBytesAside(of: image) }
            try await call.waitForRoom(for: image.inlineMemory)
        }
        do {
            let loaded = try await manager.loadingBytes(of: image, in: cache, options: options)
            return ImageReply(image: loaded, form: form, for: options)
        } catch ImageError.notCached where retries < Self.mostRetries {
            // Another process has removed it, or a program its file: the image is looked for again, and loaded.
            return try await replyWithBytes(to: call, request, isMissing: false, looked, retries: retries + 1)
        }
    }
}

extension Call {
    /// Ends the request when its deadline passes, if it has one, with the failure that `failure` returns then, if any.
    func end(after deadline: Double?, with failure: @escaping @Sendable (_ deadline: Double) -> (any Error)?) {
        guard let deadline else { return }
        let task = Task { [self] in
            try await Task.sleep(for: .seconds(deadline))
            if let failure = failure(deadline) { end(rpcError(failure)) }
        }
        onEnd { task.cancel() }
    }
}
