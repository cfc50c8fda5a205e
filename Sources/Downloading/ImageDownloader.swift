internal import HTTPSemantics
internal import ImageErrors
internal import Platform
internal import Synchronization

/// Downloads bodies over HTTP: requests with the same identity are merged, started by priority within limits, and
/// cancelled with their last caller. Knows no cache.
public final class ImageDownloader: Sendable {
    /// The settings of a downloader.
    public struct Configuration: Sendable {
        /// The maximum number of concurrent downloads per host. Default: 4, as in AFNetworking.
        public var maxDownloadsPerHost = 4
        /// The maximum number of concurrent downloads. Default: 64. Downloads whose server has been silent for a second
        /// do not count, up to sixteen times that number.
        public var maxConcurrentDownloads = 64
        /// The order of downloads with equal priority.
        public var order = DownloadOrder.fifo
        /// The maximum number of starts per second, after a first burst. 0: no limit.
        public var startsPerSecond = 0.0
        /// The maximum number of starts per second and host, after a first burst. 0: no limit.
        public var startsPerSecondPerHost = 0.0
        /// The number of starts at once before ``startsPerSecond`` and ``startsPerSecondPerHost`` count.
        public var burst = 25
        /// The longest wait for the next bytes, in seconds, of downloads whose options name none.
        public var timeout = defaultTimeout
        /// The User-Agent header.
        public var userAgent = "halcyon"
        /// The hosts and networks that may be loaded from.
        public var policy = NetworkPolicy()
        /// The trusted authorities and the own certificate.
        public var tls = TLSSettings()
        /// The proxies that requests go through.
        public var proxy = ProxyChoice.environment
        /// The additions to requests for certain hosts, and the mirrors that requests are sent to.
        public var rules = RequestRules()
        /// The path of a cookie file in Netscape format. Its cookies are sent to their hosts. `nil`: none.
        public var cookieFile: String?
        /// The path of a netrc file with credentials. `nil`: none.
        public var netrc: String?
        /// The tape that downloads are recorded on or played from. `nil`: neither.
        public var tape: Tape?
        /// The transport's settings. Tests replace the classification of addresses and the resolution of names, because
        /// they have no public address.
        var network = TransportSettings()

        /// The default of the longest wait for the next bytes, in seconds.
        public static let defaultTimeout = 15.0

        /// The default settings.
        public init() {}

        fileprivate func transport(accept: String) -> TransportSettings {
            var settings = network
            settings.accept = accept
            settings.userAgent = userAgent
            settings.addedFields = AddedFields(accept: accept, userAgent: userAgent)
            settings.policy = policy
            settings.tls = tls
            settings.proxies = ProxyTable(proxy, variable: network.variable)
            settings.netrc = netrc
            settings.cookies = cookieFile.map { CookieFile(path: $0) }
            return settings
        }
    }

    private struct Scheduler {
        var queue: DownloadQueue
        /// `true` while a client is left who can resume paused downloads.
        var mayPause = true
        var lastID: UInt64 = 0
        /// The receivers of a waiting download's turn, or of its cancellation.
        var starters: [UInt64: Starter] = [:]
        var timeout = Configuration.defaultTimeout
        /// The settings that the token bucket was made for.
        var rate = (0.0, 0)
        /// `true` while a timer is set for the next start that the rate allows.
        var hasAlarm = false
    }

    /// The downloads that are not started for now.
    public enum Pause: String, Sendable, Hashable, CaseIterable {
        /// None: all are started in their turn.
        case none
        /// Those that nobody waits for.
        case prefetch
        /// All.
        case all
    }

    private struct Starter: Sendable { let start: @Sendable (Result<Void, any Error>) -> Void }

    /// A slot of a running download.
    struct Slot: Sendable {
        let id: UInt64
        let priority: CallPriority
        let token: UInt64
    }

