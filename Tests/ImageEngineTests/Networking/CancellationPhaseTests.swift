import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Cancelling in every phase: while the disk is read, while another source is tried, while somebody is asked, between
/// two attempts.
@Suite struct CancellationPhaseTests {
    private let folder: TemporaryFolder
    private let gate = Gate()
    private let picture = hollowPNG(width: 7)

    init() throws { folder = try TemporaryFolder() }

    private func engine() throws -> TestEngine { try TestEngine(folder: folder) { $0.downloader.proxy = .none } }

    @Test func cancellingDuringADiskReadAnswersAtOnceAndBringsNothingIntoMemory() async throws {
        let key = CacheKey("http://127.0.0.1:1/a")
        let first = try engine()
        _ = try first.manager.store(picture, for: key, in: first.cache, options: ImageOptions())
        first.manager.flush()
        let engine = try engine()
        // Every thread that reads is kept busy, so that the read cannot have begun.
        let (busy, done) = (Counter(), Semaphore())
        for _ in 0..<EngineServices.diskThreads {
            engine.manager.services.pool.submit {
                busy.add()
                done.wait()
            }
        }
        defer { for _ in 0..<EngineServices.diskThreads { done.signal() } }
        try await eventually("no thread is left") { busy.value == EngineServices.diskThreads }
        let before = engine.manager.services.pool.submittedCount
        let caller = Task { try await engine.image(key.key, bytes: true) { $0.lookup.onlyFromCache = true } }
        try await eventually("the read waits") { engine.manager.services.pool.submittedCount > before }
        caller.cancel()
        let isAnswered = Counter()
        Task {
            _ = await caller.result
            isAnswered.add()
        }
        try await eventually("it is answered while no thread is free") { isAnswered.value == 1 }
        await #expect(throws: CancellationError.self) { try await caller.value }
        for _ in 0..<EngineServices.diskThreads { done.signal() }
        // What is submitted now comes behind the read that nobody wants.
        try await engine.manager.blocking {}
        #expect(!engine.cache.holdsBytes(key))
        #expect(engine.manager.statistics.diskHits == 0)
        #expect(try await engine.image(key.key, bytes: true) { $0.lookup.onlyFromCache = true }.bytes == picture)
    }

    @Test(arguments: [nil, 0.001])
    func cancellingWhileAnAlternativeIsTriedCancelsThatOne(hedge: Double?) async throws {
        let server = try LocalServer { [gate] request in
            request.path == "/a" ? .reply(404, [:], []) : Script.empty.waiting(for: gate)
        }
        defer {
            gate.open()
            server.stop()
        }
        let engine = try engine()
        let caller = Task {
            try await engine.image(server.url("/a")) {
                $0.network.alternativeSources = [server.url("/b")]
                $0.network.hedgeAfter = hedge
            }
        }
        // Beside each other they may come in any order.
        try await eventually("both are asked") { server.requests.map(\.path).sorted() == ["/a", "/b"] }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        try await eventually("its connection is dropped") { server.droppedCount == 1 }
        #expect(server.requests.count == 2)
        try await eventually("nothing runs") { engine.manager.downloader.load.running == 0 }
        #expect(engine.blobs.isEmpty)
    }

    /// A delegate that takes no notice of being cancelled.
    @Test(arguments: [DownloadDelegates.Question.validateStatus, .redirect, .challenge])
    func lateAnswerOfADelegateMakesNoSuccessOfACancelledRequest(_ question: DownloadDelegates.Question) async throws {
        let server = try LocalServer { [picture] request in
            switch (request.path, request.headers["authorization"]) {
            case ("/redirect", _): .redirect(to: "/b")
            case ("/challenge", nil): .reply(401, ["WWW-Authenticate": "Basic realm=\"r\""], [])
            default: .reply(200, [:], picture)
            }
        }
        defer { server.stop() }
        let engine = try engine()
        let answered = Counter()
        let delegate = TestDelegate()
        // Not by `await`: that would end with the task.
        let wait: @Sendable () async -> Void = { [gate] in
            await gate.wait()
            answered.add()
        }
        delegate.onAccepts { _, _ in
            await wait()
            return true
        }
        delegate.onRedirect { request, _, _ in
            await wait()
            return request
        }
        delegate.onAnswer { _ in
            await wait()
            return .credential(.basic(user: "u", password: "p"))
        }
        let url = server.url("/" + question.rawValue)
        let caller = Task {
            try await engine.image(url) { $0.network.delegates = DownloadDelegates(delegate, questions: [question]) }
        }
        try await eventually("it is asked") { delegate.asked.count == 1 }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        gate.open()
        try await eventually("it has answered") { answered.value == 1 }
        try await eventually("nothing runs") { engine.manager.downloader.load.running == 0 }
        #expect(engine.blobs.isEmpty && engine.manager.statistics.downloads == 0)
        #expect(server.requests.count == 1, "nothing more was asked for")
    }

    @Test func cancellingBetweenTwoAttemptsEndsThem() async throws {
        let server = try LocalServer { _ in .reply(503, [:], []) }
        defer { server.stop() }
        let engine = try engine()
        let caller = Task {
            try await engine.image(server.url("/a")) {
                $0.network.retry = RetryStrategy(maxRetries: 5, interval: .seconds(60))
            }
        }
        try await eventually("it has failed once") { engine.manager.statistics.failedDownloads == 1 }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(server.requests.count == 1)
    }

