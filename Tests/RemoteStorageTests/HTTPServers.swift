import Downloading
import Foundation
import Glibc
import TestSupport

@testable import RemoteStorage

/// nginx as a child process, with a folder for what is put.
final class NginxServer: Sendable {
    static let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    static var isInstalled: Bool { program != nil }

    let folder: TemporaryFolder
    let port: UInt16
    private let isSecure: Bool
    private let process: pid_t

    /// - Parameters:
    ///   - location: Directives for all paths.
    ///   - tls: The certificate for TLS; directives beside it.
    init(_ location: String, tls: (certificate: TestCertificate, more: String)? = nil) async throws {
        folder = try TemporaryFolder()
        // A port that was free a moment ago.
        let placeholder = try LocalServer { _ in .empty }
        (port, isSecure) = (placeholder.port, tls != nil)
        placeholder.stop()
        let own = folder.path
        try FileManager.default.createDirectory(atPath: own + "/root", withIntermediateDirectories: false)
        let secure = tls.map {
            "ssl_certificate \($0.certificate.certificate); ssl_certificate_key \($0.certificate.key); \($0.more)"
        }
        try """
        daemon off; master_process off; pid \(own)/pid; error_log \(own)/error.log;
        \(getuid() == 0 ? "user root;" : "")
        events { worker_connections 256; }
        http {
            access_log off; client_body_temp_path \(own)/body; proxy_temp_path \(own)/proxy;
            fastcgi_temp_path \(own)/fastcgi; uwsgi_temp_path \(own)/uwsgi; scgi_temp_path \(own)/scgi;
            server {
                listen 127.0.0.1:\(port)\(tls == nil ? "" : " ssl"); root \(own)/root; client_max_body_size 64m;
                \(secure ?? "")
                location / { \(location) }
            }
        }
        """.write(toFile: own + "/nginx.conf", atomically: true, encoding: .utf8)
        process = try Spawn.background([Self.program ?? "", "-e", own + "/error.log", "-c", own + "/nginx.conf"])
        try await eventually("nginx listens") { [port] in Self.accepts(port) }
    }

    deinit {
        kill(process, SIGKILL)
        _ = Spawn.wait(for: process)
    }

    /// What takes objects.
    static let taking = "dav_methods PUT DELETE; create_full_put_path on;"

    /// The URL of a path; for TLS by the name of this machine.
    func url(_ path: String = "", user: String = "") -> String {
        isSecure ? "https://\(user)localhost:\(port)\(path)" : "http://\(user)127.0.0.1:\(port)\(path)"
    }

    private static func accepts(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

/// An engine for a URL, as the remote tier makes it, with more patience than on a machine that is not busy with tests.
func makeStorage(
    _ text: String, maxBytes: Int = 4 << 20, connectSeconds: Double = 60,
    silenceSeconds: Double = 60,
    environment: AWSEnvironment = AWSEnvironment(),
    now: Int? = nil, _ configure: (inout ImageDownloader.Configuration) -> Void = { _ in }
) throws -> any RemoteStorage {
    var configuration = ImageDownloader.Configuration()
    configuration.proxy = .none
    configure(&configuration)
    let url = try RemoteURL(text)
    func client(_ base: String, netrc: String? = nil) -> HTTPClient {
        HTTPClient(
            configuration, to: base, maxBytes: maxBytes, connectSeconds: connectSeconds, silenceSeconds: silenceSeconds,
            netrc: netrc)
    }
    switch url.place {
    case .http(let base):
        return HTTPStorage(base, url, client(base, netrc: configuration.netrc))
    case .s3(let place):
        let target = S3Target(place, url, environment)
        if let now { return S3Storage(target, now: { now }) { client($0) } }
        return S3Storage(target) { client($0) }
    case .redis, .redisSocket: throw RemoteError.unsupported
    }
}

/// The error of an operation; nil when there is none.
func failure(_ work: () async throws -> Void) async -> RemoteError? {
    do {
        try await work()
        return nil
    } catch { return error as? RemoteError }
}

/// A name as all objects have it.
func objectName(_ text: String = "object") -> String { RemoteObject.name(of: [text]) }