    package let transport: CurlTransport
    package let tape: Tape?
    private let finishHook: FinishHook
    private let now: @Sendable () -> Int
    let jobs = JobTable<Sharing, Download>()
    private let scheduler: Mutex<Scheduler>
    private let finished = Atomic(0)
    private let failed = Atomic(0)
    private let receivedBytes = Atomic(0)
    private let activity: @Sendable (_ running: Int) -> Void
    private let hostRules: Mutex<RequestRules>

    /// The current rules for hosts.
    package var rules: RequestRules { hostRules.withLock { $0 } }

    /// - Parameters:
    ///   - accept: The `Accept` field of requests that have none.
    ///   - now: A monotonic clock in nanoseconds.
    ///   - activity: Receives the number of running downloads after each change, in order.
    ///   - spool: The place for bodies too large for memory.
    package init(
        _ configuration: Configuration, accept: String = TransportSettings.anyImage,
        now: @escaping @Sendable () -> Int = { EngineClock.system.monotonic() },
        activity: @escaping @Sendable (_ running: Int) -> Void = { _ in },
        spool: SpoolPlace
    ) {
        self.now = now
        self.activity = activity
        hostRules = Mutex(configuration.rules)
        let hook = FinishHook()
        finishHook = hook
        tape = configuration.tape
        var settings = configuration.transport(accept: accept)
        settings.now = now
        transport = CurlTransport(settings, spool: spool) { hook.call($0) }
        var scheduler = Scheduler(queue: DownloadQueue())
        Self.apply(configuration, to: &scheduler, at: now())
        self.scheduler = Mutex(scheduler)
    }

    private static func apply(_ configuration: Configuration, to scheduler: inout Scheduler, at now: Int) {
        scheduler.timeout = configuration.timeout
        scheduler.queue.limits = DownloadQueue.Limits(
            perHost: configuration.maxDownloadsPerHost, total: configuration.maxConcurrentDownloads,
            connections: DescriptorBudget(limit: DescriptorBudget.processLimit).downloads)
        scheduler.queue.reorder(configuration.order)
        if scheduler.rate != (configuration.startsPerSecond, configuration.burst) {
            scheduler.rate = (configuration.startsPerSecond, configuration.burst)
            scheduler.queue.bucket = TokenBucket(
                rate: configuration.startsPerSecond, burst: configuration.burst, at: now)
        }
        let hostRate = HostRate(rate: configuration.startsPerSecondPerHost, burst: configuration.burst)
        if (hostRate.rate, hostRate.burst) != (scheduler.queue.hostRate.rate, scheduler.queue.hostRate.burst) {
            scheduler.queue.hostRate = hostRate
        }
    }

    /// The longest wait for the next bytes, in seconds, of downloads whose options name none.
    package var timeout: Double { scheduler.withLock { $0.timeout } }

    /// Changes limits, order, rates, timeout and host rules from now on. Running downloads continue. The rest of
    /// `configuration` is ignored.
    public func configure(_ configuration: Configuration) {
        scheduler.withLock { Self.apply(configuration, to: &$0, at: now()) }
        hostRules.withLock { $0 = configuration.rules }
        startWaiting()
    }

    /// Pauses the start of some or all downloads, or resumes it. Running downloads continue, and waiting ones keep
    /// their position.
    ///
    /// - Returns: The downloads that are paused now: none after ``endPauses()``.
    @discardableResult
    public func pause(_ pause: Pause) -> Pause {
        let pause = scheduler.withLock { scheduler in
            let pause = scheduler.mayPause ? pause : .none
            scheduler.queue.pause =
                switch pause {
                case .none: .nothing
                case .prefetch: .background
                case .all: .everything
                }
            return pause
        }
        startWaiting()
        return pause
    }

    /// Resumes all downloads for good, because no client is left who could resume them.
    public func endPauses() {
        scheduler.withLock { $0.mayPause = false }
        pause(.none)
    }

    /// The numbers of successful downloads, failed downloads, callers that joined a running one, and received bytes so
    /// far.
    public var counts: (finished: Int, failed: Int, merged: Int, bytes: Int) {
        (
            finished.load(ordering: .relaxed), failed.load(ordering: .relaxed), jobs.mergedCount,
            receivedBytes.load(ordering: .relaxed)
        )
    }

