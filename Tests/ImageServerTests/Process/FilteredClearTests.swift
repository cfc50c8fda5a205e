import Foundation
import TestSupport
import Testing

/// `clear` with what chooses images removes those and no others, from both tiers.
@Suite(.onThreads) struct FilteredClearTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    private func store(_ key: String, _ file: String, _ server: ServerProcess, _ options: String = "{}") throws {
        let data = Data(try Fixtures.bytes(file)).base64EncodedString()
        let reply = try server.call(1, "store", #"{"key":"\#(key)","data":"\#(data)","options":\#(options)}"#)
        #expect(reply["result"] != nil, "\(reply)")
    }

    /// The keys of images that are still there, of a cache with two hosts, two formats, a derived image, one in memory
    /// only, one that has expired, and one of a user.
    private func filled(_ server: ServerProcess) throws -> @Sendable () throws -> String {
        try store("https://a.example/1", "png-rgb.png", server)
        try store("https://a.example/2", "jpeg-420.jpg", server)
        try store("https://b.example/1", "png-rgb.png", server)
        try store("https://a.example/memory", "png-rgb.png", server, #"{"cacheMemoryOnly":true}"#)
        try store("https://a.example/user", "png-rgb.png", server, #"{"scope":"ann"}"#)
        try store("plain", "png-rgb.png", server)
        let keys = [
            "https://a.example/1", "https://a.example/2", "https://b.example/1", "https://a.example/memory",
            "https://a.example/user", "plain",
        ]
        return {
            var found: [String] = []
            for key in keys {
                let options = key.hasSuffix("user") ? #","options":{"scope":"ann"}"# : ""
                let reply = try server.call(2, "isCached", #"{"key":"\#(key)"\#(options)}"#)["result"]
                if reply?["cached"]?.boolean == true { found.append(key.replacing("https://", with: "")) }
            }
            return found.joined(separator: " ")
        }
    }

    @Test(arguments: [
        (#"{"host":"A.example"}"#, 4, "b.example/1 plain"),
        (#"{"prefix":"https://a.example/m"}"#, 1, "a.example/1 a.example/2 b.example/1 a.example/user plain"),
        (#"{"host":"a.example","format":"jpeg"}"#, 1, "a.example/1 b.example/1 a.example/memory a.example/user plain"),
        (#"{"minAge":100}"#, 0, "a.example/1 a.example/2 b.example/1 a.example/memory a.example/user plain"),
        (#"{"maxAge":100}"#, 5, "a.example/memory"),
        (#"{"host":"c.example"}"#, 0, "a.example/1 a.example/2 b.example/1 a.example/memory a.example/user plain"),
        ("{}", 6, ""),
    ])
    func whatMatchesIsRemovedFromBothTiers(_ params: String, _ count: Int, _ rest: String) throws {
        let server = try ServerProcess(cache: folder)
        let rests = try filled(server)
        let reply = try server.call(3, "clear", params)["result"]
        #expect(reply?["count"]?.integer == count)
        #expect((reply?["byteCount"]?.integer ?? 0) > 0 || count == 0)
        #expect(try rests() == rest)
        #expect(server.finish() == 0)
        let other = try ServerProcess(cache: folder)
        let listed = try other.call(4, "list")["result"]?["entries"]?.elements?.count
        #expect(listed == rest.split(separator: " ").filter { !$0.hasSuffix("memory") }.count)
        #expect(try other.call(5, "verify", #"{"repair":false}"#)["result"]?["clean"]?.boolean == true)
        #expect(other.finish() == 0)
    }

    /// The index has a digest in place of a long key, and none of what was found in the folder when it was lost.
    @Test func imagesGoWhoseKeysTheIndexDoesNotHave() throws {
        let first = try ServerProcess(cache: folder)
        let long = "https://a.example/" + String(repeating: "x", count: 3000)
        try store(long, "png-rgb.png", first)
        try store("https://a.example/short", "png-rgb.png", first)
        #expect(first.finish() == 0)
        let second = try ServerProcess(cache: folder)
        #expect(try second.call(1, "isCached", #"{"key":"\#(long)"}"#)["result"]?["cached"]?.boolean == true)
        let reply = try second.call(2, "clear", #"{"maxAge":1000}"#)["result"]
        #expect(reply?["count"]?.integer == 2)
        #expect(reply?["byteCount"]?.integer == (try Fixtures.bytes("png-rgb.png").count), "their bytes are the same")
        #expect(try second.call(3, "isCached", #"{"key":"\#(long)"}"#)["result"]?["cached"]?.boolean == false)
        try store("lost", "png-rgb.png", second)
        #expect(second.finish() == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder + "/default")
        where name.hasPrefix("index") || name.hasPrefix("entries") {
            try FileManager.default.removeItem(atPath: folder + "/default/" + name)
        }
        let third = try ServerProcess(cache: folder)
        _ = try third.call(4, "verify")
        #expect(try third.call(5, "list")["result"]?["entries"]?.elements?.count == 1)
        #expect(try third.call(6, "clear", #"{"format":"png"}"#)["result"]?["count"]?.integer == 1)
        #expect(try third.call(7, "list")["result"]?["entries"]?.elements?.count == 0)
        #expect(third.finish() == 0)
    }

    @Test func manyImagesAndTheirExpiredOnesGo() throws {
        let server = try ServerProcess(cache: folder)
        for number in 0..<300 {
            let life = number % 2 == 0 ? #"{"diskCacheExpiration":{"seconds":0.001},"lease":0}"# : "{}"
            try store("https://a.example/\(number)", "png-rgb.png", server, life)
        }
        try store("https://b.example/", "png-rgb.png", server)
        #expect(try server.call(1, "clear", #"{"host":"a.example"}"#)["result"]?["count"]?.integer == 300)
        #expect(try server.call(2, "calculateSize")["result"]?["disk"]?["count"]?.integer == 1)
        #expect(server.finish() == 0)
    }

    @Test func theCommandRemovesWhatMatchesAndRefusesAChoiceOfAll() throws {
        let server = try ServerProcess(cache: folder)
        let rests = try filled(server)
        func clean(_ options: String) throws -> Int32 {
            try Command.shell("'\(ServerProcess.binary)' clean --cache-dir '\(folder)' \(options)").status
        }
        #expect(try clean("--host b.example --format png") == 0)
        #expect(try rests() == "a.example/1 a.example/2 a.example/memory a.example/user plain")
        #expect(try clean("--all --host a.example") == 2)
        #expect(try clean("--everywhere") == 2)
        #expect(try clean("--min-age -1") == 2)
        #expect(try rests() == "a.example/1 a.example/2 a.example/memory a.example/user plain")
        #expect(server.finish() == 0)
    }
}
