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

/// Bodies that broke off and are gone on with, also after a restart.
@Suite struct ResumeTests {
    private static let large = hollowPNG(width: 8, count: 1 << 20)
    private static let other = hollowPNG(width: 9, count: 1 << 20)
    private static let small = hollowPNG(width: 7, count: 200_000)
    private static let strong = ["ETag": "\"v1\"", "Accept-Ranges": "bytes"]

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A process of its own over the same folder.
    private func engine() throws -> TestEngine { try TestEngine(folder: folder) { $0.downloader.proxy = .none } }

    /// Whether nobody has a file of the folder locked.
    private func isFree(_ name: String) -> Bool {
        let descriptor = open(folder.path + "/" + name, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    private var parts: [String] { folder.files.filter { $0.contains("/resume/") } }

    /// The second half of a download, by what was asked for.
    private static func rest(
        of body: [UInt8], _ request: LocalServer.Request, _ headers: [String: String] = strong
    ) -> Script? {
        guard let range = request.headers["range"], range.hasPrefix("bytes="), range.hasSuffix("-"),
            let first = Int(range.dropFirst(6).dropLast()), first < body.count
        else { return nil }
        let field = ["Content-Range": "bytes \(first)-\(body.count - 1)/\(body.count)"]
        return .reply(206, headers.merging(field) { $1 }, Array(body[first...]))
    }

    /// Begins a download that breaks off after `count` bytes, and then asks again, in another process.
    private func resume(
        _ body: [UInt8], after count: Int, headers: [String: String] = strong,
        _ second: @escaping @Sendable (LocalServer.Request) -> Script
    ) async throws -> (bytes: [UInt8]?, error: ImageError?, requests: [LocalServer.Request]) {
        let number = Counter()
        let server = try LocalServer { request in
            number.add() == 1
                ? Script.head(200, headers, length: body.count).raw(Array(body[..<count])).closing() : second(request)
        }
        defer { server.stop() }
        let first = try engine()
        guard case .connectionFailed = try await first.failure(server.url("/a")) else {
            throw PatienceExhausted(description: "it did not break off")
        }
        first.manager.flush()
        let again = try engine()
        do {
            let result = try await again.image(server.url("/a"), bytes: true)
            return (result.bytes, nil, server.requests)
        } catch let error as ImageError {
            return (nil, error, server.requests)
        }
    }

    @Test(arguments: [true, false])
    func bodyThatBrokeOffIsGoneOnWithAfterARestart(_ isLarge: Bool) async throws {
        let body = isLarge ? Self.large : Self.small
        let count = isLarge ? 600_000 : 100_000
        let (bytes, _, requests) = try await resume(body, after: count) {
            Self.rest(of: body, $0) ?? .reply(500, [:], [])
        }
        #expect(bytes == body)
        #expect(requests.count == 2)
        #expect(requests[1].headers["range"] == "bytes=\(count)-" && requests[1].headers["if-range"] == "\"v1\"")
        #expect(parts.isEmpty, "nothing is left of it")
    }

    @Test(arguments: [true, false]) func clearingTheCacheForgetsIt(_ onDiskOnly: Bool) async throws {
        let server = try LocalServer { request in
            request.headers["range"] == nil
                ? Script.head(200, Self.strong, length: Self.small.count).raw(Array(Self.small[..<100_000])).closing()
                : .reply(500, [:], [])
        }
        defer { server.stop() }
        let engine = try engine()
        _ = try await engine.failure(server.url("/a"))
        #expect(!parts.isEmpty)
        _ = try onDiskOnly ? engine.cache.clearDisk() : engine.cache.clear()
        #expect(parts.isEmpty)
        _ = try await engine.failure(server.url("/a"))
        #expect(server.requests.count == 2 && server.requests.allSatisfy { $0.headers["range"] == nil })
    }

    @Test func dateOfTheLastChangeWillDoWhenItIsStrong() async throws {
        let headers = [
            "Accept-Ranges": "bytes", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
            "Date": "Sun, 06 Nov 1994 08:49:38 GMT",
        ]
        let (bytes, _, requests) = try await resume(Self.large, after: 600_000, headers: headers) {
            Self.rest(of: Self.large, $0, headers) ?? .reply(500, [:], [])
        }
        #expect(bytes == Self.large)
        #expect(requests[1].headers["if-range"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test func anotherVersionBeginsAnewAndIsNeverSpliced() async throws {
        let (bytes, _, requests) = try await resume(Self.large, after: 600_000) { _ in
            .reply(200, ["ETag": "\"v2\"", "Accept-Ranges": "bytes"], Self.other)
        }
        #expect(bytes == Self.other && requests.count == 2)
    }

    @Test(
        arguments: [
            ["Content-Range": "bytes 0-448575/1048576"], ["Content-Range": "bytes 600000-1048575/1048577"],
            ["Content-Range": "bytes 600000-1048574/1048576"],
            ["Content-Range": "bytes 600000-1048575/1048576", "ETag": "\"v2\""],
            // Another version of the same length, or the same: without a tag nobody knows (RFC 9110, 15.3.7).
            ["Content-Range": "bytes 600000-1048575/1048576"],
            ["Content-Type": "multipart/byteranges"], ["Content-Range": "pages 1-2/3"],
        ] as [[String: String]])
    func answerThatIsNotTheRestIsAskedForWhole(_ headers: [String: String]) async throws {
        let (bytes, _, requests) = try await resume(Self.large, after: 600_000) { request in
            request.headers["range"] == nil
                ? .reply(200, Self.strong, Self.large) : .reply(206, headers, Array(Self.large[600_000...]))
        }
        #expect(bytes == Self.large)
        #expect(requests.map { $0.headers["range"] } == [nil, "bytes=600000-", nil])
    }

    @Test func rangeThatCannotBeSatisfiedBeginsAnewOnce() async throws {
        let (bytes, _, requests) = try await resume(Self.large, after: 600_000) { request in
            request.headers["range"] == nil
                ? .reply(200, Self.strong, Self.other) : .reply(416, ["Content-Range": "bytes */10"], [])
        }
        #expect(bytes == Self.other && requests.count == 3)
    }

    /// Some servers know no ranges, and say so in words of their own: what was kept must not make the image unloadable.
    @Test(arguments: [304, 400, 403, 404, 405, 412, 500, 501])
    func rangeThatIsRefusedInAnyWayIsAskedForWhole(_ status: Int) async throws {
        let (bytes, _, requests) = try await resume(Self.large, after: 600_000) { request in
            let refusal = status == 304 ? [] : ascii("no")
            return request.headers["range"] == nil
                ? .reply(200, Self.strong, Self.other) : .reply(status, [:], refusal)
        }
        #expect(bytes == Self.other)
        #expect(requests.map { $0.headers["range"] } == [nil, "bytes=600000-", nil])
        #expect(parts.isEmpty)
    }

    @Test(arguments: [401, 408, 425, 429, 502, 504])
    func troubleThatPassesOrCredentialsThatLackLeaveWhatWasBegun(_ status: Int) async throws {
        let (_, error, requests) = try await resume(Self.large, after: 600_000) { _ in .reply(status, [:], []) }
        #expect(error?.first == .invalidStatusCode(status, url: error.flatMap(Self.url) ?? ""))
        #expect(requests.count == 2 && parts.count == 2, "the body and its note")
    }

    @Test func failureOfAnotherKindLeavesWhatWasBegun() async throws {
        let (_, error, _) = try await resume(Self.large, after: 600_000) { _ in .reply(503, [:], ascii("busy")) }
        #expect(error?.first == .invalidStatusCode(503, url: error.flatMap(Self.url) ?? ""))
        #expect(parts.count == 2, "the body and its note")
    }

    private static func url(_ error: ImageError) -> String? {
        if case .invalidStatusCode(_, let url, _) = error.first { url } else { nil }
    }

    @Test func bodyIsPiecedTogetherOverManyInterruptions() async throws {
        let body = Self.large
        let server = try LocalServer { request in
            guard let range = request.headers["range"], let first = Int(range.dropFirst(6).dropLast()) else {
                return Script.head(200, Self.strong, length: body.count).raw(Array(body[..<300_000])).closing()
            }
            let field = ["Content-Range": "bytes \(first)-\(body.count - 1)/\(body.count)"]
            let end = min(first + 300_000, body.count)
            let script = Script.head(206, Self.strong.merging(field) { $1 }, length: body.count - first)
                .raw(Array(body[first..<end]))
            return end < body.count ? script.closing() : script
        }
        defer { server.stop() }
        let result = try await engine().image(server.url("/a"), bytes: true) {
            $0.network.retry = RetryStrategy(maxRetries: 5, interval: .seconds(0))
        }
        #expect(result.bytes == body)
        #expect(result.record.checksum == body.withUnsafeBytes { Digest(of: $0) }, "of all of it")
        #expect(
            server.requests.map { $0.headers["range"] } == [nil, "bytes=300000-", "bytes=600000-", "bytes=900000-"])
    }

    @Test(
        arguments: [
            (600_000, ["ETag": "W/\"v1\"", "Accept-Ranges": "bytes"]), (600_000, ["ETag": "\"v1\""]),
            (600_000, ["ETag": "\"v1\"", "Accept-Ranges": "none"]), (600_000, ["Accept-Ranges": "bytes"]),
            (
                600_000,
                [
                    "Accept-Ranges": "bytes", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                    "Date": "Sun, 06 Nov 1994 08:49:37 GMT",
                ]
            ), (60_000, strong),
        ] as [(Int, [String: String])])
    func whatCannotBeGoneOnWithSafelyIsNotKept(_ count: Int, _ headers: [String: String]) async throws {
        let (bytes, _, requests) = try await resume(Self.large, after: count, headers: headers) { _ in
            .reply(200, [:], Self.large)
        }
        #expect(bytes == Self.large)
        #expect(requests[1].headers["range"] == nil)
        #expect(parts.isEmpty)
    }

    @Test func nobodyGetsTheBeginningOfWhatWasFetchedWithOtherCredentials() async throws {
        let server = try LocalServer { _ in
            Script.head(200, Self.strong, length: Self.large.count).raw(Array(Self.large[..<600_000])).closing()
        }
        defer { server.stop() }
        let engine = try engine()
        for token in ["one", "two"] {
            _ = try await engine.failure(server.url("/a")) { $0.network.request.authorization = .bearer(token) }
        }
        _ = try await engine.failure(server.url("/a")) { $0.network.request.headers = ["Range": "bytes=5-"] }
        #expect(server.requests.map { $0.headers["range"] } == [nil, nil, "bytes=5-"])
    }

    /// What the configuration logs in with counts as well, though the requests are the same.
    @Test func nobodyGoesOnWithWhatWasBegunWithOtherCredentialsOfTheConfiguration() async throws {
        let server = try LocalServer { request in
            Self.rest(of: Self.large, request)
                ?? Script.head(200, Self.strong, length: Self.large.count).raw(Array(Self.large[..<600_000])).closing()
        }
        defer { server.stop() }
        func engine(_ user: String?) throws -> TestEngine {
            let place = folder.path + "/netrc-\(user ?? "")"
            overwrite(place, Array("machine 127.0.0.1 login \(user ?? "") password pw\n".utf8))
            return try TestEngine(folder: folder) {
                $0.downloader.proxy = .none
                if user != nil { $0.downloader.netrc = place }
            }
        }
        for user in ["ann", nil, "bob"] {
            let engine = try engine(user)
            guard case .connectionFailed = try await engine.failure(server.url("/a")) else {
                Issue.record("\(user ?? "nobody") went on with it")
                return
            }
            engine.manager.flush()
        }
        #expect(server.requests.allSatisfy { $0.headers["range"] == nil })
        #expect(try await engine("bob").image(server.url("/a"), bytes: true).bytes == Self.large, "with its own")
        #expect(server.requests.last?.headers["range"] == "bytes=600000-")
    }

    /// The credentials of the host that it is redirected to.
    @Test func whatWasBegunBehindARedirectIsGoneOnWithByTheSameUser() async throws {
        let target = try LocalServer(host: 2) { request in
            Self.rest(of: Self.large, request)
                ?? Script.head(200, Self.strong, length: Self.large.count).raw(Array(Self.large[..<600_000])).closing()
        }
        defer { target.stop() }
        let server = try LocalServer { [url = target.url("/b")] _ in .reply(302, ["Location": url], []) }
        defer { server.stop() }
        func engine(_ token: String) throws -> TestEngine {
            var rule = HostRule(hosts: ["127.0.0.2"])
            rule.authorization = .bearer(token)
            return try TestEngine(folder: folder) {
                $0.downloader.proxy = .none
                $0.downloader.rules.hosts = [rule]
            }
        }
        for token in ["one", "two", "two"] { _ = try? await engine(token).image(server.url("/a")) }
        #expect(target.requests.map { $0.headers["range"] } == [nil, nil, "bytes=600000-"])
        #expect(target.requests.map { $0.headers["authorization"] } == ["Bearer one", "Bearer two", "Bearer two"])
    }

    @Test func whatWasBegunStaysWhenItIsCancelledBeforeTheServerHasAnswered() async throws {
        let number = Counter()
        let gate = Gate()
        defer { gate.open() }
        let server = try LocalServer { request in
            switch number.add() {
            case 1:
                Script.head(200, Self.strong, length: Self.large.count).raw(Array(Self.large[..<600_000])).closing()
            case 2: Script.empty.waiting(for: gate)
            default: Self.rest(of: Self.large, request) ?? .reply(500, [:], [])
            }
        }
        defer { server.stop() }
        let engine = try engine()
        guard case .connectionFailed = try await engine.failure(server.url("/a")) else {
            Issue.record("it did not break off")
            return
        }
        let caller = Task { try await engine.image(server.url("/a")) }
        try await eventually("it asks for the rest") { server.requests.count == 2 }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        try await eventually("the server notices") { server.droppedCount == 1 }
        // A little later than the connection.
        try await eventually("the file is let go") { parts.filter { !$0.hasSuffix(".note") }.allSatisfy(isFree) }
        #expect(try await engine.image(server.url("/a"), bytes: true).bytes == Self.large)
        #expect(server.requests.map { $0.headers["range"] } == [nil, "bytes=600000-", "bytes=600000-"])
    }

    @Test func progressCountsWhatWasThereBefore() async throws {
        let server = try LocalServer { request in
            Self.rest(of: Self.large, request)
                ?? Script.head(200, Self.strong, length: Self.large.count).raw(Array(Self.large[..<600_000])).closing()
        }
        defer { server.stop() }
        _ = try await engine().failure(server.url("/a"))
        let least = Least()
        _ = try await engine().image(server.url("/a"), report: { least.note($0) })
        #expect(least.received.map { $0 > 600_000 } == true && least.total == Self.large.count)
    }

    private final class Least: Sendable {
        private let seen = Gathered<DownloadProgress>()
        func note(_ progress: DownloadProgress) { seen.add(progress) }
        var received: Int? { seen.all.map(\.received).min() }
        var total: Int? { seen.all.first?.total }
    }
}
