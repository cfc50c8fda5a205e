import TestSupport
import Testing

/// The end of an image's life, as clients see it.
@Suite(.onThreads)
struct ExpiryProcessTests {
    private let folder = try? TemporaryFolder()

    @Test func noAnswerCallsAnImageFreshWhoseTimeIsOver() throws {
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { _ in .reply(200, ["ETag": "\"1\""], picture) }
        defer { web.stop() }
        let server = try ServerProcess(cache: folder?.path ?? "")
        func params(_ options: String, _ more: String = "") -> String {
            #"{"url":\#(quoted(web.url("/a.png"))),"options":{\#(options)}\#(more)}"#
        }
        let expired = #""diskCacheExpiration":"expired""#
        for (id, form) in [(1, "path"), (2, "data"), (3, "path")] {
            let image = try server.call(id, "retrieve", params(expired, #","as":"\#(form)""#))["result"]
            #expect(image?["cacheType"]?.string == "none" && image?["expiresAt"]?.string != nil, "\(id)")
        }
        #expect(web.requests.count == 3 && web.requests.allSatisfy { $0.headers["if-none-match"] == nil })
        let other = try ServerProcess(cache: folder?.path ?? "")
        for server in [server, other] {
            let told = try server.call(4, "explain", params(#""revalidate":"ifExpired""#))["result"]
            #expect(told?["verdict"]?.string == "revalidate" && told?["stale"]?.boolean == true)
            let found = try server.call(4, "isCached", #"{"key":\#(quoted(web.url("/a.png")))}"#)["result"]
            #expect(found?["cached"]?.boolean == false)
        }
        #expect(other.finish() == 0)
        let offline = try server.call(5, "retrieve", params(#""offline":true"#))["result"]
        #expect(offline?["stale"]?.boolean == true && offline?["cacheType"]?.string == "disk")
        let fresh = try server.call(6, "retrieve", params(#""revalidate":"ifExpired""#))["result"]
        #expect(fresh?["expiresAt"]?.string != nil && fresh?["stale"] == nil)
        #expect(web.requests.last?.headers["if-none-match"] == "\"1\"")
        #expect(server.finish() == 0)
    }
}
