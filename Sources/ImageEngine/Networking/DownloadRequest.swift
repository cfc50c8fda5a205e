internal import CCurl

/// One request as it goes over the wire: the identity under which downloads are merged.
///
/// Two callers share a download only if everything here is equal: URL, headers, credentials and limits. A body fetched
/// with one caller's credentials can therefore never reach another.
struct DownloadRequest: Hashable, Sendable {
    let url: String
    let host: String
    let headers: [String: String]
    let authorization: Authorization?
    let timeout: Double
    let deadline: Double?
    let maxRedirects: Int
    let maxBytes: Int
    let validStatusCodes: Set<Int>?

    /// A request for `url`, which is parsed by libcurl, the library that will follow it.
    ///
    /// - Throws: ``ImageError/invalidURL(_:reason:)``; ``ImageError/connectionFailed(url:reason:)`` when libcurl cannot
    ///   be loaded.
    init(url: String, options: ImageOptions) throws(ImageError) {
        self.url = url
        host = try Self.host(of: url)
        headers = options.headers
        authorization = options.authorization
        timeout = options.timeout
        deadline = options.deadline
        maxRedirects = options.maxRedirects
        maxBytes = options.maxBytes
        validStatusCodes = options.validStatusCodes
    }

    func accepts(status: Int) -> Bool {
        validStatusCodes?.contains(status) ?? ((200..<400).contains(status) && status != 206)
    }

    /// Scheme, host and port: what connections are counted by.
    private static func host(of text: String) throws(ImageError) -> String {
        guard !text.utf8.contains(0) else { throw .invalidURL(text, reason: "It contains a NUL.") }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .invalidURL(text, reason: "It contains a control character.")
        }
        if let failure = hc_load() {
            throw .connectionFailed(url: text, reason: String(cString: failure) + ".")
        }
        guard let url = hc_url() else { throw .invalidURL(text, reason: "There is no memory to parse it.") }
        defer { hc_url_cleanup(url) }
        let flags = UInt32(CURLU_URLENCODE)
        guard hc_url_set(url, CURLUPART_URL, text, flags) == CURLUE_OK else {
            throw .invalidURL(text, reason: "It is no well-formed URL.")
        }
        func part(_ part: CURLUPart) -> String {
            guard let value = hc_url_get(url, part, UInt32(CURLU_DEFAULT_PORT)) else { return "" }
            defer { hc_free(value) }
            return String(cString: value)
        }
        let host = part(CURLUPART_HOST)
        guard !host.isEmpty else { throw .invalidURL(text, reason: "It names no host.") }
        return "\(part(CURLUPART_SCHEME))://\(host.lowercased()):\(part(CURLUPART_PORT))"
    }
}

/// What a server answered, without the body.
struct DownloadResponse: Sendable {
    var status = 0
    var url = ""
    var contentType: String?
    var etag: String?
    var lastModified: String?
}

/// A finished download.
struct Download: Sendable {
    let response: DownloadResponse
    let body: DownloadedBody
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
