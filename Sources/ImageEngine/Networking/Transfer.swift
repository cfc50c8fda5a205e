internal import CCurl
internal import Platform

/// One transfer of libcurl, confined to the thread of its ``CurlTransport``.
final class Transfer {
    let id: UInt64
    let easy: UnsafeMutableRawPointer
    private let request: DownloadRequest
    private let spool: BodySpool
    private let report: @Sendable (DownloadProgress) -> Void
    private let finish: @Sendable (Result<Download, any Error>) -> Void

    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var response = DownloadResponse()
    private var headerBytes = 0
    private var contentEncoding: String?
    private var hasHead = false
    private var hasBody = false
    private var total: Int?
    private var lastActivity = monotonicNanoseconds()
    private let started = monotonicNanoseconds()
    /// Why we broke the transfer off; libcurl only knows that we did.
    private var verdict: ImageError?

    /// The most bytes of headers accepted, over all redirects.
    static let headerLimit = 256 << 10

    init(
        id: UInt64, easy: UnsafeMutableRawPointer, request: DownloadRequest, userAgent: String, spool: BodySpool,
        report: @escaping @Sendable (DownloadProgress) -> Void,
        finish: @escaping @Sendable (Result<Download, any Error>) -> Void
    ) {
        self.id = id
        self.easy = easy
        self.request = request
        self.spool = spool
        self.report = report
        self.finish = finish
        configure(userAgent)
    }

    deinit { hc_list_free(headerList) }

    // MARK: Setting up

