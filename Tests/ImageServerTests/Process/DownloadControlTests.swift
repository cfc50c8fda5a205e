import Foundation
import TestSupport
import Testing

/// Priorities, cancelling many, prefetching and activity, as a client sees them.
@Suite(.onThreads)
struct DownloadControlTests {
    private let cache = try? TemporaryFolder()
    let gate = Gate()

    func server(_ arguments: [String] = []) throws -> ServerProcess {
        try ServerProcess(cache: cache?.path ?? "", arguments)
    }

    func web() throws -> LocalServer {
        let picture = try Fixtures.bytes("png-rgb.png")
        return try LocalServer { [gate] request in
            if request.path.hasPrefix("/gone") { return .reply(404, [:], []) }
            let reply = Script.reply(200, [:], picture)
            return request.path.hasPrefix("/held") ? Script.empty.waiting(for: gate).followed(by: reply) : reply
        }
    }

    func retrieve(_ web: LocalServer, _ path: String, _ options: String = "{}") -> String {
        #"{"url":\#(quoted(web.url(path))),"options":\#(options)}"#
    }

    @Test func cancellingAURLTakesItOutOfAPrefetchThatGoesOn() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let urls = ["/held/a", "/held/b"].map { quoted(web.url($0)) }
        try server.request(1, "prefetch", #"{"urls":[\#(urls.joined(separator: ","))]}"#)
        try waitUntil("both are under way") { web.requests.count == 2 }
        let cancelled = try server.call(2, "cancelAll", #"{"url":\#(urls[0])}"#)
        #expect(cancelled["result"]?["cancelled"]?.integer == 1)
        try waitUntil("one is dropped") { web.droppedCount == 1 }
        #expect(try server.call(3, "cancelAll", #"{"url":\#(urls[0])}"#)["result"]?["cancelled"]?.integer == 0)
        gate.open()
        let report = try #require(try server.next()?["result"])
        #expect(report["completed"]?.elements?.map { quoted($0.string ?? "") } == [urls[1]])
        #expect(report["failed"]?.elements?.map { $0["error"]?["code"]?.integer } == [-32800])
        #expect(server.finish() == 0)
    }

    @Test func aPrefetchIsAsUrgentAsItIsTold() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--max-downloads-per-host", "1"])
        try server.request(1, "retrieve", retrieve(web, "/held/1"))
        try waitUntil("it is under way") { web.requests.count == 1 }
        try server.request(2, "retrieve", retrieve(web, "/2"))
        try server.request(3, "prefetch", #"{"urls":[\#(quoted(web.url("/3")))]}"#)
        try waitUntil("two wait") {
            try server.call(100, "stats", "{}")["result"]?["waitingDownloads"]?.integer == 2
        }
        #expect(try server.call(10, "setPriority", #"{"id":3,"priority":1}"#)["result"]?["changed"]?.boolean == true)
        gate.open()
        _ = try server.replies(3)
        #expect(web.requests.map(\.path) == ["/held/1", "/3", "/2"])
        #expect(server.finish() == 0)
    }

    /// However it waits: for a slot of its host, for its turn on its key or for the server. For an attempt that would begin
    /// later it does not wait.
    @Test func aDeadlineCountsWhateverTheRequestWaitsFor() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--max-downloads-per-host", "1"])
        func isLate(_ id: Int, _ method: String, _ params: String) throws -> Bool {
            let error = try server.call(id, method, params)["error"]
            return error?["code"]?.integer == 20002 && error?["message"]?.string?.contains("deadline") == true
        }
        #expect(try isLate(1, "retrieve", retrieve(web, "/held/1", #"{"deadline":0.05}"#)))
        let retrying = #"{"deadline":20,"retry":{"maxRetries":100,"interval":{"seconds":30}}}"#
        let busy = try LocalServer { _ in .reply(503, [:], []) }
        defer { busy.stop() }
        let refused = try server.call(2, "retrieve", retrieve(busy, "/busy", retrying))["error"]
        #expect(refused?["data"]?["statusCode"]?.integer == 503)
        try server.request(3, "retrieve", retrieve(web, "/held/3"))
        try waitUntil("it is under way") { web.requestCount("/held/3") == 1 }
        #expect(try isLate(4, "retrieve", retrieve(web, "/4", #"{"deadline":0.05}"#)))
        #expect(try isLate(5, "retrieve", retrieve(web, "/held/3", #"{"deadline":0.05,"forceRefresh":true}"#)))
        #expect(try isLate(6, "download", #"{"url":\#(quoted(web.url("/6"))),"options":{"deadline":0.05}}"#))
        gate.open()
        #expect(try server.next()?["id"]?.integer == 3)
        #expect(web.requestCount("/held/3") == 1 && web.requestCount("/4") == 0 && web.requestCount("/6") == 0)
        #expect(server.finish() == 0)
    }

