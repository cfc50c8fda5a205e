package import HTTPSemantics
package import ImageErrors
internal import Platform
internal import Synchronization

/// One request as one caller wants it: what is sent, and the bounds within which the answer is wanted.
///
/// Callers share a download if what is sent is equal (``Sent``), each within bounds of its own. A body fetched with one
/// caller's credentials can therefore never reach another. How a caller writes what is sent does not matter: neither a
/// fragment of the URL nor the case of a header's name is (C-10). A caller's deadline ends its own wait, and is none of
/// the bounds.
package struct DownloadRequest: Hashable, Sendable {
    /// What is sent, and who has a say in it: the identity under which downloads are merged.
    struct Sent: Hashable, Sendable {
        fileprivate struct Fields: Hashable {
            let givenURL: Uncompared<String>
            let exactHeaders: [Header]
            let exactAuthorization: [ExactText]
            let webURL: WebURL
            let redirect: RedirectMode
            let delegates: DownloadDelegates?
            let method: RequestMethod
            let body: [UInt8]?
            /// Whether an answer that wants credentials is taken for the answer, and not asked again with them.
            let takesChallenges: Bool
            /// Something of its own for a request that is not to be merged with any other (E2-10).
            var own: UInt64?
            var validators: Validators?
        }

        private let content: HashedOnce<Fields>

        fileprivate init(_ fields: Fields) { content = HashedOnce(fields) }

        fileprivate var fields: Fields { content.value }
    }

    fileprivate struct Header: Hashable {
        /// The name in small letters.
        let folded: ExactText
        let value: ExactText
        let name: Uncompared<String>
    }

    private(set) var sent: Sent
    package let limits: DownloadLimits
    /// What is done to the body before anything looks at it.
    package let dataModifier: DataModifier?

    /// A request for `url`, which is parsed by libcurl, the library that will follow it.
    ///
    /// - Throws: ``ImageError/invalidURL(_:reason:)``; ``ImageError/connectionFailed(url:reason:)`` when libcurl cannot
    ///   be loaded.
    package init(url: String, options: NetworkOptions, validators: Validators? = nil) throws(ImageError) {
        limits = options.limits.bounded
        let content = options.request
        let fields = Sent.Fields(
            givenURL: Uncompared(url),
            exactHeaders: content.headers.map { name, value in
                Header(folded: ExactText(name.asciiLowercased), value: ExactText(value), name: Uncompared(name))
            }.sorted { ($0.folded.text, $0.value.text) < ($1.folded.text, $1.value.text) },
            exactAuthorization: Self.texts(of: content.authorization),
            webURL: try WebURL(url), redirect: options.redirect, delegates: options.delegates, method: content.method,
            body: content.method == .get ? nil : content.body,
            takesChallenges: limits.takesChallenges,
            own: options.merges ? nil : Self.lastOwn.add(1, ordering: .relaxed).newValue,
            validators: content.method == .get ? validators : nil)
        sent = Sent(fields)
        dataModifier = options.dataModifier
    }

    private static func texts(of authorization: Authorization?) -> [ExactText] {
        switch authorization {
        case .basic(let user, let password): [ExactText(user), ExactText(password)]
        case .bearer(let token): [ExactText(token)]
        case nil: []
        }
    }

    /// The same request without conditions.
    package var unconditional: DownloadRequest {
        guard validators != nil else { return self }
        return changing { $0.validators = nil }
    }

    /// The same request without conditions, as any other caller may have sent it.
    package var common: DownloadRequest {
        guard validators != nil || sent.fields.own != nil else { return self }
        return changing { ($0.validators, $0.own) = (nil, nil) }
    }

    private func changing(_ change: (inout Sent.Fields) -> Void) -> DownloadRequest {
        var fields = sent.fields
        change(&fields)
        var request = self
        request.sent = Sent(fields)
        return request
    }

    private static let lastOwn = Atomic<UInt64>(0)

    /// The URL as libcurl understands it.
    package var webURL: WebURL { sent.fields.webURL }
    /// Where it may be led.
    package var redirect: RedirectMode { sent.fields.redirect }
    /// Who is asked about it.
    package var delegates: DownloadDelegates? { sent.fields.delegates }
    /// What is asked for.
    package var method: RequestMethod { sent.fields.method }
    /// What is sent with it.
    package var body: [UInt8]? { sent.fields.body }
    /// What makes the request conditional: the server may answer 304 instead of a body it has sent before.
    package var validators: Validators? { sent.fields.validators }

    /// The validators that go to a URL, to which a redirect may have led.
    package func validators(for url: String, isRedirected: Bool) -> Validators? {
        validators.flatMap { $0.isDirect && !isRedirected || ExactText($0.url) == ExactText(url) ? $0 : nil }
    }

    /// Scheme, host and port: what connections are counted by.
    package var host: String { webURL.origin }

    /// The URL as given, by the first of those who share the download.
    package var url: String { sent.fields.givenURL.value }

    /// Header fields, sorted by name.
    package var headers: [(name: String, value: String)] {
        sent.fields.exactHeaders.map { ($0.name.value, $0.value.text) }
    }

    /// What it asks of caches; nil if it says nothing.
    package var cacheControl: CacheControl? {
        let fields = sent.fields.exactHeaders
        if fields.isEmpty { return nil }
        return CacheControl(
            of: Dictionary(fields.map { ($0.folded.text, $0.value.text) }, uniquingKeysWith: { "\($0),\($1)" }))
    }

    /// Credentials.
    package var authorization: Authorization? {
        let texts = sent.fields.exactAuthorization
        return switch texts.count {
        case 2: .basic(user: texts[0].text, password: texts[1].text)
        case 1: .bearer(texts[0].text)
        default: nil
        }
    }
}

