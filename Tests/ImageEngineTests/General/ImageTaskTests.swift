import ImageRecipes
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

/// Requests from their start to their end: attempts, cancelling, and what is looked for.
@Suite struct ImageTaskTests {
    private let engine: TestEngine
    private let picture = hollowPNG(width: 7)

    init() throws { engine = try TestEngine { $0.downloader.proxy = .none } }

    /// A server that answers what `answer` makes of how often it was asked.
    private func server(_ answer: @escaping @Sendable (Int) -> Script) throws -> LocalServer {
        let count = Atomic(0)
        return try LocalServer { _ in answer(count.add(1, ordering: .relaxed).newValue) }
    }

    private static func retrying(_ count: Int, seconds: Double = 0) -> ImageOptions {
        ImageOptions { $0.network.retry = RetryStrategy(maxRetries: count, interval: .seconds(seconds)) }
    }

    @Test func everyAttemptIsListedWithItsTimeAndBytes() async throws {
        let clock = engine.clock
        let server = try server { count in
            clock.advance(seconds: Double(count))
            return count == 2 ? Script.head(200, length: 100).raw("0123456789").closing() : .reply(503, [:], [])
        }
        defer { server.stop() }
        do {
            _ = try await engine.image(server.url("/a")) { $0 = Self.retrying(2) }
            Issue.record("it came")
        } catch ImageError.afterAttempts(let attempts) {
            #expect(attempts.map(\.url) == Array(repeating: server.url("/a"), count: 3))
            #expect(attempts.map(\.status) == [503, nil, 503] && attempts.map(\.seconds) == [1, 2, 3])
            #expect(attempts.map(\.bytes) == [0, 10, 0])
        }
        #expect(server.requests.count == 3)
    }

    @Test func oneOfTheFurtherAttemptsBringsTheImage() async throws {
        let server = try server { [picture] in $0 < 3 ? .reply(503, [:], []) : .reply(200, [:], picture) }
        defer { server.stop() }
        let image = try await engine.image(server.url("/a")) { $0 = Self.retrying(5) }
        #expect(image.record.header.width == 7 && image.cacheType == .none && server.requests.count == 3)
        #expect(engine.manager.statistics.misses == 1, "however many attempts it takes")
    }

    @Test func whoLeavesBetweenTwoAttemptsIsToldAtOnce() async throws {
        let server = try server { _ in .reply(503, [:], []) }
        defer { server.stop() }
        let task = Task { [engine] in
            try await engine.image(server.url("/a")) { $0 = Self.retrying(1, seconds: 3600) }
        }
        try await eventually { [engine] in engine.manager.statistics.failedDownloads == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests.count == 1)
    }

    @Test func failureThatIsNotTriedAgainIsRemembered() async throws {
        let server = try server { _ in .reply(404, [:], []) }
        defer { server.stop() }
        for isRemembered in [false, true] {
            do {
                _ = try await engine.image(server.url("/a")) {
                    $0 = Self.retrying(3)
                    $0.lookup.negativeCache = 60
                }
                Issue.record("it came")
            } catch ImageError.remembered {
                #expect(isRemembered)
            } catch ImageError.invalidStatusCode(404, _, _) {
                #expect(!isRemembered)
            }
        }
        #expect(server.requests.count == 1)
    }

    @Test func refreshLoadsWhatIsInMemoryOnceMore() async throws {
        let server = try server { .reply(200, [:], hollowPNG(width: $0)) }
        defer { server.stop() }
        #expect(try await engine.image(server.url("/a")).record.header.width == 1)
        let again = try await engine.image(server.url("/a")) { $0.lookup.forceRefresh = true }
        #expect(again.record.header.width == 2 && again.cacheType == .none)
    }

    /// Nothing is looked for twice, and who leaves while the original comes leaves no download behind.
    @Test func originalOfWhatIsMadeIsLoadedOnceAndLeftWithTheLastCaller() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try LocalServer { _ in Script.empty.waiting(for: gate) }
        defer { server.stop() }
        let blur = try Blur(radius: 1)
        let tasks = (0..<2).map { _ in
            Task { [engine] in
                try await engine.image(server.url("/a")) { $0.processing.recipe.processors = [.blur(blur)] }
            }
        }
        try await eventually { [engine] in
            engine.manager.statistics.merged == 1 && server.requests.count == 1
        }
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        #expect(server.requests.count == 1 && server.droppedCount == 0)
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        try await eventually("nobody wants it") { server.droppedCount == 1 }
    }

    /// Texts that look alike are other texts, and what one has said is nobody else's.
    @Test func whatOneHasSaidIsNotSentForAnother() async throws {
        let server = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { server.stop() }
        let (one, other) = ("caf\u{E9}", "cafe\u{301}")
        for (path, text) in [("/1", one), ("/2", other), ("/3", one)] {
            _ = try await engine.image(server.url(path)) {
                $0.network.request.headers = ["X-Name": text]
                $0.network.request.authorization = .bearer(text)
                $0.network.retry = RetryStrategy(maxRetries: 1, interval: .seconds(0))
            }
        }
        let sent = server.requests.map { Array(($0.headers["x-name"] ?? "").utf8) }
        #expect(sent == [one, other, one].map { Array($0.utf8) })
        let authorization = server.requests.map { Array(($0.headers["authorization"] ?? "").utf8) }
        #expect(authorization == [one, other, one].map { Array("Bearer \($0)".utf8) })
    }

    @Test func imageThatWasStoredSinceItWasFoundMissingIsAnsweredFromTheCache() async throws {
        let server = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { server.stop() }
        _ = try await engine.image(server.url("/a"))
        let request = ImageRequest(
            Resource(url: server.url("/a")), in: engine.cache, options: ImageOptions(), needs: .file)
        #expect(try await engine.manager.image(request, isMissing: true).cacheType == .memory)
        #expect(server.requests.count == 1)
    }

    @Test func requestThatIsCancelledBeforeItStartsEndsAtOnce() async throws {
        let server = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { server.stop() }
        let request = ImageRequest(
            Resource(url: server.url("/a")), in: engine.cache, options: ImageOptions(), needs: .file)
        let (task, gate) = (ImageTask(request, RequestPipeline(engine: engine.manager.services)), Gate())
        task.cancel()
        let result = Mutex<Result<ImageResult, any Error>?>(nil)
        task.start(isMissing: true) { end in
            result.withLock { $0 = end }
            gate.open()
        }
        await gate.wait()
        #expect(throws: CancellationError.self) { try result.withLock { $0 }?.get() }
        #expect(server.requests.isEmpty)
    }
}
