internal import CCurl
internal import Downloading
internal import Glibc
internal import HTTPSemantics

/// A connection to a server of Redis over TCP, TLS or a Unix socket, made by libcurl, which looks up the name and speaks TLS
/// as for downloads, all within one limit of time.
///
/// The client of Redis is our own, because hiredis, in the version that Debian 12 has, knows no TLS and waits for a name
/// without limit. Only one thread at a time may use a connection.
final class RedisSocket: Sendable {
    private let line: hc_line
    /// The descriptor to poll.
    let descriptor: Int32
    /// `true` with TLS, which may hold bytes that have come while the descriptor is not readable.
    let isSecure: Bool

    /// Connects, while the calling thread waits.
    init(_ place: RemoteURL.Place, tls: TLSSettings, seconds: Double) throws(RemoteError) {
        if let problem = hc_load() { throw .unreachable(String(cString: problem)) }
        guard let easy = hc_easy_init() else { throw .unreachable("there is no memory for a connection") }
        let failure = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        failure.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        line = hc_line(easy: easy, failure: failure)
        if case .redis(_, _, isSecure: true) = place { isSecure = true } else { isSecure = false }
        let code = Self.connect(line, place, tls, seconds)
        descriptor = code == CURLE_OK ? hc_active_socket(easy) : -1
        guard descriptor >= 0 else { throw Self.failure(code, of: line, whileConnecting: true) }
    }

    deinit {
        hc_easy_cleanup(line.easy)
        line.failure.deallocate()
    }

    /// Sends the beginning of `bytes`, without waiting; 0 when nothing can be sent now. The same bytes must then be sent next.
    func send(_ bytes: UnsafeRawBufferPointer) -> Result<Int, RemoteError> {
        var count = 0
        let code = hc_send(line.easy, bytes.baseAddress, min(bytes.count, 1 << 30), &count)
        return code == CURLE_OK || code == CURLE_AGAIN ? .success(count) : .failure(Self.failure(code, of: line))
    }

    /// Receives what has come, without waiting; `nil` when that is nothing.
    func receive(_ bytes: UnsafeMutableRawBufferPointer) -> Result<Int?, RemoteError> {
        var count = 0
        let code = hc_receive(line.easy, bytes.baseAddress, bytes.count, &count)
        if code == CURLE_AGAIN { return .success(nil) }
        guard code == CURLE_OK else { return .failure(Self.failure(code, of: line)) }
        return count > 0 ? .success(count) : .failure(.unreachable("it closed the connection"))
    }

    private static func connect(
        _ line: hc_line, _ place: RemoteURL.Place, _ tls: TLSSettings, _ seconds: Double
    ) -> CURLcode {
        let easy = line.easy
        func set(_ option: CURLoption, _ text: String) { _ = text.withCString { hc_set_string(easy, option, $0) } }
        hc_set_pointer(easy, CURLOPT_ERRORBUFFER, line.failure)
        switch place {
        case .http, .s3: return CURLE_UNSUPPORTED_PROTOCOL
        case .redis(let host, let port, let isSecure):
            set(CURLOPT_URL, "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)/")
            if isSecure { configure(easy, tls, host) }
        case .redisSocket(let path):
            set(CURLOPT_URL, "http://localhost/")
            set(CURLOPT_UNIX_SOCKET_PATH, path)
        }
        hc_set_long(easy, CURLOPT_CONNECT_ONLY, 1)
        hc_set_long(easy, CURLOPT_NOSIGNAL, 1)
        let milliseconds = Int(max(1, min(seconds, 3600) * 1000))
        hc_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        // So that a network without a way for IPv6 leaves time for IPv4.
        hc_set_long(easy, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, max(1, milliseconds / 4))
        // A silent resolver may block its own thread, but not this one.
        hc_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        // Finds out about a lost machine when nothing is sent.
        hc_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        // The most that libcurl receives at once.
        hc_set_long(easy, CURLOPT_BUFFERSIZE, 512 << 10)
        // Set although empty, so that libcurl does not read the environment by itself.
        set(CURLOPT_PROXY, "")
        hc_set_judges(
            easy, { _, _, address in address.map { hc_socket($0) } ?? -1 }, { _, _, _, _, _ in CURL_PREREQFUNC_OK }, nil
        )
        return hc_easy_perform(easy)
    }

    private static func configure(_ easy: UnsafeMutableRawPointer?, _ tls: TLSSettings, _ host: String) {
        func set(_ option: CURLoption, _ text: String) { _ = text.withCString { hc_set_string(easy, option, $0) } }
        // Protocols of HTTP are of no use to the other end.
        hc_set_long(easy, CURLOPT_SSL_ENABLE_ALPN, 0)
        // CURL_SSLVERSION_TLSv1_2, whatever the default of libcurl and OpenSSL.
        hc_set_long(easy, CURLOPT_SSLVERSION, 6)
        if let file = tls.caFile { set(CURLOPT_CAINFO, file) }
        if let certificate = tls.clientCertificate {
            set(CURLOPT_SSLCERT, certificate)
            set(CURLOPT_SSLKEY, tls.clientKey ?? certificate)
        }
        if tls.trustedHosts.contains(where: { HostPattern.matches(host, $0) }) {
            hc_set_long(easy, CURLOPT_SSL_VERIFYPEER, 0)
            hc_set_long(easy, CURLOPT_SSL_VERIFYHOST, 0)
        }
    }

    private static func failure(_ code: CURLcode, of line: hc_line, whileConnecting: Bool = false) -> RemoteError {
        let described = String(cString: line.failure)
        let text = described.isEmpty ? String(cString: hc_easy_strerror(code)) : described
        let system = hc_info_long(line.easy, CURLINFO_OS_ERRNO)
        switch code {
        case CURLE_OPERATION_TIMEDOUT: return .timedOut
        case CURLE_COULDNT_RESOLVE_HOST: return .unreachable("its name cannot be resolved")
        case CURLE_COULDNT_CONNECT where system != 0:
            return .unreachable(String(cString: strerror(Int32(truncatingIfNeeded: system))))
        case CURLE_PEER_FAILED_VERIFICATION:
            return .unreachable(
                "its certificate cannot be verified: \(text) (name the authority in caFile, or the host in trustedHosts)"
            )
        case CURLE_SSL_CONNECT_ERROR: return .unreachable("it does not agree on TLS: \(text)")
        case CURLE_SSL_CERTPROBLEM: return .unreachable("the file clientCertificate cannot be used: \(text)")
        case CURLE_SSL_CACERT_BADFILE: return .unreachable("the file caFile cannot be read")
        case CURLE_URL_MALFORMAT: return .unreachable("its name is not one of a host")
        default:
            return .unreachable(text.contains(" alert ") ? "it ends TLS: \(text)" : text)
        }
    }
}
