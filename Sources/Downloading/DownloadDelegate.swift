public import HTTPSemantics

/// Decides about downloads while they run, as Kingfisher's downloader delegate, redirect handler, request modifier and
/// challenge responder do.
///
/// Each method answers for one download; none answering in time is the delegate's own business, for the download waits.
public protocol DownloadDelegate: AnyObject, Sendable {
    /// The request as it should be sent; nil to send none at all.
    func modify(_ request: DownloadDraft) async throws -> DownloadDraft?
    /// The request that follows a redirect, as it should be sent; nil to stop here (B-028).
    ///
    /// - Parameters:
    ///   - request: The next request: credentials of another origin are gone from it already.
    ///   - url: The URL that redirects.
    ///   - status: The status it redirects with.
    func redirect(_ request: DownloadDraft, from url: String, status: Int) async throws -> DownloadDraft?
    /// Whether an answer's body is wanted; nil to judge it as without a delegate (A-024, B-026).
    func accepts(status: Int, contentType: String?, url: String) async throws -> Bool?
    /// What to do about a server that wants credentials.
    func answer(_ challenge: AuthenticationChallenge) async throws -> ChallengeAnswer
}

/// A request as a delegate sees and changes it.
public struct DownloadDraft: Sendable, Hashable {
    /// Where it goes.
    public var url: String
    /// Header fields.
    public var headers: [String: String]

    /// What the server is asked to do.
    public var method: RequestMethod
    /// What it brings along, unless the method is GET.
    public var body: [UInt8]?

    /// A request for `url`.
    public init(url: String, headers: [String: String], method: RequestMethod = .get, body: [UInt8]? = nil) {
        self.url = url
        self.headers = headers
        self.method = method
        self.body = body
    }

    /// The same request to another URL; credentials and a body stay with the origin they were for, and what goes elsewhere
    /// is a GET.
    public func moved(to url: String) -> DownloadDraft {
        guard URLOrigin(self.url) != URLOrigin(url) else {
            return DownloadDraft(url: url, headers: headers, method: method, body: body)
        }
        var content = RequestContent()
        content.headers = headers
        return DownloadDraft(url: url, headers: content.scoped(from: self.url, to: url).headers)
    }
}

/// A server's wish for credentials (RFC 9110, 11.6).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The URL that answered 401 or 407.
    public let url: String
    /// The host of that URL, or of the proxy.
    public let host: String
    /// The realm it names, if any.
    public let realm: String?
    /// The scheme in small letters: `basic`, `digest`, `bearer`…
    public let scheme: String
    /// Whether it is the proxy that asks.
    public let isProxy: Bool
    /// How many answers it has turned down already.
    public let failures: Int

    /// A challenge with the given parts.
    public init(url: String, host: String, realm: String?, scheme: String, isProxy: Bool, failures: Int) {
        self.url = url
        self.host = host
        self.realm = realm
        self.scheme = scheme
        self.isProxy = isProxy
        self.failures = failures
    }
}

/// What a delegate says to a challenge.
public enum ChallengeAnswer: Sendable, Hashable {
    /// Try with these credentials.
    case credential(Authorization)
    /// Go on as without a delegate.
    case useDefault
    /// Give the download up.
    case cancel
}

/// A delegate, and what it wants to be asked: part of a download's identity.
public struct DownloadDelegates: Sendable, Hashable {
    /// What a delegate may be asked.
    public enum Question: String, Sendable, Hashable, CaseIterable {
        case modifyRequest, redirect, validateStatus, challenge
    }

    /// Who is asked.
    public let delegate: any DownloadDelegate
    /// What it is asked.
    public let questions: Set<Question>

    /// Asks `delegate` only the given questions.
    public init(_ delegate: any DownloadDelegate, questions: Set<Question>) {
        self.delegate = delegate
        self.questions = questions
    }

    /// The same delegate, no longer asked `question`; nil when nothing is left to ask.
    package func without(_ question: Question) -> DownloadDelegates? {
        let rest = questions.subtracting([question])
        return rest.isEmpty ? nil : DownloadDelegates(delegate, questions: rest)
    }

    /// The same delegate, asked the same.
    public static func == (one: DownloadDelegates, other: DownloadDelegates) -> Bool {
        one.delegate === other.delegate && one.questions == other.questions
    }

    /// Hashes the identity of the delegate.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(delegate))
        hasher.combine(questions)
    }
}
