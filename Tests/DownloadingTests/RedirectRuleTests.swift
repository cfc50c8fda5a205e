import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// The mirrors that requests are sent to, and the redirects that are followed.
@Suite struct RedirectRuleTests {
    private let picture = hollowPNG(width: 7)
    private let web: LocalServer

    init() throws { web = try LocalServer { [picture] _ in .reply(200, [:], picture) } }

    @Test func redirectsAreRewrittenToo() async throws {
        let server = try LocalServer { _ in .redirect(to: "http://pictures.example/b.png") }
        defer { server.stop() }
        let downloader = try TestDownloader {
            $0.rules.rewrites = [URLRewrite(from: "http://pictures.example/", to: web.url("/m/"))].compactMap(\.self)
        }
        _ = try await downloader.load(server.url("/a"))
        #expect(web.requests.map(\.path) == ["/m/b.png"])
    }

    @Test(arguments: [
        ("https://a.example/", "https://b.example/", "https://a.example/x", "https://b.example/x"),
        ("https://a.example/x/", "https://b.example/", "https://a.example/x/y?z#f", "https://b.example/y?z"),
        ("HTTPS://A.example", "http://b.example/c/", "https://a.EXAMPLE/x", "http://b.example/c/x"),
        ("https://a.example/", "https://b.example/", "https://a.example.evil/x", nil),
        ("https://a.example/", "https://b.example/", "http://a.example/x", nil),
        ("https://a.example/", "https://b.example/", "https://a.example:8443/x", nil),
        ("https://a.example/", "https://b.example/", "https://u:p@a.example/x", "https://b.example/x"),
    ])
    func rewritesGoByTheURLAsItIsSent(_ from: String, _ to: String, _ url: String, _ wanted: String?) throws {
        let rewrite = try #require(URLRewrite(from: from, to: to))
        #expect(try rewrite.target(of: WebURL(url)) == wanted)
    }

    @Test(arguments: ["", "ftp://a/", "/a", "a.example", "https://"])
    func rewritesNeedURLs(_ text: String) {
        #expect(URLRewrite(from: text, to: "http://a/") == nil)
        #expect(URLRewrite(from: "http://a/", to: text) == nil)
    }

    // MARK: Redirects

    @Test func redirectsAreFollowedAsFarAsTheRequestSays() async throws {
        let other = try LocalServer(host: 2) { [picture] _ in .reply(200, [:], picture) }
        defer { other.stop() }
        let server = try LocalServer { [picture] request in
            switch request.path {
            case "/home": .redirect(to: "/there")
            case "/away": .redirect(to: other.url("/there"))
            case "/twice": .redirect(to: "/away")
            default: .reply(200, [:], picture)
            }
        }
        defer { server.stop() }
        let downloader = try TestDownloader()
        func limit(_ path: String, _ mode: RedirectMode) async throws -> String? {
            guard let error = try await downloader.failure(server.url(path), { $0.transfer.redirect = mode }) else {
                return nil
            }
            guard case .limitExceeded(let limit, _, _) = error else { return "\(error)" }
            #expect("\(error)".hasSuffix("(set redirect to \"follow\")."), "\(error)")
            return limit
        }
        #expect(try await limit("/plain", .none) == nil)
        #expect(try await limit("/home", .none) == "redirect")
        #expect(try await limit("/home", .sameOrigin) == nil)
        #expect(try await limit("/away", .sameOrigin) == "redirect")
        #expect(try await limit("/twice", .sameOrigin) == "redirect")
        #expect(other.requests.isEmpty, "nobody was asked who is not to be")
        #expect(try await limit("/twice", .follow) == nil)
    }

    /// A redirect is judged by what will really be requested: after what a delegate makes of it, and by the mirrors.
    @Test func neitherMirrorsNorDelegatesGetAroundTheOrigin() async throws {
        let other = try LocalServer(host: 2) { [picture] _ in .reply(200, [:], picture) }
        defer { other.stop() }
        let server = try LocalServer { [picture] request in
            switch request.path {
            case "/home", "/mirrored": .redirect(to: "/moved/there")
            case "/away": .redirect(to: other.url("/there"))
            default: .reply(200, [:], picture)
            }
        }
        defer { server.stop() }
        func limit(
            _ path: String, _ rules: [(from: String, to: String)] = [], delegate: (any DownloadDelegate)? = nil
        ) async throws -> String? {
            let downloader = try TestDownloader {
                $0.rules.rewrites = rules.compactMap { URLRewrite(from: $0.from, to: $0.to) }
            }
            let error = try await downloader.failure(server.url(path)) {
                $0.transfer.redirect = .sameOrigin
                $0.delegates = delegate.map { DownloadDelegates($0, questions: [.redirect]) }
            }
            guard case .limitExceeded(let limit, _, _)? = error else { return error.map { "\($0)" } }
            return limit
        }
        #expect(try await limit("/home", [(server.url("/moved/"), other.url("/moved/"))]) == "redirect")
        #expect(try await limit("/home", delegate: Detour(to: other.url("/there"))) == "redirect")
        #expect(other.requests.isEmpty, "nobody was asked who is not to be")
        // And what stays with the origin in the end is followed.
        #expect(try await limit("/away", [(other.url("/"), server.url("/home-again/"))]) == nil)
        #expect(try await limit("/away", delegate: Detour(to: server.url("/plain"))) == nil)
        #expect(other.requests.isEmpty)
    }

    /// What one caller does not want followed is no answer to another.
    @Test func requestsOfDifferentRedirectsAreNotMerged() throws {
        func request(_ mode: RedirectMode) throws -> DownloadRequest {
            try TestDownloader().request("http://a/") { $0.transfer.redirect = mode }
        }
        #expect(try Set(RedirectMode.allCases.map(request)).count == 3)
    }
}

/// Sends every redirect to one URL.
private final class Detour: DownloadDelegate {
    private let url: String

    init(to url: String) { self.url = url }

    func modify(_ request: DownloadDraft) async throws -> DownloadDraft? { request }
    func redirect(_ request: DownloadDraft, from url: String, status: Int) async throws -> DownloadDraft? {
        var request = request
        request.url = self.url
        return request
    }
    func accepts(status: Int, contentType: String?, url: String) async throws -> Bool? { nil }
    func answer(_ challenge: AuthenticationChallenge) async throws -> ChallengeAnswer { .useDefault }
}
