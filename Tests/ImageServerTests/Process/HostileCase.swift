import Foundation
import TestSupport

/// One way in which a web server misbehaves, and what becomes of it.
struct HostileCase: Sendable {
    /// What the server does.
    let name: String
    /// The name of the error; nil when the picture comes all the same.
    let error: String?
    /// The options of the request, as JSON.
    var options = #"{"maxBytes":1000000}"#
    /// What is answered to a path that begins with the case's own.
    let answer: @Sendable (LocalServer.Request) -> Script

    /// What is served by those that end well.
    static let picture = (try? Fixtures.bytes("png-rgb.png")) ?? []
    /// What must never be served: it stands where the answer to another request might be looked for.
    private static let poison = (try? Fixtures.bytes("png-gray.png")) ?? []
    /// Never opened.
    private static let never = Gate()
    private static let impatient = #"{"timeout":0.3}"#
    private static let hurried = #"{"deadline":0.5}"#

    private init(
        _ name: String, _ error: String?, options: String? = nil, _ answer: @escaping @Sendable () -> Script
    ) {
        self.init(name, error, options: options) { _ in answer() }
    }

    private init(
        _ name: String, _ error: String?, options: String? = nil,
        asked answer: @escaping @Sendable (LocalServer.Request) -> Script
    ) {
        (self.name, self.error, self.answer) = (name, error, answer)
        if let options { self.options = options }
    }

    static let all = lengths + chunks + codings + noHTTP + heads + statuses + redirects + silences + contents

    // MARK: Pieces

    /// A 200 with header lines and a body, sent as one piece.
    private static func ok(_ lines: [String], _ body: [UInt8] = picture) -> Script {
        Script.empty.raw(whole(lines, body))
    }

    private static func whole(_ lines: [String], _ body: [UInt8]) -> [UInt8] {
        Array(("HTTP/1.1 200 OK\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n").utf8) + body
    }

    /// A status line of its own before a picture.
    private static func status(_ line: String) -> Script {
        Script.empty.raw("\(line)\r\n\(length)\r\n\r\n").raw(picture).closing()
    }

    private static let length = "Content-Length: \(picture.count)"
    private static let chunked = "Transfer-Encoding: chunked"
    private static let size = String(picture.count, radix: 16)

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    private static let last = Array("0\r\n\r\n".utf8)

    // MARK: Lengths

    private static let lengths: [HostileCase] =
        [
            ("negative", "-1"), ("empty", ""), ("a word", "many"), ("hexadecimal", "0x29d"), ("signed", "+669"),
            ("two numbers", "669, 10"), ("a fraction", "669.5"),
        ].map { name, value in
            HostileCase("a length that is \(name)", "connectionFailed") { ok(["Content-Length: \(value)"]).closing() }
        } + [
            HostileCase("two lengths, the right one first", "connectionFailed") { ok([length, "Content-Length: 10"]) },
            HostileCase("two lengths, the right one last", "connectionFailed") { ok(["Content-Length: 10", length]) },
            HostileCase("one length twice", nil) { ok([length, length]) },
            HostileCase("a length of 2^62", "limitExceeded") { ok(["Content-Length: 4611686018427387904"]) },
            HostileCase("a length of 10^20", "limitExceeded") { ok(["Content-Length: 100000000000000000000"]) },
            HostileCase("a body shorter than its length", "connectionFailed") {
                ok(["Content-Length: \(picture.count + 1)"]).closing()
            },
            HostileCase("a reset within the body", "connectionFailed") {
                ok([length], Array(picture.prefix(100))).resetting()
            },
            HostileCase("a body longer than its length", nil) { ok([length], picture + poison) },
            HostileCase("another answer behind the body", nil) {
                ok([length], picture + whole(["Content-Length: \(poison.count)"], poison))
            },
            HostileCase("an endless body", "limitExceeded") { ok([], []).endlessly(picture) },
        ]

    // MARK: Chunks

    private static let chunks: [HostileCase] =
        [
            ("no number", "zz"), ("negative", "-5"), ("16 times f", "ffffffffffffffff"),
            ("21 times f", "fffffffffffffffffffff"), ("too small", "5"), ("empty", ""),
        ].map { name, size in
            HostileCase("a chunk whose size is \(name)", "connectionFailed") {
                ok([chunked], Array("\(size)\r\n".utf8) + picture + Array("\r\n0\r\n\r\n".utf8)).closing()
            }
        } + [
            HostileCase("no last chunk", "connectionFailed") { ok([chunked], chunk(picture)).closing() },
            HostileCase("a chunk without an end", "connectionFailed") {
                ok([chunked], Array("\(size)\r\n".utf8) + picture + last).closing()
            },
            HostileCase("chunks of one byte", nil) { ok([chunked], picture.flatMap { chunk([$0]) } + last) },
            HostileCase("chunks and another length", nil) {
                ok(["Content-Length: 10", chunked], chunk(picture) + last)
            },
            HostileCase("an extension of a chunk", nil) {
                ok([chunked], Array("\(size);a=b\r\n".utf8) + picture + Array("\r\n".utf8) + last)
            },
            HostileCase("an endless extension of a chunk", "timedOut", options: impatient) {
                ok([chunked], Array("\(size);".utf8)).endlessly("a=b;")
            },
            HostileCase("a trailer that contradicts the head", nil) {
                ok([chunked], chunk(picture) + Array("0\r\nContent-Length: 5\r\nETag: 1\r\n\r\n".utf8))
            },
            HostileCase("an endless trailer", "limitExceeded") {
                ok([chunked], chunk(picture) + Array("0\r\n".utf8)).endlessly("X: y\r\n")
            },
            HostileCase("endless chunks", "limitExceeded") { ok([chunked], []).endlessly(chunk(picture)) },
        ]

