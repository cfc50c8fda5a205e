import Foundation
import Glibc
import TestSupport
import Testing

/// `halcyon stats`: what the servers of one cache folder have done, seen from outside.
@Suite(.onThreads)
struct StatsProcessTests {
    @Test func theServersOfAFolderAreToldAndAddedUpAsLongAsTheyLive() throws {
        let (scratch, other) = (try TemporaryFolder(), try TemporaryFolder())
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { _ in .reply(200, [:], picture) }
        defer { web.stop() }
        func stats(_ flags: String, in folder: TemporaryFolder) throws -> Command {
            try Command.shell("$HALCYON stats \(flags)", environment: ["HALCYON_CACHE_DIR": folder.path])
        }
        let servers = try (0..<2).map { _ in try ServerProcess(cache: scratch.path) }
        for (number, server) in servers.enumerated() {
            for _ in 0...number { _ = try server.call(1, "retrieve", #"{"url":"\#(web.url("/\(number).png"))"}"#) }
        }
        try waitUntil("telling what both servers did") {
            let sums = try stats("--all --json", in: scratch).lines.first
            return sums?["processes"]?.integer == 2 && sums?["downloads"]?.integer == 2
                && sums?["memoryHits"]?.integer == 1 && sums?["downloadedBytes"]?.integer == 2 * picture.count
        }
        let each = try stats("--json", in: scratch).lines
        #expect(each.count == 2 && Set(each.compactMap { $0["process"]?.integer }).count == 2)
        #expect(each.allSatisfy { $0["downloads"]?.integer == 1 && $0["uptimeSeconds"] == nil })
        #expect(each.compactMap { $0["latency"]?["retrieve"]?["count"]?.integer }.sorted() == [1, 2])
        let words = String(decoding: try stats("--all", in: scratch).output, as: UTF8.self)
        #expect(words.split(separator: "\n").contains { $0.split(separator: " ") == ["downloads", "2"] }, "\(words)")

        let none = try stats("", in: other)
        #expect(none.status == 0 && none.output.isEmpty)
        #expect(none.errors == "halcyon: No running server uses \(other.path).\n")

        // One that is killed cannot take its counters back: whoever comes next does, a reader or a server.
        servers[0].signal(SIGKILL)
        _ = servers[0].exitCode()
        #expect(try stats("--json", in: scratch).lines.map { $0["latency"]?["retrieve"]?["count"]?.integer } == [2])
        servers[1].signal(SIGKILL)
        _ = servers[1].exitCode()
        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/.servers")
        }
        // A state that is being written has a name of its own, also when its server is killed meanwhile.
        func states() throws -> [String] { try files().filter { !$0.hasSuffix(".part") } }
        let left = try states()
        let next = try ServerProcess(cache: scratch.path)
        _ = try next.call(1, "ping")
        try waitUntil("the counters of the next server") { try !Set(states()).isSubset(of: left) }
        #expect(try left.count == 1 && states().count == 1)
        #expect(next.finish() == 0)
        #expect(try stats("--all --json", in: scratch).lines.map { $0["processes"]?.integer } == [0])
        #expect(try files().isEmpty)
    }

    /// What is there may lead anywhere: names of another user's folder are not written, and a link is not followed.
    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
    func nothingIsWrittenIntoAFolderOfAnotherUser() throws {
        let scratch = try TemporaryFolder()
        mkdir(scratch.path + "/cache", 0o777)
        mkdir(scratch.path + "/own", 0o700)
        chown(scratch.path + "/cache", 12345, 12345)
        let refused = try ServerProcess(cache: scratch.path + "/cache")
        let served = try ServerProcess(cache: scratch.path + "/own")
        _ = try refused.call(1, "ping")
        // The later one has written, so the first one would have.
        try waitUntil("the counters of the other server") {
            try !FileManager.default.contentsOfDirectory(atPath: scratch.path + "/own").filter { $0 == ".servers" }
                .isEmpty
        }
        #expect(refused.finish() == 0 && served.finish() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/cache").isEmpty)
    }
}
