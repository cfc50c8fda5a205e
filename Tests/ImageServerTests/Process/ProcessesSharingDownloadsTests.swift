import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// Processes on one folder that want the same at the same time.
@Suite(.onThreads)
struct ProcessesSharingDownloadsTests {
    private let cache = try? TemporaryFolder()
    private let gate = Gate()
    private let picture = Result { try Fixtures.bytes("png-rgb.png") }

    private func servers(_ count: Int) throws -> [ServerProcess] {
        try (0..<count).map { _ in try ServerProcess(cache: cache?.path ?? "") }
    }

    /// A web server that holds its first answer.
    private func web(first: Script? = nil) throws -> LocalServer {
        let answer = Script.reply(200, [:], try picture.get())
        let count = Count()
        return try LocalServer { [gate] _ in
            count.next() == 1 ? Script.empty.waiting(for: gate).followed(by: first ?? answer) : answer
        }
    }

    /// Starts the request in each; the first downloads and the others wait.
    private func begin(_ servers: [ServerProcess], _ web: LocalServer) throws {
        for (number, server) in servers.enumerated() {
            try server.request(1, "retrieve", #"{"url":\#(quoted(web.url("/cat.png"))),"as":"both"}"#)
            if number == 0 {
                try waitUntil("the request reaching the web server") { web.requestCount("/cat.png") == 1 }
            } else {
                try server.stats("waiting for the first") { $0["waitingDownloads"]?.integer == 1 }
            }
        }
    }

    private func check(_ reply: JSON?, cacheType: String? = nil) throws {
        let result = try #require(reply?["result"], "\(reply?.text ?? "")")
        #expect(result["data"]?.string == Data(try picture.get()).base64EncodedString())
        let path = try #require(result["path"]?.string)
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == picture.get())
        if let cacheType { #expect(result["cacheType"]?.string == cacheType) }
    }

    private func shared(_ server: ServerProcess) throws -> Int? {
        try server.call(2, "stats")["result"]?["sharedDownloads"]?.integer
    }

    @Test func fourProcessesDownloadOneURLOnce() throws {
        let web = try web()
        defer { web.stop() }
        let servers = try servers(4)
        try begin(servers, web)
        gate.open()
        try check(try servers[0].next(), cacheType: "none")
        for server in servers.dropFirst() { try check(try server.next(), cacheType: "disk") }
        #expect(web.requestCount("/cat.png") == 1)
        #expect(try servers.map(shared) == [0, 1, 1, 1])
        for server in servers { #expect(server.finish() == 0) }
    }

    @Test func downloadOfAKilledProcessIsTakenOverByAnother() throws {
        let web = try web()
        defer { web.stop() }
        let servers = try servers(4)
        try begin(servers, web)
        servers[0].signal(SIGKILL)
        #expect(servers[0].exitCode() == -SIGKILL)
        for server in servers.dropFirst() { try check(try server.next()) }
        #expect(web.requestCount("/cat.png") == 2)
        #expect(try servers.dropFirst().map(shared).reduce(0) { $0 + ($1 ?? 0) } == 2)
        for server in servers.dropFirst() { #expect(server.finish() == 0) }
    }

    @Test func failedDownloadIsTriedByAnotherProcess() throws {
        let web = try web(first: .reply(500, [:], []))
        defer { web.stop() }
        let servers = try servers(4)
        try begin(servers, web)
        gate.open()
        #expect(try servers[0].next()?["error"]?["data"]?["statusCode"]?.integer == 500)
        for server in servers.dropFirst() { try check(try server.next()) }
        #expect(web.requestCount("/cat.png") == 2)
        for server in servers { #expect(server.finish() == 0) }
    }

    @Test func cancelledWaiterIsAnsweredAtOnceAndOtherCredentialsWaitForNobody() throws {
        let web = try web()
        defer { web.stop() }
        let servers = try servers(3)
        try begin(Array(servers[..<2]), web)
        try servers[1].notify("$/cancelRequest", #"{"id":1}"#)
        #expect(try servers[1].next()?["error"]?["code"]?.integer == -32800)
        let options = #"{"authorization":{"bearer":"mine"}}"#
        try check(
            try servers[2].call(
                1, "retrieve", #"{"url":\#(quoted(web.url("/cat.png"))),"as":"both","options":\#(options)}"#),
            cacheType: "none")
        #expect(web.requestCount("/cat.png") == 2)
        gate.open()
        try check(try servers[0].next())
        for server in servers { #expect(server.finish() == 0) }
    }
}

/// Counts from any thread.
private final class Count: Sendable {
    private let value = Mutex(0)

    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}
