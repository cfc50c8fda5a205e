internal import CCurl
internal import HTTPSemantics
internal import Platform

extension Transfer {
    package func configure() {
        let outgoing = prepared.sent
        let context = Unmanaged.passUnretained(self).toOpaque()
        failureText.pointee = 0
        hc_set_pointer(easy, CURLOPT_ERRORBUFFER, failureText)
        set(CURLOPT_URL, outgoing.url.text)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_USERAGENT, shared.settings.userAgent)
        hc_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // A silent resolver may block its own thread, but not that of all transfers.
        hc_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        // Over TLS the handshake tells whether requests can share a connection. Without TLS only a response would, and
        // a slow one would hold up all other requests to its host.
        if outgoing.url.isSecure { hc_set_long(easy, CURLOPT_PIPEWAIT, 1) }
        // libcurl's own limit, 118 s, would end sooner what is to stay.
        hc_set_long(easy, CURLOPT_MAXAGE_CONN, shared.settings.idleSpan / 1_000_000_000 + 1)
        let connectTimeout = shared.settings.connectTimeout ?? request.limits.timeoutSeconds + 1
        hc_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, max(Int(connectTimeout * 1000), 1))
        // So that a length that is too large a number is an error; the callers' limits are lower.
        hc_set_offset(easy, CURLOPT_MAXFILESIZE_LARGE, .max)
        // Large images need fewer system calls than with 64 KiB; small ones touch only as much as they need.
        hc_set_long(easy, CURLOPT_BUFFERSIZE, 128 << 10)
        setCallbacks(context)
        configureHeaders()
        if prepared.isAlone { hc_set_long(easy, CURLOPT_FRESH_CONNECT, 1) }
        if outgoing.method != .get { configureBody() }
        configureCredentials()
        configureProxy()
        if outgoing.url.isSecure { configureTLS() }
        for text in shared.settings.resolve() { resolveList = hc_list_append(resolveList, text) }
        if let resolveList { hc_set_list(easy, CURLOPT_RESOLVE, resolveList) }
    }

    private func setCallbacks(_ context: UnsafeMutableRawPointer) {
        // Any result other than the number of the bytes aborts the transfer.
        hc_set_write(
            easy,
            { bytes, size, count, context in
                Transfer.of(context)?.body(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
            }, context)
        hc_set_header(
            easy,
            { bytes, size, count, context in
                let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return Transfer.of(context)?.header(line) == true ? line.count : 0
            }, context)
        hc_set_judges(
            easy, { context, _, address in address.flatMap { Transfer.of(context)?.openSocket($0) } ?? -1 },
            { context, address, _, port, localPort in
                let far = address.map { String(cString: $0) } ?? ""
                let ends = OpenSockets.Ends(nearPort: localPort, farAddress: far, farPort: port)
                return Transfer.of(context)?.mayUse(ends) == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            }, context)
        // The context lives as long as the transport's thread, and so longer than every connection.
        hc_set_closing(
            easy,
            { context, socket in
                context.map { Unmanaged<TransferContext>.fromOpaque($0).takeUnretainedValue() }?.sockets.closed(socket)
                hc_close(socket)
                return 0
            }, Unmanaged.passUnretained(shared).toOpaque())
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    private func set(_ option: CURLoption, _ text: String) {
        // A pointer, because Swift would copy a string argument first.
        _ = text.withCString { hc_set_string(easy, option, $0) }
    }

    private func configureHeaders() {
        var names: Set<String> = []
        func add(_ line: String) { headerList = line.withCString { hc_list_append(headerList, $0) } }
        let hasBody = prepared.sent.method != .get
        for field in prepared.sent.fields {
            let (name, value) = (field.name.text, field.value.text)
            names.insert(name.lowercased())
            // libcurl sends the length of the body.
            if hasBody, ["content-length", "transfer-encoding"].contains(name.lowercased()) { continue }
            // An empty value needs a semicolon; otherwise libcurl removes the header.
            add(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        if let etag = prepared.validators?.etag, !names.contains("if-none-match") { add("If-None-Match: \(etag)") }
        if let date = prepared.validators?.lastModified, !names.contains("if-modified-since") {
            add("If-Modified-Since: \(date)")
        }
        if let part = prepared.ownPart {
            add("Range: bytes=\(part.file.count)-")
            add("If-Range: \(part.note.validator)")
        }
        // Suppresses the fields that libcurl would add.
        if hasBody, !names.contains("content-type") { add("Content-Type:") }
        if hasBody, !names.contains("expect") { add("Expect:") }
        if !names.contains("accept") { add("Accept: " + shared.settings.accept) }
        if !names.contains("accept-encoding") { add("Accept-Encoding: identity") }
        if case .bearer(let token) = prepared.sent.authorization, !names.contains("authorization") {
            add("Authorization: Bearer \(token)")
        }
        if prepared.sent.digest != nil, !names.contains("authorization") {
            let answer = prepared.sent.digestAnswer(use: prepared.uses.server, own: Self.digestPart)
            if let answer { add("Authorization: \(answer)") }
        }
        if let headerList { hc_set_list(easy, CURLOPT_HTTPHEADER, headerList) }
    }

    /// Sends the body of a request that is not a GET, over a new connection unless it may arrive twice: over a reused one
    /// libcurl sends the body again when the server closes that connection.
    private func configureBody() {
        let body = prepared.sent.body ?? []
        hc_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count))
        // An empty array may have no address.
        _ = (body + [0]).withUnsafeBytes { bytes in
            hc_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        }
        if prepared.sent.method != .post { set(CURLOPT_CUSTOMREQUEST, prepared.sent.method.rawValue) }
        if shared.settings.repeatsChanges { return }
        hc_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
        // The connection would stay open unused, because no such request reuses one.
        hc_set_long(easy, CURLOPT_FORBID_REUSE, 1)
    }

    /// The client nonce of a digest, random for each request.
    private static var digestPart: String { String(UInt64.random(in: .min ... .max), radix: 36) }

    private func configureCredentials() {
        let outgoing = prepared.sent
        // The answer to a digest challenge is among the header fields.
        if outgoing.digest != nil { return }
        if case .basic(let user, let password) = outgoing.authorization {
            set(CURLOPT_USERNAME, user)
            set(CURLOPT_PASSWORD, password)
        } else if outgoing.authorization == nil, outgoing.mayUseNetrc, let netrc = shared.settings.netrcFile {
            set(CURLOPT_NETRC_FILE, netrc)
            hc_set_long(easy, CURLOPT_NETRC, 1)
        }
        // CURLAUTH_DIGEST
        if outgoing.scheme == "digest" { hc_set_long(easy, CURLOPT_HTTPAUTH, 1 << 1) }
    }

    private func configureProxy() {
        // Set even if empty, so that libcurl does not read the environment by itself.
        let login = prepared.sent.proxyLogin?.credentials(for: proxy)
        // libcurl prefers the credentials in the URL to those that were given after a rejection.
        let place = login == nil ? proxy : proxy.map(ProxyTable.withoutCredentials)
        set(CURLOPT_PROXY, place ?? "")
        set(CURLOPT_NOPROXY, "")
        if let proxy, proxy.asciiLowercased.hasPrefix("https://") {
            configureTLS(
                to: ProxyTable.host(of: proxy), CURLOPT_PROXY_SSLVERSION, CURLOPT_PROXY_CAINFO,
                verifies: [CURLOPT_PROXY_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYHOST])
        }
        if let answer = prepared.sent.digestAnswer(to: proxy, use: prepared.uses.proxy, own: Self.digestPart) {
            proxyHeaderList = hc_list_append(nil, "Proxy-Authorization: \(answer)")
            if let proxyHeaderList { hc_set_list(easy, CURLOPT_PROXYHEADER, proxyHeaderList) }
        } else if case .basic(let user, let password) = login {
            set(CURLOPT_PROXYUSERNAME, user)
            set(CURLOPT_PROXYPASSWORD, password)
            // CURLAUTH_BASIC, sent at once; or that and CURLAUTH_DIGEST, as the proxy demands.
            hc_set_long(
                easy, CURLOPT_PROXYAUTH, prepared.sent.proxyLogin?.mayBeDigest == true ? 1 << 0 | 1 << 1 : 1 << 0)
        }
    }

    private func configureTLS() {
        configureTLS(
            to: prepared.sent.url.host, CURLOPT_SSLVERSION, CURLOPT_CAINFO,
            verifies: [CURLOPT_SSL_VERIFYPEER, CURLOPT_SSL_VERIFYHOST])
        if let certificate = shared.settings.certificate(for: prepared.sent) {
            set(CURLOPT_SSLCERT, certificate.file)
            set(CURLOPT_SSLKEY, certificate.key ?? certificate.file)
        }
    }

    /// Sets the options of TLS to a server or a proxy.
    private func configureTLS(
        to host: String, _ version: CURLoption, _ authorities: CURLoption, verifies: [CURLoption]
    ) {
        shared.countInput(easy)
        // CURL_SSLVERSION_TLSv1_2, whatever the default of libcurl and OpenSSL.
        hc_set_long(easy, version, 6)
        if let file = shared.settings.tls.caFile { set(authorities, file) }
        guard shared.settings.tls.trustedHosts.contains(where: { HostPattern.matches(host, $0) }) else { return }
        for option in verifies { hc_set_long(easy, option, 0) }
    }
}
