import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A delegate that judges heads and answers challenges.
@Suite struct DelegateTests {
    private let engine: TestEngine
    private let delegate = TestDelegate()
    private let picture = hollowPNG(width: 7)
    private let large = hollowPNG(width: 8, count: 1 << 20)

    init() throws { engine = try TestEngine() }

    private func failure(
        _ url: String, _ question: DownloadDelegates.Question, _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageError? {
        try await engine.failure(url) {
            $0.network.delegates = DownloadDelegates(delegate, questions: [question])
            $0.lookup.forceRefresh = true
            change(&$0)
        }
    }

    @Test(
        arguments: [
            (200, true, true), (404, true, true), (200, false, false), (404, nil, false), (200, nil, true),
            (206, true, true),
        ] as [(Int, Bool?, Bool)])
    func delegateDecidesAboutAStatus(_ status: Int, _ verdict: Bool?, _ isAccepted: Bool) async throws {
        let server = try LocalServer { [large] _ in .reply(status, ["Content-Type": "image/png"], large) }
        defer { server.stop() }
        delegate.onAccepts { _, _ in verdict }
        let error = try await failure(server.url("/a"), .validateStatus)
        #expect(error == (isAccepted ? nil : .invalidStatusCode(status, url: server.url("/a"))))
        #expect(delegate.asked == ["accepts \(status) image/png /a"], "once")
    }

    /// Protocol §6: the download waits meanwhile, and nothing else does.
    @Test(arguments: [DownloadDelegates.Question.redirect, .validateStatus, .challenge])
    func downloadsFromElsewhereGoOnWhileTheDelegateIsAsked(_ question: DownloadDelegates.Question) async throws {
        let engine = try TestEngine { $0.downloader.maxConcurrentDownloads = 1 }
        let server = try LocalServer { [picture] request in
            switch request.path {
            case "/redirect": .redirect(to: "/a")
            case "/challenge" where request.headers["authorization"] == nil:
                .reply(401, ["WWW-Authenticate": "Basic realm=r"], [])
            default: .reply(200, [:], picture)
            }
        }
        defer { server.stop() }
        let other = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { other.stop() }
        let gate = Gate()
        delegate.onRedirect { draft, _, _ in
            await gate.wait()
            return draft
        }
        delegate.onAccepts { _, _ in
            await gate.wait()
            return true
        }
        delegate.onAnswer { _ in
            await gate.wait()
            return .credential(.basic(user: "u", password: "p"))
        }
        let path =
            switch question {
            case .redirect: "/redirect"
            case .challenge: "/challenge"
            default: "/a"
            }
        let options = ImageOptions { $0.network.delegates = DownloadDelegates(delegate, questions: [question]) }
        let task = Task { try await engine.image(server.url(path), { $0 = options }) }
        try await eventually("the delegate is asked") { gate.waiterCount == 1 }
        #expect(try await engine.image(other.url("/a")).cacheType == .none)
        gate.open()
        #expect(try await task.value.cacheType == .none)
        #expect(engine.manager.statistics.stalledDownloads == 0 && engine.manager.downloader.load.running == 0)
    }

    @Test func noMoreOfTheBodyIsReadUntilTheDelegateHasAnswered() async throws {
        let server = try LocalServer { [large] _ in .reply(200, [:], large) }
        defer { server.stop() }
        let gate = Gate()
        let progress = Counter()
        delegate.onAccepts { _, _ in
            await gate.wait()
            return true
        }
        let options = ImageOptions {
            $0.network.delegates = DownloadDelegates(delegate, questions: [.validateStatus])
            $0.network.limits.timeout = 1
        }
        let task = Task { [engine] in
            try await engine.image(server.url("/a"), { $0 = options }, report: { _ in _ = progress.add() })
        }
        try await eventually { gate.waiterCount == 1 }
        // Longer than the timeout: the server cannot help it.
        try await Task.sleep(for: .milliseconds(1500))
        #expect(progress.value == 0)
        gate.open()
        #expect(try await task.value.record.byteCount == large.count)
    }

    @Test func callerWhoLeavesWhileTheDelegateThinksEndsTheTransfer() async throws {
        let server = try LocalServer { [large] _ in .reply(200, [:], large) }
        defer { server.stop() }
        let gate = Gate()
        delegate.onAccepts { _, _ in
            await gate.wait()
            return true
        }
        let options = ImageOptions { $0.network.delegates = DownloadDelegates(delegate, questions: [.validateStatus]) }
        let task = Task { [engine] in try await engine.image(server.url("/a"), { $0 = options }) }
        try await eventually { gate.waiterCount == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
        #expect(engine.blobs.isEmpty)
    }

    @Test func emptyAnswerIsAskedAboutToo() async throws {
        let server = try LocalServer { _ in .reply(404, [:], []) }
        defer { server.stop() }
        delegate.onAccepts { _, _ in true }
        guard case .badData = try await failure(server.url("/a"), .validateStatus) else {
            Issue.record("it was not accepted")
            return
        }
        delegate.onAccepts { _, _ in nil }
        #expect(try await failure(server.url("/a"), .validateStatus) == .invalidStatusCode(404, url: server.url("/a")))
        #expect(delegate.asked.count == 2)
    }

    // MARK: Challenges

    private func guarded(_ challenge: String, _ wanted: String) throws -> LocalServer {
        try LocalServer { [picture] request in
            request.headers["authorization"] == wanted
                ? .reply(200, [:], picture) : .reply(401, ["WWW-Authenticate": challenge], ascii("no"))
        }
    }

    @Test func delegateAnswersAChallenge() async throws {
        let server = try guarded("Basic realm=\"The \\\"vault\\\"\", charset=\"UTF-8\"", "Basic dTpw")
        defer { server.stop() }
        delegate.onAnswer { challenge in
            challenge.failures == 0
                ? .credential(.basic(user: "u", password: "wrong")) : .credential(.basic(user: "u", password: "p"))
        }
        #expect(try await failure(server.url("/a"), .challenge) == nil)
        #expect(delegate.asked == ["basic The \"vault\" 0", "basic The \"vault\" 1"])
        #expect(server.requests.count == 3)
    }

    @Test func bearerTokenAnswersAChallenge() async throws {
        let server = try guarded("Bearer realm=\"r\", scope=\"read\"", "Bearer t0k")
        defer { server.stop() }
        delegate.onAnswer { _ in .credential(.bearer("t0k")) }
        #expect(try await failure(server.url("/a"), .challenge) == nil)
        #expect(delegate.asked == ["bearer r 0"])
    }

    @Test func cancelEndsTheDownloadAndDefaultGoesOnWithoutCredentials() async throws {
        let server = try guarded("Basic realm=\"r\"", "never")
        defer { server.stop() }
        delegate.onAnswer { _ in .useDefault }
        #expect(try await failure(server.url("/a"), .challenge) == .invalidStatusCode(401, url: server.url("/a")))
        #expect(server.requests.count == 1)
        delegate.onAnswer { _ in .cancel }
        #expect(
            try await failure(server.url("/a"), .challenge) == .downloadCancelledBeforeStarting(url: server.url("/a")))
        #expect(server.requests.count == 2)
    }

    @Test func answerWithoutCredentialsIsJudgedByWhoeverJudgesAnswers() async throws {
        let server = try LocalServer { [picture] _ in .reply(401, ["WWW-Authenticate": "Basic realm=\"r\""], picture) }
        defer { server.stop() }
        delegate.onAnswer { _ in .useDefault }
        delegate.onAccepts { _, _ in true }
        let error = try await failure(server.url("/a"), .challenge) {
            $0.network.delegates = DownloadDelegates(delegate, questions: [.challenge, .validateStatus])
        }
        #expect(error == nil)
        #expect(delegate.asked == ["basic r 0", "accepts 401 - /a"])
    }

    /// A server that says 407 is no proxy.
    @Test func serverThatPlaysTheProxyGetsNobodyAsked() async throws {
        let server = try LocalServer { _ in .reply(407, ["Proxy-Authenticate": "Basic realm=\"r\""], ascii("no")) }
        defer { server.stop() }
        let engine = try TestEngine { $0.downloader.proxy = .none }
        delegate.onAnswer { _ in .credential(.basic(user: "u", password: "p")) }
        let error = try await engine.failure(server.url("/a")) {
            $0.network.delegates = DownloadDelegates(delegate, questions: [.challenge])
        }
        #expect(error == .invalidStatusCode(407, url: server.url("/a")))
        #expect(delegate.asked.isEmpty)
    }

    @Test func threeWrongAnswersAreEnough() async throws {
        let server = try guarded("Basic realm=\"r\"", "never")
        defer { server.stop() }
        delegate.onAnswer { _ in .credential(.basic(user: "u", password: "wrong")) }
        #expect(try await failure(server.url("/a"), .challenge) == .invalidStatusCode(401, url: server.url("/a")))
        #expect(delegate.asked.count == 3 && server.requests.count == 4)
    }

    @Test(arguments: [false, true])
    func digestIsSpokenWhereItIsAskedFor(_ asksDelegate: Bool) async throws {
        let server = try LocalServer { [picture] request in
            request.headers["authorization"]?.hasPrefix("Digest username=\"u\"") == true
                ? .reply(200, [:], picture)
                : .reply(401, ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\""], [])
        }
        defer { server.stop() }
        delegate.onAnswer { _ in .credential(.basic(user: "u", password: "p")) }
        let error = try await failure(server.url("/a"), asksDelegate ? .challenge : .redirect) {
            if !asksDelegate { $0.network.request.authorization = .basic(user: "u", password: "p") }
        }
        #expect(error == nil)
        #expect(delegate.asked == (asksDelegate ? ["digest r 0"] : []))
    }

