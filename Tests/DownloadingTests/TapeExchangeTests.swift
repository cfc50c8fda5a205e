import TestSupport
import Testing

@testable import DownloadRecording
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// What a tape keeps is read back as it was.
struct TapeExchangeTests {
    private static let outcomes: [TapeExchange.Outcome] = [
        .answer(
            status: 200, url: "https://a.example/é?x=%20#y", fields: ["etag": "\"5\"", "x": "a: b\u{7F}%0A", "": ""]),
        .answer(status: 304, url: "", fields: [:]),
        .failure(.invalidStatusCode(404, url: "u")), .failure(.invalidStatusCode(503, url: "u", retryAfter: 2.5)),
        .failure(.timedOut(url: "u", option: "deadline", seconds: 0.25)),
        .failure(.connectionFailed(url: "u", reason: "one\ntwo\r%41")), .failure(.tlsFailed(url: "u", reason: "r")),
        .failure(.forbiddenAddress(url: "u", reason: "r")), .failure(.badData(reason: "r", source: "u")),
        .failure(.limitExceeded(limit: "maxBytes", reason: "r", source: "u")), .failure(.invalidURL("u", reason: "r")),
        .failure(.notModified(url: "u")), .failure(.downloadCancelledBeforeStarting(url: "u")),
    ]

    @Test(arguments: outcomes)
    func everyOutcomeIsReadBack(outcome: TapeExchange.Outcome) throws {
        let exchange = TapeExchange(url: "u", outcome: outcome)
        let body = Array("\n\nbody\n\n".utf8)
        let (parsed, start) = try #require(TapeExchange.parse(exchange.head + body))
        #expect(parsed == exchange)
        #expect(start == exchange.head.count)
        // Cut off anywhere before the body it is none.
        for count in 0..<exchange.head.count {
            #expect(TapeExchange.parse(exchange.head[..<count]) == nil, "\(count) bytes")
        }
    }

    @Test func whatLedToAnAnswerIsReadBack() throws {
        let route = [
            RedirectConstraints.Redirect(
                status: 302, fields: ["cache-control": "max-age=1, no-store", "vary": "a: b", "x": "y"]),
            RedirectConstraints.Redirect(status: 308, fields: [:]),
        ]
        var response = DownloadResponse()
        response.fields = ["etag": "1"]
        var download = Download(response: response, body: DownloadedBody(.memory([])))
        download.route = route
        let exchange = TapeExchange(
            url: "u", outcome: .answer(status: 200, url: "u", fields: TapeExchange.fields(of: download)))
        guard case .answer(_, _, var fields)? = TapeExchange.parse(exchange.head)?.exchange.outcome else {
            Issue.record("it is not read back")
            return
        }
        #expect(TapeExchange.takeRoute(from: &fields) == route && route[0].fields["x"] == nil)
        #expect(fields == ["etag": "1"])
    }

    @Test func cookiesAreNotKept() throws {
        let exchange = TapeExchange(
            url: "u", outcome: .answer(status: 200, url: "u", fields: ["set-cookie": "session=secret", "a": "b"]))
        #expect(!String(decoding: exchange.head, as: UTF8.self).contains("secret"))
    }

    @Test(arguments: [
        "", "\n\n\n\n", "GET u\n\nHTTP two u\n\n", "GET u\n\nHTTP 200\n\n", "GET u\n\nFAILED unheardOf\n\n",
        "GET u\n\nHTTP 200 u\nnonsense\n\n", "GET %zz\n\nHTTP 200 u\n\n", "HEAD u\n\nHTTP 200 u\n\n",
        "u\n\nHTTP 200 u\n\n",
        "GET u\nx\n\n\nHTTP 200 u\n\n",
    ])
    func whatIsNoExchangeIsRefused(text: String) {
        #expect(TapeExchange.parse(Array(text.utf8)) == nil)
    }
}
