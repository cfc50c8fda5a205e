internal import HTTPSemantics
internal import ImageErrors
internal import Platform

/// One download from its first request to the final answer: redirects, challenges and what was begun earlier, one
/// request after the other.
///
/// Delegates are asked here, between requests, where nothing waits but the download itself.
struct Exchange: Sendable {
    /// How many answers to challenges are tried.
    static let challengeLimit = 3

    let transport: CurlTransport
    let request: DownloadRequest
    /// What the configuration says about the hosts.
    let rules: RequestRules
    /// What those go by who share it.
    let transferActivity: TransferActivity
    /// Waits for a turn at another host.
    let seat: @Sendable (_ host: String) async throws -> Void
    /// Hears whether the server that is asked now says nothing.
    let stall: @Sendable (_ isStalled: Bool) -> Void
    let report: @Sendable (DownloadProgress) -> Void
    /// What has become of it so far.
    private(set) var ending: DownloadReport
    private let started = monotonicNanoseconds()
    /// The host whose turn it has.
    private var host: String
    private var policy: RedirectPolicy
    private var headerBytes = 0
    private var origin: AddressClass?
    var failures = 0
    /// How often a digest was made anew because its server wanted it mixed with something else.
    var renewals = 0
    /// How often a connection that was used before turned out to be of no use.
    private var staleConnections = 0
    /// After so many of those it is asked over a connection of its own.
    private static let staleLimit = 3
    /// How many requests there were with each nonce of a digest.
    private var uses: [String: Int] = [:]
    /// Whether servers that want credentials are taken as if no delegate were asked.
    var leavesChallenges = false
    private var part: ResumePart?
    /// Credentials that were given besides those of the request.
    private var logins: [String] = []
    /// How many nanoseconds its last request took from when it was sent.
    private var delay = 0
    /// Hears of each URL where a request that is no GET was not refused, whatever comes of it: what is kept of that is out of
    /// date (RFC 9111, 4.4). Whether there is an answer says whether something may come to replace it.
    private let changed: @Sendable (_ url: String, _ isAnswer: Bool) -> Void
    /// Who has redirected it.
    private var route: [RedirectConstraints.Redirect] = []

    init(
        _ request: DownloadRequest, over transport: CurlTransport, rules: RequestRules,
        transferActivity: TransferActivity,
        seat: @escaping @Sendable (_ host: String) async throws -> Void,
        stall: @escaping @Sendable (_ isStalled: Bool) -> Void,
        report: @escaping @Sendable (DownloadProgress) -> Void,
        changed: @escaping @Sendable (_ url: String, _ isAnswer: Bool) -> Void
    ) {
        self.transport = transport
        self.request = request
        self.rules = rules
        self.transferActivity = transferActivity
        self.seat = seat
        self.stall = stall
        self.report = report
        self.changed = changed
        host = request.host
        ending = DownloadReport(url: request.url)
        policy = RedirectPolicy(limit: request.limits.maxRedirects, source: request.url, mode: request.redirect)
    }

    func delegate(for question: DownloadDelegates.Question) -> (any DownloadDelegate)? {
        guard let delegates = request.delegates, delegates.questions.contains(question) else { return nil }
        return delegates.delegate
    }

    /// A request of it that is ready to be sent.
    struct PreparedRequest: Sendable {
        let outgoing: HTTPRequest
        /// The same with what the rules of its host add.
        fileprivate let sent: HTTPRequest
        fileprivate let uses: (server: Int, proxy: Int)
        /// By the engine's clock.
        fileprivate let started: Int
        fileprivate let question = OpenQuestion()
    }

    private enum Step {
        case done(Download)
        case next(HTTPRequest)
    }

    /// Goes through all of it.
    mutating func run() async throws -> Download {
        do {
            return try await converse(from: try await firstRequest())
        } catch {
            end(error)
            throw error
        }
    }

    private mutating func end(_ error: (any Error)? = nil) {
        ending.seconds = Double(monotonicNanoseconds() - started) / 1e9
        ending.error = error as? ImageError
        ending.isCancelled = error is CancellationError
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
        takePart()
        return outgoing
    }

    /// Goes on with what has been begun earlier, if something has.
    private mutating func takePart() {
        part = request.canResume ? transport.spool.resume?.part(of: request.resumeIdentity) : nil
    }