    /// A server takes a count that does not rise for a replay (RFC 7616, 3.4).
    @Test func requestsOfADigestAreCountedAlongARedirect() async throws {
        let server = try LocalServer { [picture] request in
            guard let login = request.headers["authorization"], login.hasPrefix("Digest ") else {
                return .reply(401, ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\""], [])
            }
            if request.path == "/a" {
                return login.contains("nc=00000001,") ? .redirect(to: "/b") : .reply(400, [:], [])
            }
            return login.contains("nc=00000002,") ? .reply(200, [:], picture) : .reply(400, [:], [])
        }
        defer { server.stop() }
        delegate.onAnswer { _ in .credential(.basic(user: "u", password: "p")) }
        #expect(try await failure(server.url("/a"), .challenge) == nil)
    }

    @Test func credentialsThatAnsweredAChallengeStayWithTheirOrigin() async throws {
        let other = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { other.stop() }
        let server = try LocalServer { request in
            request.headers["authorization"] == nil
                ? .reply(401, ["WWW-Authenticate": "Basic realm=\"r\""], []) : .redirect(to: other.url("/b"))
        }
        defer { server.stop() }
        delegate.onAnswer { _ in .credential(.basic(user: "u", password: "p")) }
        #expect(try await failure(server.url("/a"), .challenge) == nil)
        #expect(other.requests.first?.headers["authorization"] == nil)
    }

    @Test(
        arguments: [
            ("Basic realm=\"a\"", [("basic", "a")]), ("Basic", [("basic", nil)]),
            ("Digest realm=\"a, b\", nonce=x, Basic realm=c", [("digest", "a, b"), ("basic", "c")]),
            ("Negotiate, Bearer error=\"x\", realm=\"y\"", [("negotiate", nil), ("bearer", "y")]),
            ("basic REALM = \"a\\\"b\"", [("basic", "a\"b")]), ("", []), (",,, ,", []), ("=x", []),
            ("Basic realm=\"open", [("basic", "open")]), ("\"", []), ("Basic \"x\"", [("basic", nil), ("x", nil)]),
        ] as [(String, [(String, String?)])])
    func challengesAreRead(_ text: String, _ expected: [(String, String?)]) {
        let found = ChallengeList(text).challenges
        #expect(found.map(\.scheme) == expected.map(\.0))
        #expect(found.map(\.realm) == expected.map(\.1))
    }
}