    // MARK: Codings

    /// 100 MB of nothing, compressed to 100 KB.
    private static let bomb = (try? Command.shell("head -c 100000000 /dev/zero | gzip -9").output) ?? []

    private static let codings: [HostileCase] =
        ["gzip", "br", "zstd", "gzip, gzip", "x-made-up"].map { name in
            HostileCase("a bomb by Content-Encoding: \(name)", name == "gzip" ? "limitExceeded" : "badData") {
                ok(["Content-Encoding: \(name)", "Content-Length: \(bomb.count)"], bomb)
            }
        } + [
            HostileCase("a bomb by Transfer-Encoding", "badData") {
                ok(["Transfer-Encoding: gzip, chunked"], chunk(bomb) + last).closing()
            },
            HostileCase("half a bomb by Content-Encoding", "limitExceeded") {
                ok(["Content-Encoding: gzip", "Content-Length: 1000"], Array(bomb.prefix(1000)))
            },
            HostileCase("an unknown Transfer-Encoding", "connectionFailed") {
                ok(["Transfer-Encoding: x-made-up", length]).closing()
            },
        ]

    // MARK: What is no HTTP

    private static let noHTTP: [HostileCase] =
        [
            "HTTP/1.1 000 Zero", "HTTP/1.1 99 Low", "HTTP/1.1 2000 High", "HTTP/1.1 abc Word", "HTTP/1.1 -200 OK",
            "HTTP/1.1", "HTTP/1.9 200 OK", "ICY 200 OK", "HTTP", "\r\n\r\nHTTP/1.1 200 OK",
        ].map { line in HostileCase("the first line \(quoted(line))", "connectionFailed") { status(line) } } + [
            HostileCase("a picture without a head, as in HTTP/0.9", "connectionFailed") {
                Script.empty.raw(picture).closing()
            },
            HostileCase("lines without a head", "connectionFailed") {
                Script.empty.raw(String(repeating: "hello\r\n\r\n", count: 1000)).closing()
            },
            HostileCase("random bytes", "connectionFailed") {
                Script.empty.raw((0..<4000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }).closing()
            },
            HostileCase("nothing at all", "connectionFailed") { Script.empty.closing() },
            HostileCase("a reset at once", "connectionFailed") { Script.empty.resetting() },
            HostileCase("half a head", "connectionFailed") {
                Script.empty.raw("HTTP/1.1 200 OK\r\nContent-Ty").closing()
            },
            HostileCase("a head without an end", "connectionFailed") {
                Script.empty.raw("HTTP/1.1 200 OK\r\n\(length)\r\n").closing()
            },
            HostileCase("HTTP/1.0 without a length", nil) {
                Script.empty.raw("HTTP/1.0 200 OK\r\n\r\n").raw(picture).closing()
            },
            HostileCase("a status without a reason", nil) { status("HTTP/1.1 200") },
        ]

    // MARK: Heads

