import Foundation
import TestSupport
import Testing

@testable import Caching
@testable import DownloadRecording
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Requests that are no GET.
@Suite struct RequestMethodTests {
    private let engine: TestEngine
    private let picture = hollowPNG(width: 7, count: 400)

    init() throws { engine = try TestEngine { $0.downloader.proxy = .none } }

    private func pictures() throws -> LocalServer {
        let picture = picture
        return try LocalServer { _ in .reply(200, ["ETag": "\"1\"", "Accept-Ranges": "bytes"], picture) }
    }

    @Test func methodAndBodyAreSentAsTheyAre() async throws {
        let server = try pictures()
        defer { server.stop() }
        let long = (0..<RequestContent.bodyLimit).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for (number, body) in [nil, [], [0, 0xFF, 0x0A], long].enumerated() {
            for method in [RequestMethod.post, .put] {
                let result = try await engine.image(server.url("/\(method.rawValue)\(number)")) {
                    $0.network.request.method = method
                    $0.network.request.body = body
                }
                #expect(result.record.key.key == server.url("/\(method.rawValue)\(number)"), "the key is the URL")
                let sent = try #require(server.requests.last)
                #expect(sent.method == method.rawValue && sent.body == body ?? [])
                #expect(sent.headers["content-length"] == "\(body?.count ?? 0)")
                #expect(sent.headers["content-type"] == nil && sent.headers["expect"] == nil, "nothing is made up")
            }
        }
        _ = try await engine.image(server.url("/typed")) {
            $0.network.request.method = .post
            $0.network.request.body = Array("{}".utf8)
            $0.network.request.headers = [
                "Content-Type": "application/json", "Content-Length": "1", "Transfer-Encoding": "chunked",
            ]
        }
        let sent = try #require(server.requests.last)
        #expect(sent.headers["content-type"] == "application/json" && sent.body == Array("{}".utf8))
        #expect(sent.headers["transfer-encoding"] == nil && sent.headers["content-length"] == "2")
        _ = try await engine.image(server.url("/plain"))
        #expect(server.requests.last?.method == "GET")
    }

    @Test func requestsWithAnotherMethodOrBodyShareNoDownload() async throws {
        let (gate, picture) = (Gate(), picture)
        let server = try LocalServer { _ in Script.empty.waiting(for: gate).followed(by: .reply(200, [:], picture)) }
        defer { server.stop() }
        let loads: [(RequestMethod, [UInt8]?)] = [
            (.get, nil), (.post, nil), (.post, [1]), (.post, [2]), (.put, [1]), (.post, [1]), (.put, [1]),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (method, body) in loads {
                group.addTask {
                    _ = try await engine.image(server.url("/a"), bytes: true) {
                        ($0.network.request.method, $0.network.request.body, $0.lookup.forceRefresh) = (
                            method, body, true
                        )
                    }
                }
            }
            // Four of them are for one host at a time.
            try await eventually { server.requests.count == 4 && engine.manager.statistics.merged == 2 }
            gate.open()
            try await group.waitForAll()
        }
        #expect(server.requests.count == 5)
    }

    static let redirects: [(status: Int, method: RequestMethod, next: RequestMethod)] = [
        (301, .post, .get), (302, .post, .get), (303, .post, .get), (307, .post, .post), (308, .post, .post),
        (301, .put, .put), (302, .put, .put), (303, .put, .get), (307, .put, .put), (308, .put, .put),
    ]

    /// RFC 9110, 15.4.
    @Test(arguments: redirects.indices)
    func aRedirectKeepsTheMethodAsItsStatusSays(index: Int) async throws {
        let (status, method, next) = Self.redirects[index]
        let picture = picture
        let server = try LocalServer { request in
            request.path == "/a" ? .redirect(to: "/b", status: status) : .reply(200, [:], picture)
        }
        defer { server.stop() }
        _ = try await engine.image(server.url("/a")) {
            $0.network.request.method = method
            $0.network.request.body = [1, 2]
            $0.network.request.headers = ["Content-Type": "a/b", "X-Own": "c"]
        }
        let sent = try #require(server.requests.last)
        #expect(sent.path == "/b" && sent.method == next.rawValue && sent.headers["x-own"] == "c")
        #expect(sent.body == (next == .get ? [] : [1, 2]))
        #expect(sent.headers["content-type"] == (next == .get ? nil : "a/b"))
    }

