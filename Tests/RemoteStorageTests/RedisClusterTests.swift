import Downloading
import Platform
import Synchronization
import TestSupport
import Testing

@testable import RemoteStorage

@Suite struct RedisClusterTests {
    @Test(arguments: [("123456789", 12_739), ("foo", 12_182), ("", 0)])
    func slotsAreThoseOfTheServer(_ key: String, slot: Int) { #expect(RedisCluster.slot(of: Array(key.utf8)) == slot) }

    @Test func redirectsAreReadAndOtherErrorsAreNone() {
        typealias Redirect = RedisCluster.Redirect
        #expect(
            Redirect("MOVED 3999 127.0.0.1:6381") == Redirect(slot: 3999, host: "127.0.0.1", port: 6381, isAsk: false))
        #expect(Redirect("ASK 1 ::1:7") == Redirect(slot: 1, host: "::1", port: 7, isAsk: true))
        #expect(Redirect("MOVED 3999 :6381")?.host == "")
        for text in [
            "MOVED", "MOVED 1 a", "MOVED x a:1", "MOVED 1 a:0", "MOVED 1 a:70000", "ERR 1 a:1", "MOVED 1 a:1 b", "",
        ] {
            #expect(Redirect(text) == nil, "\(text)")
        }
    }

    @Test func objectsOfAClusterAreFoundWhereverTheyAre() async throws {
        let nodes = try await cluster()
        let storage = try nodes[0].storage()
        for round in 0..<2 {
            for number in 0..<60 {
                let name = "\(number)"
                try await storage.put(name, [UInt8(number)], seconds: 60)
                #expect(try await storage.get(name) == [UInt8(number)], "\(round)")
            }
        }
        for node in nodes { #expect(try #require(Int(try node.cli("dbsize"))) > 5) }
        let token = try #require(try await storage.claim("c", seconds: 60))
        #expect(try await storage.claim("c", seconds: 60) == nil)
        try await storage.endClaim("c", token: token)
        #expect(try await storage.get("c") == nil)
        for number in 0..<60 { try await storage.remove("\(number)") }
        for node in nodes { #expect(try node.cli("dbsize") == "0") }
        // A slot that was found is asked for at its node.
        let before = try errors(of: nodes[0])
        for number in 0..<60 { #expect(try await storage.get("\(number)") == nil) }
        #expect(try errors(of: nodes[0]) == before)
    }

    @Test func aNodeThatIsLostIsForgotten() async throws {
        let nodes = try await cluster(["--cluster-require-full-coverage", "no"])
        let storage = try nodes[0].storage()
        for number in 0..<30 { try await storage.put("\(number)", [1], seconds: nil) }
        nodes[2].stop()
        for _ in 0..<2 {
            var lost = 0
            for number in 0..<30 where await failure({ try await storage.get("\(number)") }) != nil { lost += 1 }
            #expect((1..<30).contains(lost))
        }
    }

    @Test func aKeyOnItsWayIsAskedForAtItsNewNodeOnceEachTime() async throws {
        let new = try ScriptedRedis { client in
            while let words = client.command() {
                guard words == ["ASKING"] else { return client.send("-MOVED 1 127.0.0.1:1\r\n") }
                client.send("+OK\r\n")
                _ = client.command()
                client.send("$2\r\nhi\r\n")
            }
        }
        let old = try ScriptedRedis { client in
            while client.command() != nil { client.send("-ASK 1 127.0.0.1:\(new.port)\r\n") }
        }
        let storage = try RedisStorage.test(old.url)
        for _ in 0..<3 { #expect(try await storage.get("a") == Array("hi".utf8)) }
        #expect(old.connectionCount == 1 && new.connectionCount == 1)
    }

    @Test func objectsOfASlotThatIsMovingAreReachedByAProcessThatKnowsNoSlots() async throws {
        let nodes = try await cluster()
        let name = try #require(
            (0..<60).map { "\($0)" }.first {
                (5462..<10_924).contains(RedisCluster.slot(of: Array("halcyon:\($0)".utf8)))
            })
        try await nodes[0].storage().put(name, [1], seconds: nil)
        let slot = RedisCluster.slot(of: Array("halcyon:\(name)".utf8))
        try nodes[2].cli("cluster setslot \(slot) importing \(try nodes[1].cli("cluster myid"))")
        try nodes[1].cli("cluster setslot \(slot) migrating \(try nodes[2].cli("cluster myid"))")
        try nodes[1].cli("migrate 127.0.0.1 \(nodes[2].port) halcyon:\(name) 0 60000")
        #expect(try await nodes[0].storage().get(name) == [1])
        try await nodes[0].storage().put(name, [2], seconds: nil)
        #expect(try await nodes[0].storage().get(name) == [2])
        try await nodes[0].storage().remove(name)
        let token = try #require(try await nodes[0].storage().claim(name, seconds: 60))
        #expect(try await nodes[0].storage().claim(name, seconds: 60) == nil)
        try await nodes[0].storage().endClaim(name, token: token)
        #expect(try await nodes[0].storage().get(name) == nil)
    }

    @Test(arguments: ["MOVED 1 :PORT", "ASK 1 :PORT", "TRYAGAIN Multiple keys request during rehashing of slot"])
    func aClusterThatDoesNotSayWhereAnObjectIsIsAskedForOthersAsBefore(_ answer: String) async throws {
        let port = Mutex<UInt16>(0)
        let count = Mutex(0)
        let server = try ScriptedRedis { client in
            while let words = client.command() {
                if words == ["ASKING"] {
                    client.send("+OK\r\n")
                } else {
                    count.withLock { $0 += 1 }
                    client.send("-\(answer.replacing("PORT", with: "\(port.withLock { $0 })"))\r\n")
                }
            }
        }
        port.withLock { $0 = server.port }
        let storage = try RedisStorage.test(server.url)
        #expect(await complaint { try await storage.get("a") } == "its cluster is being rearranged")
        #expect(count.withLock { $0 } == (answer.hasPrefix("TRYAGAIN") ? 1 : 6), "five redirects are followed")
        let tier = RemoteTier(
            storage, RemoteTier.Configuration(), pool: BlockingPool(threads: 1), now: { 0 }, report: { _, _ in })
        #expect(await tier.object("a") == nil)
        #expect(await tier.claim("a", seconds: 60).claim == nil)
        #expect(tier.counts.errors == 2 && tier.counts.breaker == .closed)
    }

    @Test func theNodesThatAServerNamesAreBounded() throws {
        let place = RemoteURL.Place.redis(host: "a", port: 1, isSecure: true)
        let cluster = RedisCluster(place) { place in
            func connection() -> RedisConnection {
                RedisConnection(
                    RedisConnection.Settings(
                        place: place, user: nil, password: nil, database: 0, tls: TLSSettings(), maxBytes: 1,
                        connectSeconds: 1,
                        silenceSeconds: 1))
            }
            return RedisCluster.Node(reading: connection(), writing: connection())
        }
        for number in 1...1000 {
            let redirect = RedisCluster.Redirect(slot: number, host: "", port: number, isAsk: false)
            #expect(cluster.node(of: redirect, from: place).place == .redis(host: "a", port: number, isSecure: true))
            #expect(cluster.nodeCount <= RedisCluster.mostNodes)
        }
    }

    /// Three nodes that know each other and have a third of the slots each.
    private func cluster(_ options: [String] = []) async throws -> [RedisServer] {
        var nodes: [RedisServer] = []
        for number in 0..<3 {
            let node = try await RedisServer(["--cluster-enabled", "yes", "--cluster-node-timeout", "60000"] + options)
            try node.cli("cluster addslotsrange \(number * 5462) \(min(number * 5462 + 5461, 16_383))")
            try node.cli("cluster set-config-epoch \(number + 1)")
            nodes.append(node)
        }
        for node in nodes[1...] {
            try node.cli("cluster meet 127.0.0.1 \(nodes[0].port)")
        }
        for node in nodes {
            try await eventually("the cluster") {
                let info = try node.cli("cluster info")
                return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
                    && info.contains("cluster_slots_assigned:16384")
            }
        }
        return nodes
    }

    private func errors(of node: RedisServer) throws -> String {
        let lines = try node.cli("info errorstats").split(separator: "\n")
        return lines.first { $0.contains("MOVED") }.map(String.init) ?? ""
    }
}