    private mutating func converse(from first: HTTPRequest) async throws -> Download {
        var outgoing = first
        while true {
            let prepared = try prepared(outgoing)
            try await sit(at: outgoing.url.origin)
            let current = self
            let outcome = await transport.perform { id, finish in current.order(prepared, id, finish) }
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
        let sent = transport.settings.dressed(outgoing, by: rules)
        for mark in transport.settings.standingLogins(of: outgoing, dressed: sent) { note(mark) }
        return PreparedRequest(
            outgoing: outgoing, sent: sent,
            uses: (server: use(outgoing.digest), proxy: use(outgoing.proxyLogin?.digest)),
            started: transport.settings.now())
    }

    private mutating func step(_ outcome: HTTPOutcome, of prepared: PreparedRequest) async throws -> Step {
        prepared.question.withdraw()
        note(outcome, prepared)
        switch outcome.kind {
        case .answer(let download): return .done(signed(download))
        case .unjudged(let download): return .done(signed(try await judged(download)))
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

    /// The first request, if nobody is to be asked before it is sent and nothing is wrong with it.
    ///
    /// - Returns: nil if this is not for now: then ``run()`` of another exchange does all of it.
    mutating func opening() -> PreparedRequest? {
        guard delegate(for: .modifyRequest) == nil, let outgoing = try? rules.rewritten(HTTPRequest(request)),
            outgoing.url.origin == host, let prepared = try? prepared(outgoing)
        else { return nil }
        takePart()
        return prepared
    }

    /// The download, if its first request has brought it.
    ///
    /// - Returns: nil if something else came of it: then ``goOn(after:_:)`` goes on with that.
    mutating func answer(_ outcome: HTTPOutcome, to prepared: PreparedRequest) -> Download? {
        guard case .answer(let download) = outcome.kind else { return nil }
        prepared.question.withdraw()
        note(outcome, prepared)
        end()
        return signed(download)
    }

    /// Goes on after the first request.
    mutating func goOn(after prepared: PreparedRequest, _ outcome: HTTPOutcome) async throws -> Download {
        do {
            switch try await step(outcome, of: prepared) {
            case .done(let download):
                end()
                return download
            case .next(let outgoing): return try await converse(from: outgoing)
            }
        } catch {
            end(error)
            throw error
        }
    }

    /// The how manieth request with the nonce of a challenge is the next.
    private mutating func use(_ challenge: DigestChallenge?) -> Int {
        guard let challenge else { return 0 }
        uses[challenge.nonce, default: 0] += 1
        return uses[challenge.nonce, default: 1]
    }

    mutating func note(_ login: String) {
        if !logins.contains(login) { logins.append(login) }
    }

    /// The credentials that were given besides, as ``ResumeNote/login`` says them.
    private var login: String { logins.isEmpty ? "" : Digest(of: logins.joined(separator: "\n")).hex }

    private func signed(_ download: Download) -> Download {
        var download = download
        download.redirects = ending.redirects
        download.route = route
        download.limits = request.limits
        download.delay = delay / 1_000_000_000
        download.login = logins.isEmpty ? nil : logins.joined(separator: "\n")
        return download
    }

    /// Refuses a host that may not be loaded from, before anything is resolved.
    private func check(_ outgoing: HTTPRequest) throws(ImageError) {
        let policy = transport.settings.policy
        if let reason = policy.refusal(scheme: outgoing.url.scheme) {
            throw .invalidURL(outgoing.url.text, reason: reason)
        }
        if let reason = policy.refusal(host: outgoing.url.host) {
            throw .forbiddenAddress(url: outgoing.url.text, reason: reason)
        }
        // A proxy dials for us; what can be judged here is an address that is written out.
        guard transport.settings.proxies.proxy(for: outgoing.url) != nil, let address = IPAddress(outgoing.url.host),
            let reason = policy.refusal(transport.settings.classify(address), after: origin)
        else { return }
        throw .forbiddenAddress(url: outgoing.url.text, reason: reason)
    }

    /// Waits for a turn at the host of the next request, if that is another than before.
    private mutating func sit(at origin: String) async throws {
        guard origin != host else { return }
        try await seat(origin)
        host = origin
    }

    /// What a transfer is to do with a request.
    func order(_ prepared: PreparedRequest, _ id: UInt64, _ finish: @escaping @Sendable (HTTPOutcome) -> Void)
        -> TransferCommand
    {
        TransferCommand(
            request: request, outgoing: prepared.sent, redirects: ending.redirects,
            validators: request.validators(for: prepared.sent.url.text, isRedirected: !route.isEmpty),
            uses: prepared.uses,
            isAlone: staleConnections >= Self.staleLimit,
            headerAllowance: Transfer.headerLimit - headerBytes,
            origin: origin, answersChallenges: answersChallenges(prepared.sent),
            answersProxy: answersProxy(prepared.sent), part: part, login: login,
            spool: transport.spool,
            ask: asking(id, prepared.question), transferActivity: transferActivity, report: report, stall: stall,
            finish: finish)
    }

    /// Asks the delegate what a head is worth, beside the transfer that waits for it.
    private func asking(_ id: UInt64, _ question: OpenQuestion) -> (@Sendable (TransferCommand.Head) -> Void)? {
        guard let delegate = delegate(for: .validateStatus) else { return nil }
        return { [transport, stall] head in
            question.ask {
                stall(true)
                defer { stall(false) }
                do {
                    let verdict = try await delegate.accepts(
                        status: head.status, contentType: head.contentType, url: head.url)
                    transport.judge(id, .success(verdict))
                } catch {
                    transport.judge(id, .failure(error))
                }
            }
        }
    }

    private mutating func note(_ outcome: HTTPOutcome, _ prepared: PreparedRequest) {
        let (timing, outgoing) = (outcome.timing, prepared.outgoing)
        // What the clocks of the engine have not seen pass has not passed.
        let onTheWay = timing.sent.map { monotonicNanoseconds() - $0 } ?? 0
        delay = max(0, min(onTheWay, transport.settings.now() - prepared.started))
        ending.finalURL = outgoing.url.text
        ending.status = timing.status ?? ending.status
        ending.bytes = timing.bytes
        ending.resumedBytes = timing.resumedBytes
        ending.dns += timing.dns
        ending.connect += timing.connect
        ending.tls += timing.tls
        ending.isReused = timing.isReused
        ending.httpVersion = timing.httpVersion
        ending.firstByte = timing.firstByte.map { Double($0 - started) / 1e9 }
        headerBytes += timing.headerBytes
        if outgoing.method != .get, let status = timing.status, (200..<400).contains(status) {
            let isAnswer =
                switch outcome.kind {
                case .answer, .unjudged: true
                default: false
                }
            if route.isEmpty { changed(request.url, isAnswer) }
            changed(outgoing.url.text, isAnswer)
        }
        // What a proxy reaches for us is taken for public.
        // Where a proxy dials for us, an address that is written out is what was reached; a name may be anybody's.
        let named = IPAddress(outgoing.url.host).map(transport.settings.classify)
        guard let reached = timing.isProxied ? named ?? .public : timing.reached else { return }
        origin = origin.map { min($0, reached) } ?? reached
    }

    /// Asks somebody, and lets others run beside the download meanwhile as beside one whose server says nothing.
    func aside<Value>(_ ask: () async throws -> Value) async rethrows -> Value {
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
            let answer = try await aside { try await delegate.redirect(draft, from: outgoing.url.text, status: status) }
            guard let draft = answer else {
                throw ImageError.invalidStatusCode(status, url: request.url)
            }
            let changed = try next.changed(to: draft)
            if let credentials = changed.credentials, credentials != next.credentials {
                note("redirect \(changed.url.origin) \(credentials)")
            }
            next = changed
        }
        ending.redirects += 1
        // Each outgoing may find its nonce too old; how many there are has a limit of its own.
        renewals = 0
        return try rules.rewritten(next)
    }

    // MARK: Answers

    /// An answer without a body, when a delegate says what it is worth.
    private func judged(_ download: Download) async throws -> Download {
        let response = download.response
        let delegate = delegate(for: .validateStatus)
        let verdict = try await aside {
            try await delegate?.accepts(
                status: response.status, contentType: response.contentType, url: response.url)
        }
        if let error = request.refusal(of: response, accepted: verdict ?? nil) { throw error }
        return download
    }
}

extension HTTPRequest {
    /// What in it names a user; nil when nothing does.
    fileprivate var credentials: String? {
        var content = RequestContent()
        content.headers = draft.headers
        content.authorization = authorization
        return HTTPScope(content).credentials
    }
}
