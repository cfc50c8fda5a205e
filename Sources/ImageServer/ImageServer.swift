public import ImageEngine
public import JSONRPC
internal import Platform
internal import RemoteStorage
internal import Synchronization

/// Implements the protocol over an image engine; there is one instance per process.
public final class ImageServer: RequestHandler {
    /// The version of the server, `serverInfo.version`.
    public static let version = "0.1.0"
    /// The version of the protocol. Changes only add to it.
    public static let protocolVersion = "1"

    /// The functions that the process provides to the server.
    public struct Hooks: Sendable {
        /// The number of requests of the connection that are being worked on.
        public var requestsInFlight: @Sendable () -> Int = { 0 }
        /// The requests of the connection that are being worked on.
        public var openCalls: @Sendable () -> [Call] = { [] }
        /// The request with an id that is being worked on.
        public var openCall: @Sendable (RequestID) -> Call? = { _ in nil }
        /// What is made for the client and not yet taken by it.
        public var output: @Sendable () -> OutputBudget.Usage = { OutputBudget.Usage() }
        /// Asks the process to exit when the client's process has ended.
        public var watchProcess: @Sendable (Int32) -> Void = { _ in }
        /// Sends a notification, unless the client does not read; never waits.
        public var notify: @Sendable (StaticString, (inout JSONWriter) -> Void) -> Void = { _, _ in }
        /// Fails all open requests to the client.
        public var endRequestsToClient: @Sendable () -> Void = {}
        /// The receiver of requests to the client; `nil` when there is none.
        public var client: @Sendable () -> (any RequestSender)? = { nil }

        /// Hooks that do nothing.
        public init() {}
    }

    let manager: ImageManager
    let limits: ConnectionLimits
    /// The order in which requests take effect.
    let order = RequestOrder()
    private let shutdownFlag = ShutdownFlag()
    private let wasInitialized = Atomic(false)
    private let hooks: HookBox
    private let sources: Mutex<SettingSources>
    /// The options of requests that leave them out.
    private let requestDefaults: Mutex<RequestDefaults>
    /// The events that the client is subscribed to.
    let subscriptions = Subscriptions()
    /// The slots of the running requests that load images.
    let openRequests = OpenRequests()
    /// The network activity indicator.
    let activity: ActivityMonitor
    /// The client as the delegate of downloads; a single instance, so that equal downloads are merged.
    let clientDelegate: ClientDelegate
    private let declared = Mutex<Set<DownloadDelegates.Question>>([])
    let logThrottle = Mutex(LogThrottle())
    private let started = monotonicNanoseconds()

    /// The largest image that is answered inline, in bytes.
    static let maxInlineBytes = 16 << 20

    private static let methods = Dictionary(
        uniqueKeysWithValues: Method.all.enumerated().map { ($1.name, (method: $1, number: $0)) })

    /// The durations of requests.
    let latencies = Latencies(count: Method.all.count)

    /// A server over `manager`.
    ///
    /// - Parameters:
    ///   - sources: The settings of the manager's caches by source; the client's are added to them.
    ///   - delegateTimeout: The number of seconds to wait for the client's answer to a question.
    public init(
        manager: ImageManager, limits: ConnectionLimits = ConnectionLimits(),
        sources: SettingSources = SettingSources(), delegateTimeout: Double = 10
    ) {
        self.manager = manager
        self.sources = Mutex(sources)
        requestDefaults = Mutex(RequestDefaults(sources.options))
        self.limits = limits
        let hooks = HookBox()
        self.hooks = hooks
        clientDelegate = ClientDelegate(timeout: delegateTimeout) { [shutdownFlag] in
            shutdownFlag.isSet ? nil : hooks.hooks.withLock { $0 }.client()
        }
        let reference = ServerReference()
        activity = ActivityMonitor { reference.server?.reportActivity($0, $1) }
        reference.set(self)
        manager.caches.onClean { [weak self] in self?.report($0) }
        manager.onChange { [weak self] in self?.report($0) }
        manager.onRemoteChange { [weak self] in self?.report($0) }
        manager.onActivity { [weak self] in self?.activity.change(to: $0) }
        manager.downloader.onFinish { [weak self] in self?.report($0) }
    }

    /// Sets the delays, in seconds, after which the start and the end of activity are reported to the client.
    public func useActivityDelays(activation: Double, completion: Double) {
        activity.use(activationDelay: activation, completionDelay: completion)
    }

    /// Sets the functions that the process provides.
    public func use(_ hooks: Hooks) {
        self.hooks.hooks.withLock { $0 = hooks }
    }

    var requestsInFlight: Int { hooks.hooks.withLock { $0 }.requestsInFlight() }
    var output: OutputBudget.Usage { hooks.hooks.withLock { $0 }.output() }
    var openCalls: [Call] { hooks.hooks.withLock { $0 }.openCalls() }

    func openCall(_ id: RequestID) -> Call? { hooks.hooks.withLock { $0 }.openCall(id) }

    /// The number of seconds since the server was created.
    var uptime: Double { Double(monotonicNanoseconds() - started) / 1e9 }

    // MARK: Requests

