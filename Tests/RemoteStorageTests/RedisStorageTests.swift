import Downloading
import Glibc
import Platform
import TestSupport
import Testing

@testable import RemoteStorage

/// Against a `redis-server` of Debian.
@Suite struct RedisStorageTests {
    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 >> 2) } }

    private enum Transport: CaseIterable { case tcp, socket, tls }

    @Test(arguments: Transport.allCases) private func objectsAreKeptOverEveryTransport(_ transport: Transport)
        async throws
    {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate("IP:127.0.0.1", in: folder, called: "redis")
        let server = try await RedisServer(certificate: certificate)
        var tls = TLSSettings()
        tls.caFile = certificate.certificate
        let url =
            switch transport {
            case .tcp: "redis://127.0.0.1:\(server.port)/3"
            case .socket: "redis+unix://\(server.socket)?db=3"
            case .tls: "rediss://127.0.0.1:\(server.securePort)/3"
            }
        let storage = try server.storage(url, tls)
        #expect(try await storage.get("a") == nil)
        for count in [1, 100, 16_000, 16_384, 100_000, 3_000_000] {
            let object = Self.bytes(count)
            try await storage.put("a", object, seconds: nil)
            #expect(try await storage.get("a") == object, "\(count)")
        }
        #expect(try server.cli("-n 3 keys '*'") == "halcyon:a")
        try await storage.remove("a")
        try await storage.remove("a")
        #expect(try await storage.get("a") == nil)
    }

    @Test func manyObjectsAreReadAndWrittenAtTheSameTime() async throws {
        let server = try await RedisServer()
        let storage = try server.storage()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let object = Self.bytes(number * 1000 + 1)
                    try await storage.put("\(number)", object, seconds: nil)
                    #expect(try await storage.get("\(number)") == object)
                    #expect(try await storage.get("none \(number)") == nil)
                }
            }
            try await group.waitForAll()
        }
        #expect(try server.cli("info clients").contains("connected_clients:3"), "two, and the one that asks")
    }

    @Test func anObjectIsForgottenAfterItsTimeAndKeptWithoutOne() async throws {
        let server = try await RedisServer()
        let storage = try server.storage()
        for (seconds, range) in [(60, 1...60_000), (0, 1...1000), (Int.max, 1...315_360_000_000)] {
            try await storage.put("a", [1], seconds: seconds)
            let left = try #require(Int(try server.cli("pttl halcyon:a")))
            #expect(range.contains(left) || seconds == 0 && left == -2, "\(seconds)")
        }
        try await storage.put("a", [1], seconds: nil)
        #expect(try server.cli("pttl halcyon:a") == "-1")
    }

    @Test func anObjectThatIsLargerThanWhatIsReadIsNone() async throws {
        let server = try await RedisServer()
        let (small, large) = (try RedisStorage.test(server.url, maxBytes: 1000), try server.storage())
        let most = 1000 + RemoteObject.overhead
        try await large.put("a", Self.bytes(most), seconds: nil)
        #expect(try await small.get("a")?.count == most)
        try await large.put("a", Self.bytes(most + 1), seconds: nil)
        try await large.put("b", Self.bytes(4_000_000), seconds: nil)
        #expect(try await small.get("a") == nil)
        #expect(try await small.get("b") == nil)
        #expect(try server.cli("info stats").contains("total_connections_received:3"), "no connection was lost")
    }

    @Test func theClockOfTheServerIsRead() async throws {
        let server = try await RedisServer()
        let clock = try #require(try await server.storage().wallClock())
        #expect(abs(clock / 1_000_000_000 - wallSeconds()) < 600)
    }

    // MARK: Claims

    @Test func aNameIsClaimedByOneUntilTheClaimEnds() async throws {
        let server = try await RedisServer()
        let (one, other) = (try server.storage(), try server.storage())
        let token = try #require(try await one.claim("a", seconds: 60))
        #expect(try await other.claim("a", seconds: 60) == nil)
        #expect(try await one.claim("a", seconds: 60) == nil)
        #expect(try await other.get("a") != nil)
        try await one.endClaim("a", token: token)
        #expect(try await other.get("a") == nil)
        let next = try #require(try await other.claim("a", seconds: 60))
        #expect(next != token)
        #expect((1...60_000).contains(try #require(Int(try server.cli("pttl halcyon:a")))))
    }

    @Test func aClaimThatIsEndedTooLateLeavesTheClaimOfAnother() async throws {
        let server = try await RedisServer()
        let (one, other) = (try server.storage(), try server.storage())
        let token = try #require(try await one.claim("a", seconds: 60))
        try server.cli("del halcyon:a")
        let next = try #require(try await other.claim("a", seconds: 60))
        try await one.endClaim("a", token: token)
        #expect(try await one.claim("a", seconds: 60) == nil)
        try await other.endClaim("a", token: next)
        try await other.endClaim("a", token: next)
        #expect(try await one.claim("a", seconds: 60) != nil)
    }

    @Test func aClaimThatNobodyWaitsForEndsWhenItIsCarriedOut() async throws {
        let server = try await RedisServer()
        let (one, other) = (try server.storage(), try server.storage())
        #expect(try await one.get("a") == nil)
        server.signal(SIGSTOP)
        let claim = Task { try await one.claim("a", seconds: 3600) }
        try await Task.sleep(for: .milliseconds(50))
        claim.cancel()
        _ = await claim.result
        server.signal(SIGCONT)
        try await eventually("the claim's end") { try await other.claim("a", seconds: 60) != nil }
    }

    // MARK: Users and databases

    @Test func passwordsAndUsersOpenTheServer() async throws {
        let server = try await RedisServer([
            "--requirepass", "p@ss", "--user", "anna", "on", ">w:rd", "~halcyon:*", "+@all",
        ])
        for login in [":p%40ss", "anna:w%3Ard", "default:p%40ss"] {
            let storage = try server.storage("redis://\(login)@127.0.0.1:\(server.port)/2")
            try await storage.put("a", [1], seconds: nil)
            #expect(try await storage.get("a") == [1], "\(login)")
        }
        #expect(try server.cli("--no-auth-warning -a p@ss -n 2 exists halcyon:a") == "1")
    }

    @Test func aRefusedPasswordIsTheErrorOfEveryCommandAndNoneIsCarriedOut() async throws {
        let (locked, open) = (try await RedisServer(["--requirepass", "right"]), try await RedisServer())
        let renamed = try await RedisServer(["--rename-command", "AUTH", "XYZ"])
        for (server, login, words) in [
            (locked, "", "the URL has none"), (locked, ":wrongword@", "does not take the user and the password"),
            (locked, "nobody:wrongword@", "does not take"), (open, ":wrongword@", "the server has none"),
            (open, "nobody:wrongword@", "does not take"), (renamed, ":wrongword@", "does not know AUTH"),
        ] {
            let storage = try server.storage("redis://\(login)127.0.0.1:\(server.port)")
            for text in [
                await complaint { try await storage.get("a") }, await complaint { try await storage.wallClock() },
                await complaint { try await storage.put("a", [1], seconds: nil) },
                await complaint { try await storage.claim("a", seconds: 60) },
            ] {
                #expect(text.contains(words) && !text.contains("wrongword"), "\(login): \(text)")
            }
            #expect(try server.cli("dbsize") == "0" || server === locked)
        }
    }

    @Test func aRefusedDatabaseIsTheErrorOfEveryCommandAndNothingGoesToAnother() async throws {
        let server = try await RedisServer()
        let storage = try server.storage("redis://127.0.0.1:\(server.port)/99")
        for _ in 0..<2 {
            #expect(
                await complaint { try await storage.put("a", [1], seconds: nil) }.contains("no database of that number")
            )
            #expect(await complaint { try await storage.get("a") }.contains("no database of that number"))
        }
        #expect(try server.cli("dbsize") == "0")
    }

    // MARK: Refusals

    @Test func refusalsSayWhatCanBeDone() async throws {
        let full = try await RedisServer(["--maxmemory", "1mb"])
        let replica = try await RedisServer(["--replicaof", "127.0.0.1 1"])
        let limited = try await RedisServer(["--user", "default", "on", "nopass", "~*", "+getrange"])
        let odd = try await RedisServer()
        try odd.cli("lpush halcyon:a 1")
        for (server, words) in [
            (full, "maxmemory-policy"), (replica, "put the primary into the URL"), (limited, "+getrange +set"),
        ] {
            let storage = try server.storage()
            #expect(await complaint { try await storage.put("a", Self.bytes(100_000), seconds: nil) }.contains(words))
            #expect(try await storage.get("a") == nil || server === replica, "what is refused ends no connection")
        }
        #expect(await complaint { try await odd.storage().get("a") }.contains("something else is stored"))
    }

    // MARK: Losses

    @Test func aConnectionThatTheServerHasClosedIsMadeAgain() async throws {
        let server = try await RedisServer()
        let storage = try server.storage()
        try await storage.put("a", [1], seconds: nil)
        for _ in 0..<20 {
            #expect(try await storage.get("a") == [1])
            try server.cli("client kill type normal")
        }
        #expect(try await storage.get("a") == [1])
        try await storage.put("a", [2], seconds: nil)
        try await server.restart()
        #expect(try await storage.get("a") == nil)
        try await storage.put("a", [3], seconds: nil)
        #expect(try await storage.get("a") == [3])
    }

    @Test func aServerThatIsNotThereIsReachedWhenItIs() async throws {
        let server = try await RedisServer()
        let (port, socket) = (try server.storage(), try server.storage("redis+unix://\(server.socket)"))
        server.stop()
        #expect(await complaint { try await port.get("a") }.contains("Connection refused"))
        #expect(await complaint { try await socket.get("a") }.contains("cannot be reached"))
        try await server.restart()
        #expect(try await port.get("a") == nil)
        #expect(try await socket.get("a") == nil)
    }

    @Test func aServerThatIsKilledInTheMiddleFailsWhatWaitsAndNothingHangs() async throws {
        let server = try await RedisServer()
        let storage = try server.storage()
        try await storage.put("a", Self.bytes(8_000_000), seconds: nil)
        let readers = (0..<20).map { _ in Task { try await storage.get("a")?.count } }
        try await Task.sleep(for: .milliseconds(5))
        server.stop()
        for reader in readers {
            if case .success(let count) = await reader.result { #expect(count == 8_000_000) }
        }
        try await server.restart()
        #expect(try await storage.get("a") == nil)
    }

    @Test func cancelledCommandsDoNotWaitAndTheirRepliesAreNobodyElses() async throws {
        let server = try await RedisServer()
        let storage = try server.storage()
        for number in 0..<50 { try await storage.put("\(number)", [UInt8(number)], seconds: nil) }
        server.signal(SIGSTOP)
        let readers = (0..<50).map { number in Task { try await storage.get("\(number)") } }
        try await Task.sleep(for: .milliseconds(20))
        for reader in readers.enumerated() where reader.offset % 2 == 0 { reader.element.cancel() }
        for reader in readers.enumerated() where reader.offset % 2 == 0 {
            await #expect(throws: CancellationError.self) { try await reader.element.value }
        }
        server.signal(SIGCONT)
        for reader in readers.enumerated() where reader.offset % 2 == 1 {
            #expect(try await reader.element.value == [UInt8(reader.offset)])
        }
    }

    @Test func aServerThatStaysSilentIsGivenUpSoThatAnotherOneIsReached() async throws {
        let server = try await RedisServer()
        let storage = try RedisStorage.test(server.url, timeout: 0.1)
        try await storage.put("a", [1], seconds: nil)
        #expect(try await storage.get("a") == [1])
        server.signal(SIGSTOP)
        #expect(await failure { try await storage.get("a") } == .timedOut)
        server.signal(SIGCONT)
        try await eventually("the server is reached") { (try? await storage.get("a")) == [1] }
    }
}
