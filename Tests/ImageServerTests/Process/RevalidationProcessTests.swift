import Foundation
import Synchronization
import TestSupport
import Testing

/// Images that are checked with their server, through the real binary.
@Suite(.onThreads)
struct RevalidationProcessTests {
    private let cache = try? TemporaryFolder()
    private let gate = Gate()
    private let pictures = Result { (try Fixtures.bytes("png-rgb.png"), try Fixtures.bytes("png-gray.png")) }

    private func server(_ arguments: [String] = []) throws -> ServerProcess {
        try ServerProcess(cache: cache?.path ?? "", arguments)
    }

    private func params(_ web: LocalServer) -> String {
        #"{"url":\#(quoted(web.url("/a.png"))),"options":{"revalidate":"http"}}"#
    }

    /// A web server whose picture has a tag; a question about it is held until the gate is open.
    private func web(_ control: String) throws -> LocalServer {
        let picture = try pictures.get().0
        let headers = ["ETag": "\"1\"", "Cache-Control": control]
        return try LocalServer { [gate] request in
            request.headers["if-none-match"] == nil
                ? .reply(200, headers, picture)
                : Script.empty.waiting(for: gate)
                    .followed(by: .reply(304, ["Cache-Control": "max-age=1000", "ETag": "\"1\""], []))
        }
    }

    /// What one process has heard of the server is heard by those that waited for it.
    @Test func processesAskOnceAmongThem() throws {
        let web = try web("max-age=0")
        defer { web.stop() }
        let servers = try (0..<3).map { _ in try server() }
        #expect(try servers[0].call(1, "retrieve", params(web))["result"]?["cacheType"]?.string == "none")
        for server in servers.dropFirst() { _ = try server.call(1, "retrieve", #"{"url":"\#(web.url("/a.png"))"}"#) }
        for (number, server) in servers.enumerated() {
            try server.request(2, "retrieve", params(web))
            if number == 0 {
                try waitUntil("the question") { web.requestCount("/a.png") == 2 }
            } else {
                try server.stats("waiting for the first") { $0["waitingDownloads"]?.integer == 1 }
            }
        }
        gate.open()
        #expect(try servers[0].next()?["result"]?["revalidated"] == .boolean(true))
        for server in servers.dropFirst() {
            let result = try #require(try server.next()?["result"])
            #expect(result["path"]?.string != nil && result["revalidated"] == nil && result["stale"] == nil)
        }
        #expect(web.requestCount("/a.png") == 2)
        for server in servers { #expect(server.finish() == 0) }
    }

    @Test func subscribersHearOfAnImageThatChangedBehindItsAnswer() throws {
        let count = Mutex(0)
        let (first, second) = try pictures.get()
        let web = try LocalServer { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return .reply(200, ["Cache-Control": "max-age=0, stale-while-revalidate=9999"], isFirst ? first : second)
        }
        defer { web.stop() }
        let server = try server()
        _ = try server.call(1, "subscribe", #"{"events":["image/didChange"]}"#)
        _ = try server.call(2, "retrieve", params(web))
        #expect(try server.call(3, "retrieve", params(web))["result"]?["stale"] == .boolean(true))
        let event = try #require(try server.next())
        #expect(event["method"]?.string == "image/didChange")
        #expect(event["params"]?["url"]?.string == web.url("/a.png"))
        #expect(event["params"]?["key"]?.string == web.url("/a.png"))
        #expect(event["params"]?["cache"]?.string == "default")
        let path = try #require(
            try server.call(4, "retrieve", #"{"url":"\#(web.url("/a.png"))"}"#)["result"]?["path"]?.string)
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == second)
        #expect(server.finish() == 0)
    }

    @Test func whatIsMadeOfAnImageSaysHowThatStands() throws {
        let picture = try pictures.get().0
        let isUp = Mutex(true)
        let web = try LocalServer { request in
            guard isUp.withLock({ $0 }) else { return .reply(503, [:], []) }
            let headers = ["ETag": "\"1\"", "Cache-Control": "max-age=0, stale-if-error=9999"]
            return .reply(request.headers["if-none-match"] == nil ? 200 : 304, headers, picture)
        }
        defer { web.stop() }
        let server = try server()
        func result(_ id: Int, width: Int?) throws -> JSON {
            let processors = width.map { #","processors":[{"resize":{"width":\#($0)}}]"# } ?? ""
            return try #require(
                try server.call(id, "retrieve", params(web).dropLast() + processors + "}")["result"])
        }
        _ = try result(1, width: 16)
        for (id, width) in zip(2..., [16, 17, nil]) {
            let told = try result(id, width: width)
            #expect(told["revalidated"] == .boolean(true) && told["stale"] == nil, "\(width ?? 0)")
        }
        isUp.withLock { $0 = false }
        for (id, width) in zip(5..., [16, 18, nil]) {
            let told = try result(id, width: width)
            #expect(told["stale"] == .boolean(true) && told["revalidated"] == nil, "\(width ?? 0)")
        }
        #expect(server.finish() == 0)
    }

    @Test func whatMustNotBeStoredComesAsDataOnly() throws {
        let web = try web("no-store")
        defer { web.stop() }
        let server = try server()
        let error = try server.call(1, "retrieve", params(web))["error"]
        #expect(error?["code"]?.integer == 40000)
        #expect(error?["data"]?["hint"]?.string?.contains("revalidate") == true)
        let both = #"{"url":\#(quoted(web.url("/a.png"))),"as":"both","options":{"revalidate":"http"}}"#
        let result = try server.call(2, "retrieve", both)["result"]
        #expect(result?["data"]?.string == Data(try pictures.get().0).base64EncodedString())
        #expect(result?["path"] == .null)
        #expect(server.finish() == 0)
    }

    @Test(arguments: ["true", "false", "on"])
    func variableSetsOfflineMode(_ value: String) throws {
        let environment = ["HALCYON_OFFLINE": value, "HALCYON_CACHE_DIR": cache?.path ?? ""]
        let run = try Command.shell("\"$HALCYON\" config --json", environment: environment)
        if value == "on" {
            #expect(run.status == 2 && run.errors.contains("HALCYON_OFFLINE must be true or false"))
        } else {
            #expect(try JSON(run.output)["offline"]?["value"] == .boolean(value == "true"))
        }
    }
}
