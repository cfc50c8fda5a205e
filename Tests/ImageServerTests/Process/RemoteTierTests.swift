import Foundation
import Glibc
import TestSupport
import Testing

/// Two machines, each a process with a folder of its own, that share a tier in Redis.
@Suite(.onThreads)
struct RemoteTierTests {
    private let one = try? TemporaryFolder()
    private let other = try? TemporaryFolder()
    private let picture = Result { try Fixtures.bytes("png-rgb.png") }
    private static let small = #","processors":[{"resize":{"width":8,"height":8}}]"#

    private func web(_ headers: [String: String] = [:]) throws -> LocalServer {
        let bytes = try picture.get()
        return try LocalServer { _ in .reply(200, headers, bytes) }
    }

    private func machine(_ folder: TemporaryFolder?, _ redis: RedisProcess, _ flags: [String] = []) throws
        -> ServerProcess
    {
        // A machine that does much else may take longer than requests wait by default.
        try ServerProcess(cache: folder?.path ?? "", ["--remote", redis.url, "--remote-timeout", "10"] + flags)
    }

    /// Asks a machine once, and lets it end: what it uploads is then there.
    private func once(
        _ folder: TemporaryFolder?, _ redis: RedisProcess, _ url: String, _ more: String = "", _ flags: [String] = []
    ) throws -> JSON? {
        let server = try machine(folder, redis, flags)
        let reply = try server.call(1, "retrieve", #"{"url":\#(quoted(url)),"as":"both"\#(more)}"#)
        #expect(server.finish() == 0)
        #expect(reply["error"] == nil, "\(reply.text)")
        return reply["result"]
    }

    private func origin(_ reply: JSON?) -> String? { reply?["cacheType"]?.string }

    // MARK: Hits

    @Test func whatOneMachineHasDownloadedAnotherFindsWithoutItsOrigin() throws {
        let (redis, web) = (try RedisProcess(), try web(["ETag": "\"1\""]))
        defer {
            redis.stop()
            web.stop()
        }
        let url = web.url("/cat.png")
        #expect(origin(try once(one, redis, url)) == "none")
        let server = try machine(other, redis)
        let found = try server.call(1, "retrieve", #"{"url":\#(quoted(url)),"as":"both"}"#)["result"]
        #expect(origin(found) == "remote")
        #expect(found?["data"]?.string == Data(try picture.get()).base64EncodedString())
        #expect(found?["url"]?.string == url)
        let path = try #require(found?["path"]?.string)
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == picture.get())
        // From now on it lies here.
        #expect(origin(try server.call(2, "retrieve", #"{"url":\#(quoted(url))}"#)["result"]) == "memory")
        let remote = try server.call(3, "stats")["result"]?["remote"]
        #expect(remote?["hits"]?.integer == 1 && remote?["breaker"]?.string == "closed")
        #expect(server.finish() == 0)
        #expect(web.requestCount("/cat.png") == 1)
    }

    @Test func whatOneMachineHasMadeAnotherFindsWithoutLoadingTheOriginal() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let made = try once(one, redis, web.url("/cat.png"), Self.small)
        // Only what was made is left.
        for name in try redis.objects() {
            if try redis.command("strlen \(name)") == "\(try picture.get().count)" { try redis.command("del \(name)") }
        }
        let found = try once(other, redis, web.url("/cat.png"), Self.small)
        #expect(origin(made) == "none" && origin(found) == "remote")
        #expect(found?["data"]?.string == made?["data"]?.string && found?["width"]?.integer == 8)
        #expect(web.requestCount("/cat.png") == 1)
    }

