import Foundation
import TestSupport
import Testing

/// What leaves the machine for the remote tier, and what does not.
@Suite(.onThreads)
struct RemotePrivacyTests {
    private let one = try? TemporaryFolder()
    private let other = try? TemporaryFolder()
    private static let small = #","processors":[{"resize":{"width":8,"height":8}}]"#

    private func web(_ headers: [String: String] = [:]) throws -> LocalServer {
        let bytes = try Fixtures.bytes("png-rgb.png")
        return try LocalServer { _ in .reply(200, headers, bytes) }
    }

    /// Asks a machine for images in turn, and lets it end.
    private func ask(
        _ folder: TemporaryFolder?, _ redis: RedisProcess, _ params: [String], _ flags: [String] = []
    ) throws -> [String?] {
        let server = try ServerProcess(cache: folder?.path ?? "", ["--remote", redis.url] + flags)
        let found = try params.enumerated().map { id, params in
            let reply = try server.call(id, "retrieve", params)
            #expect(reply["error"] == nil, "\(reply.text)")
            return reply["result"]?["cacheType"]?.string
        }
        #expect(server.finish() == 0)
        return found
    }

    private static let personal: [String] = [
        #"{"authorization":{"bearer":"secret"}}"#, #"{"authorization":{"basic":{"user":"me","password":"secret"}}}"#,
        #"{"authorization":{"bearer":"secret"},"credentialScope":"shared"}"#,
        #"{"headers":{"Authorization":"Basic eDp5"}}"#, #"{"headers":{"Cookie":"session=1"}}"#,
        #"{"headers":{"X-Api-Key":"1"}}"#, #"{"headers":{"Range":"bytes=0-"}}"#,
        #"{"headers":{"Cache-Control":"no-store"}}"#, #"{"scope":"me"}"#,
    ]

