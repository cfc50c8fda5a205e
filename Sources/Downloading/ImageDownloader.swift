internal import HTTPSemantics
internal import ImageErrors
internal import Platform
internal import Synchronization

/// Downloads bodies over HTTP: merged by request identity, started by priority within limits, cancelled with the last
/// caller. It knows no cache.
public final class ImageDownloader: Sendable {
    /// The settings of a downloader.
    public struct Configuration: Sendable {
        /// Downloads at once from one host; 4 by default, as in AFNetworking.
        public var maxDownloadsPerHost = 4
        /// Downloads at once in all; 64 by default. One whose server says nothing for a second does not count, up to
        /// sixteen times as many.
        public var maxConcurrentDownloads = 64
        /// Which of equal priority goes first.
        public var order = DownloadOrder.fifo
        /// Downloads started a second, after a first burst; 0 for no limit.
        public var startsPerSecond = 0.0
        /// Downloads started a second from one host, after a first burst; 0 for no limit.
        public var startsPerSecondPerHost = 0.0
        /// How many may start at once before ``startsPerSecond`` and ``startsPerSecondPerHost`` count.
        public var burst = 25
        /// Seconds to wait for the next bytes of a download whose options do not say.
        public var timeout = defaultTimeout
        /// The User-Agent header.
        public var userAgent = "halcyon"
        /// Which hosts and networks may be loaded from.
        public var policy = NetworkPolicy()
        /// Whom to trust over TLS, and as whom to show up.
        public var tls = TLSSettings()
        /// Where requests go through a proxy.
        public var proxy = ProxyChoice.environment
        /// What is added to requests for certain hosts, and where requests go instead.
        public var rules = RequestRules()
        /// A file of cookies, in the format of Netscape, to send to the hosts they are for; none when nil.
        public var cookieFile: String?
        /// A netrc file to find credentials in; none when nil.
        public var netrc: String?
        /// What downloads are recorded on, or played from; neither when nil.
        public var tape: Tape?
        /// How addresses are judged, and which names have which: other ways in tests, which have no public address.
        var network = TransportSettings()

        /// Seconds to wait for the next bytes when nobody says anything.
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
        /// Whether somebody is left who can resume what is paused.
        var mayPause = true
        var lastID: UInt64 = 0
        /// What waits for its turn, and hears when that has come, or that it was given up.
        var starters: [UInt64: Starter] = [:]
        var timeout = Configuration.defaultTimeout
        /// What the bucket was made for.
        var rate = (0.0, 0)
        /// Whether somebody looks again when the rate allows the next start.
        var hasAlarm = false
    }

    /// Which downloads are not started for now.
    public enum Pause: String, Sendable, Hashable, CaseIterable {
        /// None: everything is started in its turn.
        case none
        /// Those that nobody waits for.
        case prefetch
        /// All.
        case all
    }

    private struct Starter: Sendable { let start: @Sendable (Result<Void, any Error>) -> Void }

    /// A place among the downloads that run.
    struct Slot: Sendable {
        let id: UInt64
        let priority: CallPriority
        let token: UInt64
    }

    package let transport: CurlTransport
    package let tape: Tape?
    private let finishHook: FinishHook
    private let now: @Sendable () -> Int
    let coalescer = Coalescer<Sharing, Download>()
    private let scheduler: Mutex<Scheduler>
    private let finished = Atomic(0)
    private let failed = Atomic(0)
    private let receivedBytes = Atomic(0)
    private let activity: @Sendable (_ running: Int) -> Void
    private let hostRules: Mutex<RequestRules>

    /// What the configuration says about hosts, now.
    package var rules: RequestRules { hostRules.withLock { $0 } }

    /// - Parameters:
    ///   - accept: The `Accept` of requests that have none.
    ///   - now: A clock in nanoseconds that never goes back.
    ///   - activity: Hears how many downloads run, whenever that changes, in order.
    ///   - spool: Where bodies too large for memory are gathered.
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

    /// Seconds to wait for the next bytes of a download whose options do not say.
    package var timeout: Double { scheduler.withLock { $0.timeout } }

