internal import HTTPSemantics
internal import ImageErrors
internal import Platform

/// One request of a download that is ready to be sent, and what is done with its response.
struct PreparedRequest: Sendable {
    let run: DownloadRun
    /// The request without the additions of the configuration.
    let outgoing: HTTPRequest
    /// The request as it is sent, with the additions of the rules for its host.
    let sent: HTTPRequest
    let redirects: Int
    let validators: Validators?
    /// The number of this request among those with the same digest nonce, for server and proxy.
    let uses: (server: Int, proxy: Int)
    /// `true` when the request uses a new connection, even if idle ones exist.
    let isAlone: Bool
    /// The number of header bytes that may still be received.
    let headerAllowance: Int
    /// The most public address in the chain of redirects that led here.
    let mostPublic: AddressClass?
    /// `true` when a server's challenge ends the transfer as ``HTTPOutcome/Kind/challenge(status:_:)``, so that the
    /// exchange answers it.
    let answersChallenges: Bool
    /// `true` when a proxy's digest challenge ends the transfer in that way, even without a delegate.
    let answersProxy: Bool
    /// The partial body of an earlier transfer, with any credentials.
    let part: ResumePart?
    /// The digest of the configured credentials of this request, as in ``ResumeNote/login``.
    let login: String
    /// The delegate that decides about the head of the response. `nil`: the options do.
    let validator: (any DownloadDelegate)?
    /// The time when it was prepared, on the engine's clock.
    let started: Int

    var request: DownloadRequest { run.request }
    var transport: CurlTransport { run.downloader.transport }

    func answers(status: Int, _ challenges: ChallengeList) -> Bool {
        answersChallenges || answersProxy && status == 407 && challenges.digest != nil
    }

    /// The partial body that was begun with the same credentials and may be resumed.
    var ownPart: ResumePart? { part?.note.login == login ? part : nil }

    /// Asks the delegate about a head while the transfer waits for ``Transfer/decide(by:)``.
    func ask(
        _ delegate: any DownloadDelegate, about response: DownloadResponse, transfer id: UInt64
    ) -> Task<Void, Never> {
        let (status, type, url) = (response.status, response.contentType, response.url)
        return Task { [run] in
            let verdict: Result<Bool?, any Error>
            do {
                let accepted = try await run.whileStalled {
                    try await delegate.accepts(status: status, contentType: type, url: url)
                }
                verdict = .success(accepted)
            } catch { verdict = .failure(error) }
            run.downloader.transport.decide(id, verdict)
        }
    }
}

struct HTTPOutcome: Sendable {
    enum Kind: Sendable {
        case answer(Download)
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