    @Test func twoMachinesWithAThousandCallersEachAskTheOriginOnce() throws {
        let gate = Gate()
        let bytes = try picture.get()
        let web = try LocalServer { _ in Script.empty.waiting(for: gate).followed(by: .reply(200, [:], bytes)) }
        let redis = try RedisProcess()
        defer {
            redis.stop()
            web.stop()
        }
        let servers = try [machine(one, redis), machine(other, redis)]
        for server in servers {
            try server.requestAll((0..<1000).map { ($0, "retrieve", #"{"url":\#(quoted(web.url("/cat.png")))}"#) })
            try server.stats("all callers waiting") { $0["merged"]?.integer == 999 }
        }
        try waitUntil("the request reaching the web server") { web.requestCount("/cat.png") > 0 }
        gate.open()
        for server in servers {
            let replies = try server.replies(1000)
            #expect(replies.byID.values.allSatisfy { $0["result"] != nil } && replies.unexpected.isEmpty)
            #expect(server.finish() == 0)
        }
        #expect(web.requestCount("/cat.png") == 1)
    }

    @Test func twoMachinesThatWantTheSameImagesAskTheOriginOnceForEach() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let servers = try [one, other].map { try machine($0, redis, ["--max-downloads-per-host", "2"]) }
        for server in servers {
            try server.requestAll((0..<60).map { ($0, "retrieve", #"{"url":\#(quoted(web.url("/\($0).png")))}"#) })
        }
        for server in servers {
            #expect(try server.replies(60).byID.values.allSatisfy { $0["result"] != nil })
            #expect(server.finish() == 0)
        }
        #expect(web.requests.count == 60)
        #expect(try redis.command("--raw keys '*.claim'").isEmpty)
    }

    @Test func aServerThatIsTerminatedGivesItsClaimsBack() throws {
        let gate = Gate()
        let web = try LocalServer { _ in Script.empty.waiting(for: gate) }
        let redis = try RedisProcess()
        defer {
            gate.open()
            redis.stop()
            web.stop()
        }
        let server = try machine(one, redis)
        try server.request(1, "retrieve", #"{"url":\#(quoted(web.url("/cat.png")))}"#)
        try waitUntil("the claim") { try redis.command("--raw keys '*.claim'").isEmpty == false }
        server.signal(SIGTERM)
        _ = server.exitCode()
        #expect(try redis.command("--raw keys '*.claim'").isEmpty)
    }

    @Test func anImageWhoseURLIsRefusedIsNotAnsweredFromTheTier() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        _ = try once(one, redis, web.url("/cat.png"))
        for flags in [
            ["--allowed-hosts", "example.com"], ["--network-policy", "public"], ["--allowed-schemes", "https"],
        ] {
            let server = try machine(other, redis, flags)
            let reply = try server.call(1, "retrieve", #"{"url":\#(quoted(web.url("/cat.png")))}"#)
            #expect(reply["error"] != nil, "\(reply.text)")
            #expect(server.finish() == 0)
        }
    }

    @Test func anImageThatIsNotFreshByHTTPIsAskedForAgain() throws {
        let (redis, web) = (try RedisProcess(), try web(["Cache-Control": "max-age=0"]))
        defer {
            redis.stop()
            web.stop()
        }
        for folder in [one, other] {
            #expect(
                origin(try once(folder, redis, web.url("/cat.png"), #","options":{"revalidate":"http"}"#)) == "none")
        }
    }

    @Test func aMachineThatHasReceivedANewerImageDoesNotGoBackInTime() throws {
        let counter = Counter()
        let pictures = [try picture.get(), try Fixtures.bytes("png-gray.png"), try Fixtures.bytes("png-gray.png")]
        let web = try LocalServer { _ in .reply(200, [:], pictures[min(counter.add(), pictures.count) - 1]) }
        let redis = try RedisProcess()
        defer {
            redis.stop()
            web.stop()
        }
        let url = web.url("/a.png")
        let old = try once(one, redis, url)?["data"]?.string
        let brief = #"{"remote":"skip","diskCacheExpiration":{"seconds":1},"memoryCacheExpiration":{"seconds":1}}"#
        let server = try machine(other, redis)
        let new = try server.call(1, "retrieve", #"{"url":\#(quoted(url)),"as":"data","options":\#(brief)}"#)["result"]
        repeat {
            usleep(50_000)
        } while try server.call(2, "isCached", #"{"key":\#(quoted(url))}"#)["result"]?["cached"] == .boolean(true)
        let found = try server.call(3, "retrieve", #"{"url":\#(quoted(url)),"as":"data"}"#)["result"]
        #expect(origin(found) == "none", "\(found?.text ?? "")")
        #expect(found?["data"]?.string == new?["data"]?.string && new?["data"]?.string != old)
        #expect(server.finish() == 0)
    }

    @Test(arguments: [#"{"forceRefresh":true}"#, #"{"revalidate":"always"}"#, #"{"remote":"skip"}"#])
    func optionsThatWantTheOriginPassTheTierBy(options: String) throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        _ = try once(one, redis, web.url("/cat.png"))
        #expect(origin(try once(other, redis, web.url("/cat.png"), #","options":\#(options)"#)) == "none")
    }

    // MARK: Modes

    @Test func aTierThatIsOnlyReadGetsNothingAndOneThatIsOnlyWrittenGivesNothing() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        _ = try once(one, redis, web.url("/a.png"), "", ["--remote-mode", "read-only"])
        #expect(try redis.objects().isEmpty)
        _ = try once(one, redis, web.url("/b.png"), "", ["--remote-mode", "write-only"])
        #expect(try redis.objects().count == 1)
        #expect(origin(try once(other, redis, web.url("/b.png"), "", ["--remote-mode", "write-only"])) == "none")
        #expect(origin(try once(other, redis, web.url("/b.png"), "", ["--remote-mode", "read-only"])) == "disk")
    }

    @Test func theTierCanBeNamedAndTakenAwayWhileTheServerRuns() throws {
        let (redis, web) = (try RedisProcess(["--requirepass", "topsecret"]), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let url = redis.url.replacingOccurrences(of: "redis+unix://", with: "redis+unix://:topsecret@")
        let server = try ServerProcess(cache: one?.path ?? "")
        let named = try server.call(1, "configure", #"{"remote":{"url":\#(quoted(url)),"mode":"write-only"}}"#)
        #expect(named["result"]?["remote"]?["url"]?.string == redis.url && !named.text.contains("topsecret"))
        _ = try server.call(2, "retrieve", #"{"url":\#(quoted(web.url("/a.png")))}"#)
        try server.stats("the upload") { $0["remote"]?["uploads"]?.integer == 1 }
        let none = try server.call(3, "configure", #"{"remote":{"url":null}}"#)["result"]?["remote"]
        #expect(none?["url"] == .null && none?["mode"]?.string == "write-only")
        #expect(try server.call(4, "stats")["result"]?["remote"] == nil)
        for wrong in [
            #"{"url":"ftp://me:topsecret@host"}"#, #"{"mode":"both"}"#, #"{"timeout":0}"#, #"{"maxBytes":-1}"#,
        ] {
            let reply = try server.call(5, "configure", #"{"remote":\#(wrong)}"#)
            #expect(reply["error"]?["code"]?.integer == -32602 && !reply.text.contains("topsecret"), "\(reply.text)")
        }
        #expect(server.finish() == 0)
    }

    @Test func uploadsThatWaitGoOnWhenOnlyTheirLimitsChange() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let server = try machine(one, redis)
        _ = try redis.command("client pause 200 write")
        for number in 0..<10 {
            _ = try server.call(1, "retrieve", #"{"url":\#(quoted(web.url("/\(number).png")))}"#)
        }
        _ = try server.call(2, "configure", #"{"remote":{"timeout":10}}"#)
        #expect(server.finish() == 0)
        #expect(try redis.objects().count == 10)
    }

    @Test func anImageLargerThanTheLimitOfTheTierStaysHere() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let size = try picture.get().count
        _ = try once(one, redis, web.url("/a.png"), "", ["--remote-max-bytes", "\(size - 1)"])
        #expect(try redis.objects().isEmpty)
        _ = try once(one, redis, web.url("/b.png"), "", ["--remote-max-bytes", "\(size)"])
        #expect(try redis.objects().count == 1)
    }

    @Test func anEntryOfRedisEndsWithTheLifeOfTheImage() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        _ = try once(one, redis, web.url("/a.png"), #","options":{"diskCacheExpiration":{"seconds":1000}}"#)
        let name = try #require(try redis.objects().first)
        let life = Int(try redis.command("pttl \(name)")) ?? 0
        #expect(life > 900_000 && life <= 1_000_000)
    }

    @Test func aPasswordInTheWrongPlaceIsNotRepeated() throws {
        let server = try ServerProcess(cache: one?.path ?? "")
        for wrong in [
            #"{"remote":"http://me:topsecret@host"}"#, #"{"remote":{"mode":"http://me:topsecret@host"}}"#,
            #"{"remote":{"timeout":"http://me:topsecret@host"}}"#, #"{"remote":{"url":"http://:topsecret@host"}}"#,
        ] {
            let reply = try server.call(1, "configure", wrong)
            #expect(reply["error"]?["code"]?.integer == -32602 && !reply.text.contains("topsecret"), "\(reply.text)")
        }
        #expect(server.finish() == 0)
    }

    // MARK: Removal

    @Test func aRemovalLeavesTheTierAloneUnlessItIsAskedFor() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let url = quoted(web.url("/cat.png"))
        _ = try once(one, redis, web.url("/cat.png"), Self.small)
        #expect(try redis.objects().count == 2)
        let server = try machine(one, redis)
        #expect(try server.call(1, "remove", #"{"key":\#(url)}"#)["result"]?["remote"] == nil)
        #expect(try server.call(2, "clear")["result"]?["remote"] == nil)
        #expect(try redis.objects().count == 2)
        _ = try server.call(3, "retrieve", #"{"url":\#(url)\#(Self.small)}"#)
        let removed = try server.call(4, "remove", #"{"key":\#(url),"allVariants":true,"remote":true}"#)["result"]
        #expect(removed?["remote"]?["count"]?.integer == 2 && removed?["remote"]?["problem"] == .null)
        #expect(try redis.objects().isEmpty)
        #expect(server.finish() == 0)
    }

    @Test func aClearThatIsAskedToEmptiesTheTierOfWhatTheCacheHad() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        for path in ["/a.png", "/b.png"] { _ = try once(one, redis, web.url(path)) }
        _ = try once(other, redis, web.url("/c.png"))
        let server = try machine(one, redis)
        let cleared = try server.call(1, "clear", #"{"remote":true}"#)["result"]
        #expect(cleared?["count"]?.integer == 2 && cleared?["remote"]?["count"]?.integer == 2)
        #expect(try redis.objects().count == 1)
        #expect(server.finish() == 0)
    }

    @Test func aClearMeansWhatIsInMemoryAloneToo() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let server = try machine(one, redis)
        let url = quoted(web.url("/a.png"))
        _ = try server.call(1, "retrieve", #"{"url":\#(url),"as":"data","options":{"cacheMemoryOnly":true}}"#)
        try server.stats("the upload") { $0["remote"]?["uploads"]?.integer == 1 }
        #expect(try server.call(2, "clear", #"{"remote":true}"#)["result"]?["remote"]?["count"]?.integer == 1)
        #expect(try redis.objects().isEmpty)
        #expect(server.finish() == 0)
    }

    @Test(arguments: ["remove", "clear"])
    func aRequestAfterARemovalIsNotAnsweredWithWhatWasRemoved(method: String) throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let (server, url) = (try machine(one, redis), quoted(web.url("/a.png")))
        _ = try server.call(1, "retrieve", #"{"url":\#(url)}"#)
        try server.stats("the upload") { $0["remote"]?["uploads"]?.integer == 1 }
        // The engine takes no change for a while.
        _ = try redis.command("client pause 200 write")
        let key = method == "remove" ? #""key":\#(url),"# : ""
        try server.request(2, method, #"{\#(key)"remote":true}"#)
        try server.request(3, "retrieve", #"{"url":\#(url)}"#)
        let answers = [try server.next(), try server.next()].compactMap(\.self)
        let found = answers.first { $0["id"]?.integer == 3 }?["result"]
        #expect(origin(found) == "none", "\(answers.map(\.text))")
        #expect(server.finish() == 0)
        #expect(web.requestCount("/a.png") == 2)
        #expect(try redis.objects().count == 1)
    }

    @Test func aRemovalSaysWhyTheTierStillHasTheImage() throws {
        let redis = try RedisProcess()
        let server = try machine(one, redis)
        redis.stop()
        let removed = try server.call(1, "remove", #"{"key":"a","remote":true}"#)["result"]
        #expect(removed?["remote"]?["count"]?.integer == 0)
        #expect(removed?["remote"]?["problem"]?.string?.contains("cannot be reached") == true)
        #expect(server.finish() == 0)
        let alone = try ServerProcess(cache: one?.path ?? "")
        let none = try alone.call(1, "remove", #"{"key":"a","remote":true}"#)["result"]
        #expect(none?["remote"]?["problem"]?.string?.contains("no remote tier") == true)
        #expect(try alone.call(2, "stats")["result"]?["remote"] == nil)
        #expect(alone.finish() == 0)
    }

    // MARK: Given images

    @Test func aGivenImageGoesToTheTierOnlyWhenItIsShared() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let server = try machine(one, redis)
        let data = Data(try picture.get()).base64EncodedString()
        for (id, options) in [(1, "{}"), (2, #"{"remote":"share"}"#)] {
            let params = #"{"key":"logo-\#(id)","data":"\#(data)","options":\#(options)}"#
            #expect(try server.call(id, "store", params)["result"] != nil)
        }
        #expect(server.finish() == 0)
        #expect(try redis.objects().count == 1)
        for (id, expected) in [(1, "none"), (2, "remote")] {
            #expect(origin(try once(other, redis, web.url("/\(id).png"), #","key":"logo-\#(id)""#)) == expected)
        }
    }
}