    /// Sets the receiver of a report about every ended transfer. It is called from any thread. `nil`: none.
    public func onFinish(_ receiver: (@Sendable (DownloadReport) -> Void)?) { finishHook.set(receiver) }

    /// The numbers of running downloads, of those among them whose servers are silent, and of waiting downloads.
    public var load: (running: Int, stalled: Int, waiting: Int) {
        scheduler.withLock { ($0.queue.runningCount, $0.queue.stalledCount, $0.queue.waitingCount) }
    }

    /// Downloads the body of `request`, once for all overlapping callers.
    ///
    /// - Parameter hooks: The actions around the transfer, used when this caller starts it.
    package func download(
        _ request: DownloadRequest, priority: CallPriority, report: (@Sendable (DownloadProgress) -> Void)?,
        owner: (any DownloadOwner)? = nil
    ) async throws -> Download {
        do {
            return try await download(request, isStrict: false, priority, report, owner)
        } catch is EndedForAnother {
            // A transfer within the limits of this caller, shared with callers of equal limits.
            return try await download(request, isStrict: true, priority, report, owner)
        }
    }

    private func download(
        _ request: DownloadRequest, isStrict: Bool, _ priority: CallPriority,
        _ report: (@Sendable (DownloadProgress) -> Void)?, _ owner: (any DownloadOwner)?
    ) async throws -> Download {
        let place = Mutex<JobTable<Sharing, Download>.Ticket?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                let ticket = start(request, isStrict: isStrict, priority: priority, report: report, owner: owner) {
                    continuation.resume(with: $0)
                }
                place.withLock { $0 = ticket }
                if Task.isCancelled { leave(ticket) }
            }
        } onCancel: {
            if let ticket = place.withLock({ $0 }) { leave(ticket) }
        }
    }

    /// Downloads within a slot, which it releases at the end.
    func downloadInSlot(
        _ sharing: Sharing, _ slot: Slot, _ owner: (any DownloadOwner)?, _ job: Job<Download>
    ) async throws -> Download {
        defer { releaseSlot(slot) }
        try await owner?.prepare()
        let download = try await counted(within: sharing.request.limits) {
            let exchange = exchange(sharing, slot, owner, job)
            guard let tape else { return try await transport.perform(exchange) }
            return try await tape.download(sharing.request, transport.spool) { try await transport.perform(exchange) }
        }
        owner?.noteBody()
        return download
    }

    package func counted(within limits: DownloadLimits, _ work: () async throws -> Download) async throws -> Download {
        do {
            let download = try await work()
            count(download)
            return download
        } catch {
            failed.add(1, ordering: .relaxed)
            throw (error as? ImageError).map { BoundedFailure(error: $0, limits: limits) } ?? error
        }
    }

    package func count(_ download: Download) {
        finished.add(1, ordering: .relaxed)
        receivedBytes.add(download.body.count, ordering: .relaxed)
    }

    func exchange(
        _ sharing: Sharing, _ slot: Slot, _ owner: (any DownloadOwner)?, _ job: Job<Download>
    ) -> Exchange {
        Exchange(
            sharing.request, over: transport, rules: rules, transferActivity: sharing.transferActivity,
            waitForSlot: { try await self.moveSlot(slot, to: $0) }, stall: { self.setStalled(slot, $0) },
            report: { progress in
                owner?.noteProgress()
                job.report(progress)
            }, changed: { owner?.noteChange(at: $0, isAnswer: $1) })
    }

    // MARK: Slots

    func makeSlot(_ priority: CallPriority) -> Slot {
        let id = scheduler.withLock { scheduler in
            scheduler.lastID += 1
            return scheduler.lastID
        }
        return Slot(
            id: id, priority: priority, token: priority.observe { [weak self] in self?.updatePriority(id, priority) })
    }

    static func enqueue(_ slot: Slot, _ request: DownloadRequest, in queue: inout DownloadQueue) {
        queue.enqueue(
            slot.id, host: request.host, priority: slot.priority.value, arrival: slot.priority.arrival)
    }

    /// Waits for a slot at the host that a running download was redirected to. Its own slot is free meanwhile.
    private func moveSlot(_ slot: Slot, to host: String) async throws {
        try await wait(slot) { queue in queue.move(slot.id, to: host) }
    }

    /// Waits until a download may start that `change` adds to the queue.
    private func wait(_ slot: Slot, _ change: @Sendable (inout DownloadQueue) -> Void) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue(slot, change) { continuation.resume(with: $0) }
                if Task.isCancelled { leaveQueue(slot.id) }
            }
        } onCancel: {
            leaveQueue(slot.id)
        }
    }

    /// Calls `start` when a download may start that `change` adds to the queue.
    func queue(
        _ slot: Slot, _ change: (inout DownloadQueue) -> Void,
        _ start: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        // Queued and startable in one step; otherwise another thread could start a download without a receiver.
        scheduler.withLock { scheduler in
            let running = scheduler.queue.runningCount
            scheduler.starters[slot.id] = Starter(start: start)
            change(&scheduler.queue)
            if scheduler.queue.runningCount != running { activity(scheduler.queue.runningCount) }
        }
        // The priority may have changed before the download was queued.
        updatePriority(slot.id, slot.priority)
    }

    /// Moves a download to the position of its current priority, and starts the downloads that may start.
    private func updatePriority(_ id: UInt64, _ priority: CallPriority) {
        scheduler.withLock { $0.queue.setPriority(id, to: priority.value) }
        startWaiting()
    }

    /// Frees the slot of a download whose server is silent, or counts the download again.
    private func setStalled(_ slot: Slot, _ isStalled: Bool) {
        scheduler.withLock { $0.queue.setStalled(slot.id, isStalled) }
        if isStalled { startWaiting() }
    }

    func releaseSlot(_ slot: Slot) {
        slot.priority.forget(slot.token)
        scheduler.withLock { scheduler in
            scheduler.queue.remove(slot.id)
            activity(scheduler.queue.runningCount)
        }
        startWaiting()
    }

    package func leaveQueue(_ id: UInt64) {
        let starter = scheduler.withLock { scheduler -> Starter? in
            guard let starter = scheduler.starters.removeValue(forKey: id) else { return nil }
            scheduler.queue.remove(id)
            return starter
        }
        starter?.start(.failure(CancellationError()))
    }

    private func startWaiting() {
        while true {
            let (start, starter) = scheduler.withLock {
                scheduler -> (DownloadQueue.Start, Starter?) in
                let start = scheduler.queue.start(at: now())
                switch start {
                case .download(let id):
                    activity(scheduler.queue.runningCount)
                    return (start, scheduler.starters.removeValue(forKey: id))
                case .wait:
                    if scheduler.hasAlarm { return (.none, nil) }
                    scheduler.hasAlarm = true
                    return (start, nil)
                case .none: return (start, nil)
                }
            }
            switch start {
            case .download: starter?.start(.success(()))
            case .wait(let nanoseconds): return wake(in: nanoseconds)
            case .none: return
            }
        }
    }

    /// Starts downloads again when the rate allows the next start.
    private func wake(in nanoseconds: Int) {
        Task { [weak self] in
            try? await Task.sleep(for: .nanoseconds(nanoseconds))
            self?.scheduler.withLock { $0.hasAlarm = false }
            self?.startWaiting()
        }
    }
}

/// The receiver of reports about ended transfers.
private final class FinishHook: Sendable {
    /// In a value of its own: a bare closure in a mutex is wrapped once more at every access.
    private struct Receiver: Sendable { let call: @Sendable (DownloadReport) -> Void }

    private let receiver = Mutex<Receiver?>(nil)

    func set(_ receiver: (@Sendable (DownloadReport) -> Void)?) {
        self.receiver.withLock { $0 = receiver.map(Receiver.init) }
    }

    func call(_ report: DownloadReport) { receiver.withLock { $0 }?.call(report) }
}