    private static let heads: [HostileCase] = [
        HostileCase("a NUL in a value", "connectionFailed") { ok([length, "X: a\0b"]) },
        HostileCase("a NUL in a name", "connectionFailed") { ok([length, "X\0Y: a"]) },
        HostileCase("control characters in a value", nil) { ok([length, "X: a\u{1}\u{2}\u{7F}b"]) },
        HostileCase("half a line end in a value", nil) { ok([length, "X: a\rY: b"]) },
        HostileCase("letters beyond ASCII", nil) { ok([length, "X-é: é", "ETag: \"é\""]) },
        HostileCase("a line without a colon", "connectionFailed") { ok([length, "garbage"]) },
        HostileCase("a folded line", nil) { ok([length, "X: a", " b", "\tc"]) },
        // libcurl before 8.1.1 wrote through a pointer of an earlier answer here.
        HostileCase("a folded line with nothing to fold to", "connectionFailed") { ok([" X: y", length]).closing() },
        HostileCase("a folded length", "connectionFailed") {
            ok(["Content-Length:", " \(picture.count)"]).closing()
        },
        HostileCase("lines that end without a carriage return", nil) {
            Script.empty.raw("HTTP/1.1 200 OK\n\(length)\n\n").raw(picture)
        },
        HostileCase("2,000 cookies", nil) { ok([length] + (0..<2000).map { "Set-Cookie: a\($0)=b" }) },
        HostileCase("endless lines", "limitExceeded") {
            Script.empty.raw("HTTP/1.1 200 OK\r\n").endlessly("X-Filler: \(String(repeating: "x", count: 500))\r\n")
        },
        HostileCase("endless lines of one letter", "limitExceeded") {
            Script.empty.raw("HTTP/1.1 200 OK\r\n").endlessly("X:\r\n")
        },
        HostileCase("endless 100s", "limitExceeded") { Script.empty.endlessly("HTTP/1.1 100 Continue\r\n\r\n") },
        HostileCase("endless 103s", "limitExceeded") {
            Script.empty.endlessly("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        },
        HostileCase("1,000 times 100 before the answer", nil) {
            Script.empty.raw(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1000)).followed(by: ok([length]))
        },
        HostileCase("ages and dates of another world", nil) {
            ok([
                length, "Cache-Control: max-age=100000000000000000000, s-maxage=-1, stale-while-revalidate=1e99",
                "Age: -5", "Date: yesterday", "Expires: 0", "Last-Modified: Sun, 06 Nov 99999 08:49:37 GMT",
            ])
        },
    ]

    // MARK: Statuses

    private static let statuses: [HostileCase] = [
        HostileCase("101 that nobody wanted", "connectionFailed") {
            Script.empty.raw("HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n").closing()
        },
        HostileCase("204 with a body", "badData") { status("HTTP/1.1 204 No Content") },
        HostileCase("206 that nobody wanted", "invalidStatusCode") { status("HTTP/1.1 206 Partial") },
        HostileCase("304 without a question", "notModified") { .reply(304, ["ETag": "\"1\""], []) },
        HostileCase("401 without a challenge", "invalidStatusCode") { .reply(401, [:], []) },
        HostileCase("407 without a proxy", "invalidStatusCode") {
            .reply(407, ["Proxy-Authenticate": "Basic realm=\"x\""], [])
        },
        HostileCase("416 without a range", "invalidStatusCode") { .reply(416, [:], []) },
        HostileCase("503 for ever", "invalidStatusCode") {
            .reply(503, ["Retry-After": "99999999999999999999999999"], [])
        },
        HostileCase("999", "invalidStatusCode") { .reply(999, [:], picture) },
    ]

    // MARK: Redirects

    private static let redirects: [HostileCase] =
        [
            "file:///etc/passwd", "gopher://127.0.0.1:25/", "data:image/png;base64,AAAA", "//", "http://", "dict://a/",
        ].map { target in HostileCase("a redirect to \(target)", "invalidURL") { .redirect(to: target) } } + [
            HostileCase("a redirect to itself", "limitExceeded", asked: { .redirect(to: $0.path) }),
            HostileCase("a pair of redirects", "limitExceeded") { request in
                .redirect(to: request.path.hasSuffix("/b") ? String(request.path.dropLast(2)) : request.path + "/b")
            },
            HostileCase("redirects without end", "limitExceeded", asked: { .redirect(to: $0.path + "/a") }),
            HostileCase("a redirect to nowhere", "badData") { .redirect(to: "") },
            HostileCase("a redirect to link-local addresses", "forbiddenAddress") {
                .redirect(to: "http://169.254.169.254/latest/meta-data")
            },
            HostileCase("a redirect with an endless body", "limitExceeded") { request in
                Script.head(302, ["Location": request.path + "/a"], length: nil).endlessly(picture)
            },
        ]

    // MARK: Time

    private static let silences: [HostileCase] = [
        HostileCase("silence", "timedOut", options: impatient) { Script.empty.waiting(for: never) },
        HostileCase("silence within the head", "timedOut", options: impatient) {
            Script.empty.raw("HTTP/1.1 200 OK\r\nContent-").waiting(for: never)
        },
        HostileCase("silence within the body", "timedOut", options: impatient) {
            ok([length], Array(picture.prefix(100))).waiting(for: never)
        },
        HostileCase("silence before the last chunk", "timedOut", options: impatient) {
            ok([chunked], chunk(picture)).waiting(for: never)
        },
        HostileCase("a head that drips", "timedOut", options: hurried) {
            Script.empty.raw("HTTP/1.1 200 OK\r\n").dripping(Array("X-Filler: x\r\n".utf8))
        },
        HostileCase("a body that drips", "timedOut", options: hurried) {
            ok(["Content-Length: 1000000"], []).dripping(picture)
        },
    ]

    // MARK: What is no picture

    private static let contents: [HostileCase] = [
        HostileCase("a page as image/jpeg", "badData") {
            .reply(200, ["Content-Type": "image/jpeg"], Array("<html><body>Log in</body></html>".utf8))
        },
        HostileCase("JSON as image/png", "badData") {
            .reply(200, ["Content-Type": "image/png"], Array(#"{"error":"no"}"#.utf8))
        },
        HostileCase("an empty body", "badData") { .reply(200, ["Content-Type": "image/png"], []) },
        HostileCase("half a picture of the length that was said", "badData") {
            .reply(200, [:], Array(picture.prefix(picture.count / 2)))
        },
        HostileCase("a picture of another type than was said", nil) {
            .reply(200, ["Content-Type": "text/html; charset=\"\u{1}\""], picture)
        },
    ]
}
