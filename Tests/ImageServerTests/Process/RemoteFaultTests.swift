import Foundation
import Glibc
import TestSupport
import Testing

/// A remote tier that is gone, slow or wrong: no request fails for it.
@Suite(.onThreads)
struct RemoteFaultTests {
    private let one = try? TemporaryFolder()
    private let other = try? TemporaryFolder()
    private let picture = Result { try Fixtures.bytes("png-rgb.png") }

    private func web() throws -> LocalServer {
        let bytes = try picture.get()
        return try LocalServer { _ in .reply(200, [:], bytes) }
    }

    private func machine(_ folder: TemporaryFolder?, _ redis: RedisProcess, _ flags: [String] = []) throws
        -> ServerProcess
    {
        try ServerProcess(cache: folder?.path ?? "", ["--remote", redis.url] + flags)
    }

    private func fill(_ redis: RedisProcess, _ url: String) throws {
        let server = try machine(one, redis)
        #expect(try server.call(1, "retrieve", #"{"url":\#(quoted(url))}"#)["result"] != nil)
        #expect(server.finish() == 0)
    }

    /// What is wrong with an object, as a command of Redis for its name.
    private static let damages = [
        "set NAME garbage", "setrange NAME 60 xx", "setrange NAME 0 X", "append NAME x",
    ]

    @Test(arguments: damages)
    func anObjectThatIsNotWhatItsNameSaysIsPassedByAndReplaced(damage: String) throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        try fill(redis, web.url("/cat.png"))
        let name = try #require(try redis.objects().first)
        let sound = try redis.command("--raw get \(name) | sha256sum")
        try redis.command(damage.replacingOccurrences(of: "NAME", with: name))
        let server = try machine(other, redis)
        let reply = try server.call(1, "retrieve", #"{"url":\#(quoted(web.url("/cat.png"))),"as":"both"}"#)["result"]
        #expect(reply?["cacheType"]?.string == "none")
        #expect(reply?["data"]?.string == Data(try picture.get()).base64EncodedString())
        #expect(try server.call(2, "stats")["result"]?["remote"]?["wrong"]?.integer == 1)
        #expect(server.finish() == 0)
        #expect(try redis.command("exists \(name)") == "1" && sound.isEmpty == false)
    }

    @Test func theObjectOfAnotherKeyIsPassedBy() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        try fill(redis, web.url("/cat.png"))
        let cat = try #require(try redis.objects().first)
        try fill(redis, web.url("/dog.png"))
        let dog = try #require(try redis.objects().first { $0 != cat })
        try redis.command("copy \(cat) \(dog) replace")
        let server = try machine(other, redis)
        let reply = try server.call(1, "retrieve", #"{"url":\#(quoted(web.url("/dog.png")))}"#)["result"]
        #expect(reply?["cacheType"]?.string == "none")
        #expect(try server.call(2, "stats")["result"]?["remote"]?["wrong"]?.integer == 1)
        #expect(server.finish() == 0)
    }

    @Test func anImageThatCannotBeDecodedIsPassedByWhereThatIsVerified() throws {
        let whole = try picture.get()
        var damaged = whole
        for place in whole.count / 3..<whole.count / 2 { damaged[place] = 0 }
        let count = Counter()
        let web = try LocalServer { [damaged] _ in .reply(200, [:], count.add() == 1 ? damaged : whole) }
        let redis = try RedisProcess()
        defer {
            redis.stop()
            web.stop()
        }
        try fill(redis, web.url("/cat.png"))
        let server = try machine(other, redis)
        for id in 1...2 {
            let params = #"{"url":\#(quoted(web.url("/cat.png"))),"as":"both","options":{"verifyDecode":true}}"#
            let reply = try server.call(id, "retrieve", params)
            #expect(reply["result"]?["data"]?.string == Data(whole).base64EncodedString(), "\(reply.text)")
        }
        #expect(count.value == 2)
        #expect(server.finish() == 0)
    }

