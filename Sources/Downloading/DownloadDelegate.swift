public import HTTPSemantics

/// Makes decisions about running downloads, as Kingfisher's downloader delegate, redirect handler, request modifier and
/// challenge responder do.
///
/// Each call decides about one download, which waits for the answer without a time limit.
public protocol DownloadDelegate: AnyObject, Sendable {
    /// Returns the request to send. `nil`: none is sent.
    func modify(_ request: DownloadDraft) async throws -> DownloadDraft?
    /// Returns the request that follows a redirect. `nil`: the redirect is not followed.
    ///
    /// - Parameters:
    ///   - request: The next request, already without the credentials of another origin.
    ///   - url: The URL that redirects.
    ///   - status: The status of the redirect.
    func redirect(_ request: DownloadDraft, from url: String, status: Int) async throws -> DownloadDraft?
    /// Returns `true` to accept the body of a response, `false` to reject it. `nil`: the options decide.
    func accepts(status: Int, contentType: String?, url: String) async throws -> Bool?
    /// Answers a server that demands credentials.
    func answer(_ challenge: AuthenticationChallenge) async throws -> ChallengeAnswer
}

/// A request as a delegate sees and changes it.
public struct DownloadDraft: Sendable, Hashable {
    /// The URL.
    public var url: String
    /// The header fields.
    public var headers: [String: String]

    /// The HTTP method.
    public var method: RequestMethod
    /// The body, unless the method is GET.
    public var body: [UInt8]?

    /// Creates a request for `url`.
    public init(url: String, headers: [String: String], method: RequestMethod = .get, body: [UInt8]? = nil) {
        (self.url, self.headers, self.method, self.body) = (url, headers, method, body)
    }

    /// Returns the request for another URL. Credentials and a body stay with their origin, and a request to another
    /// origin is a GET.
    public func moved(to url: String) -> DownloadDraft {
        if WebURL.haveSameOrigin(self.url, url) {
            return DownloadDraft(url: url, headers: headers, method: method, body: body)
        }
        var content = RequestContent()
        content.headers = headers
        return DownloadDraft(url: url, headers: content.scoped(from: self.url, to: url).headers)
    }
}

/// A server's demand for credentials (RFC 9110, 11.6).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The URL that answered 401 or 407.
    public let url: String
    /// The host of that URL, or of the proxy.
    public let host: String
    /// The realm that it names, if any.
    public let realm: String?
    /// The lower-case scheme: `basic`, `digest`, `bearer`…
    public let scheme: String
    /// `true` when a proxy demands the credentials.
    public let isProxy: Bool
    /// The number of answers that it has rejected so far.
    public let failures: Int

    /// Creates a challenge.
    public init(url: String, host: String, realm: String?, scheme: String, isProxy: Bool, failures: Int) {
        (self.url, self.host, self.realm, self.scheme) = (url, host, realm, scheme)
        (self.isProxy, self.failures) = (isProxy, failures)
    }
}

/// A delegate's answer to a challenge.
public enum ChallengeAnswer: Sendable, Hashable {
    /// Send these credentials.
    case credential(Authorization)
    /// Continue as without a delegate.
    case useDefault
    /// Cancel the download.
    case cancel
}

/// A delegate and the questions that it is asked: part of a download's identity.
public struct DownloadDelegates: Sendable, Hashable {
    /// A question to a delegate.
    public enum Question: String, Sendable, Hashable, CaseIterable {
        case modifyRequest, redirect, validateStatus, challenge
    }

    /// The delegate.
    public let delegate: any DownloadDelegate
    /// The questions that it is asked.
    public let questions: Set<Question>

    /// Creates a value that asks `delegate` only the given questions.
    public init(_ delegate: any DownloadDelegate, questions: Set<Question>) {
        (self.delegate, self.questions) = (delegate, questions)
    }

    /// The same delegate without `question`. `nil`: no question is left.
    package func without(_ question: Question) -> DownloadDelegates? {
        let rest = questions.subtracting([question])
        return rest.isEmpty ? nil : DownloadDelegates(delegate, questions: rest)
    }

    /// `true` when the delegate is the same object and the questions are equal.
    public static func == (one: DownloadDelegates, other: DownloadDelegates) -> Bool {
        one.delegate === other.delegate && one.questions == other.questions
    }

    /// Hashes the identity of the delegate and its questions.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(delegate))
        hasher.combine(questions)
    }
}
