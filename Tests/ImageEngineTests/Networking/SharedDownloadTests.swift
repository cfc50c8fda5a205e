import TestSupport
import Testing

@testable import ImageEngine

/// Two engines on one folder, as two processes are (D-23, C-06).
@Suite struct SharedDownloadTests {
    private let one: TestEngine
    private let other: TestEngine
    private let gate = Gate()
    private let picture = hollowPNG(width: 7, count: 400)

    init() throws {
        one = try TestEngine()
        other = try TestEngine(folder: one.folder)
    }

    /// A server that holds its first answer until the gate is open.
    private func server(first: Script? = nil) throws -> LocalServer {
        let count = Counter()
        return try LocalServer { [gate, picture] _ in
            let isFirst = count.add() == 1
            let answer = Script.reply(200, [:], picture)
            return isFirst ? Script.empty.waiting(for: gate).followed(by: first ?? answer) : answer
        }
    }

    private func start(
        _ engine: TestEngine, _ server: LocalServer, bytes: Bool = true,
        _ change: @escaping @Sendable (inout ImageOptions) -> Void = { _ in }
    ) -> Task<ImageResult, any Error> {
        Task { try await engine.image(server.url("/a.png"), key: "a", bytes: bytes, change) }
    }

    private func otherWaits() async throws {
        try await eventually("the other waits") { [other] in other.manager.statistics.waitingDownloads == 1 }
    }

    @Test(arguments: [false, true]) func imageThatAnotherDownloadsIsDownloadedOnce(_ asFile: Bool) async throws {
        let server = try server()
        defer { server.stop() }
        let first = start(one, server)
        try await eventually { server.requests.count == 1 }
        let second = start(other, server, bytes: !asFile)
        try await otherWaits()
        gate.open()
        #expect(try await first.value.bytes == picture)
        let result = try await second.value
        #expect(result.cacheType == .disk)
        #expect(try StorageFolder.read(result.record.path ?? "", followsLinks: false) == picture)
        #expect(asFile || result.bytes == picture)
        #expect(server.requests.count == 1)
        #expect(one.manager.statistics.sharedDownloads == 0 && one.manager.statistics.downloads == 1)
        #expect(other.manager.statistics.sharedDownloads == 1 && other.manager.statistics.downloads == 0)
        #expect(other.manager.statistics.waitingDownloads == 0)
    }

    @Test func waitersTryThemselvesWhenTheDownloadFails() async throws {
        let server = try server(first: .reply(500, [:], []))
        defer { server.stop() }
        let first = start(one, server)
        try await eventually { server.requests.count == 1 }
        let second = start(other, server)
        try await otherWaits()
        gate.open()
        await #expect(throws: ImageError.self) { try await first.value }
        #expect(try await second.value.bytes == picture)
        #expect(server.requests.count == 2)
        #expect(other.manager.statistics.sharedDownloads == 0)
    }

    /// One that hangs holds nobody up for longer than the timeout.
    @Test func waiterWithoutPatienceDownloadsItself() async throws {
        let server = try server()
        defer { server.stop() }
        let first = start(one, server)
        try await eventually { server.requests.count == 1 }
        let second = start(other, server) { $0.timeout = 20 }
        try await otherWaits()
        other.clock.advance(seconds: 20)
        #expect(try await second.value.bytes == picture)
        #expect(server.requests.count == 2)
        gate.open()
        #expect(try await first.value.bytes == picture)
    }

    @Test func waitingIsNotMultipliedByRetries() async throws {
        let server = try LocalServer { [gate, picture] request in
            request.path == "/a.png" && request.headers["x-waiter"] == nil
                ? Script.empty.waiting(for: gate).followed(by: .reply(200, [:], picture)) : .reply(503, [:], [])
        }
        defer { server.stop() }
        // The flight is the same only for equal headers: it is taken here by hand.
        var options = ImageOptions { $0.headers = ["X-Waiter": "1"] }
        options.retry = RetryStrategy(maxRetries: 3, interval: .seconds(0.001))
        let request = try DownloadRequest(url: server.url("/a.png"), options: options)
        guard case .taken(let flight) = one.cache.flights.take(request.flight(to: CacheKey("a"))) else {
            Issue.record("no flight")
            return
        }
        let wanted = options
        let second = start(other, server) { $0 = wanted }
        try await otherWaits()
        other.clock.advance(seconds: 15)
        let failure = await #expect(throws: ImageError.self) { try await second.value }
        #expect(failure?.first == .invalidStatusCode(503, url: server.url("/a.png")))
        #expect(server.requests.count == 4, "tried as often as asked, having waited once")
        withExtendedLifetime(flight) {}
    }

    @Test(
        arguments: [
            { $0.authorization = .bearer("mine") }, { $0.headers = ["Cookie": "mine"] }, { $0.forceRefresh = true },
            { $0.cacheMemoryOnly = true }, { $0.fromMemoryCacheOrRefresh = true },
        ] as [@Sendable (inout ImageOptions) -> Void])
    func requestThatCannotUseTheAnswerDoesNotWaitForIt(
        _ change: @escaping @Sendable (inout ImageOptions) -> Void
    ) async throws {
        let server = try server()
        defer { server.stop() }
        let first = start(one, server)
        try await eventually { server.requests.count == 1 }
        #expect(try await start(other, server, change).value.bytes == picture)
        #expect(server.requests.count == 2)
        gate.open()
        #expect(try await first.value.bytes == picture)
    }

    @Test func cancelledWaiterLeavesAtOnce() async throws {
        let server = try server()
        defer { server.stop() }
        let first = start(one, server)
        try await eventually { server.requests.count == 1 }
        let second = start(other, server)
        try await otherWaits()
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await eventually("nobody waits") { [other] in other.manager.statistics.waitingDownloads == 0 }
        gate.open()
        #expect(try await first.value.bytes == picture)
        #expect(server.requests.count == 1)
    }

    @Test func cancelledDownloadLetsTheWaiterGoOn() async throws {
        let server = try server()
        defer { server.stop() }
        let first = start(one, server)
        try await eventually { server.requests.count == 1 }
        let second = start(other, server)
        try await otherWaits()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await second.value.bytes == picture)
        #expect(server.requests.count == 2)
    }

    /// Nobody waits for the file here, but the flight is over only when it is there.
    @Test func flightEndsWithTheStoreThatNobodyWaitsFor() async throws {
        let server = try server()
        defer { server.stop() }
        gate.open()
        let first = start(one, server) { $0.waitForCache = false }
        #expect(try await first.value.bytes == picture)
        #expect(try await start(other, server).value.bytes == picture)
        #expect(server.requests.count == 1)
    }
}