    @Test func aFormThatLeadsBackToItsPageIsNoCircle() async throws {
        let picture = picture
        let server = try LocalServer { request in
            request.method == "POST" ? .redirect(to: "/a", status: 303) : .reply(200, [:], picture)
        }
        defer { server.stop() }
        _ = try await engine.image(server.url("/a")) {
            ($0.network.request.method, $0.network.request.body) = (.post, [1])
        }
        #expect(server.requests.map(\.method) == ["POST", "GET"])
    }

    @Test func aBodyStaysWithItsOrigin() async throws {
        let other = try pictures()
        defer { other.stop() }
        for status in [307, 308, 303] {
            let server = try LocalServer { _ in .redirect(to: other.url("/b"), status: status) }
            defer { server.stop() }
            let error = try await engine.failure(server.url("/a")) {
                ($0.network.request.method, $0.network.request.body) = (.post, [1])
            }
            #expect(error?.name == (status == 303 ? nil : "forbiddenAddress"), "\(status)")
        }
        #expect(other.requests.map(\.method) == ["GET"])
    }

    @Test func alternativesAndStandInsAreLoadedByGet() async throws {
        let picture = picture
        let server = try LocalServer { request in
            ["/a", "/d"].contains(request.path) ? .reply(500, [:], []) : .reply(200, [:], picture)
        }
        defer { server.stop() }
        _ = try await engine.image(server.url("/a")) {
            ($0.network.request.method, $0.network.request.body) = (.post, [1])
            $0.network.alternativeSources = [server.url("/b")]
        }
        _ = try await engine.image(server.url("/a"), key: "other") {
            ($0.network.request.method, $0.network.request.body) = (.post, [1])
            $0.network.onFailureImage = server.url("/c")
        }
        #expect(server.requests.map { $0.method + $0.path } == ["POST/a", "GET/b", "POST/a", "GET/c"])
        let error = try await engine.failure(server.url("/d")) {
            ($0.network.request.method, $0.network.request.body) = (.post, [1])
            $0.network.onFailureImage = server.url("/d")
        }
        #expect(error != nil)
        #expect(server.requests.suffix(2).map { $0.method + $0.path } == ["POST/d", "GET/d"], "of the same URL too")
        #expect(server.requests.allSatisfy { $0.body.isEmpty == ($0.method == "GET") })
    }

    /// RFC 9110, 9.2.2: what may have been done is not done again, unless the request says so.
    @Test func itIsOnlySentAgainWhereTheRequestSaysSo() async throws {
        let picture = picture
        let server = try LocalServer { request in
            // The connection is kept, and breaks when the next request has come.
            request.path == "/good" ? .reply(200, [:], picture) : Script.empty.closing()
        }
        defer { server.stop() }
        for retries in [0, 2] {
            _ = try await engine.image(server.url("/good")) { $0.lookup.forceRefresh = true }
            let before = server.requests.count
            let error = try await engine.failure(server.url("/bad")) {
                $0.network.request.method = .post
                $0.network.retry = RetryStrategy(maxRetries: retries, interval: .seconds(0))
            }
            #expect(error?.name == "connectionFailed" && server.requests.count - before == 1 + retries)
        }
    }

    @Test func nothingIsConfirmedOrGoneOnWithByAPost() async throws {
        let large = hollowPNG(width: 7, count: 300_000)
        let headers = ["ETag": "\"1\"", "Accept-Ranges": "bytes"]
        let server = try LocalServer { request in
            request.headers["x-cut"] == nil
                ? .reply(200, headers, large)
                : Script.head(200, headers, length: large.count).raw(Array(large.prefix(200_000))).closing()
        }
        defer { server.stop() }
        func load(_ change: (inout ImageOptions) -> Void) async throws -> ImageError? {
            try await engine.failure(server.url("/a")) {
                $0.network.request.method = .post
                $0.lookup.revalidate = .always
                change(&$0)
            }
        }
        #expect(try await load { $0.network.request.headers = ["X-Cut": "1"] }?.name == "connectionFailed")
        #expect(try await load { _ in } == nil)
        #expect(try await load { _ in } == nil, "stored, and asked for anew")
        #expect(server.requests.count == 3)
        #expect(server.requests.allSatisfy { $0.headers["range"] == nil && $0.headers["if-none-match"] == nil })
        _ = try await engine.manager.probe(
            Resource(url: server.url("/b")), in: engine.cache,
            options: ImageOptions { $0.network.request.method = .post })
        #expect(server.requests.last?.headers["range"] == nil && server.requests.last?.method == "POST")
    }