    @Test(arguments: personal)
    func whatIsAskedForByOneUserStaysOnTheMachineUnlessItIsShared(options: String) throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let url = quoted(web.url("/cat.png"))
        let request = #"{"url":\#(url),"options":\#(options)}"#
        #expect(
            try ask(one, redis, [request, #"{"url":\#(url),"options":\#(options)\#(Self.small)}"#]).first == "none")
        #expect(try redis.objects().isEmpty)
        // Neither is it looked for there.
        _ = try ask(one, redis, [#"{"url":\#(quoted(web.url("/open.png")))}"#])
        let shared = options.dropLast() + #","remote":"share"}"#
        let third = try TemporaryFolder()
        _ = try ask(third, redis, [#"{"url":\#(url),"options":\#(shared)}"#])
        #expect(try ask(other, redis, [#"{"url":\#(url),"options":\#(shared)}"#]) == ["remote"])
    }

    @Test(arguments: ["private", "no-store", "Private, max-age=60", "private=\"x-user\""])
    func whatTheServerKeepsForOneUserStaysOnTheMachine(control: String) throws {
        let (redis, web) = (try RedisProcess(), try web(["Cache-Control": control]))
        defer {
            redis.stop()
            web.stop()
        }
        let url = quoted(web.url("/cat.png"))
        _ = try ask(one, redis, [#"{"url":\#(url)}"#, #"{"url":\#(url)\#(Self.small)}"#])
        #expect(try redis.objects().isEmpty)
    }

    @Test func aLoginInTheURLOrInTheConfigurationIsPrivate() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let url = web.url("/cat.png").replacingOccurrences(of: "http://", with: "http://me:secret@")
        _ = try ask(one, redis, [#"{"url":\#(quoted(url))}"#])
        let netrc = try #require(other).path + "-netrc"
        try "machine 127.0.0.1 login me password secret\n".write(toFile: netrc, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: netrc) }
        _ = try ask(other, redis, [#"{"url":\#(quoted(web.url("/dog.png")))}"#], ["--netrc", netrc])
        #expect(try redis.objects().isEmpty)
    }

    @Test(arguments: ["Accept-Key", "Referer", "X-Key"])
    func aHeaderThatIsAddedAfterARedirectIsPrivate(name: String) throws {
        let (redis, target) = (try RedisProcess(), try web())
        let address = target.url("/cat.png").replacingOccurrences(of: "127.0.0.1", with: "localhost")
        let web = try LocalServer { _ in .redirect(to: address) }
        defer {
            redis.stop()
            target.stop()
            web.stop()
        }
        let server = try ServerProcess(cache: one?.path ?? "", ["--remote", redis.url])
        let rules = #"[{"hosts":["localhost"],"headers":{"\#(name)":"secret"}}]"#
        _ = try server.call(1, "configure", #"{"downloader":{"hostRules":\#(rules)}}"#)
        let reply = try server.call(2, "retrieve", #"{"url":\#(quoted(web.url("/cat.png")))}"#)
        #expect(reply["result"]?["cacheType"]?.string == "none", "\(reply.text)")
        #expect(server.finish() == 0)
        #expect(try redis.objects().isEmpty)
        #expect(target.requestCount("/cat.png") == 1)
    }

    @Test func whatIsMadeOfAPrivateOriginalIsPrivateWhoeverAsksForIt() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let url = quoted(web.url("/cat.png"))
        // The original is kept for all, but was asked for with credentials.
        let options = #"{"authorization":{"bearer":"secret"},"credentialScope":"shared"}"#
        let found = try ask(
            one, redis, [#"{"url":\#(url),"options":\#(options)}"#, #"{"url":\#(url)\#(Self.small)}"#])
        #expect(found == ["none", "none"])
        #expect(web.requestCount("/cat.png") == 1)
        #expect(try redis.objects().isEmpty)
    }

    @Test func anImageThatWasLoadedBeforeThereWasATierStaysOnTheMachine() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        let url = quoted(web.url("/cat.png"))
        let alone = try ServerProcess(cache: one?.path ?? "")
        _ = try alone.call(1, "retrieve", #"{"url":\#(url)}"#)
        #expect(alone.finish() == 0)
        _ = try ask(one, redis, [#"{"url":\#(url)\#(Self.small)}"#])
        #expect(try redis.objects().isEmpty)
    }

    @Test func neitherTheQueryOfAURLNorItsKeyLeaveTheMachine() throws {
        let (redis, web) = (try RedisProcess(), try web())
        defer {
            redis.stop()
            web.stop()
        }
        _ = try ask(one, redis, [#"{"url":\#(quoted(web.url("/cat.png?signature=topsecret")))}"#])
        let name = try #require(try redis.objects().first)
        #expect(!(try redis.command("--raw get \(name)")).contains("topsecret"))
        #expect(!(try redis.command("--raw get \(name)")).contains("127.0.0.1"))
    }

    @Test func theAddressIsShownWithoutItsPassword() throws {
        let redis = try RedisProcess(["--requirepass", "topsecret"])
        defer { redis.stop() }
        let url = redis.url.replacingOccurrences(of: "redis+unix://", with: "redis+unix://:topsecret@")
        let folder = one?.path ?? ""
        for line in ["config", "config --json", "remote check", "remote check --json", "doctor"] {
            let command = try Command.shell(#"$HALCYON \#(line) --cache-dir \#(folder) --remote \#(url)"#)
            #expect(!command.text.contains("topsecret") && !command.errors.contains("topsecret"), "\(line)")
        }
        for wrong in [
            "redis://:topsecret@", "http://:topsecret@host", "ftp://me:topsecret@host/", "me:topsecret@host",
            "http://me:topsecret@host?x",
        ] {
            let command = try Command.shell(#"$HALCYON remote check --cache-dir \#(folder) --remote '\#(wrong)'"#)
            #expect(command.status != 0 && !(command.text + command.errors).contains("topsecret"), "\(wrong)")
        }
    }
}
