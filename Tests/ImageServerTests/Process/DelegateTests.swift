import Foundation
import TestSupport
import Testing

/// A client that decides about downloads while they run.
@Suite(.onThreads)
struct DelegateTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }
    private static let name = "downloader/modifyRequest"

    private func site() throws -> LocalServer { try LocalServer(routes: ["/a.png": .reply(200, [:], picture)]) }
    private var picture: [UInt8] { get throws { try Fixtures.bytes("png-rgb.png") } }

    private func retrieve(_ url: String, _ more: String = "") -> String {
        #"{"url":\#(quoted(url)),"options":{"delegates":["downloader/modifyRequest"]\#(more)}}"#
    }

    private func answer(_ server: ServerProcess, _ question: JSON, _ result: String) throws {
        try server.send(#"{"jsonrpc":"2.0","id":\#(try #require(question["id"]).text),"result":\#(result)}"#)
    }

    /// The next message, which must be a question.
    private func question(_ server: ServerProcess) throws -> JSON {
        let message = try #require(try server.next())
        #expect(message["method"]?.string == Self.name, "\(message.text)")
        return message
    }

    @Test(arguments: [false, true], [#"["downloader/modifyRequest"]"#, #"{"downloader/modifyRequest":true}"#])
    func requestIsSentAsTheClientChangesItAndKeptUnderItsKey(isFramed: Bool, declaration: String) throws {
        let web = try site()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder, isFramed: isFramed)
        _ = try server.call(0, "initialize", #"{"capabilities":{"delegates":\#(declaration)}}"#)
        let url = web.url("/plain")
        try server.request(1, "retrieve", #"{"url":\#(quoted(url)),"options":{"headers":{"X-A":"1"}}}"#)
        let question = try question(server)
        #expect(question["params"]?["url"]?.string == url)
        #expect(question["params"]?["headers"]?["X-A"]?.string == "1")
        try answer(
            server, question, #"{"url":\#(quoted(web.url("/a.png"))),"headers":{"X-A":"2","X-Signed":"yes"}}"#)
        let result = try #require(try server.next()?["result"])
        #expect(result["key"]?.string == url)
        #expect(result["url"]?.string == web.url("/a.png"))
        #expect(web.requests.map(\.path) == ["/a.png"])
        #expect(web.requests[0].headers["x-a"] == "2" && web.requests[0].headers["x-signed"] == "yes")
        // What is cached is nobody's question.
        #expect(try server.call(2, "retrieve", #"{"url":\#(quoted(url))}"#)["result"]?["cacheType"]?.string == "memory")
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
    }

    @Test func vetoIsAnErrorAndNoRequestLeaves() throws {
        let web = try site()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        try server.request(1, "retrieve", retrieve(web.url("/a.png")))
        try answer(server, question(server), "null")
        let error = try #require(try server.next()?["error"])
        #expect(error["code"]?.integer == 30000)
        #expect(error["data"]?["name"]?.string == "downloadCancelledBeforeStarting")
        #expect(web.requests.isEmpty)
        for url in ["", "ftp://a/", "file:///etc/hostname", "data:,x"] {
            try server.request(2, "retrieve", retrieve(web.url("/a.png")))
            try answer(server, question(server), #"{"url":\#(quoted(url))}"#)
            #expect(try server.next()?["error"]?["code"]?.integer == 20000, "\(url)")
        }
        #expect(web.requests.isEmpty)
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
    }

    @Test func nothingIsAskedThatWasNotDeclared() throws {
        let web = try site()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        let plain = #"{"url":\#(quoted(web.url("/a.png"))),"options":{"forceRefresh":true"#
        #expect(try server.call(1, "retrieve", plain + "}}")["result"] != nil)
        _ = try server.call(
            2, "initialize", #"{"capabilities":{"delegates":["downloader/modifyRequest","downloader/ofTomorrow"]}}"#)
        // The request decides before initialize.
        #expect(try server.call(3, "retrieve", plain + #","delegates":[]}}"#)["result"] != nil)
        try server.request(4, "retrieve", plain + "}}")
        try answer(server, question(server), "{}")
        #expect(try server.next()?["result"] != nil)
        #expect(server.finish() == 0)
    }

    @Test func clientThatAnswersNotInTimeOrNonsenseIsLeftOut() throws {
        let web = try site()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder, ["--delegate-timeout", "1"])
        let url = retrieve(web.url("/a.png"), #","forceRefresh":true"#)
        try server.request(1, "retrieve", url)
        let first = try question(server)
        let cancellation = try #require(try server.next())
        #expect(cancellation["method"]?.string == "$/cancelRequest")
        #expect(cancellation["params"]?["id"] == first["id"])
        #expect(try server.next()?["result"] != nil)
        try answer(server, first, #"{"headers":{"X-Late":"1"}}"#)
        for nonsense in [#""result":5"#, #""result":{"headers":5}"#, #""error":{"code":1,"message":"No."}"#, #""x":1"#]
        {
            try server.request(2, "retrieve", url)
            let id = try #require(question(server)["id"])
            try server.send(#"{"jsonrpc":"2.0","id":\#(id.text),\#(nonsense)}"#)
            #expect(try server.next()?["result"] != nil, "\(nonsense)")
        }
        #expect(web.requests.allSatisfy { $0.headers["x-late"] == nil })
        #expect(web.requests.count == 5)
        #expect(server.finish() == 0)
        let lines = server.complaints().split(separator: "\n")
        #expect(lines.count == 5, "\(lines)")
        #expect(lines.allSatisfy { $0.contains(Self.name) && !$0.contains("127.0.0.1") })
    }

    @Test func cancelledRequestIsAnsweredWhileTheClientIsAsked() throws {
        let web = try site()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        try server.request(1, "retrieve", retrieve(web.url("/a.png")))
        let question = try question(server)
        try server.notify("$/cancelRequest", #"{"id":1}"#)
        let messages = [try #require(try server.next()), try #require(try server.next())]
        #expect(messages.contains { $0["id"]?.integer == 1 && $0["error"]?["code"]?.integer == -32800 })
        #expect(
            messages.contains { $0["method"]?.string == "$/cancelRequest" && $0["params"]?["id"] == question["id"] })
        try answer(server, question, "{}")
        #expect(try server.call(2, "ping")["id"]?.integer == 2)
        #expect(web.requests.isEmpty)
        #expect(server.finish() == 0)
    }

    @Test func endOfInputWhileTheClientIsAskedGoesOnWithoutIt() throws {
        let web = try site()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        try server.request(1, "retrieve", retrieve(web.url("/a.png")))
        _ = try question(server)
        server.closeInput()
        #expect(try server.next()?["result"]?["width"]?.integer == 61)
        #expect(server.exitCode() == 0)
        #expect(server.complaints().isEmpty)
        #expect(web.requests.count == 1)
    }

    @Test func shutdownWhileTheClientIsAskedGoesOnWithoutIt() throws {
        let web = try site()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder, ["--delegate-timeout", "86400"])
        try server.request(1, "retrieve", retrieve(web.url("/a.png")))
        _ = try question(server)
        #expect(try server.call(2, "shutdown")["result"] == .null)
        #expect(try server.next()?["result"]?["width"]?.integer == 61)
        #expect(web.requests.count == 1)
        #expect(server.finish() == 0)
    }

    @Test func nothingIsAskedAfterShutdown() throws {
        let gate = Gate()
        let bytes = try picture
        let web = try LocalServer { request in
            (request.path == "/held" ? Script.empty.waiting(for: gate) : .empty).followed(by: .reply(200, [:], bytes))
        }
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        try server.request(1, "retrieve", #"{"url":\#(quoted(web.url("/held"))),"key":"k"}"#)
        try waitUntil("the request") { web.requests.count == 1 }
        // The second waits for the first: they have one key.
        let options = #"{"forceRefresh":true,"delegates":["downloader/modifyRequest"]}"#
        try server.request(2, "retrieve", #"{"url":\#(quoted(web.url("/a"))),"key":"k","options":\#(options)}"#)
        #expect(try server.call(3, "shutdown")["result"] == .null)
        gate.open()
        let replies = try server.replies(2)
        #expect(replies.result(1) != nil && replies.result(2) != nil)
        #expect(web.requests.map(\.path) == ["/held", "/a"])
        #expect(server.finish() == 0)
    }

    @Test func clientThatGoesAwayWhileAskedEndsTheServer() throws {
        let web = try site()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        try server.request(1, "retrieve", retrieve(web.url("/a.png")))
        _ = try question(server)
        server.closeOutput()
        #expect(server.exitCode() == 1)
        #expect(server.complaints().isEmpty)
        #expect(web.requests.isEmpty)
    }

    /// What is merged is what is sent.
    @Test func requestsThatAreEqualOnceChangedAreOneDownload() throws {
        let gate = Gate()
        let bytes = try picture
        let web = try LocalServer { _ in Script.empty.waiting(for: gate).followed(by: .reply(200, [:], bytes)) }
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        for id in 1...4 {
            try server.request(id, "retrieve", retrieve(web.url("/\(id)"), #","forceRefresh":true"#))
        }
        for _ in 1...4 {
            let question = try question(server)
            let isLast = question["params"]?["url"]?.string == web.url("/4")
            let headers = #"{"Authorization":"\#(isLast ? "other" : "same")"}"#
            try answer(server, question, #"{"url":\#(quoted(web.url("/one"))),"headers":\#(headers)}"#)
        }
        try waitUntil("the requests") { web.requests.count == 2 }
        try server.stats("the callers merging") { $0["merged"]?.integer == 2 }
        gate.open()
        let replies = try server.replies(4)
        #expect((1...4).allSatisfy { replies.result($0)?["key"]?.string == web.url("/\($0)") })
        #expect(web.requests.map(\.path) == ["/one", "/one"])
        #expect(Set(web.requests.map { $0.headers["authorization"] }) == ["same", "other"])
        #expect(server.finish() == 0)
    }

    @Test func oneHundredQuestionsAreAnsweredInAnyOrder() throws {
        let web = try LocalServer { [picture = try picture] _ in .reply(200, [:], picture) }
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        for id in 0..<100 { try server.request(id, "retrieve", retrieve(web.url("/\(id)"))) }
        var open: [JSON] = []
        var done = 0
        while done < 100 {
            let message = try #require(try server.next())
            if message["method"] != nil { open.append(message) } else { done += 1 }
            #expect(open.count <= 64)
            if open.count > 20 || done + open.count == 100, let last = open.popLast() { try answer(server, last, "{}") }
        }
        #expect(web.requests.count == 100)
        #expect(server.finish() == 0)
    }

    // MARK: Events

    @Test func transfersAndTheLogAreToldToSubscribers() throws {
        let web = try site()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        _ = try server.call(1, "retrieve", #"{"url":\#(quoted(web.url("/a.png")))}"#)
        #expect(try server.call(2, "subscribe", #"{"events":["download/didFinish","log"]}"#)["result"] != nil)
        try server.request(3, "retrieve", retrieve(web.url("/404")))
        try answer(server, question(server), "7")
        var replies = Replies()
        while replies.byID.isEmpty || replies.notifications.count < 2 { replies.add(try #require(try server.next())) }
        let log = try #require(replies.notifications.first { $0["method"]?.string == "log" }?["params"])
        #expect(log["level"]?.string == "warning")
        #expect(log["metadata"]?["method"]?.string == Self.name)
        #expect(!log.text.contains("127.0.0.1"))
        let end = try #require(replies.notifications.first { $0["method"]?.string == "download/didFinish" }?["params"])
        #expect(end["url"]?.string == web.url("/404"))
        #expect(end["error"]?.string == "invalidStatusCode")
        _ = try server.call(4, "unsubscribe", #"{"events":["download/didFinish","log"]}"#)
        #expect(try server.call(5, "retrieve", #"{"url":\#(quoted(web.url("/404")))}"#)["error"] != nil)
        #expect(try server.call(6, "ping")["id"]?.integer == 6)
        #expect(server.finish() == 0)
    }
}
