internal import HTTPSemantics
internal import ImageErrors
internal import Platform

/// One download from its first request to the final response: redirects, challenges and resumed bodies, one request
/// after the other.
///
/// Delegates are asked between the requests, where only this download waits.
struct Exchange: Sendable {
    /// The maximum number of answers to challenges.
    static let challengeLimit = 3

    let transport: CurlTransport
    let request: DownloadRequest
    /// The configured rules for hosts.
    let rules: RequestRules
    /// The activity that the callers who share the download check.
    let transferActivity: TransferActivity
    /// Waits for a slot at another host.
    let waitForSlot: @Sendable (_ host: String) async throws -> Void
    /// Called when the current server becomes silent or sends again.
    let stall: @Sendable (_ isStalled: Bool) -> Void
    let report: @Sendable (DownloadProgress) -> Void
    /// The report about the download so far.
    private(set) var summary: DownloadReport
    private let started = monotonicNanoseconds()
    /// The host that the download has a slot at.
    private var host: String
    private var policy: RedirectPolicy
    private var headerBytes = 0
    private var origin: AddressClass?
    var failures = 0
    /// The number of digests renewed because a server changed nonce or realm.
    var renewals = 0
    /// The number of reused connections that turned out to be unusable.
    private var staleConnections = 0
    /// The number of unusable connections after which the request is sent over a new one.
    private static let staleLimit = 3
    /// The number of requests with each digest nonce.
    private var uses: [String: Int] = [:]
    /// `true` when challenges are handled as without a delegate.
    var leavesChallenges = false
    private var part: ResumePart?
    /// Marks of credentials from other sources than the request.
    private var logins: [String] = []
    /// The nanoseconds between the last request and its response.
    private var delay = 0
    /// Receives each URL where a request that is not a GET was accepted, whatever its outcome: stored responses of that
    /// URL are invalid (RFC 9111, 4.4). `isAnswer` is `true` when the response may replace them.
    private let changed: @Sendable (_ url: String, _ isAnswer: Bool) -> Void
    /// The redirects so far.
    private var route: [RedirectConstraints.Redirect] = []

    init(
        _ request: DownloadRequest, over transport: CurlTransport, rules: RequestRules,
        transferActivity: TransferActivity,
        waitForSlot: @escaping @Sendable (_ host: String) async throws -> Void,
        stall: @escaping @Sendable (_ isStalled: Bool) -> Void,
        report: @escaping @Sendable (DownloadProgress) -> Void,
        changed: @escaping @Sendable (_ url: String, _ isAnswer: Bool) -> Void
    ) {
        self.transport = transport
        self.request = request
        self.rules = rules
        self.transferActivity = transferActivity
        self.waitForSlot = waitForSlot
        self.stall = stall
        self.report = report
        self.changed = changed
        host = request.host
        summary = DownloadReport(url: request.url)
        policy = RedirectPolicy(request)
    }

    func delegate(for question: DownloadDelegates.Question) -> (any DownloadDelegate)? {
        guard let delegates = request.delegates, delegates.questions.contains(question) else { return nil }
        return delegates.delegate
    }

    /// A request that is ready to be sent.
    struct PreparedRequest: Sendable {
        let outgoing: HTTPRequest
        /// The request with the additions of the rules for its host.
        fileprivate let sent: HTTPRequest
        fileprivate let uses: (server: Int, proxy: Int)
        /// The time when it was prepared, on the engine's clock.
        fileprivate let started: Int
        fileprivate let question = OpenQuestion()
    }

    private enum Step {
        case done(Download)
        case next(HTTPRequest)
    }

    /// Performs the download.
    mutating func run() async throws -> Download {
        do {
            return try await sendRequests(from: try await firstRequest())
        } catch {
            end(error)
            throw error
        }
    }

    private mutating func end(_ error: (any Error)? = nil) {
        summary.seconds = Double(monotonicNanoseconds() - started) / 1e9
        summary.error = error as? ImageError
        summary.isCancelled = error is CancellationError
    }

    private mutating func firstRequest() async throws -> HTTPRequest {
        var outgoing = HTTPRequest(request)
        if let delegate = delegate(for: .modifyRequest) {
            guard let draft = try await delegate.modify(outgoing.draft) else {
                throw ImageError.downloadCancelledBeforeStarting(url: request.url)
            }
            outgoing = try outgoing.changed(to: draft)
        }
        outgoing = try rules.rewritten(outgoing)
        loadPart()
        return outgoing
    }

    /// Loads the partial body of an earlier transfer, if there is one.
    private mutating func loadPart() {
        part = request.canResume ? transport.spool.resume?.part(of: request.resumeIdentity) : nil
    }

