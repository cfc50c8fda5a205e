internal import CCurl
import Glibc
internal import ImageErrors
internal import Platform

extension Transfer {
    /// The error for a failure that libcurl reports.
    package func error(_ code: CURLcode) -> ImageError {
        let reason = "\(String(cString: hc_easy_strerror(code)))."
        let proxyName = proxy.map { "the proxy \(ProxyTable.withoutCredentials($0).excerpt)" }
        if shared.hasFlood, isConnected, prepared.sent.url.isSecure {
            return failed("the server sends frames without content, and no end of them.")
        }
        if let error = proxyError(code) ?? tlsError(code) { return error }
        switch code {
        case CURLE_ABORTED_BY_CALLBACK, CURLE_COULDNT_CONNECT: return refusedAddress ?? connectError(code, proxyName)
        // The URL is known to be http or https, so only the response can be of another protocol.
        case CURLE_UNSUPPORTED_PROTOCOL: return failed("what the server sends is not HTTP.")
        case CURLE_URL_MALFORMAT:
            return .invalidURL(request.url, reason: "It leads to a URL that is neither http nor https.")
        case CURLE_FILESIZE_EXCEEDED: return request.limits.tooLarge(request.url)
        // A header line or a trailer is longer than libcurl accepts; no other limit of a response has these codes. The
        // second one is CURLE_TOO_LARGE, since 8.6.
        case CURLE_OUT_OF_MEMORY, CURLcode(rawValue: 100):
            let hasAnswer = hc_info_offset(easy, CURLINFO_STARTTRANSFER_TIME_T) > 0
            return hasAnswer ? headersTooLong : failed(reason)
        // libcurl's code for a trailer line that is too long; a retry would meet it again.
        case CURLE_RECV_ERROR where failure.hasPrefix("Out of memory in chunked-encoding"):
            return headersTooLong
        case CURLE_RECV_ERROR where failure.contains("chunked-encoding"), CURLE_WEIRD_SERVER_REPLY,
            CURLE_BAD_FUNCTION_ARGUMENT:
            return failed("what the server sends is not well-formed HTTP\(failureTail).")
        // The netrc file is the only file that libcurl reads.
        case CURLE_READ_ERROR where shared.settings.netrc != nil:
            return failed("the netrc file \(shared.settings.netrc ?? "") is not well-formed.")
        case CURLE_OPERATION_TIMEDOUT where !isConnected && shared.settings.connectTimeout != nil:
            return failed("no connection could be made in time.")
        case CURLE_OPERATION_TIMEDOUT:
            return .timedOut(url: request.url, option: "timeout", seconds: request.limits.timeoutSeconds)
        case CURLE_COULDNT_RESOLVE_HOST: return failed("the host's name cannot be resolved.")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return failed("the name of \(proxyName ?? "the proxy") cannot be resolved, or its URL is not well-formed.")
        case CURLE_HTTP2, CURLE_HTTP2_STREAM:
            return failed(
                "the server ended the connection, or what it sends is not well-formed HTTP/2\(failureTail).")
        case CURLE_PARTIAL_FILE: return failed("the connection closed before the end of the body.")
        default: return failed(reason)
        }
    }

    func failed(_ reason: String) -> ImageError { .connectionFailed(url: request.url, reason: reason) }

    /// The error that the headers of a response, or one line of them, are too long.
    var headersTooLong: ImageError {
        let reason = "the headers are over \(Self.headerLimit) bytes, or one line of them over what libcurl reads"
        return DownloadLimitName.headerBytes.error(reason, source: request.url)
    }

    private func connectError(_ code: CURLcode, _ proxyName: String?) -> ImageError {
        if code != CURLE_COULDNT_CONNECT { return failed("\(String(cString: hc_easy_strerror(code))).") }
        return lacksDescriptors
            ? failed("too many files are open (raise the limit of the process, ulimit -n).")
            : failed("\(proxyName ?? "the server") cannot be reached\(systemProblem).")
    }

    /// The error for a proxy's response to CONNECT.
    private func proxyError(_ code: CURLcode) -> ImageError? {
        // CURLE_PROXY, which also stands for SOCKS errors.
        guard [CURLE_RECV_ERROR, CURLE_COULDNT_CONNECT, CURLcode(rawValue: 97)].contains(code) else { return nil }
        switch hc_info_long(easy, CURLINFO_HTTP_CONNECTCODE) {
        case 0 where code.rawValue == 97: return failed("the proxy does not connect to the host\(failureTail).")
        case 407: return .invalidStatusCode(407, url: request.url)
        case let status where status >= 300:
            return failed("the proxy does not connect to the host; it answers with the status \(status).")
        default: return nil
        }
    }

    /// The system's reason why a connection failed, such as that it was refused or there is no route.
    private var systemProblem: String {
        let code = hc_info_long(easy, CURLINFO_OS_ERRNO)
        return code == 0 ? "" : ": " + String(cString: strerror(Int32(code))).lowercased()
    }

    /// libcurl's description of the failure beside its code.
    package var failure: String { String(cString: failureText) }

