internal import Platform
internal import Synchronization

/// One request as it goes over the wire: the identity under which downloads are merged.
///
/// Two callers share a download only if everything here is equal: what is sent, and the limits. A body fetched with one
/// caller's credentials can therefore never reach another, and nobody waits longer or gets more than was agreed to. How a
/// caller writes what is sent does not matter: neither a fragment of the URL nor the case of a header's name is (C-10).
/// A caller's deadline ends its own wait, and is not among the limits.
struct DownloadRequest: Hashable, Sendable {
    private let givenURL: Uncompared<String>
    private let exactHeaders: [Header]
    private let exactAuthorization: [ExactText]
    /// The URL as libcurl understands it.
    let webURL: WebURL
    let timeout: Double
    let minBytesPerSecond: Double
    let maxRedirects: Int
    let redirect: RedirectMode
    let maxBytes: Int
    let validStatusCodes: Set<Int>?
    /// Media types of which the server must name one, if it names any.
    let acceptContentTypes: Set<String>?
    let delegates: DownloadDelegates?
    let method: RequestMethod
    let body: [UInt8]?
    /// What is done to the body before anything looks at it.
    let dataModifier: DataModifier?
    /// Something of its own for a request that is not to be merged with any other (E2-10).
    private var own: UInt64?
    /// What makes the request conditional: the server may answer 304 instead of a body it has sent before.
    private(set) var validators: Validators?

    /// The validators of a stored image (RFC 9110, 8.8).
    struct Validators: Hashable, Sendable {
        let etag: String?
        let lastModified: String?
    }

    private struct Header: Hashable {
        /// The name in small letters.
        let folded: ExactText
        let value: ExactText
        let name: Uncompared<String>
    }

    /// A request for `url`, which is parsed by libcurl, the library that will follow it.
    ///
    /// - Throws: ``ImageError/invalidURL(_:reason:)``; ``ImageError/connectionFailed(url:reason:)`` when libcurl cannot
    ///   be loaded.
    init(url: String, options: ImageOptions, validators: Validators? = nil) throws(ImageError) {
        webURL = try WebURL(url)
        givenURL = Uncompared(url)
        exactHeaders = options.headers.map { name, value in
            Header(folded: ExactText(name.asciiLowercased), value: ExactText(value), name: Uncompared(name))
        }.sorted { ($0.folded.text, $0.value.text) < ($1.folded.text, $1.value.text) }
        exactAuthorization =
            switch options.authorization {
            case .basic(let user, let password): [ExactText(user), ExactText(password)]
            case .bearer(let token): [ExactText(token)]
            case nil: []
            }
        timeout = Self.bounded(options.timeout ?? ImageDownloader.Configuration.defaultTimeout)
        minBytesPerSecond = Self.bounded(options.minBytesPerSecond)
        maxRedirects = options.maxRedirects
        redirect = options.redirect
        maxBytes = options.maxBytes
        validStatusCodes = options.validStatusCodes
        acceptContentTypes = options.acceptContentTypes
        delegates = options.delegates
        method = options.method
        body = options.method == .get ? nil : options.body
        dataModifier = options.dataModifier
        self.validators = options.method == .get ? validators : nil
        own = options.merges ? nil : Self.lastOwn.add(1, ordering: .relaxed).newValue
    }

    /// The same request without conditions.
    var unconditional: DownloadRequest {
        var request = self
        request.validators = nil
        return request
    }

    /// The same request without conditions, as any other caller may have sent it.
    var common: DownloadRequest {
        var request = unconditional
        request.own = nil
        return request
    }

    private static let lastOwn = Atomic<UInt64>(0)

    /// A number that can be calculated with; what is none counts as 0.
    private static func bounded(_ number: Double) -> Double { number > 0 ? min(number, 1e8) : 0 }

    func accepts(status: Int) -> Bool {
        validStatusCodes?.contains(status) ?? ((200..<400).contains(status) && status != 206)
    }

    /// Scheme, host and port: what connections are counted by.
    var host: String { webURL.origin }

    /// The URL as given, by the first of those who share the download.
    var url: String { givenURL.value }

    /// Header fields, sorted by name.
    var headers: [(name: String, value: String)] { exactHeaders.map { ($0.name.value, $0.value.text) } }

    /// Credentials.
    var authorization: Authorization? {
        switch exactAuthorization.count {
        case 2: .basic(user: exactAuthorization[0].text, password: exactAuthorization[1].text)
        case 1: .bearer(exactAuthorization[0].text)
        default: nil
        }
    }
}

/// What a server answered, without the body.
struct DownloadResponse: Sendable {
    var status = 0
    var url = ""
    var contentType: String?
    var etag: String?
    var lastModified: String?
    /// Every header field of the final answer, names in small letters, repeated ones joined by commas.
    var fields: [String: String] = [:]
}

/// A finished download.
struct Download: Sendable {
    let response: DownloadResponse
    var body: DownloadedBody
    /// Credentials that were given besides those of the request; see ``Logins``.
    var login: String?
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