    private mutating func sendRequests(from first: HTTPRequest) async throws -> Download {
        var outgoing = first
        while true {
            let prepared = try prepared(outgoing)
            try await acquireSlot(at: outgoing.url.origin)
            let current = self
            let outcome = await transport.perform { id, finish in current.command(for: prepared, id, finish) }
            switch try await step(outcome, of: prepared) {
            case .done(let download):
                end()
                return download
            case .next(let next): outgoing = next
            }
        }
    }

    private mutating func prepared(_ outgoing: HTTPRequest) throws(ImageError) -> PreparedRequest {
        try check(outgoing)
        let sent = transport.settings.configured(outgoing, by: rules)
        for mark in transport.settings.configuredLogins(of: outgoing, configured: sent) { addLogin(mark) }
        return PreparedRequest(
            outgoing: outgoing, sent: sent,
            uses: (server: use(outgoing.digest), proxy: use(outgoing.proxyLogin?.digest)),
            started: transport.settings.now())
    }

    private mutating func step(_ outcome: HTTPOutcome, of prepared: PreparedRequest) async throws -> Step {
        prepared.question.withdraw()
        record(outcome, prepared)
        switch outcome.kind {
        case .answer(let download): return .done(completed(download))
        case .undecided(let download): return .done(completed(try await decided(download)))
        case .redirect(let redirect, let location):
            route.append(redirect)
            return .next(try await redirected(prepared.outgoing, redirect.status, location))
        case .challenge(let status, let challenges):
            return .next(try await answered(prepared.outgoing, as: prepared.sent, status, challenges))
        case .restart:
            part?.file.drop()
            part = nil
        case .stale: staleConnections += 1
        case .failure(let error): throw error
        }
        return .next(prepared.outgoing)
    }

    // MARK: Without a task

    /// Prepares the first request, if no delegate has to be asked and nothing is wrong with it.
    ///
    /// - Returns: `nil` otherwise; then ``run()`` of another exchange performs the download.
    mutating func prepareFirstRequest() -> PreparedRequest? {
        guard delegate(for: .modifyRequest) == nil, let outgoing = try? rules.rewritten(HTTPRequest(request)),
            outgoing.url.origin == host, let prepared = try? prepared(outgoing)
        else { return nil }
        loadPart()
        return prepared
    }

    /// The download, if the first request delivered its body.
    ///
    /// - Returns: `nil` otherwise; then ``resume(after:_:)`` continues.
    mutating func download(from outcome: HTTPOutcome, of prepared: PreparedRequest) -> Download? {
        guard case .answer(let download) = outcome.kind else { return nil }
        prepared.question.withdraw()
        record(outcome, prepared)
        end()
        return completed(download)
    }

    /// Continues the download after its first request.
    mutating func resume(after prepared: PreparedRequest, _ outcome: HTTPOutcome) async throws -> Download {
        do {
            switch try await step(outcome, of: prepared) {
            case .done(let download):
                end()
                return download
            case .next(let outgoing): return try await sendRequests(from: outgoing)
            }
        } catch {
            end(error)
            throw error
        }
    }

    /// Counts a request with the nonce of a challenge. Returns its number.
    private mutating func use(_ challenge: DigestChallenge?) -> Int {
        guard let challenge else { return 0 }
        uses[challenge.nonce, default: 0] += 1
        return uses[challenge.nonce, default: 1]
    }

    mutating func addLogin(_ login: String) {
        if !logins.contains(login) { logins.append(login) }
    }

    /// The digest of the credentials from other sources than the request, as in ``ResumeNote/login``.
    private var login: String { logins.isEmpty ? "" : Digest(of: logins.joined(separator: "\n")).hex }

    private func completed(_ download: Download) -> Download {
        var download = download
        download.redirects = summary.redirects
        download.route = route
        download.limits = request.limits
        download.delay = delay / 1_000_000_000
        download.login = logins.isEmpty ? nil : logins.joined(separator: "\n")
        return download
    }

    /// Rejects a forbidden host before its name is resolved.
    private func check(_ outgoing: HTTPRequest) throws(ImageError) {
        let policy = transport.settings.policy
        if let reason = policy.refusal(scheme: outgoing.url.scheme) {
            throw .invalidURL(outgoing.url.text, reason: reason)
        }
        if let reason = policy.refusal(host: outgoing.url.host) {
            throw .forbiddenAddress(url: outgoing.url.text, reason: reason)
        }
        // A proxy connects on this side's behalf, so only a literal address can be checked here.
        guard transport.settings.proxies.proxy(for: outgoing.url) != nil, let address = IPAddress(outgoing.url.host),
            let reason = policy.refusal(transport.settings.classify(address), after: origin)
        else { return }
        throw .forbiddenAddress(url: outgoing.url.text, reason: reason)
    }

    /// Waits for a slot at the host of the next request, if that is another than before.
    private mutating func acquireSlot(at origin: String) async throws {
        guard origin != host else { return }
        try await waitForSlot(origin)
        host = origin
    }

