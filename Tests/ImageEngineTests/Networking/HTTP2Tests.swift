import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// HTTP/2 where a server offers it, and what hostile servers do with it.
@Suite struct HTTP2Tests {
    private let folder: TemporaryFolder
    private let certificate: TestCertificate
    private let picture = hollowPNG(width: 7, count: 40_000)

    init() throws {
        folder = try TemporaryFolder()
        certificate = try TestCertificate("DNS:localhost", in: folder, called: "server")
    }

    private func engine(_ change: (inout ImageDownloader.Configuration) -> Void = { _ in }) throws -> TestEngine {
        try TestEngine {
            $0.downloader.proxy = .none
            $0.downloader.tls.caFile = certificate.certificate
            change(&$0.downloader)
        }
    }

    private func reports(of engine: TestEngine) -> Gathered<DownloadReport> {
        let reports = Gathered<DownloadReport>()
        engine.manager.downloader.onFinish { reports.add($0) }
        return reports
    }

    @Test func manyDownloadsShareOneConnection() async throws {
        let server = try await HTTP2Server(certificate, picture: picture, in: folder)
        defer { server.stop() }
        let engine = try engine { $0.maxDownloadsPerHost = 16 }
        let reports = reports(of: engine)
        try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            for number in 0..<40 {
                group.addTask { try await engine.image(server.url("good", "/\(number)"), bytes: true).bytes }
            }
            for try await bytes in group { #expect(bytes == picture) }
        }
        #expect(reports.all.count == 40 && reports.all.allSatisfy { $0.httpVersion == "2" && $0.status == 200 })
        #expect(reports.all.count { !$0.isReused } == 1, "one connection for all")
    }

