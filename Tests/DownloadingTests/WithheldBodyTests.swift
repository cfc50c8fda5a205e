import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// Servers that send a head and withhold the body it announces: the head alone decides.
@Suite struct WithheldBodyTests {
    private let downloader: TestDownloader
    private let delegate = TestDelegate()
    private let picture = hollowPNG(width: 7)
    /// Never opened before the end of a test.
    private let gate = Gate()

    init() throws { downloader = try TestDownloader() }

    private func withheld(_ status: Int, _ headers: [String: String] = [:], length: Int = 100) -> Script {
        Script.head(status, headers, length: length).waiting(for: gate)
    }

    private func failure(
        _ server: LocalServer, _ question: DownloadDelegates.Question? = nil
    ) async throws -> ImageError? {
        defer { gate.open() }
        return try await downloader.failure(server.url("/a")) {
            $0.limits.timeout = 60
            if let question { $0.delegates = DownloadDelegates(delegate, questions: [question]) }
        }
    }

    @Test(arguments: [400, 401, 404, 500, 206])
    func statusThatIsRefusedNeedsNoBody(_ status: Int) async throws {
        let server = try LocalServer { _ in withheld(status) }
        defer { server.stop() }
        // The gate stays closed until then: behind it the server would take the end for its own.
        defer { gate.open() }
        let failure = try await downloader.failure(server.url("/a")) { $0.limits.timeout = 60 }
        #expect(failure == .invalidStatusCode(status, url: server.url("/a")))
        try await eventually("the connection is given up") { server.droppedCount == 1 }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectIsFollowedThatWithholdsItsBody(_ status: Int) async throws {
        let server = try LocalServer { [picture] request in
            request.path == "/a" ? withheld(status, ["Location": "/b"]) : .reply(200, [:], picture)
        }
        defer { server.stop() }
        #expect(try await failure(server) == nil)
        #expect(server.requests.map(\.path) == ["/a", "/b"])
    }

    @Test func redirectIsFollowedWhoseBodyStops() async throws {
        let server = try LocalServer { [picture, gate] request in
            request.path == "/a"
                ? Script.head(302, ["Location": "/b"], length: 100).raw("moved").waiting(for: gate)
                : .reply(200, [:], picture)
        }
        defer { server.stop() }
        #expect(try await failure(server) == nil)
    }

    @Test func challengeIsAnsweredThatWithholdsItsBody() async throws {
        let server = try LocalServer { [picture] request in
            request.headers["authorization"] == nil
                ? withheld(401, ["WWW-Authenticate": "Basic realm=\"r\""]) : .reply(200, [:], picture)
        }
        defer { server.stop() }
        delegate.onAnswer { _ in .credential(.basic(user: "u", password: "p")) }
        #expect(try await failure(server, .challenge) == nil)
    }

    /// Each refusal withholds its body: the first, and that of a digest that is too old.
    @Test(arguments: [true, false])
    func digestIsSpokenToAServerThatWithholdsTheBodiesOfItsRefusals(_ asksDelegate: Bool) async throws {
        let server = try LocalServer { [picture] request in
            let sent = request.headers["authorization"] ?? ""
            if sent.contains("nonce=\"new\""), sent.contains("uri=\"/a\"") { return .reply(200, [:], picture) }
            let nonce = sent.contains("nonce=\"old\"") ? "nonce=\"new\", stale=true" : "nonce=\"old\""
            return withheld(401, ["WWW-Authenticate": "Digest realm=\"r\", \(nonce), qop=\"auth\""])
        }
        defer { server.stop() }
        delegate.onAnswer { _ in .credential(.basic(user: "u", password: "p")) }
        defer { gate.open() }
        let error = try await downloader.failure(server.url("/a")) {
            $0.limits.timeout = 5
            if asksDelegate {
                $0.delegates = DownloadDelegates(delegate, questions: [.challenge])
            } else {
                $0.request.authorization = .basic(user: "u", password: "p")
            }
        }
        #expect(error == nil)
        #expect(server.requests.count == 3, "none is sent without an answer to what was asked")
    }

    @Test func wrongCredentialsForADigestAreRefusedWithoutABody() async throws {
        let server = try LocalServer { _ in
            withheld(401, ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""])
        }
        defer { server.stop() }
        defer { gate.open() }
        let error = try await downloader.failure(server.url("/a")) {
            $0.limits.timeout = 5
            $0.request.authorization = .basic(user: "u", password: "wrong")
        }
        #expect(error == .invalidStatusCode(401, url: server.url("/a")))
        #expect(server.requests.count == 2)
    }