    /// Who comes while a download is finished for nobody joins it.
    @Test func callerWhoComesAfterTheLastHasLeftJoinsWhatIsBeingFinished() async throws {
        let server = try LocalServer { [gate, picture] _ in
            Script.empty.waiting(for: gate).followed(by: .reply(200, [:], picture))
        }
        defer { server.stop() }
        let engine = try engine()
        let caller: @Sendable () -> Task<ImageResult, any Error> = {
            Task { try await engine.image(server.url("/a"), bytes: true) { $0.caller.onLastCancel = .finish } }
        }
        let first = caller()
        try await eventually("it is under way") { server.requests.count == 1 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = caller()
        try await eventually("it has joined") { engine.manager.statistics.merged == 1 }
        gate.open()
        #expect(try await second.value.bytes == picture)
        #expect(server.requests.count == 1 && server.droppedCount == 0)
    }

    /// The same, when the one who joins is gone too and wants it broken off.
    @Test func lastCallerSaysWhatBecomesOfTheDownload() async throws {
        let server = try LocalServer { [gate] _ in Script.empty.waiting(for: gate) }
        defer {
            gate.open()
            server.stop()
        }
        let engine = try engine()
        let finishing = Task { try await engine.image(server.url("/a")) { $0.caller.onLastCancel = .finish } }
        try await eventually("it is under way") { server.requests.count == 1 }
        finishing.cancel()
        await #expect(throws: CancellationError.self) { try await finishing.value }
        let aborting = Task { try await engine.image(server.url("/a")) }
        try await eventually("it has joined") { engine.manager.statistics.merged == 1 }
        aborting.cancel()
        await #expect(throws: CancellationError.self) { try await aborting.value }
        try await eventually("it is dropped") { server.droppedCount == 1 }
    }
}

/// Prefetching what fails at first, and servers that say nothing.
@Suite struct HostilePrefetchTests {
    private let picture = hollowPNG(width: 7)

    @Test(arguments: [true, false])
    func prefetchTriesAgainOnlyWhenItIsToldTo(_ retries: Bool) async throws {
        let engine = try TestEngine { $0.downloader.proxy = .none }
        let counts = (0..<3).map { _ in Counter() }
        let server = try LocalServer { [picture] request in
            let number = Int(request.path.dropFirst()) ?? 0
            // The first fails twice, the second once, the last never.
            return counts[number].add() + number < 3 ? .reply(503, [:], []) : .reply(200, [:], picture)
        }
        defer { server.stop() }
        let urls = (0..<3).map { server.url("/\($0)") }
        let options = ImageOptions {
            if retries { $0.network.retry = RetryStrategy(maxRetries: 1, interval: .seconds(0)) }
        }
        let report = try await ImagePrefetcher(
            urls, manager: engine.manager, cache: engine.cache, options: options
        ).run()
        #expect(report.count == 3 && report.skipped.isEmpty)
        #expect(Set(report.completed) == Set(retries ? urls[1...] : urls[2...]))
        #expect(Set(report.failed.map(\.url)) == Set(retries ? urls[..<1] : urls[..<2]))
        #expect(counts.map(\.value) == (retries ? [2, 2, 1] : [1, 1, 1]))
    }

    /// Half of all slots stay free of prefetches, however many hosts they are spread over.
    @Test func hostsThatSayNothingKeepNoRequestFromAGoodOne() async throws {
        let gate = Gate()
        let server = try LocalServer(host: 0) { [picture] request in
            request.path == "/good" ? .reply(200, [:], picture) : Script.empty.waiting(for: gate)
        }
        defer {
            gate.open()
            server.stop()
        }
        let engine = try TestEngine {
            $0.downloader.proxy = .none
            $0.downloader.maxConcurrentDownloads = 8
        }
        let urls = (1...200).map { "http://127.0.2.\($0):\(server.port)/held" }
        let prefetcher = ImagePrefetcher(
            urls, manager: engine.manager, cache: engine.cache, options: ImageOptions(), concurrency: 64)
        async let report = prefetcher.run()
        // More of them begin as silent ones give their slots up.
        try await eventually("as many as may are under way") { server.requests.count >= 4 }
        #expect(try await engine.image(server.url("/good"), bytes: true).bytes == picture)
        prefetcher.stop()
        #expect(try await report.failed.count == 200)
    }

    @Test func connectionsToManyHostsAreNotKeptWithoutEnd() async throws {
        let server = try LocalServer(host: 0) { [picture] _ in .reply(200, [:], picture) }
        defer { server.stop() }
        let engine = try TestEngine { $0.downloader.proxy = .none }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for host in 0..<300 {
                group.addTask {
                    let url = "http://127.0.\(3 + host / 250).\(1 + host % 250):\(server.port)/a"
                    _ = try await engine.image(url)
                }
            }
            try await group.waitForAll()
        }
        #expect(server.connectionCount >= 300)
        try await eventually("at most 64 stay open") { server.openCount <= 64 }
    }
}
