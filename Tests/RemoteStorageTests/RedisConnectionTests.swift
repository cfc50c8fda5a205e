import CTestSupport
import Downloading
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import RemoteStorage

/// Against servers that no Redis is like.
@Suite struct RedisConnectionTests {
    private static let value = "$2\r\nhi\r\n"

    // MARK: Repeating

    @Test func aReadThatAnIdleConnectionLosesIsSentAgainOverANewOne() async throws {
        let server = try ScriptedRedis { client in
            _ = client.command()
            client.send(Self.value)
            guard client.number > 0 else { return _ = client.command() }
            while client.command() != nil { client.send(Self.value) }
        }
        let storage = try RedisStorage.test(server.url)
        for _ in 0..<4 { #expect(try await storage.get("a") == Array("hi".utf8)) }
        #expect(server.connectionCount == 2)
    }

    @Test func aReadIsSentAgainOnlyOnce() async throws {
        let server = try ScriptedRedis { client in
            if client.number == 0 {
                _ = client.command()
                client.send(Self.value)
            }
            _ = client.command()
        }
        let storage = try RedisStorage.test(server.url)
        #expect(try await storage.get("a") == Array("hi".utf8))
        #expect(await complaint { try await storage.get("a") }.contains("closed the connection"))
        #expect(server.connectionCount == 2)
        #expect(await complaint { try await storage.get("a") }.contains("closed the connection"), "a new one closed")
        #expect(server.connectionCount == 3)
    }

    @Test func aClaimThatMayHaveBeenCarriedOutIsNotSentAgain() async throws {
        let words = Mutex<[[String]]>([])
        let server = try ScriptedRedis { client in
            while let command = client.command() {
                words.withLock { $0.append(command) }
                if command[0] == "SET" { return }
                client.send(command[0] == "EVAL" ? ":1\r\n" : Self.value)
            }
        }
        let storage = try RedisStorage.test(server.url)
        #expect(try await storage.get("a") == Array("hi".utf8))
        #expect(await complaint { try await storage.claim("a", seconds: 5) }.contains("closed the connection"))
        try await eventually("the claim is ended") { words.withLock { $0.last?.first == "EVAL" } }
        let (claim, end) = words.withLock { ($0[1], $0[2]) }
        #expect(claim[0] == "SET" && end.last == claim[2], "by its own token")
        #expect(words.withLock { $0.count } == 3)
    }

    // MARK: Wrong servers

    @Test(arguments: [
        "garbage\r\n", "$-5\r\n", "$99999999999\r\n", "*1\r\n*1\r\n:1\r\n", "%1\r\n", "_\r\n", "$2\r\nhixx", ":1\r\n",
        "+OK\r\n",
        "*1\r\n$2\r\nhi\r\n", String(repeating: "x", count: 10_000), "HTTP/1.1 400 Bad Request\r\n\r\n",
    ]) func whatIsNoAnswerIsAnErrorAndTheNextCommandIsAnswered(_ reply: String) async throws {
        let server = try ScriptedRedis { client in
            var isFirst = client.number == 0
            while client.command() != nil {
                client.send(isFirst ? reply : Self.value)
                isFirst = false
            }
        }
        let storage = try RedisStorage.test(server.url)
        #expect(await failure { try await storage.get("a") } == .malformed)
        #expect(try await storage.get("a") == Array("hi".utf8))
    }

    @Test func anAnswerThatEndsInTheMiddleIsAnError() async throws {
        let server = try ScriptedRedis { client in
            _ = client.command()
            client.send("$100000\r\nabc")
        }
        let storage = try RedisStorage.test(server.url)
        #expect(await complaint { try await storage.get("a") }.contains("closed the connection"))
    }

    @Test func anAnswerToNothingEndsTheConnection() async throws {
        let server = try ScriptedRedis { client in
            while client.command() != nil {
                client.send(client.number == 0 ? Self.value + "$3\r\nbad\r\n" : Self.value)
            }
        }
        let storage = try RedisStorage.test(server.url)
        for _ in 0..<20 {
            let answer = try? await storage.get("a")
            #expect(answer == nil || answer == Array("hi".utf8))
        }
        #expect(server.connectionCount == 2)
    }

    @Test func aServerThatTakesNoConnectionSaysWhy() async throws {
        let server = try ScriptedRedis { client in
            client.send("-ERR max number of clients reached\r\n")
            client.waitForEnd()
        }
        let storage = try RedisStorage.test(server.url)
        #expect(await complaint { try await storage.get("a") }.contains("maxclients"))
    }

    @Test func aServerThatRepeatsThePasswordIsNotQuoted() async throws {
        let server = try ScriptedRedis { client in
            guard let words = client.command() else { return }
            client.send("-ERR unknown command, with args beginning with: \(words.dropFirst())\r\n")
            client.waitForEnd()
        }
        let storage = try RedisStorage.test("redis://anna:SECRET@127.0.0.1:\(server.port)")
        let text = await complaint { try await storage.get("a") }
        #expect(text.contains("AUTH") && !text.contains("SECRET"))
    }

    @Test func wordsOfTheServerHaveNoControlCharacters() {
        #expect("\(RemoteError.redis("ERR a\u{1b}[31mb\u{7}"))" == "it refused: ERR a[31mb")
    }

    // MARK: Silence

    @Test func commandsWithoutReplyAreBoundedInNumberAndBytes() async throws {
        let server = try ScriptedRedis { $0.waitForEnd() }
        let storage = try RedisStorage.test(server.url)
        let readers = (0..<RedisConnection.limits.commands).map { number in Task { try await storage.get("\(number)") }
        }
        let refused = Mutex(0)
        try await eventually("too many wait") {
            let reader = Task { try await storage.get("more") }
            try await Task.sleep(for: .milliseconds(5))
            reader.cancel()
            if case .failure(let error as RemoteError) = await reader.result {
                #expect("\(error)".contains("too many commands"))
                refused.withLock { $0 += 1 }
            }
            return refused.withLock { $0 } > 0
        }
        let object = [UInt8](repeating: 1, count: RedisConnection.limits.bytes - 1000)
        let writer = Task { try await storage.put("a", object, seconds: nil) }
        try await eventually("the object waits") { server.connectionCount == 2 }
        try await eventually("too many bytes wait") {
            let writer = Task { try await storage.put("b", [UInt8](repeating: 1, count: 2000), seconds: nil) }
            try await Task.sleep(for: .milliseconds(5))
            writer.cancel()
            guard case .failure(let error as RemoteError) = await writer.result else { return false }
            return "\(error)".contains("too many commands")
        }
        for reader in readers { reader.cancel() }
        writer.cancel()
        for reader in readers { _ = await reader.result }
        _ = await writer.result
    }

    @Test func aServerThatDoesNotFinishTheHandshakeIsGivenUp() async throws {
        let server = try ScriptedRedis { $0.waitForEnd() }
        let storage = try RedisStorage.test("rediss://127.0.0.1:\(server.port)", connectSeconds: 0.1)
        #expect(await failure { try await storage.get("a") } == .timedOut)
    }

    @Test func aServerThatDoesNotAnswerTheGreetingIsGivenUp() async throws {
        let server = try ScriptedRedis { $0.waitForEnd() }
        let storage = try RedisStorage.test("redis://:p@127.0.0.1:\(server.port)", connectSeconds: 0.1)
        #expect(await failure { try await storage.get("a") } == .timedOut)
    }

    @Test func aNameThatNobodyResolvesIsGivenUp() async throws {
        hl_hold_resolver()
        defer { hl_release_resolver() }
        let storage = try RedisStorage.test("redis://mute.test", connectSeconds: 0.1)
        #expect(await failure { try await storage.get("a") } == .timedOut)
    }

    // MARK: TLS

    @Test func certificatesAreVerifiedAsThoseOfDownloadsAre() async throws {
        let folder = try TemporaryFolder()
        let own = try TestCertificate("IP:127.0.0.1", in: folder, called: "own")
        let other = try TestCertificate("DNS:other.test", in: folder, called: "other")
        let (server, wrong) = (try await RedisServer(certificate: own), try await RedisServer(certificate: other))
        func ask(_ server: RedisServer, _ change: (inout TLSSettings) -> Void) async throws -> String {
            var tls = TLSSettings()
            change(&tls)
            let storage = try server.storage("rediss://127.0.0.1:\(server.securePort)", tls)
            return await complaint { try await storage.get("a") }
        }
        #expect(try await ask(server) { _ in }.contains("cannot be verified"))
        #expect(try await ask(server) { $0.caFile = other.certificate }.contains("cannot be verified"))
        #expect(try await ask(server) { $0.caFile = folder.path + "/none" }.contains("caFile cannot be read"))
        #expect(try await ask(wrong) { $0.caFile = other.certificate }.contains("cannot be verified"))
        #expect(try await ask(server) { $0.caFile = own.certificate } == "")
        #expect(try await ask(wrong) { $0.trustedHosts = ["127.0.0.1"] } == "")
        let deaf = try ScriptedRedis { client in
            client.send("-ERR unknown command\r\n")
            client.waitForEnd()
        }
        let plain = try RedisStorage.test("rediss://127.0.0.1:\(deaf.port)")
        #expect(await complaint { try await plain.get("a") }.contains("TLS"))
        let secure = try server.storage("redis://127.0.0.1:\(server.securePort)")
        #expect(await failure { try await secure.get("a") } != nil)
    }

    @Test func aServerThatWantsACertificateGetsOurs() async throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate("IP:127.0.0.1", in: folder, called: "own")
        let server = try await RedisServer(certificate: certificate, wantsCertificates: true)
        var tls = TLSSettings()
        tls.caFile = certificate.certificate
        let without = try server.storage("rediss://127.0.0.1:\(server.securePort)", tls)
        #expect(await failure { try await without.get("a") } != nil)
        (tls.clientCertificate, tls.clientKey) = (certificate.certificate, certificate.key)
        let with = try server.storage("rediss://127.0.0.1:\(server.securePort)", tls)
        #expect(try await with.get("a") == nil)
    }
}
