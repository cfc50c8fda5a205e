import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// Header fields that are not believed (C1, C11; RFC 9110, 8.6 and 8.8; RFC 9112, 6.3).
@Suite struct HeaderRulesTests {
    @Test(
        arguments: [
            ("0", true), ("669", true), ("00669", true), ("100000000000000000000", true), ("5, 5", true),
            ("5,5 ,5", true),
            ("", false), ("5,", false), (",", false), ("5, 6", false), ("5, 05", false), ("-1", false), ("+5", false),
            ("5.0", false), ("0x5", false), ("5 6", false), ("five", false), ("٥", false), ("5\u{0}", false),
        ] as [(String, Bool)])
    func lengthIsOneNumber(_ text: String, _ isOne: Bool) { #expect(HeaderRules.isOneLength(text) == isOne) }

    @Test(
        arguments: [
            ("\"a\"", true), ("W/\"ä \"", true), ("", true), ("\"a\rX: y\"", false), ("a\u{0}", false),
            ("\t", false), ("\u{7F}", false),
            // Bytes that are no text have lost what they were.
            ("\"\u{FFFD}\"", false),
        ] as [(String, Bool)])
    func validatorIsTextWithoutControlCharacters(_ text: String, _ isSound: Bool) {
        #expect(HeaderRules.canBeSentBack(text) == isSound)
    }

    /// A number that JSON cannot hold, and fields of 90 KB.
    @Test func vastFieldsAreNeitherToldNorKept() async throws {
        let downloader = try TestDownloader()
        let vast = String(repeating: "9", count: 90_000)
        let server = try LocalServer(routes: [
            "/busy": .reply(503, ["Retry-After": vast], []),
            "/page": .reply(200, ["Content-Type": vast], Array("<html>".utf8)),
            "/a": .reply(200, ["ETag": "\"\(vast)\"", "Last-Modified": vast], hollowPNG(width: 7)),
        ])
        defer { server.stop() }
        #expect(try await downloader.failure(server.url("/busy"))?.retryAfter == 1e9)
        let page = try #require(
            await downloader.failure(server.url("/page")) { $0.limits.acceptContentTypes = ["image/*"] })
        #expect(page.description.utf8.count < 1000)
        let response = try await downloader.load(server.url("/a")).response
        #expect(response.etag == nil && response.lastModified == nil)
    }

    @Test func fieldThatComesThousandsOfTimesIsGatheredInTime() async throws {
        let downloader = try TestDownloader()
        let picture = hollowPNG(width: 7)
        let lines = String(repeating: "Vary: a\r\n", count: 20_000)
        let server = try LocalServer { _ in
            Script.empty.raw("HTTP/1.1 200 OK\r\n\(lines)Content-Length: \(picture.count)\r\n\r\n").raw(picture)
        }
        defer { server.stop() }
        #expect(try await downloader.bytes(server.url("/a")) == picture)
    }

    /// What comes behind the last chunk is no part of the head.
    /// RFC 9110, 6.5.1: also when no byte of a body stands between head and trailer.
    @Test(arguments: [200, 302, 401, 404, 503])
    func trailerOfAnEmptyBodyIsNoPartOfTheHead(_ status: Int) async throws {
        let trailer =
            "Location: /evil\r\nWWW-Authenticate: Digest realm=\"a\", nonce=\"b\", qop=\"auth\"\r\n"
            + "Retry-After: 77\r\nContent-Length: 1\r\nContent-Length: 2\r\nHTTP/9: x\r\n"
        let server = try LocalServer { _ in
            Script.head(status, ["Transfer-Encoding": "chunked"], length: nil).raw("0\r\n" + trailer + "\r\n")
        }
        defer { server.stop() }
        let error = try await TestDownloader().failure(server.url("/a")) {
            $0.request.authorization = .basic(user: "u", password: "p")
        }
        if [200, 302].contains(status) {
            #expect(error == nil)
        } else {
            #expect(error == .invalidStatusCode(status, url: server.url("/a"), retryAfter: nil))
        }
        #expect(server.requests.map(\.path) == ["/a"])
    }

    @Test func trailerChangesNothingThatIsKept() async throws {
        let downloader = try TestDownloader()
        let picture = hollowPNG(width: 7)
        let chunk = Array("\(String(picture.count, radix: 16))\r\n".utf8) + picture
        let server = try LocalServer { _ in
            Script.empty.raw("HTTP/1.1 200 OK\r\nETag: \"head\"\r\nTransfer-Encoding: chunked\r\n\r\n").raw(chunk)
                .raw("\r\n0\r\nETag: \"trailer\"\r\nLast-Modified: never\r\n\r\n")
        }
        defer { server.stop() }
        let response = try await downloader.load(server.url("/a")).response
        #expect(response.etag == "\"head\"" && response.lastModified == nil && response.url == server.url("/a"))
    }

    /// It would be too long the next time too.
    @Test(arguments: [5_000, 200_000])
    func trailerThatIsLongerThanTheLibraryTakesIsRefusedOnce(_ length: Int) async throws {
        let downloader = try TestDownloader()
        let picture = hollowPNG(width: 7)
        let chunk = Array("\(String(picture.count, radix: 16))\r\n".utf8) + picture
        let line = "X: " + String(repeating: "y", count: length)
        let server = try LocalServer { _ in
            Script.empty.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").raw(chunk)
                .raw("\r\n0\r\n\(line)\r\n\r\n").closing()
        }
        defer { server.stop() }
        let error = try #require(await downloader.failure(server.url("/a")))
        guard case .limitExceeded("headerBytes", _, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(RetryStrategy(maxRetries: 2, interval: .seconds(0)).delay(before: 1, after: error) == nil)
        #expect(server.requests.count == 1 && downloader.folder.files.isEmpty)
    }
}