    /// Resumes paused downloads, because no request can resume them any more. See ``RequestHandler``.
    public func inputEnded() { manager.downloader.endPauses() }

    /// Looks the method up and starts it. See ``RequestHandler``.
    public func handle(
        _ method: String, params: JSONView?, message: MessageContext, result: inout JSONWriter
    ) -> Disposition {
        guard let (found, number) = Self.methods[method],
            !found.isNotification || message.id == nil || method == "exit"
        else {
            // Unknown methods that begin with a dollar sign may be ignored (LSP 3.17, "$ Notifications and Requests").
            return .failed(.methodNotFound(method, suggestion: nearestName(to: method, in: Method.requestNames)))
        }
        if method != "exit", shutdownFlag.isSet {
            return .failed(.invalidRequest("The server has been shut down; only exit may follow."))
        }
        let start = monotonicNanoseconds()
        let disposition: Disposition
        do {
            disposition = try found.run(self, params, message, &result)
        } catch {
            disposition = .failed(rpcError(error))
        }
        guard case .deferred(_, let begin) = disposition else {
            latencies.record(number, since: start)
            return disposition
        }
        return .deferred(CallTiming(method: number, start: start), begin)
    }

    /// Records how long a deferred request took. See ``RequestHandler``.
    public func ended(_ timing: CallTiming) { latencies.record(Int(timing.method), since: timing.start) }

    /// Converts the outcome of a handler into a disposition for the connection.
    func disposition<Value: WireResult>(
        of outcome: Outcome<Value>, writer: inout JSONWriter
    ) throws -> Disposition {
        switch outcome {
        case .now(let value):
            value.write(to: &writer)
            return .answered
        case .later(let work): return .deferred { call in Self.start(call, work) }
        case .begun(let begin, let work):
            return .deferred { call in
                begin(call)
                Self.start(call, work)
            }
        case .exit(let code): return .exit(code)
        case .retrieval(let retrieval):
            if !retrieval.hasProgress, order.isFree(retrieval.cacheName, retrieval.scope, retrieval.kind),
                let value = try retrieval.immediateReply()
            {
                value.write(to: &writer)
                return .answered
            }
            return .deferred { retrieval.begin($0) }
        case .onDisk(let access, let atOnce, let later):
            if order.isFree(access.cache, access.scope, access.kind), let value = try atOnce() {
                value.write(to: &writer)
                return .answered
            }
            return ordered(
                access,
                Deferred<Value> { [manager] call, end in
                    call.whenRoom { hasRoom in
                        guard hasRoom else { return end(.failure(CancellationError())) }
                        // A survey waits for an index that was lost to be made whole.
                        manager.perform(isLong: access.scope == .survey) { end(Result { try later() }) }
                    }
                })
        case .ordered(let access, let work): return ordered(access, work)
        case .inTwoParts(let access, let begin, let work): return ordered(access, begin, work)
        }
    }

    /// A request that is started when the order allows it.
    private func ordered<Value: WireResult>(
        _ access: RequestOrder.Access, _ work: Deferred<Value>
    ) -> Disposition {
        .deferred { [order] call in
            let request = OrderedWork(access) { request in
                // Cancelled while it waited: it leaves the order at once.
                guard call.isOpen else { return false }
                work.work(call) { result in
                    Self.end(call, result)
                    order.leave(request)
                }
                return true
            }
            order.enter(request)
        }
    }

    /// A request that is started when the order allows it, and completed when it has left that.
    private func ordered<Value: WireResult>(
        _ access: RequestOrder.Access, _ begin: @escaping @Sendable (Call) -> Void,
        _ work: @escaping @Sendable (Call) async throws -> @Sendable () async throws -> Value
    ) -> Disposition {
        .deferred { [order] call in
            let request = OrderedWork(access) { request in
                guard call.isOpen else { return false }
                Self.start(call) { call in
                    let complete: @Sendable () async throws -> Value
                    do {
                        defer { order.leave(request) }
                        complete = try await work(call)
                    }
                    return try await complete()
                }
                return true
            }
            begin(call)
            order.enter(request)
        }
    }

    private static func start<Value: WireResult>(
        _ call: Call, _ work: @escaping @Sendable (Call) async throws -> Value
    ) {
        Deferred.task(work).work(call) { end(call, $0) }
    }

    /// Answers the call. To keep the order, callers leave it after this, once the request has taken effect.
    static func end<Value: WireResult>(_ call: Call, _ result: Result<Value, any Error>) {
        switch result {
        case .success(let value): call.respond { value.write(to: &$0) }
        case .failure(let error): call.fail(rpcError(error))
        }
    }

    // MARK: Life cycle

    /// Handles `initialize`, which is accepted once.
    ///
    /// - Parameters:
    ///   - layer: The client's settings.
    ///   - questions: The questions about downloads that the client answers.
    func initialize(
        watching process: Int32?, settings layer: CacheLayer?, asking questions: Set<DownloadDelegates.Question>
    ) throws {
        guard !wasInitialized.load(ordering: .relaxed) else {
            throw RPCError.invalidRequest("The server has been initialized already.")
        }
        if let layer { try use(layer) }
        declared.withLock { $0 = questions }
        wasInitialized.store(true, ordering: .relaxed)
        if let process { watch(process: process) }
    }

