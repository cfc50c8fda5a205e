package import HTTPSemantics
package import ImageErrors
internal import Platform
internal import Synchronization

/// One request of one caller: what is sent, and the limits of the answer.
///
/// Callers share a download if what is sent is equal (``Sent``), each within its own limits. A body fetched with one
/// caller's credentials can therefore never reach another caller. Neither the fragment of the URL nor the case of
/// header names matters, because neither changes what is sent. A caller's deadline ends only its own wait and is not
/// among the limits.
package struct DownloadRequest: Hashable, Sendable {
    /// What is sent, and the delegates that may change it: the identity under which downloads are merged.
    struct Sent: Hashable, Sendable {
        fileprivate struct Fields: Hashable {
            let givenURL: Uncompared<String>
            let exactHeaders: [Header]
            let exactAuthorization: [ExactText]
            let webURL: WebURL
            let transfer: TransferOptions
            let delegates: DownloadDelegates?
            let method: RequestMethod
            let body: [UInt8]?
            /// `true` when a response that demands credentials is accepted as the answer and the request is not
            /// repeated with credentials.
            let takesChallenges: Bool
            /// A unique number for a request that must not be merged with any other.
            var own: UInt64?
            var validators: Validators?
        }

        private let content: HashedOnce<Fields>

        fileprivate init(_ fields: Fields) { content = HashedOnce(fields) }

        fileprivate var fields: Fields { content.value }
    }

    fileprivate struct Header: Hashable {
        /// The lower-case name.
        let folded: ExactText
        let value: ExactText
        let name: Uncompared<String>
    }

    private(set) var sent: Sent
    package let limits: DownloadLimits
    /// The decoding of the body that happens before anything inspects it.
    package let dataModifier: DataModifier?

    /// Creates a request for `url`. libcurl, which performs the request, also parses it.
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
            webURL: try WebURL(url), transfer: options.transfer, delegates: options.delegates, method: content.method,
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

    /// The request without conditions.
    package var unconditional: DownloadRequest {
        guard validators != nil else { return self }
        return changing { $0.validators = nil }
    }

    /// The request without conditions, as any other caller may have sent it.
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

    /// The URL as libcurl parses it.
    package var webURL: WebURL { sent.fields.webURL }
    /// The options of the transfer.
    package var transfer: TransferOptions { sent.fields.transfer }
    /// The delegates that are asked during the download.
    package var delegates: DownloadDelegates? { sent.fields.delegates }
    /// The HTTP method.
    package var method: RequestMethod { sent.fields.method }
    /// The request's body.
    package var body: [UInt8]? { sent.fields.body }
    /// The validators that make the request conditional: the server may answer 304 instead of sending the body again.
    package var validators: Validators? { sent.fields.validators }

    /// The validators that may be sent to a URL, which may be the target of a redirect.
    package func validators(for url: String, isRedirected: Bool) -> Validators? {
        validators.flatMap { $0.isDirect && !isRedirected || ExactText($0.url) == ExactText(url) ? $0 : nil }
    }

    /// Scheme, host and port: connections are counted by it.
    package var host: String { webURL.origin }

    /// The URL as given by the first of the callers that share the download.
    package var url: String { sent.fields.givenURL.value }

    /// The header fields, sorted by name.
    package var headers: [(name: String, value: String)] {
        sent.fields.exactHeaders.map { ($0.name.value, $0.value.text) }
    }

    /// The directives of the request's `Cache-Control`. `nil`: it has none.
    package var cacheControl: CacheControl? {
        let fields = sent.fields.exactHeaders
        if fields.isEmpty { return nil }
        return CacheControl(
            of: Dictionary(fields.map { ($0.folded.text, $0.value.text) }, uniquingKeysWith: { "\($0),\($1)" }))
    }

    /// The credentials.
    package var authorization: Authorization? {
        let texts = sent.fields.exactAuthorization
        return switch texts.count {
        case 2: .basic(user: texts[0].text, password: texts[1].text)
        case 1: .bearer(texts[0].text)
        default: nil
        }
    }
}

/// A response without its body.
package struct DownloadResponse: Sendable {
    package var status = 0
    package var url = ""
    package var contentType: String?
    package var etag: String?
    package var lastModified: String?
    /// `true` when it confirms the stored body.
    package var isConfirmation = false
    /// The header fields of the final response: lower-case names, repeated fields joined by commas.
    package var fields: [String: String] = [:]

    /// The compression of the body that the server declares. `nil`: none.
    ///
    /// Only registered or usual compressions count (RFC 9110, 8.4.1): some servers send "none" or "utf-8" there, or the
    /// coding of an upload, and deliver the bytes unchanged.
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
    /// The whole seconds between the last request and its response.
    package var delay = 0
    package let response: DownloadResponse
    package var body: DownloadedBody
    /// The number of redirects.
    package var redirects = 0
    /// The redirects in order.
    package var route: [RedirectConstraints.Redirect] = []
    /// The limits of the transfer.
    package var limits: DownloadLimits?
    /// Credentials from other sources than the request; see `Logins` of the engine.
    package var login: String?
}

/// The progress of a download.
public struct DownloadProgress: Sendable, Equatable {
    /// The number of received bytes of the body.
    public let received: Int
    /// The size of the whole body in bytes. `nil`: the server does not declare it.
    public let total: Int?

    /// Creates a progress value.
    public init(received: Int, total: Int?) {
        self.received = received
        self.total = total
    }
}
