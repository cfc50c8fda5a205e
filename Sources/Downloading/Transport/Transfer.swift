internal import CCurl
internal import Glibc
internal import HTTPSemantics
internal import ImageErrors
internal import Platform

/// One request of libcurl and its response, confined to the thread of its ``CurlTransport``.
final class Transfer {
    let id: UInt64
    let easy: UnsafeMutableRawPointer
    let prepared: PreparedRequest
    private let finish: @Sendable (HTTPOutcome) -> Void
    let shared: TransferContext
    let proxy: String?

    var headerList: UnsafeMutablePointer<curl_slist>?
    var proxyHeaderList: UnsafeMutablePointer<curl_slist>?
    var resolveList: UnsafeMutablePointer<curl_slist>?
    /// The buffer of CURL_ERROR_SIZE bytes where libcurl describes a failure in more detail than by its code.
    let failureText = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
    let spool: BodySpool
    var response = DownloadResponse()
    var location: String?
    private var headerBytes = 0
    var hasHead = false
    /// `true` when the head is complete and no other one follows.
    private var hasLastHead = false
    var disposition = Disposition.unknown
    /// The decision of a delegate about the head, if it made one.
    var accepted: Bool?
    /// The largest body that every caller accepts, in bytes.
    private var bytesLimit = Int.max
    var total: Int?
    /// Undoes the compression of the body. `nil`: it has none.
    var decoder: BodyDecoder?
    var resumedBytes = 0
    /// The number of bytes received since the last ``reportProgress()``.
    private var arrived = 0
    private var hasProgress = false
    /// The number of pieces of the body received since the last ``reportProgress()``.
    private var pieces = 0
    /// `true` when anything of a response has been received.
    var hasAnswered: Bool { headerBytes > 0 }
    /// `true` when the transfer has used up its share of the thread's turn. A server may send chunks of one byte
    /// without end.
    private(set) var isYielding = false
    var pace: TransferPace
    /// The stall state that was reported last.
    private var isStalled = false
    /// The question about the head to a delegate.
    var question: Task<Void, Never>?
    /// `true` when libcurl has ended a transfer whose head a delegate still decides about.
    var isComplete = false
    private let started = monotonicNanoseconds()
    /// The reason why this side aborted the transfer. libcurl only knows that a callback did.
    var abortError: (any Error)?
    /// The reason why an address was not connected to. Another address of the host may have been.
    private(set) var refusedAddress: ImageError?
    /// `true` when no socket could be created because too many files are open.
    private(set) var lacksDescriptors = false
    private(set) var isConnected = false
    private var sent: Int?
    /// `true` when the connection held bytes before a request was sent over it.
    private var isStale = false
    private var reached: AddressClass?

    /// What happens to the body.
    enum Disposition {
        /// The head has not been checked yet.
        case unknown
        /// A delegate has been asked, and the body is paused.
        case asking
        /// The body is collected.
        case wanted
        /// The body is discarded because the response leads to another request.
        case discarded(HTTPOutcome.Kind)
    }

    var request: DownloadRequest { prepared.request }
    var job: Job { prepared.run.job }

    /// The versions of HTTP by libcurl's numbers.
    private static let httpVersions: [(number: Int, name: String)] = [(1, "1.0"), (2, "1.1"), (3, "2"), (30, "3")]
    /// The maximum size of all headers, over all redirects, in bytes.
    static let headerLimit = 256 << 10
    /// The number of pieces of a body that are received before other transfers have their turn. libcurl reads up to a
    /// hundred buffers of 128 KiB, which hold 1,600 chunks of 8 KiB or two million chunks of one byte.
    private static let piecesAtOnce = 4096
    /// The number of decoded bytes that count as a piece.
    private static let decodedPiece = 4096
    /// The largest discarded body, in bytes, that is read to the end so that the connection can be reused.
    private static let discardLimit = 64 << 10

    init(
        id: UInt64, easy: UnsafeMutableRawPointer, _ prepared: PreparedRequest, shared: TransferContext,
        finish: @escaping @Sendable (HTTPOutcome) -> Void
    ) {
        (self.id, self.easy, self.prepared) = (id, easy, prepared)
        (self.shared, self.finish) = (shared, finish)
        proxy = shared.settings.proxies.proxy(for: prepared.sent.url)
        spool = BodySpool(prepared.transport.spool)
        pace = TransferPace(minBytesPerSecond: prepared.request.limits.minBytesPerSecond, now: started)
        job.silentSince.store(started, ordering: .relaxed)
        configure()
    }