    func shutDown() {
        manager.downloader.endPauses()
        shutdownFlag.set()
        subscriptions.removeAll()
        hooks.hooks.withLock { $0 }.endRequestsToClient()
    }

    /// The exit code for the `exit` notification (LSP: 0 only after `shutdown`).
    var exitCode: Int32 { shutdownFlag.isSet ? 0 : 1 }

    private func watch(process: Int32) { hooks.hooks.withLock { $0 }.watchProcess(process) }

    // MARK: Settings and events

    private func use(_ layer: CacheLayer) throws {
        try sources.withLock { sources in
            var next = sources
            next[.initialize] = layer
            do {
                var defaults = requestDefaults.withLock { $0 }
                try defaults.use(next.options)
                try manager.caches.configureAll(defaults: next.settings(of: nil), caches: next.named)
                try requestDefaults.withLock { try $0.use(next.options) }
            } catch let error as FolderInUse {
                throw RPCError.folderInUse(error, param: "initializationOptions.caches.\(error.cache).disk.folder")
            } catch let error as Mismatch {
                throw error.within("initializationOptions.options").error
            }
            sources = next
            useDownloader(next)
        }
    }

    private func useDownloader(_ sources: SettingSources) {
        manager.downloader.configure(sources.downloader(manager.configuration.downloader))
    }

    /// Changes the settings of the downloader from now on; returns the effective ones.
    func configureDownloader(_ change: DownloaderChange?) -> ImageDownloader.Configuration {
        sources.withLock { sources in
            if let change {
                sources[.configure].downloader.add(change)
                useDownloader(sources)
            }
            return sources.downloader(manager.configuration.downloader)
        }
    }

    /// The options of a request that names none; `nil` when all are as built in.
    var defaultOptions: ImageOptions? { requestDefaults.withLock { $0.options } }
    /// What is not as built in of ``defaultOptions``.
    var namedOptions: JSONLiteral { .object(requestDefaults.withLock { $0.all }.named) }

    /// Changes the default options for every request that is read from now on.
    ///
    /// - Returns: To be called when the change stays, or with `true` to take it back.
    func configureOptions(_ change: DefaultOptions) throws -> @Sendable (_ takesBack: Bool) -> Void {
        let number = try requestDefaults.withLock { defaults in
            do throws(Mismatch) { return try defaults.add(change) } catch { throw error.within("options").error }
        }
        // Without it, every combination has been accepted before.
        return { [weak self] takesBack in
            self?.requestDefaults.withLock { try? $0.settle(number, takesBack: takesBack) }
        }
    }

    /// Changes the settings of the remote tier from now on; returns the effective ones.
    func configureRemote(_ change: SettingsChange<RemoteTier.Configuration>?) -> RemoteTier.Configuration {
        sources.withLock { _ in
            var settings = manager.remote
            guard let change, !change.isEmpty else { return settings }
            change.apply(to: &settings)
            manager.useRemote(settings)
            return settings
        }
    }

    /// Changes the settings of a cache; returns the effective ones.
    ///
    /// - Parameter change: Receives the current settings.
    func configure(
        _ name: String, _ change: (ImageCache.Configuration) -> CacheChange
    ) throws -> ImageCache.Configuration {
        try sources.withLock { sources in
            var next = sources
            var layer = next[.configure]
            layer.caches[name, default: CacheChange()].add(change(manager.caches.settings(of: name)))
            next[.configure] = layer
            do {
                let settings = try manager.caches.configure(name, next.settings(of: name))
                sources = next
                return settings
            } catch let error as FolderInUse {
                throw RPCError.folderInUse(error, param: "disk.folder")
            }
        }
    }

    func notify(_ method: StaticString, _ params: (inout JSONWriter) -> Void) {
        hooks.hooks.withLock { $0 }.notify(method, params)
    }

    /// The questions that the client declared in `initialize`.
    var declaredQuestions: Set<DownloadDelegates.Question> { declared.withLock { $0 } }

    // MARK: Lookups for handlers

    /// The cache called `name`, or the default one.
    func cache(_ name: String?) throws -> ImageCache {
        let name = name ?? CacheRegistry.defaultName
        guard let cache = manager.cache(name) else {
            throw CacheName.malformed.within("cache").error
        }
        return cache
    }
}

extension RPCError {
    fileprivate static func folderInUse(_ error: FolderInUse, param: String) -> RPCError {
        .invalidParams(
            "\"\(param)\" cannot be changed any more. \(error)", param: param, expected: error.folder)
    }
}

/// A weak reference to the server for closures that are created before it.
private final class ServerReference: Sendable {
    private struct Reference { weak var server: ImageServer? }
    private let reference = Mutex(Reference())

    var server: ImageServer? { reference.withLock { $0.server } }

    func set(_ server: ImageServer) { reference.withLock { $0.server = server } }
}

/// The flag for a received `shutdown`.
private final class ShutdownFlag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}

/// Stores the hooks for closures that are created before the connection.
private final class HookBox: Sendable {
    let hooks = Mutex(ImageServer.Hooks())
}
