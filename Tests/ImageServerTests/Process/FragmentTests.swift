import TestSupport
import Testing

/// A fragment is never sent and names no other image.
@Suite(.onThreads)
struct FragmentTests {
    private let folder = try? TemporaryFolder()

    @Test func urlsThatDifferInTheirFragmentAreOneImage() throws {
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { $0.path.hasPrefix("/gone") ? .reply(404, [:], []) : .reply(200, [:], picture) }
        defer { web.stop() }
        let server = try ServerProcess(cache: folder?.path ?? "")
        let url = web.url("/a.png")
        _ = try server.call(1, "pause")
        for id in 2...4 { try server.request(id, "retrieve", #"{"url":"\#(url)#\#(id)"}"#) }
        try server.request(5, "retrieve", #"{"url":"\#(url)"}"#)
        try server.request(6, "resume")
        let replies = try server.replies(5)
        for id in 2...5 { #expect(replies.result(id)?["key"]?.string == url) }
        #expect(Set((2...5).map { replies.result($0)?["path"]?.string }).count == 1)
        let again = try server.call(7, "retrieve", #"{"url":"\#(url)#again"}"#)["result"]
        #expect(again?["cacheType"]?.string == "memory")
        let told = try server.call(8, "explain", #"{"url":"\#(url)#told"}"#)["result"]
        #expect(told?["verdict"]?.string == "answer" && told?["key"]?.string == url)
        let prefetched = try server.call(9, "prefetch", #"{"urls":["\#(url)#p","\#(url)#q"]}"#)["result"]
        #expect(prefetched?["skipped"]?.elements?.map(\.string) == [url + "#p", url + "#q"])
        #expect(try server.call(10, "probe", #"{"url":"\#(url)#probe"}"#)["result"]?["cacheType"]?.string == "memory")
        #expect(try server.call(11, "calculateSize")["result"]?["disk"]?["count"]?.integer == 1)
        #expect(web.requests.map(\.path) == ["/a.png"])
        let gone = web.url("/gone.png")
        for id in 12...13 {
            let failing = #"{"url":"\#(gone)#\#(id)","options":{"negativeCache":60}}"#
            #expect(try server.call(id, "retrieve", failing)["error"]?["data"]?["statusCode"]?.integer == 404)
        }
        #expect(web.requests.count == 2)
        let forgotten = try server.call(14, "forgetFailures", #"{"url":"\#(gone)#x"}"#)["result"]
        #expect(forgotten?["forgotten"]?.integer == 1)
        // A key is any text, and what stands in a data URL is data.
        let own = try server.call(15, "retrieve", #"{"url":"\#(url)","key":"\#(url)#own"}"#)["result"]
        #expect(own?["key"]?.string == url + "#own" && own?["cacheType"]?.string == "none")
        let drawing = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='3' height='2' fill='#f00'/>"
        #expect(try server.call(16, "retrieve", #"{"url":\#(quoted(drawing))}"#)["result"]?["key"]?.string == drawing)
        #expect(server.finish() == 0)
    }

    @Test func aRequestIsCancelledByItsURLWithItsFragment() throws {
        let gate = Gate()
        defer { gate.open() }
        let web = try LocalServer(routes: ["/a.png": Script.empty.waiting(for: gate)])
        defer { web.stop() }
        let server = try ServerProcess(cache: folder?.path ?? "")
        let url = #"{"url":"\#(web.url("/a.png"))#x"}"#
        try server.request(1, "retrieve", url)
        try server.stats("it is loaded") { $0["runningDownloads"]?.integer == 1 }
        #expect(try server.call(2, "cancelAll", url)["id"]?.integer != nil)
        #expect(try server.replies(1).byID.isEmpty == false)
        #expect(server.finish() == 0)
    }
}
