internal import HTTPSemantics

/// The task of one ``Transfer``, and the receivers of its events.
struct TransferCommand: Sendable {
    let request: DownloadRequest
    let outgoing: HTTPRequest
    /// The number of redirects that led to this request.
    let redirects: Int
    /// The validators that make the request conditional.
    let validators: Validators?
    /// The number of this request among those with the same digest nonce, for server and proxy.
    let uses: (server: Int, proxy: Int)
    /// `true` when the request uses a new connection, even if idle ones exist.
    let isAlone: Bool
    /// The number of header bytes that may still be received.
    let headerAllowance: Int
    /// The most public address in the chain of redirects that led here.
    let origin: AddressClass?
    /// `true` when a server's challenge ends the transfer as ``HTTPOutcome/Kind/challenge(status:_:)``, so that the
    /// exchange answers it.
    let answersChallenges: Bool
    /// `true` when a proxy's digest challenge ends the transfer in that way, even without a delegate.
    let answersProxy: Bool
    /// The partial body of an earlier transfer, with any credentials.
    let part: ResumePart?
    /// The digest of the configured credentials of this request, as in ``ResumeNote/login``.
    let login: String
    let spool: SpoolPlace
    /// Asks a delegate about a response. `nil`: no delegate is asked. The transfer waits for ``Transfer/decide(by:)``.
    let ask: (@Sendable (Head) -> Void)?
    let transferActivity: TransferActivity
    let report: @Sendable (DownloadProgress) -> Void
    /// Called in order when the server becomes silent, and when it sends again or the request has ended.
    let stall: @Sendable (_ isStalled: Bool) -> Void
    let finish: @Sendable (HTTPOutcome) -> Void

    /// `true` when the exchange answers a challenge.
    func answers(status: Int, _ challenges: ChallengeList) -> Bool {
        answersChallenges || answersProxy && status == 407 && challenges.digest != nil
    }

    /// The partial body that was begun with the same credentials and may be resumed.
    var ownPart: ResumePart? { part?.note.login == login ? part : nil }

    /// The head of a response, for a delegate.
    struct Head: Sendable {
        let status: Int
        let contentType: String?
        let url: String
    }
}

/// The outcome of one request.
struct HTTPOutcome: Sendable {
    enum Kind: Sendable {
        /// A response with its body.
        case answer(Download)
        /// A response without a body that a delegate still has to decide about.
        case undecided(Download)
        /// A redirect.
        case redirect(RedirectConstraints.Redirect, location: String)
        /// A challenge of the server or the proxy.
        case challenge(status: Int, ChallengeList)
        /// The partial body cannot be resumed: request the whole.
        case restart
        /// The reused connection had unsolicited input, or was closed: send the request over another one.
        case stale
        case failure(any Error)
    }

    let kind: Kind
    var timing = RequestTiming()
}

/// The timing of one request in seconds, and the kind of its connection.
struct RequestTiming: Sendable {
    var dns = 0.0
    var connect = 0.0
    var tls = 0.0
    /// The time when it was sent, in nanoseconds of the monotonic clock.
    var sent: Int?
    /// The time when its response began, in nanoseconds of the monotonic clock.
    var firstByte: Int?
    var isReused = false
    var httpVersion: String?
    var status: Int?
    var bytes = 0
    var resumedBytes = 0
    var headerBytes = 0
    /// The class of the server's address. `nil`: a proxy, or no connection.
    var reached: AddressClass?
    var isProxied = false
}
