internal import HTTPSemantics
internal import ImageErrors
internal import Platform

/// One download from its first request to the final response: redirects, challenges and resumed bodies, one request
/// after the other.
///
/// Delegates are asked between the requests, where only this download waits.
struct Exchange: Sendable {
    static let challengeLimit = 3

    let run: DownloadRun
    let rules: RequestRules
    private(set) var summary: DownloadReport
    private let started = monotonicNanoseconds()
    /// The scheme, host and port that the download has a slot at.
    private var slotOrigin: String
    /// The requests that were redirected. None is sent twice, because the response would be the same.
    private var visited: Set<HTTPRequest> = []
    private var headerBytes = 0
    /// The most public network that a request was sent to.
    private var mostPublic: AddressClass?
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
    /// The partial body of an earlier transfer, loaded once.
    private var part: ResumePart?
    private var hasLoadedPart = false
    /// Marks of credentials from other sources than the request.
    private var logins: [String] = []
    /// What the configuration added when some of them are from there.
    private var configuration: ConfiguredCredentials?
    /// The nanoseconds between the last request and its response.
    private var delay = 0
    private var route: [RedirectConstraints.Redirect] = []
    /// The names of the header fields that were added after redirects.
    private var addedFields: Set<String> = []

    init(_ run: DownloadRun) {
        (self.run, rules, slotOrigin) = (run, run.downloader.rules, run.request.origin)
        summary = DownloadReport(url: run.request.url)
    }

    var request: DownloadRequest { run.request }
    var transport: CurlTransport { run.downloader.transport }

    func delegate(for question: DownloadDelegates.Question) -> (any DownloadDelegate)? {
        guard let delegates = request.delegates, delegates.questions.contains(question) else { return nil }
        return delegates.delegate
    }

    private enum Step {
        case done(Download)
        case next(HTTPRequest)
    }

    // MARK: From the first request to the last

    /// Performs the download.
    ///
    /// - Parameter sent: The first request and its outcome, if it was sent already.
    mutating func perform(after sent: (first: PreparedRequest, outcome: HTTPOutcome)? = nil) async throws -> Download {
        do {
            var step: Step
            if let sent {
                step = try await self.step(sent.outcome, of: sent.first)
            } else {
                step = .next(try await firstRequest())
            }
            while true {
                switch step {
                case .done(let download):
                    reportEnd()
                    return completed(download)
                case .next(let outgoing):
                    let prepared = try prepared(outgoing)
                    if outgoing.url.origin != slotOrigin { try await run.moveSlot(to: outgoing.url.origin) }
                    slotOrigin = outgoing.url.origin
                    step = try await self.step(try await transport.perform(prepared), of: prepared)
                }
            }
        } catch {
            reportEnd(error)
            throw error
        }
    }

    /// Prepares the first request, if no delegate has to be asked and nothing is wrong with it. Returns `nil`
    /// otherwise; then ``perform(after:)`` of another exchange performs the download.
    mutating func prepareFirst() -> PreparedRequest? {
        guard delegate(for: .modifyRequest) == nil, let outgoing = try? rules.rewritten(HTTPRequest(request)),
            outgoing.url.origin == slotOrigin
        else { return nil }
        return try? prepared(outgoing)
    }

    /// The download, if the first request delivered its body. Returns `nil` otherwise; then ``perform(after:)``
    /// continues.
    mutating func download(from outcome: HTTPOutcome, of first: PreparedRequest) -> Download? {
        guard case .answer(let download) = outcome.kind else { return nil }
        record(outcome, first)
        reportEnd()
        return completed(download)
    }

    private mutating func reportEnd(_ error: (any Error)? = nil) {
        summary.seconds = Double(monotonicNanoseconds() - started) / 1e9
        summary.error = error as? ImageError
        summary.isCancelled = error is CancellationError
        transport.ended.report(summary)
    }

    private mutating func firstRequest() async throws -> HTTPRequest {
        var outgoing = HTTPRequest(request)
        if let delegate = delegate(for: .modifyRequest) {
            guard let draft = try await delegate.modify(outgoing.draft) else {
                throw ImageError.downloadCancelledBeforeStarting(url: request.url)
            }
            outgoing = try outgoing.changed(to: draft)
        }
        return try rules.rewritten(outgoing)
    }