    /// In the clear, and before a tunnel to a server of https: a basic answer, and one by digest that is too old at first.
    @Test(
        arguments: ["http://pictures.example/a", "https://pictures.example/a"],
        ["Basic realm=\"p\"", "Digest realm=\"p\", qop=\"auth\", algorithm=SHA-256"])
    func proxyGetsItsCredentialsThatWithholdsTheBodiesOfItsRefusals(_ url: String, _ challenge: String) async throws {
        let isSecure = url.hasPrefix("https")
        let target = isSecure ? "pictures.example:443" : url
        let proxy = try LocalServer { [picture] request in
            let sent = request.headers["proxy-authorization"] ?? ""
            let isRight =
                sent.hasPrefix("Basic") || sent.contains("nonce=\"new\"") && sent.contains("uri=\"\(target)\"")
            guard isRight, request.path == target else {
                let nonce = sent.contains("nonce=\"old\"") ? "nonce=\"new\", stale=true" : "nonce=\"old\""
                return withheld(407, ["Proxy-Authenticate": challenge + (challenge.hasPrefix("D") ? ", " + nonce : "")])
            }
            // It makes no tunnels, but says so.
            return isSecure ? .reply(502, [:], []) : .reply(200, [:], picture)
        }
        defer { proxy.stop() }
        let downloader = try TestDownloader { $0.proxy = .url(proxy.url("")) }
        delegate.onAnswer { _ in .credential(.basic(user: "u", password: "p")) }
        defer { gate.open() }
        let error = try await downloader.failure(url) {
            $0.limits.timeout = 5
            $0.delegates = DownloadDelegates(delegate, questions: [.challenge])
        }
        #expect((error == nil) == !isSecure)
        #expect(error?.name != "timedOut")
        #expect(proxy.requests.count == (challenge.hasPrefix("D") ? 3 : 2))
        #expect(proxy.requests.map { $0.headers["proxy-authorization"] == nil }.count { $0 } == 1)
        #expect(proxy.requests.allSatisfy { $0.headers["authorization"] == nil })
        #expect(delegate.asked.count == 1)
    }

    /// RFC 7616, 3.4.6: the digest is of what the request line asks for, as libcurl writes it.
    @Test(arguments: [
        "http://pictures.example:80/a", "http://Pictures.Example/a?b", "http://bücher.example:80/ü",
        "http://a.example?q",
        "http://a.example:8080/", "https://Pictures.Example/a", "https://bücher.example/a", "https://a.example:8443/",
    ])
    func digestForAProxyIsOfWhatItIsAskedFor(_ url: String) async throws {
        let proxy = try LocalServer { [picture] request in
            let sent = request.headers["proxy-authorization"] ?? ""
            guard sent.contains("uri=\"\(request.path)\"") else {
                return .reply(407, ["Proxy-Authenticate": "Digest realm=\"p\", qop=\"auth\", nonce=\"n\""], [])
            }
            return request.method == "CONNECT" ? .reply(502, [:], []) : .reply(200, [:], picture)
        }
        defer { proxy.stop() }
        let downloader = try TestDownloader { $0.proxy = .url(proxy.url("")) }
        delegate.onAnswer { _ in .credential(.basic(user: "u", password: "p")) }
        let error = try await downloader.failure(url) {
            $0.delegates = DownloadDelegates(delegate, questions: [.challenge])
        }
        #expect((error == nil) == !url.hasPrefix("https"), "\(String(describing: error))")
        #expect(proxy.requests.count == 2 && delegate.asked.count == 1)
    }

