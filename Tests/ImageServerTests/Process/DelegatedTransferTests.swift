import Foundation
import TestSupport
import Testing

/// What the client decides while a transfer runs: redirects, statuses and challenges.
@Suite(.onThreads)
struct DelegatedTransferTests {
    private let cache = try? TemporaryFolder()
    private let web: LocalServer

    init() throws {
        let picture = try Fixtures.bytes("png-rgb.png")
        web = try LocalServer { request in
            switch request.path {
            case "/moved": .redirect(to: "/a.png")
            case "/secret" where request.headers["authorization"] != "Basic YW5uOnNlc2FtZQ==":
                .reply(401, ["WWW-Authenticate": "Basic realm=\"den\""], [])
            case "/teapot": .reply(418, ["Content-Type": "image/png"], picture)
            default: .reply(200, ["Content-Type": "image/png"], picture)
            }
        }
    }

    private func server() throws -> ServerProcess { try ServerProcess(cache: cache?.path ?? "") }

    /// Retrieves a path and answers the questions on the way.
    private func retrieve(
        _ path: String, _ server: ServerProcess, asked name: String, answers: [String]
    ) throws -> (questions: [JSON], reply: JSON) {
        try server.request(
            1, "retrieve",
            #"{"url":\#(quoted(web.url(path))),"options":{"forceRefresh":true,"delegates":["downloader/\#(name)"]}}"#)
        var answers = answers[...]
        var questions: [JSON] = []
        while let message = try server.next() {
            guard message["method"]?.string == "downloader/" + name else { return (questions, message) }
            questions.append(message["params"] ?? .null)
            let next = answers.popFirst()
            let answer = try #require(next)
            try server.send(#"{"jsonrpc":"2.0","id":\#(try #require(message["id"]).text),"result":\#(answer)}"#)
        }
        throw PatienceExhausted(description: "the server ended instead of answering")
    }

    @Test func redirectIsFollowedChangedOrStopped() throws {
        defer { web.stop() }
        let server = try server()
        var (questions, reply) = try retrieve("/moved", server, asked: "redirect", answers: ["{}"])
        #expect(reply["result"]?["url"]?.string == web.url("/a.png"))
        #expect(questions.count == 1)
        #expect(questions[0]["from"]?.string == web.url("/moved") && questions[0]["statusCode"]?.integer == 302)
        #expect(questions[0]["url"]?.string == web.url("/a.png") && questions[0]["headers"]?.members != nil)
        let elsewhere = #"{"url":\#(quoted(web.url("/b.png"))),"headers":{"X-A":"1"}}"#
        (_, reply) = try retrieve("/moved", server, asked: "redirect", answers: [elsewhere])
        #expect(reply["result"]?["url"]?.string == web.url("/b.png"))
        #expect(web.requests.last?.headers["x-a"] == "1")
        (_, reply) = try retrieve("/moved", server, asked: "redirect", answers: ["null"])
        #expect(reply["error"]?["code"]?.integer == 10002)
        #expect(reply["error"]?["data"]?["statusCode"]?.integer == 302)
        #expect(web.requests.map(\.path) == ["/moved", "/a.png", "/moved", "/b.png", "/moved"])
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
    }

    @Test func bodyIsTakenOrRefusedAsTheClientSays() throws {
        defer { web.stop() }
        let server = try server()
        for (path, answer, code) in [
            ("/teapot", #"{"accept":true}"#, nil), ("/teapot", "null", 10002), ("/teapot", #"{"accept":false}"#, 10002),
            ("/a.png", "null", nil), ("/a.png", #"{"accept":false}"#, 10002),
        ] as [(String, String, Int?)] {
            let (questions, reply) = try retrieve(path, server, asked: "validateStatus", answers: [answer])
            #expect(reply["error"]?["code"]?.integer == code, "\(path) \(answer)")
            #expect((reply["result"] != nil) == (code == nil))
            #expect(questions.map { $0["statusCode"]?.integer } == [path == "/teapot" ? 418 : 200])
            #expect(questions.first?["contentType"]?.string == "image/png")
        }
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
    }

    @Test func challengeIsAnsweredUntilTheCredentialsAreRight() throws {
        defer { web.stop() }
        let server = try server()
        let wrong = #"{"use":{"user":"ann","password":"?"}}"#
        let right = #"{"use":{"user":"ann","password":"sesame"}}"#
        var (questions, reply) = try retrieve("/secret", server, asked: "challenge", answers: [wrong, right])
        #expect(reply["result"]?["width"]?.integer == 61)
        #expect(questions.map { $0["failures"]?.integer } == [0, 1])
        #expect(questions[0]["url"]?.string == web.url("/secret") && questions[0]["host"]?.string == "127.0.0.1")
        #expect(questions[0]["realm"]?.string == "den" && questions[0]["scheme"]?.string == "basic")
        #expect(questions[0]["isProxy"] == .boolean(false))
        for (answer, code, status) in [("\"cancel\"", 30000, nil), ("\"default\"", 10002, 401), ("null", 10002, 401)] {
            (questions, reply) = try retrieve("/secret", server, asked: "challenge", answers: [answer])
            #expect(reply["error"]?["code"]?.integer == code, "\(answer)")
            #expect(reply["error"]?["data"]?["statusCode"]?.integer == status)
        }
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
    }
}