    private func configure(_ userAgent: String) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        hc_set_string(easy, CURLOPT_URL, request.wireURL.text)
        hc_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        hc_set_string(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        hc_set_string(easy, CURLOPT_USERAGENT, userAgent)
        hc_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Over TLS the handshake tells whether requests can share a connection; in the clear only a response would,
        // and a slow one would hold up everything else from its host.
        if request.host.hasPrefix("https:") { hc_set_long(easy, CURLOPT_PIPEWAIT, 1) }
        hc_set_long(easy, CURLOPT_FOLLOWLOCATION, 1)
        hc_set_long(easy, CURLOPT_MAXREDIRS, request.maxRedirects)
        hc_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(request.timeout * 1000) + 1000)
        hc_set_offset(easy, CURLOPT_MAXFILESIZE_LARGE, Int64(request.maxBytes))
        hc_set_long(easy, CURLOPT_BUFFERSIZE, 64 << 10)
        hc_set_write(easy, receiveBody, context)
        hc_set_header(easy, receiveHeader, context)
        hc_set_pointer(easy, CURLOPT_PRIVATE, context)
        var names: Set<String> = []
        for (name, value) in request.headers {
            names.insert(name.lowercased())
            // An empty value needs a semicolon, or libcurl takes the header away.
            headerList = hc_list_append(headerList, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        if let etag = request.validators?.etag, !names.contains("if-none-match") {
            headerList = hc_list_append(headerList, "If-None-Match: \(etag)")
        }
        if let date = request.validators?.lastModified, !names.contains("if-modified-since") {
            headerList = hc_list_append(headerList, "If-Modified-Since: \(date)")
        }
        if !names.contains("accept") { headerList = hc_list_append(headerList, "Accept: image/*,*/*;q=0.1") }
        if !names.contains("accept-encoding") { headerList = hc_list_append(headerList, "Accept-Encoding: identity") }
        switch request.authorization {
        case .basic(let user, let password):
            hc_set_string(easy, CURLOPT_USERNAME, user)
            hc_set_string(easy, CURLOPT_PASSWORD, password)
        case .bearer(let token): headerList = hc_list_append(headerList, "Authorization: Bearer \(token)")
        case nil: break
        }
        if let headerList { hc_set_list(easy, CURLOPT_HTTPHEADER, headerList) }
    }

    // MARK: Receiving

    fileprivate func header(_ line: UnsafeRawBufferPointer) -> Bool {
        lastActivity = monotonicNanoseconds()
        headerBytes += line.count
        if headerBytes > Self.headerLimit {
            return refuse(
                .limitExceeded(
                    limit: "headerBytes", reason: "the headers are over \(Self.headerLimit) bytes", source: request.url)
            )
        }
        if line.starts(with: "HTTP/".utf8) {
            response = DownloadResponse()
            contentEncoding = nil
            hasHead = false
            return true
        }
        if line.first == 0x0D || line.first == 0x0A { hasHead = true }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return true }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        func value() -> String {
            let text = String(decoding: line[(colon + 1)...], as: UTF8.self)
            return String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace || $0.isNewline }.reversed())
        }
        let text = value()
        response.fields[name] = response.fields[name].map { "\($0), \(text)" } ?? text
        switch name {
        case "content-type": response.contentType = text
        case "etag": response.etag = text
        case "last-modified": response.lastModified = text
        case "content-encoding": contentEncoding = text
        default: break
        }
        return true
    }

    fileprivate func body(_ data: UnsafeRawBufferPointer) -> Bool {
        lastActivity = monotonicNanoseconds()
        if !hasBody {
            hasBody = true
            if let refusal = judgeHeaders() { return refuse(refusal) }
            let length = hc_info_offset(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
            total = length >= 0 ? Int(length) : nil
        }
        guard spool.count + data.count <= request.maxBytes else { return refuse(tooLarge) }
        do {
            try spool.append(data, expected: total)
        } catch {
            verdict = StorageFailure.error(error, folder: "the cache folder")
            return false
        }
        report(DownloadProgress(received: spool.count, total: total))
        return true
    }

    private func refuse(_ error: ImageError) -> Bool {
        verdict = error
        return false
    }

    private var tooLarge: ImageError {
        .limitExceeded(
            limit: "maxBytes", reason: "the body is over the limit of \(request.maxBytes) bytes", source: request.url)
    }

    /// What is wrong with the final answer, as far as its head tells.
    private func judgeHeaders() -> ImageError? {
        let status = hc_info_long(easy, CURLINFO_RESPONSE_CODE)
        if status == 304, request.validators != nil { return nil }
        if status == 304, request.validStatusCodes == nil { return .notModified(url: request.url) }
        if !request.accepts(status: status) { return .invalidStatusCode(status, url: request.url) }
        if let contentEncoding, !contentEncoding.isEmpty, contentEncoding.lowercased() != "identity" {
            return .badData(
                reason: "The server compressed it (\(contentEncoding)), though that was not accepted.",
                source: request.url)
        }
        return nil
    }

    // MARK: Time

    /// When the transfer must be looked at again, and the error if its time is up.
    func check(now: Int) -> (due: Int, error: ImageError?) {
        let idle = lastActivity + Int(request.timeout * 1e9)
        if now >= idle {
            return (now, .timedOut(url: request.url, option: "timeout", seconds: request.timeout))
        }
        guard let deadline = request.deadline else { return (idle, nil) }
        let end = started + Int(deadline * 1e9)
        if now >= end { return (now, .timedOut(url: request.url, option: "deadline", seconds: deadline)) }
        return (min(idle, end), nil)
    }

    // MARK: Ending

    /// Ends the transfer with what libcurl says of it.
    func complete(_ code: CURLcode) {
        if let verdict { return finish(.failure(verdict)) }
        guard code == CURLE_OK else { return finish(.failure(error(code))) }
        guard hasHead else {
            let reason = "the connection closed before the end of the headers."
            return finish(.failure(ImageError.connectionFailed(url: request.url, reason: reason)))
        }
        if !hasBody, let refusal = judgeHeaders() { return finish(.failure(refusal)) }
        response.status = hc_info_long(easy, CURLINFO_RESPONSE_CODE)
        response.url = hc_info_string(easy, CURLINFO_EFFECTIVE_URL).map { String(cString: $0) } ?? request.url
        finish(.success(Download(response: response, body: spool.finish())))
    }

    /// Ends the transfer with an error of ours.
    func fail(_ error: any Error) { finish(.failure(error)) }

    private func error(_ code: CURLcode) -> ImageError {
        let text = String(cString: hc_easy_strerror(code))
        let reason = "\(text)."
        switch code {
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
            return .invalidURL(request.url, reason: "It leads to something that is neither http nor https.")
        case CURLE_TOO_MANY_REDIRECTS:
            return .limitExceeded(
                limit: "maxRedirects", reason: "it redirects more than \(request.maxRedirects) times",
                source: request.url)
        case CURLE_FILESIZE_EXCEEDED: return tooLarge
        case CURLE_OPERATION_TIMEDOUT:
            return .timedOut(url: request.url, option: "timeout", seconds: request.timeout)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_NOTFOUND:
            return .tlsFailed(url: request.url, reason: reason)
        case CURLE_COULDNT_RESOLVE_HOST:
            return .connectionFailed(url: request.url, reason: "the host's name cannot be resolved.")
        case CURLE_PARTIAL_FILE:
            return .connectionFailed(url: request.url, reason: "the connection closed before the end of the body.")
        default: return .connectionFailed(url: request.url, reason: reason)
        }
    }
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

/// Called by libcurl with a piece of a body; any other number than that of its bytes breaks the transfer off.
private func receiveBody(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    let data = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context)?.body(data) == true ? data.count : 0
}

/// Called by libcurl with one header line.
private func receiveHeader(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context)?.header(line) == true ? line.count : 0
}
