import Synchronization
import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// Addresses that may not be loaded from, however they are written and whatever leads there.
///
/// 127.0.0.2 stands for a public server and 127.0.0.3 for one of a private network.
@Suite struct NetworkPolicyTests {
    private let picture = hollowPNG(width: 7)

    private func downloader(
        _ reach: NetworkPolicy.Reach = .noCrossover, hosts: [String] = [],
        resolve: @escaping @Sendable () -> [String] = { [] }
    ) throws -> TestDownloader {
        try TestDownloader {
            $0.policy.reach = reach
            $0.policy.allowedHosts = hosts
            $0.network.resolve = resolve
            $0.network.classify = { address in
                switch address {
                case .v4(0x7F00_0002): .public
                case .v4(0x7F00_0003): .private
                default: AddressClass(address)
                }
            }
        }
    }

    private func serving(host: UInt8 = 1, port: UInt16 = 0) throws -> LocalServer {
        try LocalServer(host: host, port: port) { [picture] _ in .reply(200, [:], picture) }
    }

    private func expectForbidden(
        _ error: ImageError?, _ setting: String = "networkPolicy", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .forbiddenAddress(_, let reason) = error else {
            Issue.record("it was allowed: \(String(describing: error))", sourceLocation: sourceLocation)
            return
        }
        #expect(reason.contains(setting), "the setting is named: \(reason)", sourceLocation: sourceLocation)
    }

    @Test func whatIsAskedForDirectlyMayBeThisMachine() async throws {
        let server = try serving()
        defer { server.stop() }
        #expect(try await downloader().failure(server.url("/a")) == nil)
        #expect(try await downloader(.any).failure(server.url("/a")) == nil)
    }

    @Test(arguments: [
        "127.0.0.1", "localhost", "2130706433", "0177.0.0.1", "0x7f.1", "0x7f000001", "127.1", "0.0.0.0", "0",
        "[::ffff:127.0.0.1]",
    ])
    func publicPolicyDialsNothingElseHoweverItIsWritten(_ host: String) async throws {
        let server = try serving()
        defer { server.stop() }
        expectForbidden(try await downloader(.public).failure("http://\(host):\(server.port)/a"))
        #expect(server.connectionCount == 0, "nothing was dialled")
    }

    @Test(arguments: ["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "2852039166"])
    func linkLocalAndMetadataAreNeverLoadedFrom(_ host: String) async throws {
        expectForbidden(try await downloader().failure("http://\(host)/latest/meta-data"))
    }

    @Test func redirectNeverLeadsFurtherInside() async throws {
        let inner = try serving()
        defer { inner.stop() }
        for host in [2, 3] as [UInt8] {
            let outer = try LocalServer(host: host) { _ in .redirect(to: inner.url("/secret")) }
            defer { outer.stop() }
            expectForbidden(try await downloader().failure(outer.url("/a")))
            #expect(outer.requests.count == 1)
            #expect(inner.connectionCount == 0, "nothing was dialled")
        }
        let back = try serving(host: 2)
        defer { back.stop() }
        let out = try LocalServer { _ in .redirect(to: back.url("/b")) }
        defer { out.stop() }
        #expect(try await downloader().failure(out.url("/a")) == nil, "outwards is allowed")
    }

    @Test func redirectThroughAPublicServerDoesNotLeadBackInside() async throws {
        let inner = try serving()
        defer { inner.stop() }
        let outer = try LocalServer(host: 2) { _ in .redirect(to: inner.url("/secret")) }
        defer { outer.stop() }
        let first = try LocalServer { _ in .redirect(to: outer.url("/b")) }
        defer { first.stop() }
        expectForbidden(try await downloader().failure(first.url("/a")))
        #expect(inner.connectionCount == 0)
    }

    @Test func connectionThatIsOpenAlreadyIsNoWayRoundThePolicy() async throws {
        let inner = try serving()
        defer { inner.stop() }
        let outer = try LocalServer(host: 2) { _ in .redirect(to: inner.url("/secret")) }
        defer { outer.stop() }
        let downloader = try downloader()
        #expect(try await downloader.failure(inner.url("/mine")) == nil)
        expectForbidden(try await downloader.failure(outer.url("/a")))
        #expect(inner.requests.map(\.path) == ["/mine"])
    }

    @Test func nameThatLedOutsideIsNotBelievedWhenItLeadsInside() async throws {
        func outside() throws -> LocalServer {
            try LocalServer(host: 2) { [picture] _ in .reply(200, ["Connection": "close"], picture).closing() }
        }
        // Its port may be taken at the other address: then another one.
        var pair: (outer: LocalServer, inner: LocalServer)?
        for _ in 0..<50 where pair == nil {
            let outer = try outside()
            pair = (try? serving(port: outer.port)).map { (outer, $0) }
            if pair == nil { outer.stop() }
        }
        let (outer, inner) = try #require(pair)
        defer {
            outer.stop()
            inner.stop()
        }
        let address = Mutex("127.0.0.2")
        let port = outer.port
        let downloader = try downloader {
            let now = address.withLock { $0 }
            return ["rebind.test", "rebind.test."].flatMap { ["-\($0):\(port)", "\($0):\(port):\(now)"] }
        }
        #expect(try await downloader.failure("http://rebind.test:\(port)/a") == nil)
        address.withLock { $0 = "127.0.0.1" }
        expectForbidden(try await downloader.failure("http://rebind.test:\(port)/b"))
        expectForbidden(try await downloader.failure("http://Rebind.test.:\(port)/b"))
        #expect(inner.connectionCount == 0, "nothing was dialled")
        #expect(try await downloader.failure(inner.url("/c")) == nil, "asked for directly it is allowed")
    }

    @Test func onlyAllowedHostsAreLoadedFromOnEveryHop() async throws {
        let server = try LocalServer(routes: [
            "/a": .reply(200, [:], picture), "/away": .redirect(to: "http://other.example.net/b"),
        ])
        defer { server.stop() }
        let port = server.port
        let downloader = try downloader(hosts: ["*.example.com", "127.0.0.1"]) { ["img.example.com:\(port):127.0.0.1"] }
        #expect(try await downloader.failure(server.url("/a")) == nil)
        #expect(try await downloader.failure("http://img.example.com:\(port)/a") == nil)
        expectForbidden(try await downloader.failure("http://localhost:\(port)/a"), "allowedHosts")
        expectForbidden(try await downloader.failure(server.url("/away")), "allowedHosts")
        expectForbidden(try await downloader.failure("http://example.com/a"), "allowedHosts")
        #expect(server.requests.count == 3)
    }
}
