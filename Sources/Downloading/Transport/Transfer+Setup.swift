internal import CCurl
internal import HTTPSemantics
internal import Platform

extension Transfer {
    /// The size of the receive buffer, in bytes. Large images need fewer system calls than with 64 KiB; small ones
    /// touch only as much of it as they need.
    private static let bufferSize = 128 << 10

    /// Sets all options of the request.
    package func configure() {
        let outgoing = command.outgoing
        let context = Unmanaged.passUnretained(self).toOpaque()
        failureText.pointee = 0
        hc_set_pointer(easy, CURLOPT_ERRORBUFFER, failureText)
        set(CURLOPT_URL, outgoing.url.text)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_USERAGENT, settings.userAgent)
        hc_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // A silent resolver may block its own thread, but not that of all transfers.
        hc_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        // Over TLS the handshake tells whether requests can share a connection. Without TLS only a response would, and
        // a slow one would hold up all other requests to its host.
        if outgoing.url.isSecure { hc_set_long(easy, CURLOPT_PIPEWAIT, 1) }
        hc_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(request.limits.timeoutSeconds * 1000) + 1000)
        hc_set_offset(easy, CURLOPT_MAXFILESIZE_LARGE, Int64(request.limits.maxBytes))
        hc_set_long(easy, CURLOPT_BUFFERSIZE, Self.bufferSize)
        hc_set_write(easy, receiveBody, context)
        hc_set_header(easy, receiveHeader, context)
        hc_set_judges(easy, openSocket, beforeRequest, context)
        // The context lives as long as the transport's thread, and so longer than every connection.
        hc_set_closing(easy, closeSocket, Unmanaged.passUnretained(shared).toOpaque())
        configureHeaders()
        if command.isAlone { hc_set_long(easy, CURLOPT_FRESH_CONNECT, 1) }
        if outgoing.method != .get { configureBody() }
        configureCredentials()
        configureProxy()
        if outgoing.url.isSecure { configureTLS() }
        for text in settings.resolve() { resolveList = hc_list_append(resolveList, text) }
        if let resolveList { hc_set_list(easy, CURLOPT_RESOLVE, resolveList) }
    }

    private func set(_ option: CURLoption, _ text: String) {
        // A pointer, because Swift would copy a string argument first.
        _ = text.withCString { hc_set_string(easy, option, $0) }
    }

    private func configureHeaders() {
        var names: Set<String> = []
        func add(_ line: String) { headerList = line.withCString { hc_list_append(headerList, $0) } }
        let hasBody = command.outgoing.method != .get
        for field in command.outgoing.fields {
            let (name, value) = (field.name.text, field.value.text)
            names.insert(name.lowercased())
            // libcurl sends the length of the body.
            if hasBody, ["content-length", "transfer-encoding"].contains(name.lowercased()) { continue }
            // An empty value needs a semicolon; otherwise libcurl removes the header.
            add(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        if let etag = command.validators?.etag, !names.contains("if-none-match") { add("If-None-Match: \(etag)") }
        if let date = command.validators?.lastModified, !names.contains("if-modified-since") {
            add("If-Modified-Since: \(date)")
        }
        if let part = command.ownPart {
            add("Range: bytes=\(part.file.count)-")
            add("If-Range: \(part.note.validator)")
        }
        // Suppresses the fields that libcurl would add.
        if hasBody, !names.contains("content-type") { add("Content-Type:") }
        if hasBody, !names.contains("expect") { add("Expect:") }
        if !names.contains("accept") { add("Accept: " + settings.accept) }
        if !names.contains("accept-encoding") { add("Accept-Encoding: identity") }
        if case .bearer(let token) = command.outgoing.authorization, !names.contains("authorization") {
            add("Authorization: Bearer \(token)")
        }
        if command.outgoing.digest != nil, !names.contains("authorization") {
            let answer = command.outgoing.digestAnswer(use: command.uses.server, own: Self.digestPart)
            if let answer { add("Authorization: \(answer)") }
        }
        if let headerList { hc_set_list(easy, CURLOPT_HTTPHEADER, headerList) }
    }

    /// Sends the body of a request that is not a GET, over a new connection. Over a reused one libcurl would send the
    /// body twice when the server closes that connection.
    private func configureBody() {
        let body = command.outgoing.body ?? []
        hc_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count))
        // An empty array may have no address.
        _ = (body + [0]).withUnsafeBytes { bytes in
            hc_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        }
        if command.outgoing.method != .post { set(CURLOPT_CUSTOMREQUEST, command.outgoing.method.rawValue) }
        hc_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
        // The connection would stay open unused, because no such request reuses one.
        hc_set_long(easy, CURLOPT_FORBID_REUSE, 1)
    }

    /// The client nonce of a digest, random for each request.
    private static var digestPart: String { String(UInt64.random(in: .min ... .max), radix: 36) }

    private func configureCredentials() {
        let outgoing = command.outgoing
        // The answer to a digest challenge is among the header fields.
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
        // Set even if empty, so that libcurl does not read the environment by itself.
        let login = command.outgoing.proxyLogin?.credentials(for: proxy)
        // libcurl prefers the credentials in the URL to those that were given after a rejection.
        let place = login == nil ? proxy : proxy.map(ProxyTable.withoutCredentials)
        set(CURLOPT_PROXY, place ?? "")
        set(CURLOPT_NOPROXY, "")
        if let proxy, proxy.asciiLowercased.hasPrefix("https://") { configureProxyTLS(proxy) }
        if let answer = command.outgoing.digestAnswer(to: proxy, use: command.uses.proxy, own: Self.digestPart) {
            proxyHeaderList = hc_list_append(nil, "Proxy-Authorization: \(answer)")
            if let proxyHeaderList { hc_set_list(easy, CURLOPT_PROXYHEADER, proxyHeaderList) }
        } else if case .basic(let user, let password) = login {
            set(CURLOPT_PROXYUSERNAME, user)
            set(CURLOPT_PROXYPASSWORD, password)
            // CURLAUTH_BASIC, sent at once; or that and CURLAUTH_DIGEST, as the proxy demands.
            hc_set_long(
                easy, CURLOPT_PROXYAUTH, command.outgoing.proxyLogin?.mayBeDigest == true ? 1 << 0 | 1 << 1 : 1 << 0)
        }
    }

    private func configureProxyTLS(_ proxy: String) {
        shared.countInput(easy)
        hc_set_long(easy, CURLOPT_PROXY_SSLVERSION, Self.oldestTLS)
        if let file = settings.tls.caFile { set(CURLOPT_PROXY_CAINFO, file) }
        let host = ProxyTable.host(of: proxy)
        if settings.tls.trustedHosts.contains(where: { HostPattern.matches(host, $0) }) {
            hc_set_long(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 0)
            hc_set_long(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 0)
        }
    }

    /// CURL_SSLVERSION_TLSv1_2, whatever the default of libcurl and OpenSSL.
    private static let oldestTLS = 6

    private func configureTLS() {
        let tls = settings.tls
        shared.countInput(easy)
        hc_set_long(easy, CURLOPT_SSLVERSION, Self.oldestTLS)
        if let file = tls.caFile { set(CURLOPT_CAINFO, file) }
        if let certificate = settings.certificate(for: command.outgoing) {
            set(CURLOPT_SSLCERT, certificate.file)
            set(CURLOPT_SSLKEY, certificate.key ?? certificate.file)
        }
        if tls.trustedHosts.contains(where: { HostPattern.matches(command.outgoing.url.host, $0) }) {
            hc_set_long(easy, CURLOPT_SSL_VERIFYPEER, 0)
            hc_set_long(easy, CURLOPT_SSL_VERIFYHOST, 0)
        }
    }
}