    /// Changes limits, order, rate, timeout and rules of hosts from now on; what runs goes on (E2-25). The rest of `configuration` does
    /// not count.
    public func configure(_ configuration: Configuration) {
        scheduler.withLock { Self.apply(configuration, to: &$0, at: now()) }
        hostRules.withLock { $0 = configuration.rules }
        startWaiting()
    }

    /// Starts no downloads of a kind any more, or all again. What runs goes on; what waits keeps its place (B-010).
    ///
    /// - Returns: What is not started now: nothing after ``endPauses()``.
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

    /// Starts all downloads again, for good: nobody is left who could resume them.
    public func endPauses() {
        scheduler.withLock { $0.mayPause = false }
        pause(.none)
    }

    /// Downloads so far: how many ended well, how many failed, callers that joined one under way, bytes received.
    public var counts: (finished: Int, failed: Int, merged: Int, bytes: Int) {
        (
            finished.load(ordering: .relaxed), failed.load(ordering: .relaxed), coalescer.mergedCount,
            receivedBytes.load(ordering: .relaxed)
        )
    }

    /// Sets who hears, from any thread, of every transfer that has ended, well or not; nil for nobody.
    public func onFinish(_ receiver: (@Sendable (DownloadReport) -> Void)?) { finishHook.set(receiver) }

    /// Downloads under way, those of them whose servers say nothing, and downloads waiting for their turn.
    public var load: (running: Int, stalled: Int, waiting: Int) {
        scheduler.withLock { ($0.queue.runningCount, $0.queue.stalledCount, $0.queue.waitingCount) }
    }

    /// The body of `request`, downloaded once however many callers overlap.
    ///
    /// - Parameter hooks: Of the one who begins it.
    package func download(
        _ request: DownloadRequest, priority: CallPriority, report: (@Sendable (DownloadProgress) -> Void)?,
        hooks: DownloadHooks = DownloadHooks()
    ) async throws -> Download {
        var isStrict = false
        while true {
            do {
                return try await join(Sharing(request, isStrict: isStrict), priority, report, hooks)
            } catch is EndedForAnother {
                // Within the bounds of this caller, for this one and those like it.
                isStrict = true
            }
        }
    }

    private func join(
        _ sharing: Sharing, _ priority: CallPriority, _ report: (@Sendable (DownloadProgress) -> Void)?,
        _ hooks: DownloadHooks
    ) async throws -> Download {
        let request = sharing.request
        let seat = TransferWaiter(request)
        let result: Result<Download, any Error>
        do {
            let download = try await coalescer.value(for: sharing, priority: priority, report: report) { place in
                self.watch(place, from: seat, report)
            } work: { effort in
                let slot = try await self.takeSlot(request, priority: effort.priority)
                return try await self.ride(sharing, slot, effort.report, hooks)
            }
            result = .success(download)
        } catch {
            result = .failure(error)
        }
        return try seat.settle(result)
    }