/// What a server answered, without the body.
package struct DownloadResponse: Sendable {
    package var status = 0
    package var url = ""
    package var contentType: String?
    package var etag: String?
    package var lastModified: String?
    /// Whether it says that what we have is still right.
    package var isConfirmation = false
    /// Every header field of the final answer, names in small letters, repeated ones joined by commas.
    package var fields: [String: String] = [:]

    /// How the body is compressed, as its server says; nil when it is not.
    ///
    /// Only what is registered, or in use, as a compression counts (RFC 9110, 8.4.1): some servers say "none" or "utf-8"
    /// there, or what an upload was wrapped in, and send the bytes as they are.
    var compression: String? {
        for name in ["content-encoding", "transfer-encoding"] {
            guard let coding = fields[name] else { continue }
            let names = coding.lowercased().split { $0 == "," || $0.isWhitespace }
            if names.contains(where: Self.compressions.contains) { return coding }
        }
        return nil
    }

    private static let compressions: Set<Substring> = [
        "gzip", "x-gzip", "deflate", "compress", "x-compress", "br", "zstd", "dcb", "dcz", "exi", "pack200-gzip",
        "bzip2",
        "lzma", "xz", "sdch",
    ]
}

/// A finished download.
package struct Download: Sendable {
    /// How many whole seconds it took from when its last request was sent.
    package var delay = 0
    package let response: DownloadResponse
    package var body: DownloadedBody
    /// How many redirects led to it.
    package var redirects = 0
    /// Who redirected, in order.
    package var route: [RedirectConstraints.Redirect] = []
    /// The bounds of the transfer that brought it.
    package var limits: DownloadLimits?
    /// Credentials that were given besides those of the request; see ``Logins``.
    package var login: String?
}

/// How far a download has come.
public struct DownloadProgress: Sendable, Equatable {
    /// Bytes of the body so far.
    public let received: Int
    /// Bytes of the whole body; nil when the server does not say.
    public let total: Int?

    /// So many bytes of so many.
    public init(received: Int, total: Int?) {
        self.received = received
        self.total = total
    }
}
