public import Downloading
import Synchronization

/// A delegate that answers as a test says, and notes what it was asked.
public final class TestDelegate: DownloadDelegate {
    /// What a test answers.
    public typealias Redirect = @Sendable (DownloadDraft, String, Int) async throws -> DownloadDraft?
    /// What a test answers.
    public typealias Accepts = @Sendable (Int, String?) async throws -> Bool?
    /// What a test answers.
    public typealias Answer = @Sendable (AuthenticationChallenge) async throws -> ChallengeAnswer

    private struct State {
        var asked: [String] = []
        var redirect: Redirect?
        var accepts: Accepts?
        var answer: Answer?
    }

    private let state = Mutex(State())

    /// A delegate that leaves everything as it is.
    public init() {}

    /// What it was asked, in order.
    public var asked: [String] { state.withLock { $0.asked } }

    /// Sets the answer.
    public func onRedirect(_ redirect: @escaping Redirect) { state.withLock { $0.redirect = redirect } }
    /// Sets the answer.
    public func onAccepts(_ accepts: @escaping Accepts) { state.withLock { $0.accepts = accepts } }
    /// Sets the answer.
    public func onAnswer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    private func path(_ url: String) -> String {
        String(url.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3).reduce("") { $0 + "/" + $1 })
    }

    /// Leaves the request as it is.
    public func modify(_ request: DownloadDraft) async throws -> DownloadDraft? { request }

    /// Answers as the test says; follows otherwise.
    public func redirect(_ request: DownloadDraft, from url: String, status: Int) async throws -> DownloadDraft? {
        let answer = state.withLock { state in
            state.asked.append("redirect \(status) \(path(url))")
            return state.redirect
        }
        return if let answer { try await answer(request, url, status) } else { request }
    }

    /// Answers as the test says; leaves it to the options otherwise.
    public func accepts(status: Int, contentType: String?, url: String) async throws -> Bool? {
        let answer = state.withLock { state in
            state.asked.append("accepts \(status) \(contentType ?? "-") \(path(url))")
            return state.accepts
        }
        return try await answer?(status, contentType)
    }

    /// Answers as the test says; as without a delegate otherwise.
    public func answer(_ challenge: AuthenticationChallenge) async throws -> ChallengeAnswer {
        let answer = state.withLock { state in
            state.asked.append("\(challenge.scheme) \(challenge.realm ?? "-") \(challenge.failures)")
            return state.answer
        }
        return try await answer?(challenge) ?? .useDefault
    }
}