    /// The description after a colon, as the end of a sentence. Empty when there is none.
    var failureTail: String {
        var text = failure.excerpt
        while text.hasSuffix(".") || text.hasSuffix("\n") { text.removeLast() }
        return text.isEmpty ? "" : ": " + text
    }

    // MARK: TLS, with advice

    /// The error for a TLS failure. `nil`: another kind of failure.
    func tlsError(_ code: CURLcode) -> ImageError? {
        func tlsFailed(_ reason: String) -> ImageError { .tlsFailed(url: request.url, reason: reason) }
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION:
            let owner = isProxysTLS ? "the proxy's" : "its"
            return tlsFailed("\(owner) certificate cannot be verified\(certificateProblem) (\(certificateAdvice)).")
        case CURLE_SSL_CERTPROBLEM:
            let file = shared.settings.certificate(for: prepared.sent)?.file ?? "clientCertificate"
            return tlsFailed("the client certificate in \(file) cannot be used.")
        case CURLE_SSL_CACERT_BADFILE:
            return tlsFailed("the authorities in \(shared.settings.tls.caFile ?? "caFile") cannot be read.")
        // A TLS 1.3 server rejects the client certificate after the handshake (RFC 8446, 4.4.2.4).
        case CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            // During the body it is not about the client certificate, and may be temporary.
            if let alert, !hasAnswered { return tlsFailed(reason(of: alert)) }
            guard code == CURLE_SSL_CONNECT_ERROR else { return errorAfterHandshake(code) }
            if isCutOff { return failed("the connection broke off in the handshake of TLS.") }
            return tlsFailed("\(String(cString: hc_easy_strerror(code)))\(failureTail).")
        case CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_NOTFOUND:
            return tlsFailed("\(String(cString: hc_easy_strerror(code))).")
        default: return nil
        }
    }

    /// `true` when the failed connection leads to the proxy and not to the server behind it.
    private var isProxysTLS: Bool {
        guard let proxy, proxy.asciiLowercased.hasPrefix("https://") else { return false }
        return !prepared.sent.url.isSecure || hc_info_long(easy, CURLINFO_HTTP_CONNECTCODE) == 0
    }

    /// The problem of a certificate in libcurl's words: that it has expired, or is for other hosts.
    private var certificateProblem: String {
        let text = failure
        guard let start = text.firstRange(of: ": ")?.upperBound, text.hasPrefix("SSL") else { return "" }
        return ": " + String(text[start...]).excerpt
    }

    private var certificateAdvice: String {
        let text = failure.lowercased()
        let host = isProxysTLS ? "the proxy's host" : "the host"
        // Another authority does not help with an expired certificate, or one for other hosts.
        let isUnknown = !["expired", "not yet valid", "match", "revoked"].contains { text.contains($0) }
        return isUnknown
            ? "name the authority in caFile, or \(host) in trustedHosts" : "trustedHosts takes it with \(host)"
    }

    /// The server's TLS alert in OpenSSL's words: "certificate required", "handshake failure".
    private var alert: String? {
        guard let start = failure.firstRange(of: " alert ")?.upperBound else { return nil }
        let words = failure[start...].prefix { $0 != "," && $0 != "(" }
        return words.isEmpty ? nil : String(words).excerpt
    }

    private func reason(of alert: String) -> String {
        let certificate = shared.settings.certificate(for: prepared.sent)?.file
        if alert.contains("required") {
            return "the server wants a client certificate (name one in clientCertificate)."
        }
        let isAboutOurs = ["certificate", "unknown ca", "access denied", "decrypt"].contains { alert.contains($0) }
        if let certificate, isAboutOurs {
            return "the server does not accept the client certificate in \(certificate): \(alert)."
        }
        let advice = certificate == nil ? " (it may want a client certificate: name one in clientCertificate)" : ""
        return "the server refuses the connection: \(alert)\(alert.contains("version") ? "" : advice)."
    }

    /// `true` when the connection ended without an alert, which may be temporary.
    private var isCutOff: Bool {
        let signs = ["SSL_ERROR_SYSCALL", "unexpected eof", "reset by peer", "Broken pipe", "timed out"]
        return signs.contains { failure.contains($0) }
            || [ECONNRESET, EPIPE].contains(Int32(truncatingIfNeeded: hc_info_long(easy, CURLINFO_OS_ERRNO)))
    }

    /// The error of a connection that broke off right after its handshake. The server's alert about the client
    /// certificate may be lost, because the request was already being sent.
    private func errorAfterHandshake(_ code: CURLcode) -> ImageError? {
        // Depends on the connection, not on the HTTP version that its code may come from.
        guard prepared.sent.url.isSecure, !hasAnswered, failure.contains("SSL_"),
            hc_info_long(easy, CURLINFO_NUM_CONNECTS) > 0,
            hc_info_offset(easy, CURLINFO_APPCONNECT_TIME_T) > 0
        else { return nil }
        let advice =
            shared.settings.certificate(for: prepared.sent).map {
                "it may not accept the client certificate in \($0.file)"
            }
            ?? "it may want a client certificate: name one in clientCertificate"
        return failed("the server broke off right after the handshake of TLS (\(advice)).")
    }
}