    deinit {
        hc_list_free(headerList)
        hc_list_free(proxyHeaderList)
        hc_list_free(resolveList)
        failureText.deallocate()
    }

    // MARK: Addresses

    /// `true` when a connection to an address may be opened or reused.
    private func mayReach(_ address: IPAddress?) -> Bool {
        // The address of a proxy is trusted, because the configuration names it.
        if proxy != nil { return true }
        let url = prepared.sent.url
        guard let address else {
            refusedAddress = .forbiddenAddress(url: url.text, reason: "It leads to no address of the Internet.")
            return false
        }
        let type = shared.settings.classify(address)
        let isName = IPAddress(url.host) == nil
        // A dot at the end does not make another name.
        let name = HostPattern.bare(url.host)
        let known = isName ? shared.names[name] : nil
        let mostPublic = [prepared.mostPublic, known].compactMap(\.self).min()
        if let reason = shared.settings.policy.refusal(type, after: mostPublic) {
            refusedAddress = .forbiddenAddress(url: url.text, reason: reason)
            return false
        }
        if isName { shared.names.add(name, type) }
        reached = type
        return true
    }

    /// Creates a socket for an address. Returns -1 when the address is refused.
    func openSocket(_ address: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
        guard mayReach(IPAddress(address)) else { return -1 }
        let socket = hc_socket(address)
        if socket >= 0 { shared.sockets.opened(socket) } else { lacksDescriptors = errno == EMFILE || errno == ENFILE }
        return socket
    }

    /// `true` when a connection, which another transfer may have opened, may be used. Without TLS, unsolicited bytes would be taken for the response to this
    /// request: libcurl 7.88 to 8.0 does not check that.
    func mayUse(_ ends: OpenSockets.Ends) -> Bool {
        guard mayReach(IPAddress(ends.farAddress)) else { return false }
        isConnected = true
        sent = monotonicNanoseconds()
        guard !prepared.sent.url.isSecure else { return true }
        isStale = shared.sockets.hasUnaskedInput(over: ends)
        return !isStale
    }

    // MARK: Receiving

    private func received(_ count: Int) {
        if arrived == 0 { shared.receivers.append(self) }
        arrived += count
        shared.countUseful(count)
    }

    /// Records and reports what was received since the last call, once for everything that libcurl has read in one
    /// turn. A server may send its body in chunks of one byte, and all transfers share a thread.
    func reportProgress() {
        pieces = 0
        guard arrived > 0 else { return }
        let now = monotonicNanoseconds()
        pace.received(arrived, at: now)
        job.silentSince.store(now, ordering: .relaxed)
        arrived = 0
        if isStalled { reportStall(pace.isStalled) }
        guard hasProgress else { return }
        hasProgress = false
        prepared.run.report(DownloadProgress(received: spool.count, total: total))
    }

    private func reportStall(_ isStalled: Bool) {
        guard isStalled != self.isStalled else { return }
        self.isStalled = isStalled
        prepared.run.setStalled(isStalled)
    }

    func header(_ line: UnsafeRawBufferPointer) -> Bool {
        received(line.count)
        headerBytes += line.count
        if headerBytes > prepared.headerAllowance { return abort(headersTooLong) }
        if Self.isStatusLine(line) {
            // libcurl repeats the request by itself when a server demands HTTP/1.1 (RFC 9113, 7), even during the body.
            guard case .unknown = disposition else {
                return abort(failed("the server began another answer before the end of the body."))
            }
            response = DownloadResponse()
            response.fields.reserveCapacity(12)  // As many as are usual.
            location = nil
            (hasHead, hasLastHead) = (false, false)
            return true
        }
        // Trailers say nothing about the body any more (RFC 9110, 6.5.1), even if the body was empty.
        guard case .unknown = disposition, !hasLastHead else { return true }
        if line.first == 0x0D || line.first == 0x0A {
            hasHead = true
            hasLastHead = isFinal
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return true }
        let name = String(lowercasing: UnsafeRawBufferPointer(rebasing: line[..<colon]))
        let value = Self.trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
        let text = String(decoding: value, as: UTF8.self)
        addField(text, as: name)
        switch name {
        case "content-length" where !HeaderRules.isOneLength(response.fields[name] ?? ""):
            return abort(failed("the server does not say clearly how long the body is."))
        case "content-type": response.contentType = text
        case "etag" where HeaderRules.canBeSentBack(text): response.etag = text
        case "last-modified" where HeaderRules.canBeSentBack(text): response.lastModified = text
        case "location" where location == nil: location = Self.escaped(value)
        default: break
        }
        return true
    }

