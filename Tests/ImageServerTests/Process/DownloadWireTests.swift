import Foundation
import TestSupport
import Testing

/// Credentials, activity around failures, slots that are cancelled and answers that come too late, as a client sees
/// them.
@Suite(.onThreads)
struct DownloadWireTests {
    private let cache = try? TemporaryFolder()
    private let gate = Gate()

    private func server(_ arguments: [String] = []) throws -> ServerProcess {
        try ServerProcess(cache: cache?.path ?? "", arguments)
    }

    private func web() throws -> LocalServer {
        let picture = try Fixtures.bytes("png-rgb.png")
        return try LocalServer { [gate] request in
            let reply: Script = request.path.contains("gone") ? .reply(404, [:], []) : .reply(200, [:], picture)
            return request.path.hasPrefix("/held") ? Script.empty.waiting(for: gate).followed(by: reply) : reply
        }
    }

    private func retrieve(_ web: LocalServer, _ path: String, _ options: String = "{}") -> String {
        #"{"url":\#(quoted(web.url(path))),"options":\#(options)}"#
    }

    @Test func credentialsReachTheServerAndNoneAreMadeUp() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        for (number, options) in [
            #"{"authorization":{"basic":{"user":"Aladdin","password":"open sesame"}}}"#,
            #"{"authorization":{"basic":{"user":"ünï","password":""}}}"#, #"{"authorization":{"bearer":"t-1"}}"#,
            #"{"headers":{"Authorization":"Custom x"}}"#, "{}",
        ].enumerated() {
            let reply = try server.call(number, "retrieve", retrieve(web, "/\(number)", options))
            #expect(reply["result"]?["width"]?.integer == 61, "\(reply.text)")
            let again = try server.call(number, "download", retrieve(web, "/again/\(number)", options))
            #expect(again["result"]?["width"]?.integer == 61, "\(again.text)")
        }
        let basic = [
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic " + Data("ünï:".utf8).base64EncodedString(), "Bearer t-1",
            "Custom x", nil,
        ]
        #expect(web.requests.map { $0.headers["authorization"] } == basic.flatMap { [$0, $0] })
        #expect(server.finish() == 0)
    }

    /// Whoever sees it downloads that, and gets another thing.
    @Test func compressedImageIsToldOfByWhatCameAndAnsweredAsWhatItStandsFor() throws {
        let drawing =
            ascii("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"30\">")
            + [UInt8](repeating: 0x20, count: 10_000) + ascii("</svg>")
        let packed = try Command.shell("gzip -n", input: drawing).output
        let web = try LocalServer { _ in
            .reply(200, ["Content-Encoding": "gzip", "Content-Type": "image/svg+xml"], packed)
        }
        defer { web.stop() }
        let server = try server()
        _ = try server.call(1, "subscribe", #"{"events":["download/didFinish"]}"#)
        let url = quoted(web.url("/a.svgz"))
        try server.request(2, "retrieve", #"{"url":\#(url),"as":"data","workDoneToken":"t"}"#)
        var (told, reply): ([JSON], JSON?) = ([], nil)
        while reply == nil || !told.contains(where: { $0["method"]?.string == "download/didFinish" }) {
            let message = try #require(try server.next())
            if message["id"] == nil { told.append(message) } else { reply = message }
        }
        let image = try #require(reply?["result"])
        #expect(image["data"]?.string == Data(drawing).base64EncodedString() && image["format"]?.string == "svg")
        #expect(image["byteCount"]?.integer == drawing.count && image["width"]?.integer == 40)
        let values = told.compactMap { $0["params"]?["value"] }
        #expect(
            values.count >= 2 && values.allSatisfy { $0["totalBytes"] == .null && $0["percentage"]?.integer ?? 0 == 0 })
        #expect(values.last?["receivedBytes"]?.integer == drawing.count)
        let finished = told.last { $0["method"]?.string == "download/didFinish" }?["params"]
        #expect(finished?["byteCount"]?.integer == packed.count)
        #expect(server.finish() == 0)
    }

    /// Of one alone, behind a redirect, of a confirmation, and of what is made of it; a hit had none.
    @Test func resultTellsOfItsDownloadWhenAsked() throws {
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { request in
            if request.path == "/moved" { return .reply(302, ["Location": "/other"], []) }
            let isKnown = request.headers["if-none-match"] != nil
            return .reply(isKnown ? 304 : 200, ["ETag": "\"1\""], isKnown ? [] : picture)
        }
        defer { web.stop() }
        let server = try server()
        func report(_ method: String, _ path: String, _ options: String, _ rest: String = "") throws -> JSON? {
            let params = #"{"url":\#(quoted(web.url(path))),"options":{\#(options)}\#(rest)}"#
            let result = try server.call(1, method, params)["result"]
            #expect(result?["format"]?.string == "png")
            return result?["downloadReport"]
        }
        let asked = #""downloadReport":true"#
        let loaded = try #require(try report("retrieve", "/1", asked))
        #expect(loaded["url"]?.string == web.url("/1") && loaded["finalUrl"]?.string == web.url("/1"))
        #expect(loaded["statusCode"]?.integer == 200 && loaded["byteCount"]?.integer == picture.count)
        #expect(
            loaded["error"] == .null && loaded["timings"]?["firstByte"] != .null && loaded["redirects"]?.integer == 0)
        #expect(try report("retrieve", "/1", asked) == nil)
        let confirmed = try report("retrieve", "/1", asked + #","revalidate":"always""#)
        #expect(confirmed?["statusCode"]?.integer == 304 && confirmed?["fromRevalidation"]?.boolean == true)
        #expect(try report("retrieve", "/2", "") == nil)
        let made = try report("retrieve", "/moved", asked, #","processors":[{"rotate":{"degrees":90}}]"#)
        #expect(made?["redirects"]?.integer == 1 && made?["finalUrl"]?.string == web.url("/other"))
        #expect(try report("download", "/3", asked)?["byteCount"]?.integer == picture.count)
        #expect(server.finish() == 0)
    }

    /// A failure ends activity as a success does, and downloads that overlap are one activity.
    @Test func activityIsOverAfterAFailureAndOnceForAllThatOverlap() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--activate-after", "0", "--complete-after", "0"])
        _ = try server.call(1, "subscribe", #"{"events":["activity/didChange","download/didFinish"]}"#)
        for id in 2...3 { try server.request(id, "retrieve", retrieve(web, "/held/gone/\(id)")) }
        try server.request(4, "retrieve", retrieve(web, "/held/4"))
        try waitUntil("all are under way") { web.requests.count == 3 }
        gate.open()
        var replies = Replies()
        func isOver(_ message: JSON) -> Bool {
            message["method"]?.string == "activity/didChange" && message["params"]?["active"]?.boolean == false
        }
        while replies.byID.count < 3 || !(replies.notifications.contains(where: isOver)) {
            replies.add(try #require(try server.next()))
        }
        #expect([2, 3].map { replies.code($0) } == [10002, 10002] && replies.result(4) != nil)
        let activity = replies.notifications.filter { $0["method"]?.string == "activity/didChange" }
        #expect(activity.map { $0["params"]?["active"]?.boolean } == [true, false], "\(activity.map(\.text))")
        #expect(activity.last?["params"]?["count"]?.integer == 0)
        let ends = replies.notifications.filter { $0["method"]?.string == "download/didFinish" }
        #expect(ends.count == 3)
        #expect(ends.count { $0["params"]?["error"]?.string == "invalidStatusCode" } == 2)
        #expect(server.finish() == 0)
    }

    /// By slot, and only when everything that is given matches.
    @Test func slotIsCancelledWithNobodyElse() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        try server.request(1, "retrieve", retrieve(web, "/held/a", #"{"slot":"cover"}"#))
        try server.request(2, "retrieve", retrieve(web, "/held/a", #"{"slot":"back"}"#))
        try server.request(3, "download", retrieve(web, "/held/b", #"{"slot":"spine"}"#))
        try server.request(4, "retrieve", retrieve(web, "/held/c"))
        try waitUntil("all are under way") { web.requests.count == 3 }
        for params in [
            #"{"slot":"other"}"#, #"{"slot":"COVER"}"#, #"{"slot":"cover","cache":"other"}"#,
            #"{"slot":"cover","url":\#(quoted(web.url("/held/b")))}"#,
        ] {
            #expect(try server.call(10, "cancelAll", params)["result"]?["cancelled"]?.integer == 0, "\(params)")
        }
        for (id, slot) in [(1, "cover"), (3, "spine")] {
            try server.request(11, "cancelAll", #"{"slot":"\#(slot)"}"#)
            let replies = try server.replies(2)
            #expect(replies.result(11)?["cancelled"]?.integer == 1)
            #expect(replies.code(id) == -32800)
        }
        try waitUntil("nobody wants the second any more") { web.droppedCount == 1 }
        #expect(try server.call(12, "cancelAll", #"{"slot":"cover"}"#)["result"]?["cancelled"]?.integer == 0)
        gate.open()
        let rest = try server.replies(2)
        #expect(rest.result(2) != nil && rest.result(4) != nil)
        #expect(web.requests.count == 3 && web.droppedCount == 1)
        #expect(server.finish() == 0)
    }

    /// The client answers a question about a request that it has cancelled.
    @Test func answerToAQuestionThatIsOverChangesNothing() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--delegate-timeout", "600"])
        let options = #"{"delegates":["downloader/validateStatus"]}"#
        try server.request(1, "retrieve", retrieve(web, "/a", options))
        let question = try #require(try server.next())
        #expect(question["method"]?.string == "downloader/validateStatus")
        try server.notify("$/cancelRequest", #"{"id":1}"#)
        var (isAnswered, isWithdrawn) = (false, false)
        while !isAnswered || !isWithdrawn {
            let message = try #require(try server.next())
            if message["method"]?.string == "$/cancelRequest" {
                #expect(message["params"]?["id"] == question["id"])
                isWithdrawn = true
            } else {
                #expect(message["id"]?.integer == 1 && message["error"]?["code"]?.integer == -32800)
                isAnswered = true
            }
        }
        for _ in 0..<2 {
            try server.send(
                #"{"jsonrpc":"2.0","id":\#(try #require(question["id"]).text),"result":{"accept":true}}"#)
        }
        let key = #"{"key":\#(quoted(web.url("/a")))}"#
        #expect(try server.call(2, "isCached", key)["result"]?["cached"]?.boolean == false)
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
    }
}

/// Pictures that are made to keep a reader busy.
@Suite(.onThreads)
struct BombTests {
    private let cache = try? TemporaryFolder()

    /// A GIF of one pixel with so many frames.
    private static func animation(frames: Int) -> [UInt8] {
        let head: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0]
        let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4C, 1, 0]
        var bytes = head
        bytes.reserveCapacity(head.count + frames * frame.count + 1)
        for _ in 0..<frames { bytes += frame }
        return bytes + [0x3B]
    }

    /// A drawing whose entities come to 10^`depth` letters.
    private static func laughter(depth: Int, filling: Int = 0) -> [UInt8] {
        var text = "<?xml version=\"1.0\"?>\n<!DOCTYPE svg [\n<!ENTITY e0 \"ha\">\n"
        for level in 1...depth {
            text += "<!ENTITY e\(level) \"\(String(repeating: "&e\(level - 1);", count: 10))\">\n"
        }
        text += "]>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\"><text>&e\(depth);</text>"
        return Array((text + String(repeating: "<g>&e\(depth);</g>", count: filling / 12) + "</svg>").utf8)
    }

    /// A PNG that claims to be of 2^31 - 1 pixels each way, with a compressed megabyte of nothing.
    private static func vastPNG() -> [UInt8] {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let size: [UInt8] = [0x7F, 0xFF, 0xFF, 0xFF]
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
            let count = UInt32(body.count)
            return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + Array(name.utf8) + body + [
                0, 0, 0, 0,
            ]
        }
        return signature + chunk("IHDR", size + size + [8, 6, 0, 0, 0])
            + chunk("IDAT", [UInt8](repeating: 0, count: 1 << 20)) + chunk("IEND", [])
    }

    static let bombs: [(name: String, bytes: [UInt8], format: String?, frames: Int)] = [
        ("100,000 frames", animation(frames: 100_000), "gif", 100_000),
        ("a million frames", animation(frames: 1_000_000), "gif", 1_000_000),
        ("frames without an end", Array(animation(frames: 100_000).dropLast(2)), nil, 0),
        ("entities of 10^30 letters", laughter(depth: 30), "svg", 1),
        ("entities in a drawing of 1 MB", laughter(depth: 9, filling: 1 << 20), "svg", 1),
        ("1 MB of entities", Array(String(repeating: "<!ENTITY a \"b\">", count: 1 << 16).utf8), nil, 0),
        ("a document type of 1 MB", Array("<!DOCTYPE svg [".utf8) + [UInt8](repeating: 0x5B, count: 1 << 20), nil, 0),
        ("1 MB of comments", Array(String(repeating: "<!---->", count: 1 << 17).utf8) + laughter(depth: 1), nil, 0),
        ("a vast PNG", vastPNG(), "png", 1),
        ("64 MB of nothing", [UInt8](repeating: 0, count: 64 << 20), nil, 0),
    ]

    @Test func eachIsAnsweredFromItsBytesAloneAndTheServerLives() throws {
        let web = try LocalServer { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return .reply(200, ["Content-Type": "image/svg+xml"], Self.bombs[number].bytes)
        }
        defer { web.stop() }
        let server = try ServerProcess(cache: cache?.path ?? "")
        let before = try #require(server.memory("VmHWM"))
        for (number, bomb) in Self.bombs.enumerated() {
            let params = #"{"url":\#(quoted(web.url("/\(number)")))}"#
            let reply = try server.call(number, "retrieve", params)
            if let format = bomb.format {
                #expect(reply["result"]?["format"]?.string == format, "\(bomb.name): \(reply.text.prefix(300))")
                #expect(reply["result"]?["frameCount"]?.integer == bomb.frames, "\(bomb.name)")
            } else {
                let name = reply["error"]?["data"]?["name"]?.string
                #expect(name == "badData", "\(bomb.name): \(reply.text.prefix(300))")
            }
            #expect(try server.call(99, "ping")["result"] == .null)
        }
        let after = try #require(server.memory("VmHWM"))
        #expect(after - before < 64 << 10, "\(after - before) kB: bodies go through a file")
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
    }

    /// What is refused by its length is refused whatever it is.
    @Test func limitIsSaidBeforeAnythingOfTheBombIsRead() throws {
        let gate = Gate()
        let web = try LocalServer { _ in Script.head(200, length: 1 << 40).waiting(for: gate) }
        defer {
            gate.open()
            web.stop()
        }
        let server = try ServerProcess(cache: cache?.path ?? "")
        let error = try server.call(1, "retrieve", #"{"url":\#(quoted(web.url("/a")))}"#)["error"]
        #expect(error?["data"]?["name"]?.string == "limitExceeded" && error?["data"]?["limit"]?.string == "maxBytes")
        #expect(server.finish() == 0)
    }
}