    /// RFC 9113, 6.8: what the server has not looked at is asked for over another connection.
    @Test func connectionThatTakesNoMoreRequestsIsNoFailure() async throws {
        let server = try await HTTP2Server(certificate, picture: picture, in: folder)
        defer { server.stop() }
        let engine = try engine()
        for number in 0..<4 {
            #expect(try await engine.image(server.url("drained", "/\(number)"), bytes: true).bytes == picture)
        }
        // One that takes none at all is not asked for ever.
        let failures = await withTaskGroup(of: String?.self) { group in
            for number in 0..<12 {
                group.addTask { try? await engine.failure(server.url("takes-nothing", "/\(number)"))?.name }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(failures == Array(repeating: "connectionFailed", count: 12))
    }

    /// As servers do at the limit of what they take over one connection: those that were on their way are asked for again.
    @Test(arguments: ["drained-and-closed", "drained-vaguely", "closed-after"])
    func connectionThatClosesAfterEachAnswerIsNoFailure(_ way: String) async throws {
        let server = try await HTTP2Server(certificate, picture: picture, in: folder)
        defer { server.stop() }
        let engine = try engine { $0.maxDownloadsPerHost = 12 }
        try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            for number in 0..<48 {
                group.addTask {
                    try await engine.image(server.url(way, "/\(number)"), bytes: true).bytes
                }
            }
            for try await bytes in group { #expect(bytes == picture) }
        }
    }

    static let ways: [(way: String, errors: Set<String>)] = [
        ("unsaid", []), ("short", ["connectionFailed"]), ("long", ["connectionFailed", "badData"]),
        ("lengths", ["connectionFailed"]), ("reset", ["connectionFailed"]), ("unsaid-reset", ["connectionFailed"]),
        ("goaway", ["connectionFailed"]), ("closed", ["connectionFailed"]), ("garbage", ["connectionFailed"]),
        ("unsaid-closed", ["connectionFailed"]),
        ("unsaid-goaway", ["connectionFailed"]),
        ("refused", ["connectionFailed"]), ("nothing", ["badData"]), ("no-status", ["connectionFailed"]),
        ("bad-status", ["connectionFailed"]), ("capitals", ["connectionFailed"]), ("line-ends", ["connectionFailed"]),
        ("promise", ["connectionFailed"]), ("wrong-stream", ["connectionFailed"]),
        ("table", ["connectionFailed", "limitExceeded"]), ("continued", ["connectionFailed", "limitExceeded"]),
        ("empty-continued", ["connectionFailed", "timedOut"]), ("too-large", ["connectionFailed", "badData"]),
        ("endless", ["limitExceeded"]), ("empty-data", []),
        ("older", ["connectionFailed"]), ("older-at-once", []), ("pings", []), ("settings", []),
        ("early-hints", ["connectionFailed", "limitExceeded"]),
    ]

    @Test func everyHostileAnswerGetsItsErrorAndGoodOnesAreRightBesideIt() async throws {
        let server = try await HTTP2Server(certificate, picture: picture, in: folder)
        defer { server.stop() }
        let engine = try engine()
        for (way, errors) in Self.ways {
            let error = try await engine.failure(server.url(way, "/a")) {
                $0.network.limits.maxBytes = 1 << 20
                // On a busy machine two seconds may pass between two packets.
                $0.network.limits.timeout = errors.contains("timedOut") ? 2 : 60
            }
            let isExpected = errors.isEmpty ? error == nil : errors.contains(error?.name ?? "")
            #expect(isExpected, "\(way): \(String(describing: error))")
            let found = try engine.cache.cacheType(for: CacheKey(server.url(way, "/a")), burst: 0, mayWait: true).value
            #expect((found == nil) == (error != nil), "\(way)")
            #expect(try await engine.image(server.url("good", "/" + way), bytes: true).bytes == picture)
        }
        try await eventually("no part is left") { engine.partials.isEmpty }
        let reset = try await engine.failure(server.url("reset", "/b"))
        // libcurl knows what it said only if that came with the body.
        let told = ["CANCEL", "before the end of the body"].contains { reset?.description.contains($0) == true }
        #expect(told, "\(reset as Any)")
    }

    /// libcurl reads on as long as there are frames, and all transfers share its thread.
    @Test(arguments: ["unknown-frames", "empty-frames"])
    func framesThatSayNothingHoldUpNothing(_ way: String) async throws {
        let server = try await HTTP2Server(certificate, picture: picture, in: folder)
        defer { server.stop() }
        let engine = try engine()
        // Nothing but the end of the flood ends it.
        async let flooded = engine.failure(server.url(way, "/a")) { $0.network.limits.timeout = 3600 }
        for number in 0..<4 {
            #expect(try await engine.image(server.url("good", "/\(number)"), bytes: true).bytes == picture)
        }
        let error = try await flooded
        #expect(
            error?.name == "connectionFailed" && error?.description.contains("without content") == true,
            "\(error as Any)")
        #expect(try await engine.image(server.url("good", "/after"), bytes: true).bytes == picture)
    }

    private static let nginx = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.enabled(if: nginx != nil, "nginx is not installed"))
    func nginxServesLargeAndSmallOverOneConnection() async throws {
        let large = hollowPNG(width: 8, count: 3 << 20)
        for (name, bytes) in [("large", large), ("small", picture)] {
            try Data(bytes).write(to: URL(fileURLWithPath: folder.path + "/" + name))
        }
        // A port that was free a moment ago.
        let placeholder = try LocalServer { _ in .empty }
        let port = placeholder.port
        placeholder.stop()
        try """
        daemon off; master_process off; pid \(folder.path)/pid; error_log \(folder.path)/error.log;
        events { worker_connections 64; }
        http {
            access_log off; client_body_temp_path \(folder.path)/body; proxy_temp_path \(folder.path)/proxy;
            fastcgi_temp_path \(folder.path)/fastcgi; uwsgi_temp_path \(folder.path)/uwsgi;
            scgi_temp_path \(folder.path)/scgi;
            server {
                listen 127.0.0.1:\(port) ssl http2; root \(folder.path);
                ssl_certificate \(certificate.certificate); ssl_certificate_key \(certificate.key);
            }
        }
        """.write(toFile: folder.path + "/nginx.conf", atomically: true, encoding: .utf8)
        let process = try Spawn.background(
            [Self.nginx ?? "", "-e", folder.path + "/error.log", "-c", folder.path + "/nginx.conf"])
        defer {
            kill(process, SIGKILL)
            _ = Spawn.wait(for: process)
        }
        let engine = try engine { $0.maxDownloadsPerHost = 8 }
        let base = "https://localhost:\(port)"
        try await eventually("it listens") { try await engine.failure(base + "/small?first") == nil }
        let reports = reports(of: engine)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask { [picture] in
                    let isLarge = number % 4 == 0
                    let url = base + (isLarge ? "/large" : "/small") + "?\(number)"
                    return try await engine.image(url, bytes: true).bytes == (isLarge ? large : picture)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(reports.all.count == 16 && reports.all.allSatisfy { $0.httpVersion == "2" })
        // One more than the connection of the first request when that one was closed as idle on a slow machine.
        #expect(reports.all.count { !$0.isReused } <= 1)
    }
}