    /// A download with its slot in hand, which is given back.
    func ride(
        _ sharing: Sharing, _ slot: Slot, _ report: @escaping @Sendable (DownloadProgress) -> Void,
        _ hooks: DownloadHooks
    ) async throws -> Download {
        defer {
            giveBack(slot)
            withExtendedLifetime(hooks) {}
        }
        try await hooks.later()
        let noting = hooks.noting(report)
        let download = try await counted(within: sharing.request.limits) {
            try await perform(sharing, slot, noting, hooks.changed)
        }
        hooks.arrived()
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

    private func perform(
        _ sharing: Sharing, _ slot: Slot, _ report: @escaping @Sendable (DownloadProgress) -> Void,
        _ changed: @escaping @Sendable (String, Bool) -> Void
    ) async throws -> Download {
        let exchange = exchange(sharing, slot, report, changed)
        guard let tape else { return try await transport.perform(exchange) }
        return try await tape.download(sharing.request, transport.spool) { try await transport.perform(exchange) }
    }

    func exchange(
        _ sharing: Sharing, _ slot: Slot, _ report: @escaping @Sendable (DownloadProgress) -> Void,
        _ changed: @escaping @Sendable (String, Bool) -> Void
    ) -> Exchange {
        Exchange(
            sharing.request, over: transport, rules: rules, transferActivity: sharing.transferActivity,
            seat: { try await self.move(slot, to: $0) }, stall: { self.setStalled(slot, $0) }, report: report,
            changed: changed)
    }

    // MARK: Slots

    /// Waits for a turn.
    private func takeSlot(_ request: DownloadRequest, priority: CallPriority) async throws -> Slot {
        let slot = makeSlot(priority)
        do {
            try await wait(slot) { queue in Self.enqueue(slot, request, in: &queue) }
        } catch {
            priority.forget(slot.token)
            throw error
        }
        return slot
    }

    func makeSlot(_ priority: CallPriority) -> Slot {
        let id = scheduler.withLock { scheduler in
            scheduler.lastID += 1
            return scheduler.lastID
        }
        return Slot(
            id: id, priority: priority, token: priority.observe { [weak self] in self?.weigh(id, priority) })
    }

    static func enqueue(_ slot: Slot, _ request: DownloadRequest, in queue: inout DownloadQueue) {
        queue.enqueue(
            slot.id, host: request.host, priority: slot.priority.value, arrival: slot.priority.arrival)
    }

    /// Waits for a turn at the host that a running download was redirected to; its slot is free meanwhile.
    private func move(_ slot: Slot, to host: String) async throws {
        try await wait(slot) { queue in queue.move(slot.id, to: host) }
    }

    /// Waits until a download may start that `change` queues.
    private func wait(_ slot: Slot, _ change: @Sendable (inout DownloadQueue) -> Void) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue(slot, change) { continuation.resume(with: $0) }
                if Task.isCancelled { abandon(slot.id) }
            }
        } onCancel: {
            abandon(slot.id)
        }
    }

    /// Has `start` called when the turn has come of a download that `change` queues.
    func queue(
        _ slot: Slot, _ change: (inout DownloadQueue) -> Void,
        _ start: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        // Queued and startable in one step, or another thread could start what nobody waits for yet.
        scheduler.withLock { scheduler in
            let running = scheduler.queue.runningCount
            scheduler.starters[slot.id] = Starter(start: start)
            change(&scheduler.queue)
            if scheduler.queue.runningCount != running { activity(scheduler.queue.runningCount) }
        }
        // It may have changed before there was anything to move.
        weigh(slot.id, slot.priority)
    }

    /// Puts a download where its priority belongs now, and starts what may start.
    private func weigh(_ id: UInt64, _ priority: CallPriority) {
        scheduler.withLock { $0.queue.setPriority(id, to: priority.value) }
        startWaiting()
    }

    /// Lets others run beside a download whose server says nothing, or counts it again.
    private func setStalled(_ slot: Slot, _ isStalled: Bool) {
        scheduler.withLock { $0.queue.setStalled(slot.id, isStalled) }
        if isStalled { startWaiting() }
    }

    func giveBack(_ slot: Slot) {
        slot.priority.forget(slot.token)
        scheduler.withLock { scheduler in
            scheduler.queue.remove(slot.id)
            activity(scheduler.queue.runningCount)
        }
        startWaiting()
    }

    package func abandon(_ id: UInt64) {
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

    /// Looks again when the rate allows the next start.
    private func wake(in nanoseconds: Int) {
        Task { [weak self] in
            try? await Task.sleep(for: .nanoseconds(nanoseconds))
            self?.scheduler.withLock { $0.hasAlarm = false }
            self?.startWaiting()
        }
    }
}

/// Who hears of finished transfers.
private final class FinishHook: Sendable {
    /// In a value of its own: a bare closure in a mutex is wrapped once more at every access.
    private struct Receiver: Sendable { let call: @Sendable (DownloadReport) -> Void }

    private let receiver = Mutex<Receiver?>(nil)

    func set(_ receiver: (@Sendable (DownloadReport) -> Void)?) {
        self.receiver.withLock { $0 = receiver.map(Receiver.init) }
    }

    func call(_ report: DownloadReport) { receiver.withLock { $0 }?.call(report) }
}