    /// - Parameter isKnown: `true` when it was answered as it is before.
    @Test(arguments: [false, true])
    func anImageThatCannotBeDecodedIsLoadedFromItsSourceWhereItIsProcessed(isKnown: Bool) throws {
        let (whole, count, third) = (try picture.get(), Counter(), try TemporaryFolder())
        let web = try LocalServer { _ in .reply(200, [:], count.add() == 1 ? hollowPNG(width: 50) : whole) }
        let redis = try RedisProcess()
        defer {
            redis.stop()
            web.stop()
        }
        try fill(redis, web.url("/cat.png"))
        if isKnown {
            let server = try machine(other, redis)
            let reply = try server.call(1, "retrieve", #"{"url":\#(quoted(web.url("/cat.png")))}"#)
            #expect(reply["result"]?["cacheType"]?.string == "remote")
            #expect(server.finish() == 0)
        }
        for (folder, width) in [(other, 8), (other, 9), (third, 10)] {
            let server = try machine(folder, redis)
            let processors = #"[{"resize":{"width":\#(width),"height":\#(width)}}]"#
            let params = #"{"url":\#(quoted(web.url("/cat.png"))),"processors":\#(processors)}"#
            let reply = try server.call(1, "retrieve", params)
            #expect(reply["result"]?["width"]?.integer == width, "\(reply.text)")
            #expect(server.finish() == 0)
        }
        #expect(count.value == 2, "the object was replaced")
    }

    /// One that its source has so too is not loaded again and again.
    @Test func anImageThatItsSourceHasDamagedTooIsLoadedAgainOnce() throws {
        let count = Counter()
        let web = try LocalServer { _ in
            _ = count.add()
            return .reply(200, [:], hollowPNG(width: 50))
        }
        let redis = try RedisProcess()
        defer {
            redis.stop()
            web.stop()
        }
        try fill(redis, web.url("/cat.png"))
        let server = try machine(other, redis)
        for id in 1...4 {
            let processors = #"[{"resize":{"width":\#(id),"height":9}}]"#
            let params = #"{"url":\#(quoted(web.url("/cat.png"))),"processors":\#(processors)}"#
            #expect(try server.call(id, "retrieve", params)["error"]?["data"]?["name"]?.string == "badData")
        }
        #expect(count.value == 2)
        #expect(server.finish() == 0)
    }

    @Test(arguments: [SIGKILL, SIGSTOP])
    func aThousandMissesAnswerWhileTheEngineIsGone(signal: Int32) throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.signal(SIGCONT)
            redis.stop()
            web.stop()
        }
        let server = try machine(one, redis)
        #expect(try server.call(0, "subscribe", #"{"events":["remote/didChange"]}"#)["result"] != nil)
        redis.signal(signal)
        try server.requestAll((1...1000).map { ($0, "retrieve", #"{"url":\#(quoted(web.url("/\($0).png")))}"#) })
        let replies = try server.replies(1000)
        #expect(replies.byID.values.allSatisfy { $0["result"]?["cacheType"]?.string == "none" })
        let event = replies.notifications.first { $0["method"]?.string == "remote/didChange" }?["params"]
        #expect(event?["breaker"]?.string == "open" && event?["reason"]?.string?.isEmpty == false)
        let remote = try server.call(2000, "stats")["result"]?["remote"]
        #expect(remote?["breaker"]?.string != "closed")
        // Nothing is kept for a tier that is left out.
        #expect(remote?["queued"]?.integer == 0)
        #expect((remote?["dropped"]?.integer ?? 0) > 900)
        #expect(server.finish() == 0)
    }

    @Test func anEngineThatIsThereAgainIsUsedAgain() throws {
        let (first, web) = (try RedisProcess(), try web())
        defer { web.stop() }
        let server = try machine(one, first)
        first.stop()
        #expect(try server.call(0, "retrieve", #"{"url":\#(quoted(web.url("/0.png")))}"#)["result"] != nil)
        let second = try RedisProcess(at: first.socket)
        defer { second.stop() }
        var id = 0
        try waitUntil("an object in the new engine") {
            id += 1
            #expect(try server.call(id, "retrieve", #"{"url":\#(quoted(web.url("/\(id).png")))}"#)["result"] != nil)
            return try !second.objects().isEmpty
        }
        #expect(server.finish() == 0)
    }

    @Test func aFullEngineFailsNoRequestAndIsRead() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        try fill(redis, web.url("/cat.png"))
        try redis.command("config set maxmemory 1")
        let server = try machine(other, redis)
        for (id, expected) in [("cat", "remote"), ("dog", "none")] {
            let reply = try server.call(1, "retrieve", #"{"url":\#(quoted(web.url("/\(id).png")))}"#)
            #expect(reply["result"]?["cacheType"]?.string == expected, "\(reply.text)")
        }
        try server.stats("the failed upload") { ($0["remote"]?["errors"]?.integer ?? 0) > 0 }
        #expect(try server.call(2, "stats")["result"]?["remote"]?["breaker"]?.string == "closed")
        #expect(server.finish() == 0)
    }

    @Test func wrongCredentialsAreToldOnceAndFailNoRequest() throws {
        let (redis, web) = (try RedisProcess(["--requirepass", "right"]), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let url = redis.url.replacingOccurrences(of: "redis+unix://", with: "redis+unix://:wrong@")
        let server = try ServerProcess(cache: one?.path ?? "", ["--remote", url])
        for id in 1...20 {
            #expect(try server.call(id, "retrieve", #"{"url":\#(quoted(web.url("/\(id).png")))}"#)["result"] != nil)
        }
        let check = try server.call(21, "checkRemote")["result"]
        #expect(check?["ok"]?.boolean == false)
        #expect(
            check?["steps"]?[0]?["problem"]?.string?.contains("does not take the user and the password") == true,
            "\(check?.text ?? "")")
        #expect(server.finish() == 0)
    }

    @Test func aCheckTellsWhatWorks() throws {
        let redis = try RedisProcess()
        defer { redis.stop() }
        let server = try machine(one, redis)
        let check = try server.call(1, "checkRemote")["result"]
        #expect(check?["ok"]?.boolean == true && check?["mode"]?.string == "read-write")
        #expect((0..<4).map { check?["steps"]?[$0]?["name"]?.string } == ["read", "write", "remove", "claim"])
        #expect(check?["clockAhead"] != nil)
        #expect(try redis.command("dbsize") == "0")
        #expect(server.finish() == 0)
        let alone = try ServerProcess(cache: one?.path ?? "")
        #expect(try alone.call(1, "checkRemote")["result"]?["ok"]?.boolean == false)
        #expect(alone.finish() == 0)
    }
}