    /// `true` when a line begins a head, such as `HTTP/1.1 200 OK`, and is not a trailer field.
    private static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        line.starts(with: "HTTP/".utf8) && !line.prefix { $0 != 0x20 }.contains(UInt8(ascii: ":"))
    }

    /// A `Location` with bytes beyond ASCII percent-encoded, as servers mean them.
    private static func escaped(_ location: UnsafeRawBufferPointer) -> String {
        String(decoding: location.flatMap { $0 < 0x80 ? [$0] : percentEncoding(of: $0) }, as: UTF8.self)
    }

    /// Adds a header field. In place, because there may be thousands of one name.
    private func addField(_ text: String, as name: String) {
        if let index = response.fields.index(forKey: name) {
            response.fields.values[index] += ", "
            response.fields.values[index] += text
        } else {
            response.fields[name] = text
        }
    }

    /// The bytes without leading and trailing white space, which is ASCII in a header.
    private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return UnsafeRawBufferPointer(rebasing: bytes[..<0]) }
        return UnsafeRawBufferPointer(rebasing: bytes[first...last])
    }

    /// - Returns: The number of consumed bytes, or the number that pauses the transfer.
    func body(_ data: UnsafeRawBufferPointer) -> Int {
        pieces += 1
        if pieces > Self.piecesAtOnce, isDecided {
            isYielding = true
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        received(data.count)
        if case .unknown = disposition { decide(hasBody: true) }
        switch disposition {
        case .asking: return Int(CURL_WRITEFUNC_PAUSE)
        case .discarded: return (total ?? .max) <= Self.discardLimit ? data.count : 0
        case .unknown: return 0
        case .wanted: return collect(data) ? data.count : 0
        }
    }

    private func collect(_ data: UnsafeRawBufferPointer) -> Bool {
        guard let decoder else { return store(data) }
        do {
            // Coded data may stand for nothing, without end.
            guard isAccepted(decoder.received + data.count) else { return false }
            return try decoder.decode(data) { piece in
                pieces += piece.count / Self.decodedPiece
                return store(piece)
            }
        } catch {
            abortError = decodingError(error)
            return false
        }
    }

    /// `false` when no caller accepts a body of so many bytes.
    private func isAccepted(_ size: Int) -> Bool {
        if size <= bytesLimit { return true }
        abortError = limitError(size: size)
        return abortError == nil
    }

    private func store(_ data: UnsafeRawBufferPointer) -> Bool {
        guard isAccepted(spool.count + data.count) else { return false }
        do {
            try spool.append(data, expected: total)
        } catch {
            abortError = ImageError.storage(error, folder: "the cache folder")
            return false
        }
        hasProgress = true
        return true
    }

    /// Continues a transfer that was paused to give others their turn. Returns `true` when that has ended the transfer.
    func resume() -> Bool {
        isYielding = false
        let code = hc_resume(easy)
        if code == CURLE_OK { return false }
        fail(abortError ?? error(code))
        return true
    }

    private func abort(_ error: ImageError) -> Bool {
        abortError = error
        return false
    }

    // MARK: The callers' limits

    /// Ends the wait of the callers who do not accept the response, or not so many bytes of it. Returns the error when no
    /// caller is left. Nobody may join after the last check.
    func limitError(size: Int = 0, isLast: Bool = false) -> (any Error)? {
        let size = max(size, bodyBytes, spool.count, total ?? 0)
        bytesLimit = .max
        return job.dismiss(isLast: isLast) { caller in
            let request = caller.request
            if let error = request.error(in: response, after: prepared.redirects, accepted: accepted) { return error }
            if size > request.limits.maxBytes { return request.limits.tooLarge(request.url) }
            bytesLimit = min(bytesLimit, request.limits.maxBytes)
            return nil
        }
    }

    /// Ends the wait of the callers for whom it has taken too long. Returns the error when no caller is left; otherwise
    /// advances `due` to the time of the next check.
    private func timeError(at now: Int, _ due: inout Int) -> (any Error)? {
        job.dismiss { caller in
            switch pace.verdict(at: now, for: caller.request.limits.patience) {
            case .continues(let time): due = min(due, time)
            case .timedOut(let option, let seconds):
                return ImageError.timedOut(url: caller.request.url, option: option, seconds: seconds)
            case .discardEnded: break
            }
            return nil
        }
    }

    /// The time of the next check. `nil`: the transfer's time is up, and it has ended.
    func check(now: Int) -> Int? {
        guard case .continues(var due) = pace.verdict(at: now) else {
            if case .discarded(let kind) = disposition { end(kind) }
            return nil
        }
        reportStall(pace.isStalled)
        var error = timeError(at: now, &due)
        // For those who joined after the head.
        if error == nil, case .wanted = disposition { error = limitError() }
        guard let error else { return due }
        fail(error)
        return nil
    }

    // MARK: Ending

    /// Ends the transfer with libcurl's result. Returns `false` while a delegate still decides about its head.
    func complete(_ code: CURLcode) -> Bool {
        if case .unknown = disposition, code == CURLE_OK, abortError == nil, hasHead { decide(hasBody: false) }
        if case .asking = disposition, code == CURLE_OK {
            isComplete = true
            return false
        }
        conclude(code)
        return true
    }

    private func conclude(_ code: CURLcode) {
        reportProgress()
        if case .discarded(let kind) = disposition { return end(kind) }
        if let abortError { return fail(abortError) }
        if isStale && code == CURLE_ABORTED_BY_CALLBACK || hasLostConnection(code) { return end(.stale) }
        guard code == CURLE_OK else {
            // To libcurl, a proxy that demands credentials before the tunnel exists is an error.
            return challenge.map { end($0) } ?? fail(error(code))
        }
        guard hasHead else { return fail(failed("the connection closed before the end of the headers.")) }
        if let error = endDecoding() { return fail(error) }
        // First: who comes later and may not join finds it noted, and waits for the image instead of loading it.
        prepared.run.noteBody()
        if let error = limitError(isLast: true) { return fail(error) }
        do {
            let body = try spool.finish()
            end(.answer(Download(response: response, body: body)), bytes: bodyBytes)
        } catch {
            fail(ImageError.storage(error, folder: "the cache folder"))
        }
    }

    /// `true` when the request failed because a reused connection ended: its server accepts no more requests over it
    /// (GOAWAY, RFC 9113, 6.8), or has closed it (RFC 9112, 9.3.1). Over HTTP/1.1 libcurl repeats the request by
    /// itself.
    private func hasLostConnection(_ code: CURLcode) -> Bool {
        [CURLE_HTTP2, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE].contains(code) && !hasAnswered
            && (prepared.sent.method == .get || shared.settings.repeatsChanges)
            && hc_info_long(easy, CURLINFO_NUM_CONNECTS) == 0 && !shared.hasFlood
    }

    /// Ends the transfer with an error. The state of libcurl's handle must still be that of this request.
    func fail(_ error: any Error) {
        let bytes = bodyBytes
        spool.interrupt(keeps: error is CancellationError || (error as? ImageError)?.isRetryable == true)
        // The receiver of the result may resume the body at once.
        prepared.part?.file.letGo()
        end(.failure(error), bytes: bytes)
    }

    private func end(_ kind: HTTPOutcome.Kind, bytes: Int = 0) {
        question?.cancel()
        reportStall(false)
        func seconds(_ info: CURLINFO) -> Double { Double(hc_info_offset(easy, info)) / 1e6 }
        var timing = RequestTiming()
        let (dns, connect) = (seconds(CURLINFO_NAMELOOKUP_TIME_T), seconds(CURLINFO_CONNECT_TIME_T))
        timing.isReused = (hasHead || isConnected) && hc_info_long(easy, CURLINFO_NUM_CONNECTS) == 0
        if !timing.isReused {
            timing.dns = dns
            timing.connect = max(connect - dns, 0)
            timing.tls = max(seconds(CURLINFO_APPCONNECT_TIME_T) - connect, 0)
        }
        // The transfer may end in the middle of a head.
        let status = hc_info_long(easy, CURLINFO_RESPONSE_CODE)
        if hasHead || status >= 200 {
            timing.status = status
            timing.sent = sent
            timing.firstByte = started + Int(seconds(CURLINFO_STARTTRANSFER_TIME_T) * 1e9)
            let version = hc_info_long(easy, CURLINFO_HTTP_VERSION)
            timing.httpVersion = Self.httpVersions.first { $0.number == version }?.name
        }
        (timing.bytes, timing.resumedBytes, timing.headerBytes) = (bytes, resumedBytes, headerBytes)
        (timing.reached, timing.isProxied) = (reached, proxy != nil)
        job.silentSince.store(.max, ordering: .relaxed)
        finish(HTTPOutcome(kind: kind, timing: timing))
    }
}
