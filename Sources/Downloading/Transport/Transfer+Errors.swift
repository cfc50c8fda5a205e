internal import CCurl
import Glibc
internal import ImageErrors
internal import Platform

extension Transfer {
    /// The error for a failure that libcurl reports.
    package func error(_ code: CURLcode) -> ImageError {
        let reason = "\(String(cString: hc_easy_strerror(code)))."
        if shared.hasFlood, isConnected, command.outgoing.url.isSecure {
            return .connectionFailed(
                url: request.url, reason: "the server sends frames without content, and no end of them.")
        }
        if let error = proxyError(code) ?? tlsError(code) { return error }
        switch code {
        case CURLE_ABORTED_BY_CALLBACK where refusedAddress != nil, CURLE_COULDNT_CONNECT where refusedAddress != nil:
            return refusedAddress ?? .connectionFailed(url: request.url, reason: reason)
        case CURLE_COULDNT_CONNECT where lacksDescriptors:
            return .connectionFailed(
                url: request.url, reason: "too many files are open (raise the limit of the process, ulimit -n).")
        case CURLE_COULDNT_CONNECT:
            let place = proxy.map { "the proxy \(ProxyTable.withoutCredentials($0).excerpt)" } ?? "the server"
            return .connectionFailed(url: request.url, reason: "\(place) cannot be reached\(systemProblem).")
        // The URL is known to be http or https, so only the response can be of another protocol.
        case CURLE_UNSUPPORTED_PROTOCOL:
            return .connectionFailed(url: request.url, reason: "what the server sends is not HTTP.")
        case CURLE_URL_MALFORMAT:
            return .invalidURL(request.url, reason: "It leads to something that is neither http nor https.")
        case CURLE_FILESIZE_EXCEEDED: return tooLarge
        case CURLE_OUT_OF_MEMORY, CURLcode(rawValue: 100):  // CURLE_TOO_LARGE, since 8.6
            // A header line or a trailer is longer than libcurl accepts; no other limit of a response has this code.
            let hasAnswer = hc_info_offset(easy, CURLINFO_STARTTRANSFER_TIME_T) > 0
            return hasAnswer
                ? .headersTooLong(source: request.url) : .connectionFailed(url: request.url, reason: reason)
        // libcurl's code for a trailer line that is too long; a retry would meet it again.
        case CURLE_RECV_ERROR where failure.hasPrefix("Out of memory in chunked-encoding"):
            return .headersTooLong(source: request.url)
        case CURLE_RECV_ERROR where failure.contains("chunked-encoding"), CURLE_WEIRD_SERVER_REPLY,
            CURLE_BAD_FUNCTION_ARGUMENT:
            return .connectionFailed(
                url: request.url, reason: "what the server sends is no well-formed HTTP\(failureTail).")
        // The netrc file is the only file that libcurl reads.
        case CURLE_READ_ERROR where settings.netrc != nil:
            let file = settings.netrc ?? ""
            return .connectionFailed(url: request.url, reason: "the netrc file \(file) is not well-formed.")
        case CURLE_OPERATION_TIMEDOUT:
            return .timedOut(url: request.url, option: "timeout", seconds: request.limits.timeoutSeconds)
        case CURLE_COULDNT_RESOLVE_HOST:
            return .connectionFailed(url: request.url, reason: "the host's name cannot be resolved.")
        case CURLE_COULDNT_RESOLVE_PROXY:
            let place = proxy.map { " " + ProxyTable.withoutCredentials($0).excerpt } ?? ""
            return .connectionFailed(
                url: request.url,
                reason: "the name of the proxy\(place) cannot be resolved, or its URL is not well-formed.")
        case CURLE_HTTP2, CURLE_HTTP2_STREAM:
            return .connectionFailed(
                url: request.url,
                reason: "the server ended the connection, or what it sends is no well-formed HTTP/2\(failureTail).")
        case CURLE_PARTIAL_FILE:
            return .connectionFailed(url: request.url, reason: "the connection closed before the end of the body.")
        default: return .connectionFailed(url: request.url, reason: reason)
        }
    }

    /// The error for a proxy's response to CONNECT.
    private func proxyError(_ code: CURLcode) -> ImageError? {
        // CURLE_PROXY, which also stands for SOCKS errors.
        guard [CURLE_RECV_ERROR, CURLE_COULDNT_CONNECT, CURLcode(rawValue: 97)].contains(code) else { return nil }
        switch hc_info_long(easy, CURLINFO_HTTP_CONNECTCODE) {
        case 0 where code.rawValue == 97:
            return .connectionFailed(url: request.url, reason: "the proxy does not connect to the host\(failureTail).")
        case 407: return .invalidStatusCode(407, url: request.url)
        case let status where status >= 300:
            return .connectionFailed(
                url: request.url,
                reason: "the proxy does not connect to the host; it answers with the status \(status).")
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
}
