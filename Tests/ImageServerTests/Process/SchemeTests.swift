import Foundation
import TestSupport
import Testing

/// Scheme and host mean the same in letters of any case.
@Suite(.onThreads)
struct SchemeTests {
    private let cache = try? TemporaryFolder()

    /// What is on the network holds up no `clear`.
    @Test(arguments: ["HTTP", "Http"]) func aClearDoesNotWaitForADownload(scheme: String) throws {
        let gate = Gate()
        let web = try LocalServer(routes: ["/held": Script.empty.waiting(for: gate).closing()])
        defer { web.stop() }
        let server = try ServerProcess(cache: cache?.path ?? "")
        let url = scheme + web.url("/held").dropFirst(4)
        try server.request(1, "retrieve", #"{"url":\#(quoted(url))}"#)
        try waitUntil("the request reaching the server", blocking: { web.requestCount("/held") == 1 })
        #expect(try server.call(2, "clear")["id"]?.integer == 2)
        gate.open()
        #expect(try server.next()?["id"]?.integer == 1)
        #expect(server.finish() == 0)
    }

    /// What is given a URL takes it for the same in another spelling.
    @Test func cancelAllAndForgetFailuresKnowTheURLInOtherLetters() throws {
        let gate = Gate()
        let held = Script.empty.waiting(for: gate).closing()
        let web = try LocalServer(routes: ["/held": held, "/held/2": held])
        defer { web.stop() }
        let server = try ServerProcess(cache: cache?.path ?? "")
        func url(_ path: String, _ host: String = "localhost") -> String {
            quoted("HTTP" + web.url(path).dropFirst(4).replacingOccurrences(of: "127.0.0.1", with: host))
        }
        try server.request(1, "retrieve", #"{"url":\#(url("/held"))}"#)
        try server.request(2, "prefetch", #"{"urls":[\#(url("/held/2"))]}"#)
        try waitUntil("the requests", blocking: { web.requestCount("/held") + web.requestCount("/held/2") == 2 })
        for (id, path) in [(3, "/held"), (4, "/held/2")] {
            let other = url(path, "LocalHost").replacingOccurrences(of: "HTTP:", with: "http:")
            try server.request(id, "cancelAll", #"{"url":\#(other)}"#)
        }
        let replies = try server.replies(4)
        #expect(replies.result(3)?["cancelled"]?.integer == 1 && replies.result(4)?["cancelled"]?.integer == 1)
        #expect(replies.code(1) == -32800 && replies.result(2)?["failed"]?.elements?.count == 1)

        let gone = #"{"url":\#(url("/gone", "LOCALHOST")),"options":{"negativeCache":600}}"#
        #expect(try server.call(5, "retrieve", gone)["error"]?["code"] != nil)
        let forgotten = try server.call(6, "forgetFailures", #"{"url":\#(url("/gone"))}"#)
        #expect(forgotten["result"]?["forgotten"]?.integer == 1, "\(forgotten.text)")
        gate.open()
        #expect(server.finish() == 0)
    }

    @Test(arguments: ["data", "DATA", "Data"]) func aFailureImageMayBeADataURL(scheme: String) throws {
        let server = try ServerProcess(cache: cache?.path ?? "")
        let image = scheme + ":image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs="
        let reply = try server.call(
            1, "retrieve", #"{"url":"http://127.0.0.1:1/","options":{"onFailureImage":\#(quoted(image))}}"#)
        #expect(reply["result"]?["format"]?.string == "gif", "\(reply.text)")
        #expect(server.finish() == 0)
    }
}
