package import HTTPSemantics
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
        public var timeout = DownloadLimits.defaultTimeout
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
        /// The longest time to make a connection, in seconds. `nil`: a second more than the longest wait for bytes.
        package var connectTimeout: Double?
        /// `true` when requests that change something go over connections that are there, and may therefore arrive twice.
        package var repeatsChanges = false
        /// The recorder that all downloads go through. `nil`: none.
        package var recorder: (any DownloadRecorder)?
        /// The transport's settings. Tests replace the classification of addresses and the resolution of names, because
        /// they have no public address.
        var network = TransportSettings()

        /// The default settings.
        public init() {}

        fileprivate func transport(accept: String) -> TransportSettings {
            var settings = network
            (settings.accept, settings.userAgent, settings.netrc) = (accept, userAgent, netrc)
            (settings.policy, settings.tls) = (policy, tls)
            (settings.connectTimeout, settings.repeatsChanges) = (connectTimeout, repeatsChanges)
            settings.proxies = ProxyTable(proxy, variable: network.variable)
            settings.cookies = cookieFile.map { CookieFile(path: $0) }
            return settings
        }
    }

    /// The downloads that are not started for now.
    public typealias Pause = DownloadPause

    /// One caller's place among those who wait for a download.
    package typealias Ticket = JobTable.Ticket

    package let transport: CurlTransport
    package let recorder: (any DownloadRecorder)?
    let scheduler: DownloadScheduler
    private let jobs = JobTable()
    private let finished = Atomic(0)
    private let failed = Atomic(0)
    private let receivedBytes = Atomic(0)
    private let hostRules: Mutex<RequestRules>
    /// `true` when the configuration may add credentials to requests. Asked for every hit.
    package var mayAddCredentials: Bool { hasOwnCredentials || hasHostRules.load(ordering: .relaxed) }
    private let hasOwnCredentials: Bool
    private let hasHostRules: Atomic<Bool>

    package var rules: RequestRules { hostRules.withLock { $0 } }
    /// A number that each change of the rules raises.
    package var rulesNumber: Int { changes.load(ordering: .relaxed) }
    private let changes = Atomic(0)

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
        hostRules = Mutex(configuration.rules)
        hasHostRules = Atomic(!configuration.rules.hosts.isEmpty)
        recorder = configuration.recorder
        var settings = configuration.transport(accept: accept)
        settings.now = now
        hasOwnCredentials = settings.netrc != nil || settings.cookies != nil || settings.tls.clientCertificate != nil
        transport = CurlTransport(settings, spool: spool)
        scheduler = DownloadScheduler(configuration, now: now, memory: spool.memory, activity: activity)
    }

    deinit { transport.close() }

    package var timeout: Double { scheduler.timeout }

    /// Changes limits, order, rates, timeout and host rules from now on. Running downloads continue. The rest of
    /// `configuration` is ignored.
    public func configure(_ configuration: Configuration) {
        hostRules.withLock { rules in
            if rules != configuration.rules { changes.add(1, ordering: .relaxed) }
            rules = configuration.rules
        }
        hasHostRules.store(!configuration.rules.hosts.isEmpty, ordering: .relaxed)
        scheduler.configure(configuration)
    }

    /// Pauses the start of some or all downloads, or resumes it. Running downloads continue, and waiting ones keep
    /// their position.
    ///
    /// - Returns: The downloads that are paused now: none after ``endPauses()``.
    @discardableResult
    public func pause(_ pause: DownloadPause) -> DownloadPause { scheduler.pause(pause) }

    /// Resumes all downloads for good, because no client is left who could resume them.
    public func endPauses() { _ = scheduler.pause(.none, isForGood: true) }

    /// Ends all transfers because the process ends, and waits until what may be resumed of their bodies is kept.
    public func interrupt() { transport.interrupt() }

    /// The numbers of successful downloads, failed downloads, callers that joined a running one, and received bytes so
    /// far.
    public var counts: (finished: Int, failed: Int, merged: Int, bytes: Int) {
        (
            finished.load(ordering: .relaxed), failed.load(ordering: .relaxed), jobs.mergedCount,
            receivedBytes.load(ordering: .relaxed)
        )
    }

    /// Sets the receiver of a report about every ended transfer. It is called from any thread. `nil`: none.
    public func onFinish(_ receiver: (@Sendable (DownloadReport) -> Void)?) { transport.ended.set(receiver) }

    /// The numbers of running downloads, of those among them whose servers are silent, and of waiting downloads.
    public var load: (running: Int, stalled: Int, waiting: Int) { scheduler.load }

    // MARK: Downloads

    /// Downloads the body of `request`, once for all overlapping callers.
    package func download(
        _ request: DownloadRequest, priority: any ChangingPriority, report: (@Sendable (DownloadProgress) -> Void)?,
        owner: (any DownloadOwner)? = nil
    ) async throws -> Download {
        try await awaitResult { [self] end in
            start(request, priority: priority, report: report, owner: owner, then: end)
        } cancel: { [self] in
            leave($0)
        }
    }

    /// Starts the download of a body, or joins a running one, for a caller with functions for what it receives.
    package func start(
        _ request: DownloadRequest, priority: any ChangingPriority, report: (@Sendable (DownloadProgress) -> Void)?,
        owner: (any DownloadOwner)?, then: @escaping @Sendable (Result<Download, any Error>) -> Void
    ) -> Ticket {
        start(CallbackDownloadCaller(request, owner, report: report, end: then), priority: priority)
    }

    /// Starts the download of a body, or joins a running one. A transfer runs within the limits of its most tolerant caller;
    /// each caller's wait ends when its own limits are exceeded.
    ///
    /// - Returns: The argument of ``leave(_:)``.
    package func start(_ caller: some DownloadCaller, priority: any ChangingPriority) -> Ticket {
        jobs.join(caller.request.sent, caller, priority: priority) { queue($0, by: caller) }
    }

    private func queue(_ job: Job, by caller: any DownloadCaller) {
        scheduler.enqueue(host: caller.request.origin, job) { slot in
            let run = DownloadRun(by: caller, job, in: slot, of: self)
            // Nobody leaves before this call returns.
            job.onCancel { run.stop() }
            return { run.receive($0) }
        }
    }

    package func leave(_ ticket: Ticket) { jobs.leave(ticket) }

    func count(_ result: Result<Download, any Error>) {
        switch result {
        case .success(let download):
            finished.add(1, ordering: .relaxed)
            receivedBytes.add(download.body.count, ordering: .relaxed)
        case .failure: failed.add(1, ordering: .relaxed)
        }
    }

    // MARK: What the configuration adds

    /// The marks of the credentials that the configuration adds to a download without redirects, as in
    /// ``Download/login``. `nil`: none.
    package func configuredLogin(of url: WebURL, _ request: RequestContent) -> String? {
        let rules = rules
        guard let outgoing = try? rules.rewritten(HTTPRequest(url, request)) else { return nil }
        let marks = transport.settings.configuredLogins(
            of: outgoing, configured: transport.settings.configured(outgoing, by: rules))
        return marks.isEmpty ? nil : marks.joined(separator: "\n")
    }

    /// What the configuration adds to requests now; `nil` when it adds no credentials.
    package var configuredCredentials: ConfiguredCredentials? { ConfiguredCredentials(transport.settings, rules) }

    /// `true` unless the policy refuses a URL as far as that is known without the network: by its scheme, its host, or the address
    /// that is its host.
    package func mayReach(_ url: String) -> Bool {
        guard let web = try? WebURL(url), let outgoing = try? rules.rewritten(HTTPRequest(web, RequestContent())) else {
            return false
        }
        return transport.settings.refusal(of: outgoing.url) == nil
    }

    /// The header fields that are added to a request for `url` whose options do not name them, by lower-case names: those
    /// of the rules for the host that it is sent to, which may be a mirror, else the defaults.
    package func addedFields(for url: String) -> [String: String] {
        let usual = transport.settings.addedFields
        let rules = rules
        guard !rules.hosts.isEmpty, let web = try? WebURL(url),
            let outgoing = try? rules.rewritten(HTTPRequest(web, RequestContent()))
        else { return usual }
        // Reversed, because the first of several rules for one host counts.
        return rules.hosts.reversed().filter { $0.matches(outgoing.url.host) }.reduce(into: usual) { added, rule in
            for (name, value) in rule.headers { added[name.asciiLowercased] = value }
        }
    }
}

/// Records downloads, or answers them without network.
package protocol DownloadRecorder: Sendable {
    /// The download of `request`, which `live` performs.
    func download(_ request: DownloadRequest, _ place: SpoolPlace, live: () async throws -> Download) async throws
        -> Download
}