    private mutating func prepared(_ outgoing: HTTPRequest) throws(ImageError) -> PreparedRequest {
        // A forbidden host is rejected before its name is resolved. A proxy connects on this side's behalf, so of addresses only
        // a literal one can be checked.
        let isProxied = transport.settings.proxies.proxy(for: outgoing.url) != nil
        if let refusal = transport.settings.refusal(of: outgoing.url, after: mostPublic, judgesAddress: isProxied) {
            throw refusal
        }
        if !hasLoadedPart, request.canResume {
            part = transport.spool.resume?.part(of: request.resumeIdentity)
        }
        hasLoadedPart = true
        // Before the files are read: one that changes meanwhile makes it a different configuration afterwards.
        let credentials = ConfiguredCredentials(transport.settings, rules)
        let sent = transport.settings.configured(outgoing, by: rules)
        for mark in transport.settings.configuredLogins(of: outgoing, configured: sent) {
            addLogin(mark)
            configuration = configuration ?? credentials
        }
        if !route.isEmpty {
            addedFields.formUnion(sent.fields.dropFirst(outgoing.fields.count).map(\.name.text.asciiLowercased))
        }
        return PreparedRequest(
            run: run, outgoing: outgoing, sent: sent, redirects: summary.redirects,
            validators: request.validators(for: sent.url.text, isRedirected: !route.isEmpty),
            uses: (server: use(outgoing.digest), proxy: use(outgoing.proxyLogin?.digest)),
            isAlone: staleConnections >= Self.staleLimit, headerAllowance: Transfer.headerLimit - headerBytes,
            mostPublic: mostPublic, answersChallenges: answersChallenges(sent), answersProxy: answersProxy(sent),
            part: part,
            login: login, validator: delegate(for: .validateStatus),
            started: transport.settings.now())
    }

    private mutating func step(_ outcome: HTTPOutcome, of prepared: PreparedRequest) async throws -> Step {
        record(outcome, prepared)
        switch outcome.kind {
        case .answer(let download): return .done(download)
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
        (download.route, download.delay, download.addedFields) = (route, delay / 1_000_000_000, addedFields)
        download.login = logins.isEmpty ? nil : logins.joined(separator: "\n")
        download.configuration = configuration
        download.report = DownloadReport.Shared(summary)
        return download
    }

    private mutating func record(_ outcome: HTTPOutcome, _ prepared: PreparedRequest) {
        let (timing, outgoing) = (outcome.timing, prepared.outgoing)
        // Limited by the engine's clock, which may have stood still meanwhile.
        let onTheWay = timing.sent.map { monotonicNanoseconds() - $0 } ?? 0
        delay = max(0, min(onTheWay, transport.settings.now() - prepared.started))
        (summary.finalURL, summary.status) = (outgoing.url.text, timing.status ?? summary.status)
        (summary.bytes, summary.resumedBytes) = (timing.bytes, timing.resumedBytes)
        summary.dns += timing.dns
        summary.connect += timing.connect
        summary.tls += timing.tls
        (summary.isReused, summary.httpVersion) = (timing.isReused, timing.httpVersion)
        summary.firstByte = timing.firstByte.map { Double($0 - started) / 1e9 }
        headerBytes += timing.headerBytes
        if outgoing.method != .get, let status = timing.status, (200..<400).contains(status) {
            let isAnswer = if case .answer = outcome.kind { true } else { false }
            if route.isEmpty { run.noteChange(at: request.url, isAnswer: isAnswer) }
            run.noteChange(at: outgoing.url.text, isAnswer: isAnswer)
        }
        // Behind a proxy, a literal address counts as the one that was reached. A name counts as public, because its
        // address is unknown.
        let named = IPAddress(outgoing.url.host).map(transport.settings.classify)
        guard let reached = timing.isProxied ? named ?? .public : timing.reached else { return }
        mostPublic = mostPublic.map { min($0, reached) } ?? reached
    }

    // MARK: Redirects

    private mutating func redirected(_ outgoing: HTTPRequest, _ status: Int, _ location: String) async throws
        -> HTTPRequest
    {
        visited.insert(outgoing)
        var next = try outgoing.redirected(status: status, to: location, request.transfer, naming: request.url)
        let redirects = summary.redirects + 1
        if let error = run.job.dismiss({ $0.request.error(after: redirects) }) { throw error }
        if let delegate = delegate(for: .redirect) {
            let wanted = next.draft
            let answer = try await run.whileStalled {
                try await delegate.redirect(wanted, from: outgoing.url.text, status: status)
            }
            guard let draft = answer else { throw ImageError.invalidStatusCode(status, url: request.url) }
            let changed = try next.changed(to: draft)
            if let credentials = changed.credentials, credentials != next.credentials {
                addLogin("redirect \(changed.url.origin) \(credentials)")
            }
            next = changed
        }
        next = try rules.rewritten(next)
        // Only what will really be requested counts.
        try outgoing.check(next: next, request.transfer, naming: request.url)
        if visited.contains(next) {
            let reason = "\(ImageError.redirectsInCircle), through \(next.url.text.excerpt)"
            throw DownloadLimitName.maxRedirects.error(reason, source: request.url)
        }
        summary.redirects = redirects
        // Each server may want a new nonce, so the count of these begins again; maxRedirects ends a loop.
        renewals = 0
        return next
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