    /// What stands in the URL of a proxy is sent as it wants it, and no longer than it is right.
    @Test(arguments: ["http://pictures.example/a", "https://pictures.example/a"], [true, false])
    func credentialsInTheURLOfAProxyAnswerByDigest(_ url: String, _ isRight: Bool) async throws {
        let proxy = try LocalServer { [picture] request in
            guard isRight, request.headers["proxy-authorization"]?.contains("username=\"u\"") == true else {
                return withheld(407, ["Proxy-Authenticate": "Digest realm=\"p\", qop=\"auth\", nonce=\"n\""])
            }
            return request.method == "CONNECT" ? .reply(502, [:], []) : .reply(200, [:], picture)
        }
        defer { proxy.stop() }
        defer { gate.open() }
        let downloader = try TestDownloader { $0.proxy = .url("http://u:p%40@127.0.0.1:\(proxy.port)") }
        let error = try await downloader.failure(url) { $0.limits.timeout = 5 }
        if isRight {
            #expect((error == nil) == !url.hasPrefix("https") && error?.description.contains("407") != true)
        } else {
            #expect(error == .invalidStatusCode(407, url: url))
        }
        let sent = proxy.requests.map { $0.headers["proxy-authorization"]?.prefix(6) }
        #expect(sent == ["Basic ", "Digest"])
        #expect(proxy.requests.first?.headers["proxy-authorization"] == "Basic dTpwQA==")
    }

    @Test func delegateIsAskedAboutAHeadWhoseBodyIsWithheld() async throws {
        let server = try LocalServer { _ in withheld(200) }
        defer { server.stop() }
        delegate.onAccepts { _, _ in false }
        #expect(try await failure(server, .validateStatus) == .invalidStatusCode(200, url: server.url("/a")))
        #expect(delegate.asked.count == 1)
    }

    /// The answer ends while the delegate still thinks about its head.
    @Test(arguments: [true, false])
    func answerThatEndsWhileItsHeadIsJudgedWaitsForTheVerdict(_ verdict: Bool) async throws {
        let body = Gate()
        let server = try LocalServer { _ in
            // A body that is there and has nothing in it.
            Script.head(200, ["Transfer-Encoding": "chunked"], length: nil).waiting(for: body).raw("0\r\n\r\n")
        }
        defer { server.stop() }
        delegate.onAccepts { [gate] _, _ in
            body.open()
            await gate.wait()
            return verdict
        }
        let task = Task {
            try await downloader.failure(server.url("/a")) {
                $0.delegates = DownloadDelegates(delegate, questions: [.validateStatus])
            }
        }
        try await eventually { gate.waiterCount == 1 }
        // Time for the end to come; either way the verdict counts.
        try await Task.sleep(for: .milliseconds(50))
        gate.open()
        let error = try await task.value
        if verdict {
            #expect(error == nil)
        } else {
            #expect(error == .invalidStatusCode(200, url: server.url("/a")))
        }
        #expect(delegate.asked.count == 1, "once")
    }

    @Test func lengthOverTheLimitIsRefusedBeforeAnyOfIt() async throws {
        let server = try LocalServer { _ in withheld(200, length: 1 << 40) }
        defer { server.stop() }
        guard case .limitExceeded("maxBytes", _, _) = try await failure(server) else {
            Issue.record("it was waited for")
            return
        }
    }

    @Test func answersToComeAreNotTheAnswer() async throws {
        let server = try LocalServer { [picture] _ in
            Script.empty.raw("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n").followed(
                by: .reply(200, [:], picture))
        }
        defer { server.stop() }
        #expect(try await failure(server) == nil)
    }
}