    @Test(arguments: ["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""])
    func aChallengeIsAnsweredWithTheSameRequest(_ challenge: String) async throws {
        let picture = picture
        let isDigest = challenge.hasPrefix("Digest")
        let server = try LocalServer { request in
            let sent = request.headers["authorization"] ?? ""
            guard sent.hasPrefix(isDigest ? "Digest" : "Basic") else {
                return .reply(401, ["WWW-Authenticate": challenge], [])
            }
            guard isDigest else { return .reply(200, [:], picture) }
            func part(_ name: String) -> String {
                sent.components(separatedBy: name + "=\"").dropFirst().first?.components(separatedBy: "\"")[0] ?? ""
            }
            let inner =
                Digest(md5Of: "u:r:p").hex + ":n:00000001:\(part("cnonce")):auth:" + Digest(md5Of: "POST:/a").hex
            return Digest(md5Of: inner).hex == part("response") ? .reply(200, [:], picture) : .reply(403, [:], [])
        }
        defer { server.stop() }
        let result = try await engine.image(server.url("/a")) {
            ($0.network.request.method, $0.network.request.body) = (.post, [1, 2, 3])
            $0.network.request.authorization = .basic(user: "u", password: "p")
        }
        #expect(result.record.header.width == 7)
        #expect(server.requests.last?.body == [1, 2, 3] && server.requests.last?.method == "POST")
    }

    @Test func aDelegateMaySayHowAndWhatIsSent() async throws {
        let server = try pictures()
        defer { server.stop() }
        let delegate = Modifier { draft in
            var draft = draft
            (draft.method, draft.body) = draft.method == .get ? (.put, [9]) : (.get, [9])
            return draft
        }
        for method in [RequestMethod.get, .post] {
            _ = try await engine.image(server.url("/\(method.rawValue)")) {
                $0.network.request.method = method
                $0.network.delegates = DownloadDelegates(delegate, questions: [.modifyRequest])
            }
        }
        #expect(server.requests.map(\.method) == ["PUT", "GET"] && server.requests.map(\.body) == [[9], []])
    }

    @Test func aRecordingTellsRequestsApart() async throws {
        let tape = engine.folder.path + "/tape"
        let picture = picture
        let server = try LocalServer { request in
            .reply(request.method == "POST" ? 200 : 404, [:], picture + request.body)
        }
        for use in [Tape.Use.record, .play] {
            let tape = try Tape(tape, use: use, now: 0)
            let engine = try TestEngine { $0.downloader.recorder = tape }
            for body in [[UInt8(1)], [2, 3]] {
                let bytes = try await engine.image(server.url("/a"), bytes: true) {
                    ($0.network.request.method, $0.network.request.body, $0.lookup.forceRefresh) = (.post, body, true)
                }.bytes
                #expect(bytes == picture + body)
            }
            #expect(
                try await engine.failure(server.url("/a")) { $0.lookup.forceRefresh = true }?.name
                    == "invalidStatusCode")
            server.stop()
        }
    }
}

private final class Modifier: DownloadDelegate {
    private let change: @Sendable (DownloadDraft) -> DownloadDraft

    init(_ change: @escaping @Sendable (DownloadDraft) -> DownloadDraft) { self.change = change }

    func modify(_ request: DownloadDraft) async throws -> DownloadDraft? { change(request) }
    func redirect(_ request: DownloadDraft, from url: String, status: Int) async throws -> DownloadDraft? { request }
    func accepts(status: Int, contentType: String?, url: String) async throws -> Bool? { nil }
    func answer(_ challenge: AuthenticationChallenge) async throws -> ChallengeAnswer { .useDefault }
}
