internal import CCurl
import Glibc
internal import ImageErrors
internal import Platform

/// Errors of TLS connections, with advice.
extension Transfer {
    /// The error for a TLS failure. `nil`: another kind of failure.
    func tlsError(_ code: CURLcode) -> ImageError? {
        func tlsFailed(_ reason: String) -> ImageError { .tlsFailed(url: request.url, reason: reason) }
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION:
            let owner = isProxysTLS ? "the proxy's" : "its"
            return tlsFailed("\(owner) certificate cannot be verified\(certificateProblem) (\(certificateAdvice)).")
        case CURLE_SSL_CERTPROBLEM:
            let file = settings.certificate(for: prepared.sent)?.file ?? "clientCertificate"
            return tlsFailed("the client certificate in \(file) cannot be used.")
        case CURLE_SSL_CACERT_BADFILE:
            return tlsFailed("the authorities in \(settings.tls.caFile ?? "caFile") cannot be read.")
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
        let certificate = settings.certificate(for: prepared.sent)?.file
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
            settings.certificate(for: prepared.sent).map { "it may not accept the client certificate in \($0.file)" }
            ?? "it may want a client certificate: name one in clientCertificate"
        return failed("the server broke off right after the handshake of TLS (\(advice)).")
    }
}
