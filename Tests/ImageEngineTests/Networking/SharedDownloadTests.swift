import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Two engines on one folder, as two processes are.
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
        #expect(try Files.read(result.record.path ?? "", followsLinks: false) == picture)
        #expect(asFile || result.bytes == picture)
        #expect(server.requests.count == 1)
        #expect(one.manager.statistics.sharedDownloads == 0 && one.manager.statistics.downloads == 1)
        #expect(other.manager.statistics.sharedDownloads == 1 && other.manager.statistics.downloads == 0)
        #expect(other.manager.statistics.waitingDownloads == 0)
    }

    /// Between a look that finds nothing and the download another request, or another process, may bring the image.
    @Test(arguments: [false, true], [false, true])
    func aLookThatIsOutOfDateCausesNoDownload(_ byAnother: Bool, _ isUsed: Bool) async throws {
        let server = try server()
        defer { server.stop() }
        let resource = Resource(url: server.url("/a.png"), cacheKey: "a")
        if isUsed {
            let options = ImageOptions()
            _ = try one.manager.store(hollowPNG(width: 9), for: CacheKey("b"), in: one.cache, options: options)
        }
        let glance = try one.manager.glance(
            at: resource, in: one.cache, options: ImageOptions(), needs: .file, burst: 0)
        guard case .missing = glance else {
            Issue.record("the cache is empty, and it is \(glance)")
            return
        }
        gate.open()
        _ = try await start(byAnother ? other : one, server).value
        let result = try await one.manager.image(
            ImageRequest(resource, in: one.cache, options: ImageOptions(), needs: .file), isMissing: true)
        #expect(result.cacheType == (byAnother ? .disk : .memory))
        #expect(server.requests.count == 1)
        #expect(one.manager.statistics.downloads == (byAnother ? 0 : 1))
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
        let second = start(other, server) { $0.network.limits.timeout = 20 }
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
        var options = ImageOptions { $0.network.request.headers = ["X-Waiter": "1"] }
        options.network.retry = RetryStrategy(maxRetries: 3, interval: .seconds(0.001))
        options.network.limits.timeout = 15
        let request = try DownloadRequest(url: server.url("/a.png"), options: options.network)
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
            { $0.network.request.authorization = .bearer("mine") }, { $0.network.request.headers = ["Cookie": "mine"] },
            { $0.lookup.forceRefresh = true },
            { $0.storage.cacheMemoryOnly = true }, { $0.storage.fromMemoryCacheOrRefresh = true },
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

    /// What a process has only queued holds up nobody: each downloads what the other has not begun, and nothing twice.
    @Test func whatAnotherHasOnlyQueuedIsNotWaitedFor() async throws {
        let slow = try TestEngine(folder: one.folder) { $0.downloader.maxDownloadsPerHost = 1 }
        let server = try LocalServer { [gate, picture] request in
            let answer = Script.reply(200, [:], picture)
            return request.path == "/0" ? Script.empty.waiting(for: gate).followed(by: answer) : answer
        }
        defer { server.stop() }
        @Sendable func load(_ number: Int) -> Task<ImageResult, any Error> {
            Task { try await slow.image(server.url("/\(number)"), bytes: true) { $0.network.limits.timeout = 600 } }
        }
        let held = load(0)
        try await eventually { server.requests.count == 1 }
        let tasks = [held] + (1..<20).map(load)
        try await eventually { slow.manager.statistics.waitingDownloads == 19 }
        for number in 1..<20 { #expect(try await other.image(server.url("/\(number)")).cacheType == .none) }
        let last = Task { [other] in try await other.image(server.url("/0")) }
        try await otherWaits()
        gate.open()
        for task in tasks { #expect(try await task.value.bytes == picture) }
        #expect(try await last.value.cacheType == .disk)
        #expect(server.requests.count == 20)
        #expect(slow.manager.statistics.downloads == 1 && other.manager.statistics.downloads == 19)
    }

    /// A large body takes its time: as long as it gets on, it is waited for, whoever it is now that still wants it.
    @Test(arguments: [false, true]) func downloadThatGetsOnIsWaitedFor(itsFirstLeaves: Bool) async throws {
        let gates = (0..<3).map { _ in Gate() }
        let body = hollowPNG(width: 9, count: 900_000)
        let server = try LocalServer { _ in
            var script = Script.head(200, [:], length: body.count)
            for (number, gate) in gates.enumerated() {
                script = script.waiting(for: gate).raw(Array(body[(number * 300_000)..<((number + 1) * 300_000)]))
            }
            return script
        }
        defer { server.stop() }
        let heard = Heard()
        let first = Task { [one] in
            try await one.image(
                server.url("/a.png"), key: "a", bytes: true, { $0.network.limits.timeout = 600 },
                report: { heard.note($0.received) })
        }
        try await eventually { server.requests.count == 1 }
        let second = start(other, server)
        try await otherWaits()
        let third = Task { [one] in
            guard itsFirstLeaves else { return [UInt8]() }
            return try await one.image(
                server.url("/a.png"), key: "a", bytes: true,
                {
                    $0.network.limits.timeout = 600
                    $0.network.limits.maxBytes = 1 << 30
                }, report: { heard.note($0.received) }
            ).bytes ?? []
        }
        if itsFirstLeaves {
            try await eventually { [one] in one.manager.statistics.merged == 1 }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
        }
        for (number, gate) in gates.enumerated() {
            for engine in [one, other] { engine.clock.advance(seconds: 10) }
            let noted = other.cache.flights.progress(of: try identity(server))
            gate.open()
            try await eventually("the piece") { heard.most == (number + 1) * 300_000 }
            if number < 2 {
                try await eventually("the note") { [other] in
                    try other.cache.flights.progress(of: identity(server)) != noted
                }
                // Whoever waits has looked since; other work may have been submitted too.
                let looks = other.manager.services.pool.submittedCount
                try await eventually("a look") { [other] in other.manager.services.pool.submittedCount > looks + 4 }
            }
        }
        #expect(try await itsFirstLeaves ? third.value == body : first.value.bytes == body)
        #expect(try await second.value.bytes == body)
        #expect(server.requests.count == 1)
    }

    private func identity(_ server: LocalServer) throws -> Digest {
        try DownloadRequest(url: server.url("/a.png"), options: NetworkOptions()).flight(to: CacheKey("a"))
    }

    /// Nobody waits for the file here, but the flight is over only when it is there.
    @Test func flightEndsWithTheStoreThatNobodyWaitsFor() async throws {
        let server = try server()
        defer { server.stop() }
        gate.open()
        let first = start(one, server) { $0.storage.waitForCache = false }
        #expect(try await first.value.bytes == picture)
        #expect(try await start(other, server).value.bytes == picture)
        #expect(server.requests.count == 1)
    }
}

/// The most that was heard of.
private final class Heard: Sendable {
    private let value = Atomic(0)
    var most: Int { value.load(ordering: .relaxed) }
    func note(_ count: Int) { value.max(count, ordering: .relaxed) }
}
