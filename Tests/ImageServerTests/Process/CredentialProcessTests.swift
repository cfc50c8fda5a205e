import Foundation
import TestSupport
import Testing

/// One user's image and another one's request, over the wire.
@Suite(.onThreads)
struct CredentialProcessTests {
    private let cache = try? TemporaryFolder()
    private let pictures = Result {
        (
            nobody: try Fixtures.bytes("png-gray.png"), ann: try Fixtures.bytes("png-rgb.png"),
            bob: try Fixtures.bytes("png-rgba.png")
        )
    }

    private func server() throws -> ServerProcess { try ServerProcess(cache: cache?.path ?? "") }

    private func web() throws -> LocalServer {
        let pictures = try pictures.get()
        return try LocalServer { request in
            switch request.headers["authorization"] {
            case nil: .reply(200, [:], pictures.nobody)
            case "Bearer ann": .reply(200, [:], pictures.ann)
            default: .reply(200, [:], pictures.bob)
            }
        }
    }

    private func params(_ web: LocalServer, _ user: String?, _ form: String) -> String {
        let options = user.map { #","options":{"authorization":{"bearer":"\#($0)"}}"# } ?? ""
        return #"{"url":\#(quoted(web.url("/a.png"))),"as":"\#(form)"\#(options)}"#
    }

    private func bytes(_ reply: JSON) throws -> [UInt8] {
        let result = try #require(reply["result"], "\(reply.text)")
        if let data = result["data"]?.string { return [UInt8](Data(base64Encoded: data) ?? Data()) }
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: result["path"]?.string ?? "")))
    }

    @Test(arguments: ["path", "data", "both"])
    func noRequestGetsWhatAnotherUsersCredentialsBrought(_ form: String) throws {
        let web = try web()
        defer { web.stop() }
        let (one, other) = (try server(), try server())
        let pictures = try pictures.get()
        #expect(try bytes(one.call(1, "retrieve", params(web, "ann", form))) == pictures.ann)
        #expect(try bytes(one.call(2, "retrieve", params(web, "ann", form))) == pictures.ann)
        #expect(web.requests.count == 1)
        #expect(try bytes(one.call(3, "retrieve", params(web, "bob", form))) == pictures.bob)
        #expect(try bytes(other.call(1, "retrieve", params(web, "ann", form))) == pictures.ann)
        #expect(try bytes(other.call(2, "retrieve", params(web, nil, form))) == pictures.nobody)
        #expect(web.requests.count == 3)
        for server in [one, other] { #expect(server.finish() == 0) }
    }

    @Test func entryIsReachedByItsKeyWhoseverItIs() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let url = quoted(web.url("/a.png"))
        _ = try server.call(1, "retrieve", params(web, "ann", "path"))
        #expect(try server.call(2, "isCached", #"{"key":\#(url)}"#)["result"]?["cached"]?.boolean == true)
        #expect(try server.call(3, "inspect", #"{"key":\#(url)}"#)["result"]?["key"] != nil)
        let named = #"{"url":"data:,","key":\#(url),"as":"data","options":{"onlyFromCache":true}}"#
        #expect(try bytes(server.call(4, "retrieve", named)) == pictures.get().ann)
        let other = #"{"url":\#(url),"options":{"onlyFromCache":true}}"#
        #expect(try server.call(5, "retrieve", other)["error"]?["data"]?["name"]?.string == "notCached")
        #expect(try server.call(6, "remove", #"{"key":\#(url)}"#)["result"]?["removed"]?.boolean == true)
        #expect(web.requests.count == 1 && server.finish() == 0)
    }
}
