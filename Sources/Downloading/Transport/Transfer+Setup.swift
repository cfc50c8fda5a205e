internal import CCurl
internal import HTTPSemantics
internal import Platform

extension Transfer {
    /// The most bytes taken from a connection at once. Large images come with fewer system calls than in pieces of 64 KiB;
    /// small ones do not touch more of it than they need.
    private static let bufferSize = 128 << 10

    /// Tells libcurl everything about the request.
    package func configure() {
        let outgoing = order.outgoing
        let context = Unmanaged.passUnretained(self).toOpaque()
        failureText.pointee = 0
        hc_set_pointer(easy, CURLOPT_ERRORBUFFER, failureText)
        set(CURLOPT_URL, outgoing.url.text)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_USERAGENT, settings.userAgent)
        hc_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // A resolver that is silent may keep its thread, but not the one of all transfers.
        hc_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        // Over TLS the handshake tells whether requests can share a connection; in the clear only a response would,
        // and a slow one would hold up everything else from its host.
        if outgoing.url.isSecure { hc_set_long(easy, CURLOPT_PIPEWAIT, 1) }
        hc_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(request.limits.timeoutSeconds * 1000) + 1000)
        hc_set_offset(easy, CURLOPT_MAXFILESIZE_LARGE, Int64(request.limits.maxBytes))
        hc_set_long(easy, CURLOPT_BUFFERSIZE, Self.bufferSize)
        hc_set_write(easy, receiveBody, context)
        hc_set_header(easy, receiveHeader, context)
        hc_set_judges(easy, openSocket, beforeRequest, context)
        // The book lives as long as the transport's thread, and so longer than every connection.
        hc_set_closing(easy, closeSocket, Unmanaged.passUnretained(book).toOpaque())
        configureHeaders()
        if order.isAlone { hc_set_long(easy, CURLOPT_FRESH_CONNECT, 1) }
        if outgoing.method != .get { configureBody() }
        configureCredentials()
        configureProxy()
        if outgoing.url.isSecure { configureTLS() }
        for text in settings.resolve() { resolveList = hc_list_append(resolveList, text) }
        if let resolveList { hc_set_list(easy, CURLOPT_RESOLVE, resolveList) }
    }

    private func set(_ option: CURLoption, _ text: String) {
        // Handed over as it is, Swift would copy it first.
        _ = text.withCString { hc_set_string(easy, option, $0) }
    }

    private func configureHeaders() {
        var names: Set<String> = []
        func add(_ line: String) { headerList = line.withCString { hc_list_append(headerList, $0) } }
        let hasBody = order.outgoing.method != .get
        for field in order.outgoing.fields {
            let (name, value) = (field.name.text, field.value.text)
            names.insert(name.lowercased())
            // How long a body is, libcurl says.
            if hasBody, ["content-length", "transfer-encoding"].contains(name.lowercased()) { continue }
            // An empty value needs a semicolon, or libcurl takes the header away.
            add(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        if let etag = order.validators?.etag, !names.contains("if-none-match") { add("If-None-Match: \(etag)") }
        if let date = order.validators?.lastModified, !names.contains("if-modified-since") {
            add("If-Modified-Since: \(date)")
        }
        if let part = order.ownPart {
            add("Range: bytes=\(part.file.count)-")
            add("If-Range: \(part.note.validator)")
        }
        // What libcurl would make up.
        if hasBody, !names.contains("content-type") { add("Content-Type:") }
        if hasBody, !names.contains("expect") { add("Expect:") }
        if !names.contains("accept") { add("Accept: " + settings.accept) }
        if !names.contains("accept-encoding") { add("Accept-Encoding: identity") }
        if case .bearer(let token) = order.outgoing.authorization, !names.contains("authorization") {
            add("Authorization: Bearer \(token)")
        }
        if order.outgoing.digest != nil, !names.contains("authorization") {
            let answer = order.outgoing.digestAnswer(use: order.uses.server, own: Self.digestPart)
            if let answer { add("Authorization: \(answer)") }
        }
        if let headerList { hc_set_list(easy, CURLOPT_HTTPHEADER, headerList) }
    }

    /// Sends what is no GET: with its body, over a connection of its own. On one that was used before libcurl would send it
    /// again when the server closes that.
    private func configureBody() {
        let body = order.outgoing.body ?? []
        hc_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count))
        // An empty array may have no address.
        _ = (body + [0]).withUnsafeBytes { bytes in
            hc_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        }
        if order.outgoing.method != .post { set(CURLOPT_CUSTOMREQUEST, order.outgoing.method.rawValue) }
        hc_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
        // Or each would leave one behind that no other takes.
        hc_set_long(easy, CURLOPT_FORBID_REUSE, 1)
    }

    /// Our part of a digest: another each time.
    private static var digestPart: String { String(UInt64.random(in: .min ... .max), radix: 36) }

    private func configureCredentials() {
        let outgoing = order.outgoing
        // An answer of ours to a digest challenge stands among the header fields.
        if outgoing.digest != nil { return }
        if case .basic(let user, let password) = outgoing.authorization {
            set(CURLOPT_USERNAME, user)
            set(CURLOPT_PASSWORD, password)
        } else if outgoing.authorization == nil, outgoing.mayUseNetrc, let netrc = settings.netrcFile {
            set(CURLOPT_NETRC_FILE, netrc)
            hc_set_long(easy, CURLOPT_NETRC, 1)
        }
        // CURLAUTH_DIGEST
        if outgoing.scheme == "digest" { hc_set_long(easy, CURLOPT_HTTPAUTH, 1 << 1) }
    }

    private func configureProxy() {
        // Set, though empty, it keeps libcurl from looking into the environment by itself.
        let login = order.outgoing.proxyLogin?.credentials(for: proxy)
        // libcurl prefers what stands in the URL to what was given when that was refused.
        let place = login == nil ? proxy : proxy.map(ProxyTable.withoutCredentials)
        set(CURLOPT_PROXY, place ?? "")
        set(CURLOPT_NOPROXY, "")
        if let proxy, proxy.asciiLowercased.hasPrefix("https://") { configureProxyTLS(proxy) }
        if let answer = order.outgoing.digestAnswer(to: proxy, use: order.uses.proxy, own: Self.digestPart) {
            proxyHeaderList = hc_list_append(nil, "Proxy-Authorization: \(answer)")
            if let proxyHeaderList { hc_set_list(easy, CURLOPT_PROXYHEADER, proxyHeaderList) }
        } else if case .basic(let user, let password) = login {
            set(CURLOPT_PROXYUSERNAME, user)
            set(CURLOPT_PROXYPASSWORD, password)
            // CURLAUTH_BASIC, sent at once; or that and CURLAUTH_DIGEST, whichever it wants.
            hc_set_long(
                easy, CURLOPT_PROXYAUTH, order.outgoing.proxyLogin?.mayBeDigest == true ? 1 << 0 | 1 << 1 : 1 << 0)
        }
    }

    private func configureProxyTLS(_ proxy: String) {
        book.watch(easy)
        hc_set_long(easy, CURLOPT_PROXY_SSLVERSION, Self.oldestTLS)
        if let file = settings.tls.caFile { set(CURLOPT_PROXY_CAINFO, file) }
        let host = ProxyTable.host(of: proxy)
        if settings.tls.trustedHosts.contains(where: { HostPattern.matches(host, $0) }) {
            hc_set_long(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 0)
            hc_set_long(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 0)
        }
    }

    /// CURL_SSLVERSION_TLSv1_2, whatever libcurl and OpenSSL were built to allow.
    private static let oldestTLS = 6

    private func configureTLS() {
        let tls = settings.tls
        book.watch(easy)
        hc_set_long(easy, CURLOPT_SSLVERSION, Self.oldestTLS)
        if let file = tls.caFile { set(CURLOPT_CAINFO, file) }
        if let certificate = settings.certificate(for: order.outgoing) {
            set(CURLOPT_SSLCERT, certificate.file)
            set(CURLOPT_SSLKEY, certificate.key ?? certificate.file)
        }
        if tls.trustedHosts.contains(where: { HostPattern.matches(order.outgoing.url.host, $0) }) {
            hc_set_long(easy, CURLOPT_SSL_VERIFYPEER, 0)
            hc_set_long(easy, CURLOPT_SSL_VERIFYHOST, 0)
        }
    }
}
