import Foundation
import TestSupport
import Testing

/// What was recorded is played back without network.
@Suite(.onThreads)
struct MirrorTests {
    private let scratch: TemporaryFolder
    private var tape: String { scratch.path + "/tape" }

    init() throws { scratch = try TemporaryFolder() }

    private func server(_ cache: String, _ flag: String, framed: Bool = false) throws -> ServerProcess {
        try ServerProcess(cache: scratch.path + "/" + cache, [flag, tape], isFramed: framed)
    }

    private func files(_ ending: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: tape).filter { $0.hasSuffix(ending) }.sorted()
    }

    /// Asks for the same pictures again, with and without network: the answers are the same but for the folder.
    @Test func downloadsArePlayedAsTheyWereRecorded() throws {
        let picture = try Fixtures.bytes("png-rgb.png")
        let large = try Fixtures.bytes("jpeg-large.jpg")
        let packed = try Command.shell("gzip", input: large).output
        let web = try LocalServer { request in
            switch request.path {
            case "/a": .reply(200, ["ETag": "\"1\"", "Cache-Control": "max-age=60", "Set-Cookie": "s=secret"], picture)
            case "/large": .reply(200, [:], large)
            case "/moved": .redirect(to: "/a")
            case "/packed": .reply(200, ["Content-Encoding": "gzip"], packed)
            default: .reply(503, ["Retry-After": "120"], [])
            }
        }
        let requests = ["/a", "/large", "/moved", "/gone", "/packed"].map { #"{"url":\#(quoted(web.url($0)))}"# }
        func answers(_ server: ServerProcess) throws -> [JSON] {
            try requests.enumerated().map { number, params in
                let reply = try server.call(number, "retrieve", params)
                var image = reply["result"]?.members ?? reply["error"]?.members ?? [:]
                for name in ["path", "uri", "expiresAt"] { image[name] = nil }
                return .object(image)
            }
        }
        let recorded = try server("one", "--mirror")
        let first = try answers(recorded)
        #expect(recorded.finish() == 0)
        web.stop()
        let count = web.requests.count
        let played = try server("two", "--replay", framed: true)
        #expect(try answers(played) == first)
        #expect(first[4]["byteCount"]?.integer == large.count && first[4]["format"] == .string("jpeg"))
        #expect(first[3]["data"]?["statusCode"] == .integer(503) && first[2]["width"] == .integer(61))
        // What was never asked is not on the tape, and nobody is asked for it.
        let unknown = try played.call(9, "retrieve", #"{"url":\#(quoted(web.url("/unknown")))}"#)
        #expect(unknown["error"]?["code"] == .integer(20001))
        #expect(unknown["error"]?["message"]?.string?.contains("Nothing is recorded for it in \(tape)") == true)
        #expect(played.finish() == 0)
        #expect(web.requests.count == count)
        let found = try Command.shell("grep -r secret \(tape)")
        #expect(found.status == 1 && found.output.isEmpty)
    }

    /// Each time it was asked the server answered something else, and once that nothing had changed.
    @Test func answersAreTheSameOnesInTheSameOrder() throws {
        let pictures = try ["png-rgb.png", "jpeg-photo.jpg"].map(Fixtures.bytes)
        let web = try LocalServer { request in
            if request.path == "/moved" { return .reply(302, ["Location": "/fresh", "Vary": "X-A"], []) }
            if request.headers["if-none-match"] == "\"1\"" { return .reply(304, ["ETag": "\"1\""], []) }
            if request.path == "/fresh" {
                return .reply(200, ["ETag": "\"1\"", "Cache-Control": "max-age=1000"], pictures[1])
            }
            return request.path == "/changing"
                ? .reply(200, [:], pictures[0]) : .reply(200, ["ETag": "\"1\""], pictures[1])
        }
        func conversation(_ server: ServerProcess) throws -> [JSON?] {
            let (changing, same) = (quoted(web.url("/changing")), quoted(web.url("/same")))
            // What a redirect led to is no fresher than that was.
            let moved = quoted(web.url("/moved"))
            return try [
                (changing, #"{"forceRefresh":true}"#), (changing, #"{"forceRefresh":true}"#),
                (moved, #"{"revalidate":"http"}"#), (moved, #"{"revalidate":"http"}"#),
                (same, "{}"), (same, #"{"revalidate":"always"}"#), (same, #"{"revalidate":"always"}"#),
            ].enumerated().map { number, call in
                let reply = try server.call(number, "retrieve", #"{"url":\#(call.0),"options":\#(call.1)}"#)
                return reply["result"]?["revalidated"] ?? reply["result"]?["format"]
            }
        }
        let recorded = try server("one", "--mirror")
        let first = try conversation(recorded)
        #expect(recorded.finish() == 0)
        web.stop()
        #expect(
            first == [
                .string("png"), .string("png"), .string("jpeg"), .boolean(true), .string("jpeg"), .boolean(true),
                .boolean(true),
            ])
        let played = try server("two", "--replay")
        #expect(try conversation(played) == first)
        #expect(played.finish() == 0)
    }

    @Test func bothDirectionsAreWrittenDownByteByByte() throws {
        let server = try server("one", "--mirror", framed: true)
        _ = try server.call(1, "ping")
        #expect(server.finish() == 0)
        let input = try #require(files(".input").first)
        let output = try #require(files(".output").first)
        func text(_ name: String) throws -> String { try String(contentsOfFile: tape + "/" + name, encoding: .utf8) }
        #expect(try text(output) == "Content-Length: 38\r\n\r\n" + #"{"jsonrpc":"2.0","id":1,"result":null}"#)
        #expect(try text(input).contains(#""method":"ping""#))
        // What the client said can be said again.
        let again = try Command.shell("$HALCYON --replay \(tape) < \(tape)/\(input)")
        #expect(try String(decoding: again.output, as: UTF8.self) == text(output))
    }

    /// The time is the tape's, so that what was fresh then is fresh now.
    @Test func theTimeIsThatOfTheRecording() throws {
        _ = try server("one", "--mirror").finish()
        try Data("1000000000\n".utf8).write(to: URL(fileURLWithPath: tape + "/started"))
        let played = try server("two", "--replay")
        let path = quoted(Fixtures.folder + "/png-rgb.png")
        let stored = try played.call(
            1, "store", #"{"key":"a","path":\#(path),"options":{"diskCacheExpiration":{"days":1}}}"#)
        // 1,000,000,000 seconds after 1970 it was 01:46:40 on 9 September 2001.
        #expect(stored["result"]?["expiresAt"]?.string?.hasPrefix("2001-09-10T01:4") == true, "\(stored.text)")
        #expect(played.finish() == 0)
    }

    @Test func aFolderThatIsNoRecordingIsRefusedAtTheStart() throws {
        let missing = try Command.shell("$HALCYON --replay \(tape) < /dev/null")
        #expect(missing.status == 1 && missing.errors.contains(tape), "\(missing.errors)")
        let both = try Command.shell("$HALCYON --replay \(tape) --mirror \(tape) < /dev/null")
        #expect(both.status == 1 && both.errors.contains("not both"))
        let unwritable = try Command.shell("$HALCYON --mirror /dev/null/tape < /dev/null")
        #expect(unwritable.status == 1 && unwritable.errors.contains("/dev/null/tape"))
    }
}
