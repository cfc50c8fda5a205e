internal import HTTPSemantics

/// What one ``Transfer`` is to do, and whom it tells.
struct TransferCommand: Sendable {
    let request: DownloadRequest
    let outgoing: HTTPRequest
    /// How many redirects led to it.
    let redirects: Int
    /// What makes it conditional.
    let validators: Validators?
    /// The how manieth request it is with the nonces of digests.
    let uses: (server: Int, proxy: Int)
    /// Whether it goes over a new connection, whatever others there are.
    let isAlone: Bool
    /// How many bytes of headers may still come.
    let headerAllowance: Int
    /// The most public address that led here by a redirect.
    let origin: AddressClass?
    /// Whether a server that wants credentials is told of, instead of judged.
    let answersChallenges: Bool
    /// Whether a proxy that wants a digest is told of, whoever else is asked.
    let answersProxy: Bool
    /// The body that was begun earlier, by whomever.
    let part: ResumePart?
    /// With which credentials of the configuration's it comes here, as ``ResumeNote/login`` says it.
    let login: String
    let spool: SpoolPlace
    /// Asks whether an answer's body is wanted, if somebody is to be asked. The transfer waits for ``Transfer/judge(_:)``.
    let ask: (@Sendable (Head) -> Void)?
    let transferActivity: TransferActivity
    let report: @Sendable (DownloadProgress) -> Void
    /// Hears, in order, that the server says nothing for a while, and that it speaks again or the request has ended.
    let stall: @Sendable (_ isStalled: Bool) -> Void
    let finish: @Sendable (HTTPOutcome) -> Void

    /// Whether a challenge is told of, instead of judged.
    func answers(status: Int, _ challenges: ChallengeList) -> Bool {
        answersChallenges || answersProxy && status == 407 && challenges.digest != nil
    }

    /// What was begun earlier with the same credentials, and may be gone on with.
    var ownPart: ResumePart? { part?.note.login == login ? part : nil }

    /// The head of an answer, for who is asked about it.
    struct Head: Sendable {
        let status: Int
        let contentType: String?
        let url: String
    }
}

/// What came of one request.
struct HTTPOutcome: Sendable {
    enum Kind: Sendable {
        /// The answer.
        case answer(Download)
        /// An answer without a body that somebody has still to be asked about.
        case unjudged(Download)
        /// It redirects.
        case redirect(RedirectConstraints.Redirect, location: String)
        /// The server or the proxy wants credentials.
        case challenge(status: Int, ChallengeList)
        /// What was begun earlier cannot be gone on with: ask for the whole.
        case restart
        /// The connection, which others have used, had something to say that nobody had asked for, or nothing any more: ask
        /// over another one.
        case stale
        case failure(any Error)
    }

    let kind: Kind
    var timing = RequestTiming()
}

/// How long the parts of one request took, in seconds, and over what it went.
struct RequestTiming: Sendable {
    var dns = 0.0
    var connect = 0.0
    var tls = 0.0
    /// When it was sent, in nanoseconds of the monotonic clock.
    var sent: Int?
    /// When its answer began, likewise.
    var firstByte: Int?
    var isReused = false
    var httpVersion: String?
    var status: Int?
    var bytes = 0
    var resumedBytes = 0
    var headerBytes = 0
    /// The class of the address it went to; nil for a proxy or none.
    var reached: AddressClass?
    var isProxied = false
}
