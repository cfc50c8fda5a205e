import TestSupport
import Testing

@testable import ImageEngine

/// Redirects: how far, whereto, and with which credentials (E2-33).
@Suite struct RedirectTests {
    private let engine: TestEngine
    private let picture = hollowPNG(width: 7)

    init() throws { engine = try TestEngine() }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectIsFollowedAndTheFinalURLIsRecorded(_ status: Int) async throws {
        let server = try LocalServer(routes: [
            "/a": .redirect(to: "/b", status: status), "/b": .redirect(to: "c?x=1", status: status),
            "/c": .reply(200, [:], picture),
        ])
        defer { server.stop() }
        let result = try await engine.image(server.url("/a"))
        #expect(result.record.url == server.url("/c?x=1"))
        #expect(result.record.key == CacheKey(server.url("/a")), "cached under what was asked for")
        #expect(server.requests.map(\.path) == ["/a", "/b", "/c?x=1"])
    }

    @Test func moreRedirectsThanAllowedAreRefused() async throws {
        let server = try LocalServer { [picture] request in
            guard let number = Int(request.path.dropFirst()), number > 0 else { return .reply(200, [:], picture) }
            return .redirect(to: "/\(number - 1)")
        }
        defer { server.stop() }
        for (redirects, most, isAllowed) in [(3, 3, true), (4, 3, false), (1, 0, false), (0, 0, true)] {
            let error = try await engine.failure(server.url("/\(redirects)")) {
                $0.maxRedirects = most
                $0.forceRefresh = true
            }
            if isAllowed {
                #expect(error == nil)
            } else if case .limitExceeded("maxRedirects", _, _) = error {
            } else {
                Issue.record("\(redirects) of \(most): \(String(describing: error))")
            }
        }
    }

    @Test func redirectLoopEnds() async throws {
        let server = try LocalServer { _ in .redirect(to: "/a") }
        defer { server.stop() }
        guard case .limitExceeded("maxRedirects", _, _) = try await engine.failure(server.url("/a")) else {
            Issue.record("the loop was not noticed")
            return
        }
        #expect(server.requests.count == 11)
    }

    @Test(arguments: [
        "file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/a", "data:image/png;base64,AAAA", "javascript:1",
    ])
    func redirectToAnotherSchemeIsRefused(_ target: String) async throws {
        let server = try LocalServer { _ in .redirect(to: target) }
        defer { server.stop() }
        guard case .invalidURL = try await engine.failure(server.url("/a")) else {
            Issue.record("\(target) was followed")
            return
        }
        #expect(engine.blobs.isEmpty)
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func credentialsAreNotSentToAnotherServer(_ host: String) async throws {
        let other = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { other.stop() }
        let first = try LocalServer { _ in .redirect(to: "http://\(host):\(other.port)/b") }
        defer { first.stop() }
        let changes: [(inout ImageOptions) -> Void] = [
            { $0.authorization = .basic(user: "me", password: "secret") }, { $0.authorization = .bearer("secret") },
            { $0.headers = ["Authorization": "Bearer secret", "Cookie": "session=secret"] },
        ]
        for change in changes {
            _ = try await engine.image(first.url("/a")) {
                change(&$0)
                $0.forceRefresh = true
            }
        }
        #expect(first.requests.count == 3 && other.requests.count == 3)
        #expect(first.requests.allSatisfy { $0.headers["authorization"] != nil })
        for request in other.requests {
            #expect(request.headers["authorization"] == nil)
            #expect(request.headers["cookie"] == nil)
        }
    }

    @Test func credentialsStayWithTheirServerOverARedirect() async throws {
        let server = try LocalServer(routes: ["/a": .redirect(to: "/b"), "/b": .reply(200, [:], picture)])
        defer { server.stop() }
        _ = try await engine.image(server.url("/a")) { $0.authorization = .bearer("token") }
        #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer token", "Bearer token"])
    }
}
