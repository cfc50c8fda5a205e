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

    @Test(arguments: ["data", "DATA", "Data"]) func aFailureImageMayBeADataURL(scheme: String) throws {
        let server = try ServerProcess(cache: cache?.path ?? "")
        let image = scheme + ":image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs="
        let reply = try server.call(
            1, "retrieve", #"{"url":"http://127.0.0.1:1/","options":{"onFailureImage":\#(quoted(image))}}"#)
        #expect(reply["result"]?["format"]?.string == "gif", "\(reply.text)")
        #expect(server.finish() == 0)
    }
}
