import Foundation
import TestSupport
import Testing

/// Many callers of one URL.
@Suite(.onThreads)
struct MergingTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }
    private let picture = Result { try Fixtures.bytes("png-rgb.png") }

    private func params(_ url: String, _ more: String = "") -> String { #"{"url":\#(quoted(url))\#(more)}"# }

    @Test(arguments: ["path", "data"])
    func thousandRequestsForOneURLReachTheWebServerOnce(form: String) throws {
        let gate = Gate()
        let script = Script.empty.waiting(for: gate).followed(by: .reply(200, [:], try picture.get()))
        let web = try LocalServer(routes: ["/cat.png": script])
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        let url = web.url("/cat.png")
        try server.requestAll((0..<1000).map { ($0, "retrieve", params(url, #","as":"\#(form)""#)) })
        try server.stats("all callers waiting") {
            $0["merged"]?.integer == 999 && $0["requestsInFlight"]?.integer == 1000
        }
        gate.open()
        let replies = try server.replies(1000)
        #expect(replies.unexpected.isEmpty)
        #expect(replies.notifications.isEmpty)
        let base64 = Data(try picture.get()).base64EncodedString()
        for reply in replies.byID.values {
            #expect(reply["result"]?["cacheType"]?.string == "none", "\(reply.text)")
            #expect(reply["result"]?["data"]?.string == (form == "data" ? base64 : nil))
        }
        #expect(web.requestCount("/cat.png") == 1)
        #expect(server.finish() == 0)
    }

    @Test func thousandRequestsForAFailingURLGetOneErrorEach() throws {
        let gate = Gate()
        let web = try LocalServer(routes: [
            "/cat.png": Script.empty.waiting(for: gate).followed(by: .reply(404, [:], []))
        ])
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        try server.requestAll((0..<1000).map { ($0, "retrieve", params(web.url("/cat.png"))) })
        try server.stats("all callers waiting") { $0["merged"]?.integer == 999 }
        gate.open()
        let replies = try server.replies(1000)
        #expect(replies.byID.values.allSatisfy { $0["error"]?["data"]?["statusCode"]?.integer == 404 })
        #expect(replies.unexpected.isEmpty)
        #expect(web.requestCount("/cat.png") == 1)
        // A failure is not remembered: the next request asks again.
        #expect(try server.call(1000, "retrieve", params(web.url("/cat.png")))["error"]?["code"]?.integer == 10002)
        #expect(web.requestCount("/cat.png") == 2)
        #expect(server.finish() == 0)
    }

    /// Requests come before, while and after downloads of the same URL end: each is answered, none twice.
    @Test func requestsOverOverlappingDownloadsAreAllAnswered() throws {
        let bytes = try picture.get()
        let web = try LocalServer { _ in .reply(200, [:], bytes) }
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        var replies = Replies()
        for id in 0..<200 {
            try server.request(
                id, "retrieve", params(web.url("/cat.png"), id % 3 == 0 ? #","options":{"forceRefresh":true}"# : ""))
            if id % 5 == 4, let message = try server.next() { replies.add(message) }
        }
        server.closeInput()
        for message in try server.rest() { replies.add(message) }
        #expect(replies.byID.count == 200)
        #expect(replies.unexpected.isEmpty)
        #expect(replies.byID.values.allSatisfy { $0["result"]?["byteCount"]?.integer == bytes.count })
        #expect(web.requestCount("/cat.png") <= 67)
        #expect(server.exitCode() == 0)
    }

    @Test(arguments: [false, true])
    func cancelledCallerLeavesTheOtherItsImage(isSilent: Bool) throws {
        let gate = Gate()
        let script = Script.empty.waiting(for: gate).followed(by: .reply(200, [:], try picture.get()))
        let web = try LocalServer(routes: ["/cat.png": script])
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        try server.requestAll([0, 1].map { ($0, "retrieve", params(web.url("/cat.png"))) })
        try server.stats("both callers waiting") { $0["merged"]?.integer == 1 }
        if isSilent {
            try server.notify("notifications/cancelled", #"{"requestId":0}"#)
        } else {
            try server.notify("$/cancelRequest", #"{"id":0}"#)
            #expect(try server.next()?["error"]?["code"]?.integer == -32800)
        }
        try server.stats("one caller left") { $0["requestsInFlight"]?.integer == 1 }
        gate.open()
        let reply = try server.next()
        #expect(reply?["id"]?.integer == 1)
        #expect(reply?["result"]?["width"]?.integer == 61)
        #expect(web.requestCount("/cat.png") == 1)
        #expect(web.droppedCount == 0)
        server.closeInput()
        #expect(try server.rest().isEmpty)
        #expect(server.exitCode() == 0)
    }

    @Test func lastCallerThatIsCancelledDropsTheTransferAndANewOneStartsAfresh() throws {
        let gate = Gate()
        // Held in the middle of the body, so that the transfer has begun.
        let bytes = try picture.get()
        let script = Script.head(200, length: bytes.count).raw(Array(bytes[..<100])).waiting(for: gate).raw(
            Array(bytes[100...]))
        let web = try LocalServer(routes: ["/cat.png": script])
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        try server.requestAll([0, 1].map { ($0, "retrieve", params(web.url("/cat.png"))) })
        try server.stats("both callers waiting") { $0["merged"]?.integer == 1 }
        try waitUntil("the request reaching the web server") { web.requestCount("/cat.png") == 1 }
        for id in [0, 1] {
            try server.notify("$/cancelRequest", #"{"id":\#(id)}"#)
            #expect(try server.next()?["error"]?["code"]?.integer == -32800)
        }
        try server.request(2, "retrieve", params(web.url("/cat.png")))
        try waitUntil("the transfer being dropped") { web.droppedCount == 1 }
        try waitUntil("the new request reaching the web server") { web.requestCount("/cat.png") == 2 }
        gate.open()
        #expect(try server.next()?["result"]?["cacheType"]?.string == "none")
        #expect(server.finish() == 0)
    }

    @Test func neverMoreThanFourTransfersAtOnceFromOneHost() throws {
        let gate = Gate()
        let bytes = try picture.get()
        let web = try LocalServer { _ in Script.empty.waiting(for: gate).followed(by: .reply(200, [:], bytes)) }
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        try server.requestAll((0..<40).map { ($0, "retrieve", params(web.url("/\($0).png"))) })
        try waitUntil("four requests reaching the web server") { web.requests.count == 4 }
        try server.stats("the others waiting") { $0["waitingDownloads"]?.integer == 36 }
        gate.open()
        #expect(try server.replies(40).byID.values.allSatisfy { $0["result"] != nil })
        #expect(web.mostActive == 4)
        #expect(server.finish() == 0)
    }
}