    /// The command for the transfer of a request.
    func command(for prepared: PreparedRequest, _ id: UInt64, _ finish: @escaping @Sendable (HTTPOutcome) -> Void)
        -> TransferCommand
    {
        TransferCommand(
            request: request, outgoing: prepared.sent, redirects: summary.redirects,
            validators: request.validators(for: prepared.sent.url.text, isRedirected: !route.isEmpty),
            uses: prepared.uses,
            isAlone: staleConnections >= Self.staleLimit,
            headerAllowance: Transfer.headerLimit - headerBytes,
            origin: origin, answersChallenges: answersChallenges(prepared.sent),
            answersProxy: answersProxy(prepared.sent), part: part, login: login,
            spool: transport.spool,
            ask: delegateQuestion(id, prepared.question), transferActivity: transferActivity, report: report,
            stall: stall,
            finish: finish)
    }

    /// Asks the delegate about a head while the transfer waits.
    private func delegateQuestion(_ id: UInt64, _ question: OpenQuestion) -> (@Sendable (TransferCommand.Head) -> Void)?
    {
        guard let delegate = delegate(for: .validateStatus) else { return nil }
        return { [transport, stall] head in
            question.ask {
                stall(true)
                defer { stall(false) }
                do {
                    let verdict = try await delegate.accepts(
                        status: head.status, contentType: head.contentType, url: head.url)
                    transport.decide(id, .success(verdict))
                } catch {
                    transport.decide(id, .failure(error))
                }
            }
        }
    }

    private mutating func record(_ outcome: HTTPOutcome, _ prepared: PreparedRequest) {
        let (timing, outgoing) = (outcome.timing, prepared.outgoing)
        // Limited by the engine's clock, which may have stood still meanwhile.
        let onTheWay = timing.sent.map { monotonicNanoseconds() - $0 } ?? 0
        delay = max(0, min(onTheWay, transport.settings.now() - prepared.started))
        summary.finalURL = outgoing.url.text
        summary.status = timing.status ?? summary.status
        summary.bytes = timing.bytes
        summary.resumedBytes = timing.resumedBytes
        summary.dns += timing.dns
        summary.connect += timing.connect
        summary.tls += timing.tls
        summary.isReused = timing.isReused
        summary.httpVersion = timing.httpVersion
        summary.firstByte = timing.firstByte.map { Double($0 - started) / 1e9 }
        headerBytes += timing.headerBytes
        if outgoing.method != .get, let status = timing.status, (200..<400).contains(status) {
            let isAnswer =
                switch outcome.kind {
                case .answer, .undecided: true
                default: false
                }
            if route.isEmpty { changed(request.url, isAnswer) }
            changed(outgoing.url.text, isAnswer)
        }
        // Behind a proxy, a literal address counts as the one that was reached. A name counts as public, because its
        // address is unknown.
        let named = IPAddress(outgoing.url.host).map(transport.settings.classify)
        guard let reached = timing.isProxied ? named ?? .public : timing.reached else { return }
        origin = origin.map { min($0, reached) } ?? reached
    }

    /// Asks a delegate. Meanwhile other downloads may run, as beside one whose server is silent.
    func whileStalled<Value>(_ ask: () async throws -> Value) async rethrows -> Value {
        stall(true)
        defer { stall(false) }
        return try await ask()
    }

    // MARK: Redirects

    private mutating func redirected(_ outgoing: HTTPRequest, _ status: Int, _ location: String) async throws
        -> HTTPRequest
    {
        var next = try policy.next(after: outgoing, status: status, location: location)
        if let delegate = delegate(for: .redirect) {
            let draft = next.draft
            let answer = try await whileStalled {
                try await delegate.redirect(draft, from: outgoing.url.text, status: status)
            }
            guard let draft = answer else {
                throw ImageError.invalidStatusCode(status, url: request.url)
            }
            let changed = try next.changed(to: draft)
            if let credentials = changed.credentials, credentials != next.credentials {
                addLogin("redirect \(changed.url.origin) \(credentials)")
            }
            next = changed
        }
        summary.redirects += 1
        // The nonce may be outdated for each request; the number of redirects has its own limit.
        renewals = 0
        return try rules.rewritten(next)
    }

    // MARK: Answers

    /// Returns a response without a body if the delegate accepts it.
    private func decided(_ download: Download) async throws -> Download {
        let response = download.response
        let delegate = delegate(for: .validateStatus)
        let verdict = try await whileStalled {
            try await delegate?.accepts(
                status: response.status, contentType: response.contentType, url: response.url)
        }
        if let error = request.error(in: response, accepted: verdict ?? nil) { throw error }
        return download
    }
}

extension HTTPRequest {
    /// The text that identifies the user. `nil`: the request names none.
    fileprivate var credentials: String? {
        var content = RequestContent()
        content.headers = draft.headers
        content.authorization = authorization
        return HTTPScope(content).credentials
    }
}