    @Test func theDownloaderIsConfiguredWhileItRuns() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--timeout", "7"])
        let options = #"{"downloader":{"maxDownloadsPerHost":1,"timeout":9}}"#
        _ = try server.call(1, "initialize", #"{"initializationOptions":\#(options)}"#)
        let settings = try #require(try server.call(2, "configure")["result"]?["downloader"])
        #expect(settings["maxDownloadsPerHost"]?.integer == 1 && settings["maxConcurrentDownloads"]?.integer == 64)
        #expect(try settings["timeout"] == JSON("7"), "the flag comes first")
        for id in 3...5 { try server.request(id, "retrieve", retrieve(web, "/held/\(id)")) }
        try waitUntil("one runs and two wait") {
            try server.call(100, "stats", "{}")["result"]?["waitingDownloads"]?.integer == 2
        }
        try waitUntil("it has asked the server") { web.requests.count == 1 }
        let raised = try server.call(6, "configure", #"{"downloader":{"maxDownloadsPerHost":3}}"#)
        #expect(raised["result"]?["downloader"]?["maxDownloadsPerHost"]?.integer == 3)
        try waitUntil("all run") { web.requests.count == 3 }
        let bad = try server.call(7, "configure", #"{"downloader":{"maxDownloadPerHost":3}}"#)
        #expect(bad["error"]?["data"]?["suggestion"]?.string == "maxDownloadsPerHost")
        gate.open()
        _ = try server.replies(3)
        #expect(server.finish() == 0)
    }

    @Test func settingsOfTheDownloaderTakeEffectInTheOrderOfArrivalWhateverTheCache() throws {
        let codec = try CodecStandIn(making: try Fixtures.bytes("png-1x1.png"), .wait)
        let server = try server(["--codec", codec.path])
        let image = "data:image/png;base64," + Data(try Fixtures.bytes("png-rgb.png")).base64EncodedString()
        try server.request(2, "retrieve", #"{"cache":"one","url":"\#(image)","processors":[{"blackWhite":{}}]}"#)
        try server.request(3, "configure", #"{"cache":"one","downloader":{"timeout":3}}"#)
        try server.request(4, "configure", #"{"cache":"other","downloader":{"timeout":4}}"#)
        #expect(try server.call(5, "ping")["result"] != nil, "the one before waits for the worker")
        try codec.open()
        let replies = try server.replies(3)
        for id in 3...4 { #expect(replies.result(id)?["downloader"]?["timeout"]?.integer == id) }
        let last = try server.call(6, "configure")["result"]?["downloader"]
        #expect(last?["timeout"]?.integer == 4, "\(last?.text ?? "")")
        #expect(server.finish() == 0)
    }

    @Test func theTimeoutOfTheDownloaderCountsWhereTheOptionsSayNothing() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        _ = try server.call(1, "configure", #"{"downloader":{"timeout":0.05}}"#)
        let error = try server.call(2, "retrieve", retrieve(web, "/held/a"))["error"]
        #expect(error?["code"]?.integer == 20002 && error?["message"]?.string?.contains("timeout") == true)
        try server.request(3, "retrieve", retrieve(web, "/held/a", #"{"timeout":60}"#))
        try waitUntil("it is asked for again") { web.requests.count == 2 }
        gate.open()
        #expect(try server.next()?["result"] != nil)
        #expect(server.finish() == 0)
    }

    @Test func cancelAllHitsAllCallersOfAURLAndNobodyElse() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        for id in 1...3 { try server.request(id, "retrieve", retrieve(web, "/held/a")) }
        try server.request(4, "retrieve", retrieve(web, "/held/b"))
        try server.request(5, "download", #"{"url":\#(quoted(web.url("/held/a")))}"#)
        try server.request(6, "prefetch", #"{"urls":[\#(quoted(web.url("/held/c")))]}"#)
        try waitUntil("all are under way") { web.requests.count == 3 }
        try server.request(10, "cancelAll", #"{"url":\#(quoted(web.url("/held/a")))}"#)
        let replies = try server.replies(5)
        #expect(replies.byID[10]?["result"]?["cancelled"]?.integer == 4)
        for id in [1, 2, 3, 5] { #expect(replies.byID[id]?["error"]?["code"]?.integer == -32800) }
        try server.request(11, "cancelAll", #"{"cache":"other"}"#)
        #expect(try server.next()?["result"]?["cancelled"]?.integer == 0)
        try server.request(12, "cancelAll", "{}")
        let rest = try server.replies(3)
        #expect(rest.byID[12]?["result"]?["cancelled"]?.integer == 2)
        for id in [4, 6] { #expect(rest.byID[id]?["error"]?["code"]?.integer == -32800) }
        try waitUntil("nothing is downloaded any more") { web.droppedCount == 3 }
        #expect(server.finish() == 0)
    }

    @Test func prioritiesMayChangeWhileDownloadsWait() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--max-downloads-per-host", "1"])
        try server.request(1, "retrieve", retrieve(web, "/held/1"))
        try waitUntil("it is under way") { web.requests.count == 1 }
        for id in 2...4 { try server.request(id, "retrieve", retrieve(web, "/\(id)")) }
        try waitUntil("three wait") {
            try server.call(100, "stats", "{}")["result"]?["waitingDownloads"]?.integer == 3
        }
        #expect(try server.call(10, "setPriority", #"{"id":4,"priority":0.9}"#)["result"]?["changed"]?.boolean == true)
        #expect(try server.call(11, "setPriority", #"{"id":2,"priority":0.1}"#)["result"]?["changed"]?.boolean == true)
        #expect(try server.call(12, "setPriority", #"{"id":99,"priority":0}"#)["result"]?["changed"]?.boolean == false)
        gate.open()
        _ = try server.replies(4)
        #expect(web.requests.map(\.path) == ["/held/1", "/4", "/3", "/2"])
        #expect(server.finish() == 0)
    }

    @Test func theLastComeGoesFirstWhenSoConfigured() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--max-downloads-per-host", "1", "--download-order", "lifo"])
        try server.request(1, "retrieve", retrieve(web, "/held/1"))
        try waitUntil("it is under way") { web.requests.count == 1 }
        for id in 2...4 {
            try server.request(id, "retrieve", retrieve(web, "/\(id)"))
            try waitUntil("it waits") {
                try server.call(100, "stats", "{}")["result"]?["waitingDownloads"]?.integer == id - 1
            }
        }
        gate.open()
        _ = try server.replies(4)
        #expect(web.requests.map(\.path) == ["/held/1", "/4", "/3", "/2"])
        #expect(server.finish() == 0)
    }

    @Test func aDownloadThatIsToBeFinishedIsCachedAfterItsLastCallerLeft() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        try server.request(1, "retrieve", retrieve(web, "/held/a", #"{"onLastCancel":"finish"}"#))
        try waitUntil("it is under way") { web.requests.count == 1 }
        try server.notify("$/cancelRequest", #"{"id":1}"#)
        #expect(try server.next()?["error"]?["code"]?.integer == -32800)
        gate.open()
        let key = #"{"key":\#(quoted(web.url("/held/a")))}"#
        try waitUntil("it is cached") { try server.call(2, "isCached", key)["result"]?["cached"]?.boolean == true }
        #expect(web.droppedCount == 0)
        #expect(server.finish() == 0)
    }

    @Test func requestsThatAreNotToBeMergedAreNot() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        for id in 1...3 {
            try server.request(id, "download", #"{"url":\#(quoted(web.url("/held/a"))),"options":{"merge":false}}"#)
        }
        try waitUntil("each has its own") { web.requests.count == 3 }
        gate.open()
        #expect(try server.replies(3).byID.values.allSatisfy { $0["result"] != nil })
        #expect(server.finish() == 0)
    }

    /// Also when the two keep the image in different ways, so that the second waits for the first.
    @Test(arguments: [#""lease":5"#, #""memory":false"#, #""timeout":60"#, #""forceRefresh":true"#])
    func anUrgentRequestMakesTheOneItWaitsForUrgent(_ difference: String) throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--max-downloads-per-host", "1"])
        try server.request(0, "retrieve", retrieve(web, "/held/0"))
        try waitUntil("it is under way") { web.requests.count == 1 }
        try server.request(1, "retrieve", retrieve(web, "/a"))
        try server.request(2, "retrieve", retrieve(web, "/b", #"{"downloadPriority":0}"#))
        try server.request(3, "retrieve", retrieve(web, "/b", #"{"downloadPriority":1,\#(difference)}"#))
        _ = try server.call(4, "ping")
        gate.open()
        #expect(try server.replies(4).byID.values.allSatisfy { $0["result"] != nil })
        #expect(web.requests.map(\.path).prefix(3) == ["/held/0", "/b", "/a"])
        #expect(server.finish() == 0)
    }

    /// Bounds and patience are each caller's own, and make nobody wait for another's end.
    @Test func requestsWithOtherBoundsShareADownloadAndEachIsHeldToItsOwn() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        try server.request(1, "retrieve", retrieve(web, "/held/a", #"{"timeout":600,"lease":5}"#))
        try waitUntil("it is under way") { web.requests.count == 1 }
        let late = try server.call(2, "retrieve", retrieve(web, "/held/a", #"{"timeout":3}"#))
        #expect(late["error"]?["data"]?["name"]?.string == "timedOut")
        #expect(late["error"]?["message"]?.string?.hasSuffix("no bytes came for 3 s (raise timeout).") == true)
        for (id, options) in [(3, #"{"maxBytes":10}"#), (4, #"{"retry":{"maxRetries":2}}"#), (5, "{}")] {
            try server.request(id, "retrieve", retrieve(web, "/held/a", options))
        }
        try server.request(6, "prefetch", #"{"urls":[\#(quoted(web.url("/held/a")))],"options":{"timeout":50}}"#)
        try server.stats("all share it") { $0["merged"]?.integer == 5 }
        try server.notify("$/cancelRequest", #"{"id":1}"#)
        #expect(try server.next()?["id"]?.integer == 1)
        gate.open()
        let replies = try server.replies(4).byID
        #expect(replies[3]?["error"]?["data"]?["limit"]?.string == "maxBytes")
        #expect(replies[3]?["error"]?["message"]?.string?.contains("over the limit of 10 bytes") == true)
        for id in [4, 5] { #expect(replies[id]?["result"]?["cacheType"]?.string == "none") }
        #expect(replies[6]?["result"]?["completed"]?.elements?.count == 1)
        #expect(web.requests.count == 1 && web.droppedCount == 0)
        #expect(server.finish() == 0)
    }

    @Test func aRetrieveThatIsNotToBeMergedHasARequestOfItsOwn() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        for id in 1...2 { try server.request(id, "retrieve", retrieve(web, "/held/a", #"{"merge":false}"#)) }
        try server.request(3, "retrieve", retrieve(web, "/held/a"))
        try waitUntil("each has its own") { web.requests.count == 3 }
        gate.open()
        #expect(try server.replies(3).byID.values.allSatisfy { $0["result"] != nil })
        #expect(server.finish() == 0)
    }

    @Test func whatIsCancelledNamesItsURL() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let slot = #"{"slot":"s"}"#
        for (id, path) in [(1, "/held/a"), (2, "/held/b")] {
            try server.request(id, "retrieve", retrieve(web, path, slot))
        }
        try server.request(3, "download", retrieve(web, "/held/c"))
        try server.request(4, "prefetch", #"{"urls":[\#(quoted(web.url("/held/d"))),\#(quoted(web.url("/held/e")))]}"#)
        for id in 2...4 { try server.notify("$/cancelRequest", #"{"id":\#(id)}"#) }
        let replies = try server.replies(4).byID
        for (id, path) in [(1, "/held/a"), (2, "/held/b"), (3, "/held/c")] {
            #expect(replies[id]?["error"]?["code"]?.integer == -32800)
            #expect(replies[id]?["error"]?["data"]?["url"]?.string == web.url(path))
        }
        #expect(replies[4]?["error"]?["data"]?["name"]?.string == "requestCancelled")
        #expect(replies[4]?["error"]?["data"]?["url"] == nil, "it has many")
        #expect(server.finish() == 0)
    }

    @Test func anImageThatIsTooLargeToBeAnsweredInlineIsToBeHadInAnotherWay() throws {
        let picture = try Fixtures.bytes("png-rgb.png") + [UInt8](repeating: 0, count: 16 << 20)
        let web = try LocalServer { _ in .reply(200, [:], picture) }
        defer { web.stop() }
        let server = try server()
        let url = quoted(web.url("/a"))
        let calls = [
            ("download", #"{"url":\#(url)}"#, "retrieve it, and ask for its path."),
            ("retrieve", #"{"url":\#(url),"as":"data"}"#, "inline: ask for its path."),
        ]
        for (id, (method, params, advice)) in calls.enumerated() {
            let error = try server.call(id, method, params)["error"]
            #expect(error?["code"]?.integer == 10005)
            #expect(error?["data"]?["limit"]?.string == "maxInlineBytes")
            #expect(error?["data"]?["url"]?.string == web.url("/a"))
            #expect(error?["message"]?.string?.hasSuffix(advice) == true, "\(String(describing: error))")
        }
        #expect(try server.call(9, "retrieve", #"{"url":\#(url)}"#)["result"]?["byteCount"]?.integer == picture.count)
        #expect(server.finish() == 0)
    }

    @Test func aDownloadIsAnsweredAndKeptNowhere() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let picture = try Fixtures.bytes("png-rgb.png")
        let url = quoted(web.url("/a"))
        let reply = try #require(try server.call(1, "download", #"{"url":\#(url)}"#)["result"])
        #expect(reply["data"]?.string.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) } == picture)
        #expect(reply["format"]?.string == "png" && reply["path"] == nil)
        let probe = try #require(try server.call(2, "download", #"{"url":\#(url),"as":"none"}"#)["result"])
        #expect(probe["data"] == nil && probe["byteCount"]?.integer == picture.count)
        #expect(web.requests.count == 2)
        #expect(try server.call(3, "isCached", #"{"key":\#(url)}"#)["result"]?["cached"]?.boolean == false)
        let size = try server.call(4, "calculateSize", "{}")["result"]
        #expect(size?["disk"]?["count"]?.integer == 0 && size?["memory"]?["count"]?.integer == 0)
        let gone = try server.call(5, "download", #"{"url":\#(quoted(web.url("/gone")))}"#)
        #expect(gone["error"]?["code"]?.integer == 10002)
        #expect(server.finish() == 0)
    }

    @Test func aPrefetchReportsProgressAndCanBeStopped() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let urls = ["/a", "/gone", "/b", "/a"].map { quoted(web.url($0)) }.joined(separator: ",")
        try server.request(1, "prefetch", #"{"urls":[\#(urls)],"workDoneToken":"t"}"#)
        var messages: [JSON] = []
        while let message = try server.next() {
            messages.append(message)
            if message["id"] != nil { break }
        }
        let values = messages.compactMap { $0["params"]?["value"] }
        #expect(values.first?["kind"]?.string == "begin" && values.first?["total"]?.integer == 3)
        #expect(values.last?["kind"]?.string == "end" && values.last?["completed"]?.integer == 2)
        #expect(values.last?["failed"]?.integer == 1)
        let result = try #require(messages.last?["result"])
        #expect(result["completed"]?.elements?.count == 2 && result["skipped"]?.elements?.isEmpty == true)
        #expect(result["failed"]?.elements?.first?["error"]?["code"]?.integer == 10002)
        try server.request(2, "prefetch", #"{"urls":[\#(quoted(web.url("/held"))),\#(quoted(web.url("/a")))]}"#)
        try waitUntil("it is under way") { web.requestCount("/held") == 1 }
        try server.request(3, "stopPrefetch", #"{"id":2}"#)
        let replies = try server.replies(2)
        #expect(replies.byID[3]?["result"]?["stopped"]?.boolean == true)
        #expect(replies.byID[2]?["result"]?["failed"]?.elements?.first?["error"]?["code"]?.integer == -32800)
        #expect(try server.call(4, "stopPrefetch", #"{"id":2}"#)["result"]?["stopped"]?.boolean == false)
        #expect(server.finish() == 0)
    }

    @Test func activityIsToldToSubscribersOnly() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--activate-after", "0", "--complete-after", "0"])
        _ = try server.call(1, "retrieve", retrieve(web, "/a"))
        _ = try server.call(2, "subscribe", #"{"events":["activity/didChange"]}"#)
        try server.request(3, "retrieve", retrieve(web, "/held/b"))
        let began = try #require(try server.next())
        #expect(began["method"]?.string == "activity/didChange")
        #expect(began["params"]?["active"]?.boolean == true && began["params"]?["count"]?.integer == 1)
        gate.open()
        let two = try [server.next(), server.next()].compactMap { $0 }
        let ended = two.first { $0["id"] == nil }
        #expect(ended?["params"]?["active"]?.boolean == false && ended?["params"]?["count"]?.integer == 0)
        _ = try server.call(4, "unsubscribe", #"{"events":["activity/didChange"]}"#)
        #expect(try server.call(5, "retrieve", retrieve(web, "/c"))["id"]?.integer == 5)
        #expect(server.finish() == 0)
    }
}
