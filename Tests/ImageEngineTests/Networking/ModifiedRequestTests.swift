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

/// Requests that a delegate changes before they are sent.
@Suite struct ModifiedRequestTests {
    /// Answers what the test says and remembers what it was asked.
    private final class Decider: DownloadDelegate {
        private let asked = Mutex<[DownloadDraft]>([])
        private let answer: @Sendable (DownloadDraft) async throws -> DownloadDraft?

        init(_ answer: @escaping @Sendable (DownloadDraft) async throws -> DownloadDraft?) { self.answer = answer }

        var drafts: [DownloadDraft] { asked.withLock { $0 } }

        func modify(_ request: DownloadDraft) async throws -> DownloadDraft? {
            asked.withLock { $0.append(request) }
            return try await answer(request)
        }
        func redirect(_ request: DownloadDraft, from url: String, status: Int) async throws -> DownloadDraft? {
            request
        }
        func accepts(status: Int, contentType: String?, url: String) async throws -> Bool? { nil }
        func answer(_ challenge: AuthenticationChallenge) async throws -> ChallengeAnswer { .useDefault }
    }

    private let engine: TestEngine
    private let picture = hollowPNG(width: 7, count: 400)

    init() throws { engine = try TestEngine() }

    @Test func credentialsForOneOriginDoNotFollowTheRequestToAnother() async throws {
        let picture = picture
        let one = try LocalServer { _ in .reply(200, [:], picture) }
        let other = try LocalServer { _ in .reply(200, [:], picture) }
        defer { [one, other].forEach { $0.stop() } }
        for (target, hasCredentials) in [(other, false), (one, true)] {
            let decider = Decider { [url = target.url("/b")] draft in draft.moved(to: url) }
            let result = try await engine.image(one.url("/a")) {
                $0.lookup.forceRefresh = true
                $0.network.request.headers = ["Cookie": "c", "Accept": "image/x"]
                $0.network.request.authorization = .bearer("t")
                $0.network.delegates = DownloadDelegates(decider, questions: [.modifyRequest])
            }
            #expect(result.record.key.key == one.url("/a"))
            let sent = try #require(target.requests.last)
            #expect(sent.path == "/b" && sent.headers["accept"] == "image/x")
            #expect((sent.headers["cookie"] == "c") == hasCredentials)
            #expect((sent.headers["authorization"] == "Bearer t") == hasCredentials)
        }
    }

    @Test func everyAttemptAndEverySourceIsAskedAboutAnew() async throws {
        let picture = picture
        let server = try LocalServer { request in
            request.headers["x-token"] == "3" ? .reply(200, [:], picture) : .reply(503, [:], [])
        }
        defer { server.stop() }
        let count = Atomic(0)
        let decider = Decider { draft in
            var draft = draft
            draft.headers["X-Token"] = "\(count.add(1, ordering: .relaxed).newValue)"
            return draft
        }
        _ = try await engine.image(server.url("/a")) {
            $0.network.retry = RetryStrategy(maxRetries: 1, interval: .seconds(0))
            $0.network.alternativeSources = [server.url("/b")]
            $0.network.delegates = DownloadDelegates(decider, questions: [.modifyRequest])
        }
        #expect(decider.drafts.map(\.url) == [server.url("/a"), server.url("/a"), server.url("/b")])
        #expect(decider.drafts.allSatisfy { $0.headers.isEmpty })
        #expect(server.requests.map(\.path) == ["/a", "/a", "/b"])
    }

    @Test func aVetoAndAURLOfAnotherKindSendNothing() async throws {
        let server = try LocalServer(routes: [:])
        defer { server.stop() }
        let url = server.url("/a")
        for wanted in [nil, "", "file:///a.png", "data:,x", "gopher://a/", "http://"] {
            let decider = Decider { _ in wanted.map { DownloadDraft(url: $0, headers: [:]) } }
            let failure = try await engine.failure(url) {
                $0.network.retry = RetryStrategy(maxRetries: 3, interval: .seconds(0))
                $0.network.delegates = DownloadDelegates(decider, questions: [.modifyRequest])
            }
            switch failure {
            case .downloadCancelledBeforeStarting(url): #expect(wanted == nil)
            case .invalidURL(let shown, _): #expect(shown == wanted)
            default: Issue.record("\(String(describing: failure))")
            }
            #expect(decider.drafts.count == 1)
        }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [false, true])
    func aDeadlineEndsTheWaitForTheDelegate(isStored: Bool) async throws {
        let picture = picture
        let server = try LocalServer { _ in .reply(200, ["Cache-Control": "max-age=0"], picture) }
        defer { server.stop() }
        let url = server.url("/a")
        if isStored { _ = try await engine.image(url) }
        let gate = Gate()
        let silent = Decider { draft in
            await gate.wait()
            return draft
        }
        let failure = try await engine.failure(url) {
            $0.caller.deadline = 0.05
            $0.lookup.revalidate = .http
            $0.network.delegates = DownloadDelegates(silent, questions: [.modifyRequest])
        }
        #expect(failure == .timedOut(url: url, option: "deadline", seconds: 0.05))
        #expect(silent.drafts.count == 1 && gate.waiterCount == 1)
        gate.open()
        #expect(server.requests.count == (isStored ? 1 : 0))
    }

    @Test func aCallerWhoseDelegateTakesItsTimeHoldsNobodyElse() async throws {
        let picture = picture
        let server = try LocalServer { _ in .reply(200, [:], picture) }
        defer { server.stop() }
        let gate = Gate()
        let slow = Decider { draft in
            await gate.wait()
            return draft
        }
        let waiting = Task {
            try await engine.image(server.url("/a")) {
                $0.network.delegates = DownloadDelegates(slow, questions: [.modifyRequest])
            }
        }
        try await eventually("the question") { gate.waiterCount == 1 }
        #expect(try await engine.image(server.url("/a")).cacheType == .none)
        gate.open()
        _ = try await waiting.value
        #expect(server.requests.count == 1)
    }
}
