import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Redirects: how far, whereto, and with which credentials.
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
                $0.network.limits.maxRedirects = most
                $0.lookup.forceRefresh = true
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
        #expect(server.requests.count == 1, "the same request would get the same answer")
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
            { $0.network.request.authorization = .basic(user: "me", password: "secret") },
            { $0.network.request.authorization = .bearer("secret") },
            { $0.network.request.headers = ["Authorization": "Bearer secret", "Cookie": "session=secret"] },
        ]
        for change in changes {
            _ = try await engine.image(first.url("/a")) {
                change(&$0)
                $0.lookup.forceRefresh = true
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
        _ = try await engine.image(server.url("/a")) { $0.network.request.authorization = .bearer("token") }
        #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer token", "Bearer token"])
    }
}

/// What a hostile redirect tries.
@Suite struct HostileRedirectTests {
    private let engine: TestEngine
    private let picture = hollowPNG(width: 7)

    init() throws { engine = try TestEngine() }

    /// RFC 3986, 4.4: it leads to where it is.
    @Test func aFragmentAloneIsACircle() async throws {
        let server = try LocalServer(routes: ["/a/b": .redirect(to: "#d"), "/": .reply(200, [:], picture)])
        defer { server.stop() }
        let error = try await engine.failure(server.url("/a/b?c"))
        guard case .limitExceeded("maxRedirects", _, _) = error else {
            Issue.record("it led elsewhere: \(String(describing: error))")
            return
        }
        #expect(server.requests.map(\.path) == ["/a/b?c"])
        let base = try WebURL("http://h/a/b?c")
        #expect(try base.following("?d", naming: "").text == "http://h/a/b?d")
        #expect(try base.following("e#f", naming: "").text == "http://h/a/e")
    }

    @Test func pairThatRedirectsToEachOtherIsACircle() async throws {
        let server = try LocalServer(routes: ["/a": .redirect(to: "/b"), "/b": .redirect(to: "/a")])
        defer { server.stop() }
        let error = try await engine.failure(server.url("/a"))
        guard case .limitExceeded("maxRedirects", let reason, _) = error else {
            Issue.record("the circle was not noticed: \(String(describing: error))")
            return
        }
        #expect(reason.contains("circle"))
        #expect(error?.description.contains("raise") == false, "no limit would help")
        #expect(server.requests.map(\.path) == ["/a", "/b"])
    }

    @Test func everyHeaderButHarmlessOnesStaysWithItsOrigin() async throws {
        let other = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { other.stop() }
        let first = try LocalServer(routes: ["/a": .redirect(to: "/b"), "/b": .redirect(to: other.url("/c"))])
        defer { first.stop() }
        _ = try await engine.image(first.url("/a")) {
            $0.network.request.headers = [
                "X-Api-Key": "secret", "Cookie": "secret", "Proxy-Authorization": "secret", "Accept-Language": "de",
                "User-Agent": "mine", "Referer": "http://page.example/", "X-Trace": "1",
            ]
        }
        #expect(first.requests.allSatisfy { $0.headers["x-api-key"] == "secret" && $0.headers["cookie"] == "secret" })
        let sent = try #require(other.requests.first?.headers)
        for name in ["x-api-key", "cookie", "proxy-authorization", "x-trace"] { #expect(sent[name] == nil, "\(name)") }
        #expect(sent["accept-language"] == "de" && sent["user-agent"] == "mine")
        #expect(sent["referer"] == "http://page.example/")
    }

    @Test func credentialsInALocationAreNotUsed() async throws {
        let server = try LocalServer { [picture] request in
            request.path == "/a"
                ? .redirect(to: "http://eve:evil@\(request.headers["host"] ?? "")/b") : .reply(200, [:], picture)
        }
        defer { server.stop() }
        let result = try await engine.image(server.url("/a"))
        #expect(server.requests.last?.headers["authorization"] == nil)
        #expect(result.record.url == server.url("/b"), "nor do they stand in the final URL")
    }

    @Test func credentialsInTheURLStayWithItsOrigin() async throws {
        let other = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { other.stop() }
        let first = try LocalServer(routes: ["/a": .redirect(to: "/b"), "/b": .redirect(to: other.url("/c"))])
        defer { first.stop() }
        let result = try await engine.image("http://me:p%40ss@127.0.0.1:\(first.port)/a")
        #expect(first.requests.map { $0.headers["authorization"] } == ["Basic bWU6cEBzcw==", "Basic bWU6cEBzcw=="])
        #expect(other.requests.first?.headers["authorization"] == nil)
        #expect(result.record.url == other.url("/c"))
    }

    @Test(arguments: ["/b\u{1}c", "/b\rX-Evil: 1", "http://", "http://[::1", "//", "https://a b/"])
    func malformedLocationIsRefused(_ location: String) async throws {
        let server = try LocalServer { _ in
            Script.empty.raw("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
        }
        defer { server.stop() }
        let error = try await engine.failure(server.url("/a"))
        guard case .invalidURL = error else {
            Issue.record("\(location) was followed: \(String(describing: error))")
            return
        }
        #expect(server.requests.count == 1)
    }

    @Test func locationWithUnescapedLettersIsFollowed() async throws {
        let server = try LocalServer { [picture] request in
            request.path == "/a" ? .redirect(to: "/b\u{E9} c") : .reply(200, [:], picture)
        }
        defer { server.stop() }
        _ = try await engine.image(server.url("/a"))
        #expect(server.requests.last?.path == "/b%C3%A9%20c" || server.requests.last?.path == "/b%c3%a9%20c")
    }

    @Test func bodyOfARedirectIsNeitherKeptNorWaitedFor() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try LocalServer { [picture] request in
            request.path == "/a"
                ? Script.head(302, ["Location": "/b"], length: nil).raw(zeros(1000)).waiting(for: gate)
                : .reply(200, [:], picture)
        }
        defer { server.stop() }
        #expect(try await engine.image(server.url("/a")).record.header.width == 7)
    }

    @Test func delegateIsAskedAboutEachRedirect() async throws {
        let server = try LocalServer(routes: [
            "/a": .redirect(to: "/b", status: 301), "/b": .redirect(to: "/c"), "/d": .reply(200, [:], picture),
        ])
        defer { server.stop() }
        let delegate = TestDelegate()
        delegate.onRedirect { request, url, status in
            var request = request
            if url.hasSuffix("/b") {
                request.url = server.url("/d")
                request.headers["X-Mine"] = "1"
            }
            return request
        }
        _ = try await engine.image(server.url("/a")) {
            $0.network.delegates = DownloadDelegates(delegate, questions: [.redirect])
        }
        #expect(server.requests.map(\.path) == ["/a", "/b", "/d"])
        #expect(server.requests.last?.headers["x-mine"] == "1")
        #expect(delegate.asked == ["redirect 301 /a", "redirect 302 /b"])
        delegate.onRedirect { _, _, _ in nil }
        let error = try await engine.failure(server.url("/a")) {
            $0.network.delegates = DownloadDelegates(delegate, questions: [.redirect])
            $0.lookup.forceRefresh = true
        }
        #expect(error == .invalidStatusCode(301, url: server.url("/a")))
    }
}
