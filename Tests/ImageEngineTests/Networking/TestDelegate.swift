import Synchronization

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A delegate that answers as a test says, and notes what it was asked.
final class TestDelegate: DownloadDelegate {
    typealias Redirect = @Sendable (DownloadDraft, String, Int) async throws -> DownloadDraft?
    typealias Accepts = @Sendable (Int, String?) async throws -> Bool?
    typealias Answer = @Sendable (AuthenticationChallenge) async throws -> ChallengeAnswer

    private struct State {
        var asked: [String] = []
        var redirect: Redirect?
        var accepts: Accepts?
        var answer: Answer?
    }

    private let state = Mutex(State())

    /// What it was asked, in order.
    var asked: [String] { state.withLock { $0.asked } }

    func onRedirect(_ redirect: @escaping Redirect) { state.withLock { $0.redirect = redirect } }
    func onAccepts(_ accepts: @escaping Accepts) { state.withLock { $0.accepts = accepts } }
    func onAnswer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    private func path(_ url: String) -> String {
        String(url.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3).reduce("") { $0 + "/" + $1 })
    }

    func modify(_ request: DownloadDraft) async throws -> DownloadDraft? { request }

    func redirect(_ request: DownloadDraft, from url: String, status: Int) async throws -> DownloadDraft? {
        let answer = state.withLock { state in
            state.asked.append("redirect \(status) \(path(url))")
            return state.redirect
        }
        return if let answer { try await answer(request, url, status) } else { request }
    }

    func accepts(status: Int, contentType: String?, url: String) async throws -> Bool? {
        let answer = state.withLock { state in
            state.asked.append("accepts \(status) \(contentType ?? "-") \(path(url))")
            return state.accepts
        }
        return try await answer?(status, contentType)
    }

    func answer(_ challenge: AuthenticationChallenge) async throws -> ChallengeAnswer {
        let answer = state.withLock { state in
            state.asked.append("\(challenge.scheme) \(challenge.realm ?? "-") \(challenge.failures)")
            return state.answer
        }
        return try await answer?(challenge) ?? .useDefault
    }
}
