import Downloading
import Foundation
import Glibc
import Synchronization
import TestSupport

@testable import RemoteStorage

/// A `redis-server` of its own, with a Unix socket and a port, in a folder of its own. It ends with the last reference.
final class RedisServer: Sendable {
    let folder: TemporaryFolder
    let port: UInt16
    /// The port for TLS; 0 without a certificate.
    let securePort: UInt16
    private let options: [String]
    private let process: Mutex<pid_t>

    var socket: String { folder.path + "/redis.sock" }

    /// Starts a server and waits until it takes connections.
    init(_ options: [String] = [], certificate: TestCertificate? = nil, wantsCertificates: Bool = false) async throws {
        folder = try TemporaryFolder()
        let path = folder.path
        for _ in 0..<50 {
            // Below the ports that the system gives others.
            let (port, securePort) = (UInt16.random(in: 10_000..<22_000), UInt16.random(in: 10_000..<22_000))
            var words = ["--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--dir", path]
            words += ["--unixsocket", path + "/redis.sock", "--logfile", path + "/log"]
            if let certificate {
                words += ["--tls-port", "\(securePort)", "--tls-cert-file", certificate.certificate]
                words += ["--tls-key-file", certificate.key, "--tls-ca-cert-file", certificate.certificate]
                words += ["--tls-auth-clients", wantsCertificates ? "yes" : "no"]
            }
            guard let process = try await Self.started(words + options, path + "/redis.sock") else { continue }
            (self.port, self.options) = (port, words + options)
            self.process = Mutex(process)
            self.securePort = certificate == nil ? 0 : securePort
            return
        }
        throw PatienceExhausted(description: "redis-server did not start (is the package there?)")
    }

    deinit { stop() }

    /// Starts the server again, at the same places, without what was stored.
    func restart() async throws {
        stop()
        guard let process = try await Self.started(options, socket) else {
            throw PatienceExhausted(description: "redis-server did not start again")
        }
        self.process.withLock { $0 = process }
    }

    /// Ends the server at once.
    func stop() {
        process.withLock { process in
            guard process > 0 else { return }
            kill(process, SIGKILL)
            _ = Spawn.wait(for: process)
            process = 0
        }
    }

    func signal(_ number: Int32) { process.withLock { _ = kill($0, number) } }

    /// What `redis-cli` prints for a command.
    @discardableResult func cli(_ command: String) throws -> String {
        let made = try Command.shell("redis-cli -s \(socket) \(command)")
        return String(decoding: made.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    var url: String { "redis://127.0.0.1:\(port)" }

    func storage(_ url: String? = nil, _ tls: TLSSettings = TLSSettings()) throws -> RedisStorage {
        try .test(url ?? self.url, tls)
    }

    /// `nil` when the server has ended, because a port is taken.
    private static func started(_ options: [String], _ socket: String) async throws -> pid_t? {
        unlink(socket)
        let process = try Spawn.background(["redis-server"] + options)
        for _ in 0..<24_000 {
            // The socket is the last one that it listens at.
            if access(socket, F_OK) == 0 { return process }
            if waitpid(process, nil, WNOHANG) == process { return nil }
            try await Task.sleep(for: .milliseconds(5))
        }
        kill(process, SIGKILL)
        return nil
    }
}

extension RedisStorage {
    /// A storage whose limits no test meets unless it wants to.
    static func test(
        _ url: String, _ tls: TLSSettings = TLSSettings(), maxBytes: Int = 16 << 20, connectSeconds: Double = 30,
        timeout: Double = 30
    ) throws -> RedisStorage {
        RedisStorage(
            try RemoteURL(url), tls: tls, maxBytes: maxBytes, connectSeconds: connectSeconds, timeout: timeout)
    }
}

/// The error of an operation; `nil` when it has none.
func failure<Value>(_ work: () async throws -> Value) async -> RemoteError? {
    do {
        _ = try await work()
        return nil
    } catch {
        return error as? RemoteError
    }
}

/// The end of an operation in words, for expectations about parts of them.
func complaint<Value>(_ work: () async throws -> Value) async -> String { await failure(work).map { "\($0)" } ?? "" }
