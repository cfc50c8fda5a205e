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

/// Loading images before somebody wants them.
@Suite struct ImagePrefetcherTests {
    private let engine: TestEngine
    private let gate = Gate()

    init() throws { engine = try TestEngine() }

    private func web() throws -> LocalServer {
        try LocalServer { [gate] request in
            if request.path.hasPrefix("/bad") { return .reply(404, [:], []) }
            let width = 1 + request.path.utf8.reduce(0) { $0 + Int($1) }
            let reply = Script.reply(200, [:], hollowPNG(width: width))
            return request.path.hasPrefix("/held") ? Script.empty.waiting(for: gate).followed(by: reply) : reply
        }
    }

    private func prefetcher(
        _ urls: [String], concurrency: Int = 5, _ change: (inout ImageOptions) -> Void = { _ in }
    ) -> ImagePrefetcher {
        ImagePrefetcher(
            urls, manager: engine.manager, cache: engine.cache, options: ImageOptions(change), concurrency: concurrency)
    }

    @Test func anEmptyListIsDoneAtOnce() async throws {
        let report = try await prefetcher([]).run { _ in Issue.record("there is nothing to report") }
        #expect(report.count == 0)
    }

    @Test func everyURLIsInOneListOnce() async throws {
        let web = try web()
        defer { web.stop() }
        _ = try await engine.image(web.url("/there"))
        let urls = ["/a", "/b", "/a", "/bad", "/there", "/b"].map(web.url) + ["nonsense"]
        let steps = Steps()
        let report = try await prefetcher(urls, concurrency: 2).run { steps.add($0) }
        #expect(Set(report.completed) == Set(["/a", "/b"].map(web.url)))
        #expect(report.skipped == [web.url("/there")])
        #expect(Set(report.failed.map(\.url)) == [web.url("/bad"), "nonsense"])
        #expect(report.failed.contains { $0.error as? ImageError == .invalidStatusCode(404, url: web.url("/bad")) })
        for path in ["/a", "/b", "/there"] { #expect(web.requestCount(path) == 1) }
        #expect(steps.all.map { $0.completed + $0.skipped + $0.failed } == [1, 2, 3, 4, 5])
        #expect(steps.all.allSatisfy { $0.total == 5 })
        let again = try await prefetcher(["/a"].map(web.url)).run()
        #expect(again.skipped.count == 1)
        let forced = try await prefetcher(["/a"].map(web.url)) { $0.lookup.forceRefresh = true }.run()
        #expect(forced.completed.count == 1 && web.requestCount("/a") == 2)
    }

    /// What one has loaded and is about to store is not loaded by the other, though they want it in different
    /// ways.
    @Test(arguments: [false, true])
    func whatIsBeingStoredIsNotLoadedAgain(inMemory: Bool) async throws {
        let web = try web()
        defer { web.stop() }
        let urls = (0..<300).map { web.url("/\($0)") }
        let engine = try TestEngine {
            ($0.downloader.maxDownloadsPerHost, $0.downloader.maxConcurrentDownloads) = (16, 16)
        }
        var options = ImageOptions()
        options.storage.cacheMemoryOnly = inMemory
        let ahead = ImagePrefetcher(
            urls, manager: engine.manager, cache: engine.cache, options: options, concurrency: 16)
        async let report = ahead.run()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for url in urls {
                group.addTask {
                    _ = try await engine.image(url) { ($0.storage.lease, $0.storage.cacheMemoryOnly) = (60, inMemory) }
                }
                group.addTask { _ = try await engine.image(url, bytes: true) { $0.storage.cacheMemoryOnly = inMemory } }
            }
            try await group.waitForAll()
        }
        let found = try await report
        #expect(found.count == 300 && found.failed.isEmpty)
        #expect(web.requests.count == 300)
        #expect(engine.manager.statistics.sharedDownloads == 0, "by no other process")
    }

    /// The same of what is stored behind the answer.
    @Test func whatIsStoredBehindTheAnswerIsNotLoadedAgain() async throws {
        let picture = hollowPNG(width: 7, count: 8 << 20)
        let web = try LocalServer { _ in .reply(200, [:], picture) }
        defer { web.stop() }
        for number in 0..<4 {
            let url = web.url("/\(number)")
            _ = try await engine.image(url, bytes: true) { $0.storage.waitForCache = false }
            #expect(try await engine.image(url).record.path != nil)
        }
        #expect(web.requests.count == 4)
    }

    /// Who wants a request of its own gets one.
    @Test(arguments: [false, true])
    func whatIsNotToBeMergedDoesNotWaitForWhatIsBeingStored(inMemory: Bool) async throws {
        let flights = engine.cache.flights
        let web = try web()
        defer { web.stop() }
        let request = try DownloadRequest(url: web.url("/a"), options: NetworkOptions())
        let identity = request.flight(to: CacheKey(web.url("/a")), inMemory: inMemory)
        flights.noteBodyArrived(identity)
        #expect(try await engine.image(web.url("/a")) { $0.network.merges = false }.cacheType == .none)
        _ = try engine.cache.clear()
        let waiting = Task {
            try await engine.image(web.url("/a"), bytes: true) { $0.storage.cacheMemoryOnly = inMemory }
        }
        try await eventually("it waits") { engine.manager.services.counts.waitingClaims.load(ordering: .relaxed) == 1 }
        #expect(web.requests.count == 1)
        flights.noteStored(identity)
        #expect(try await waiting.value.cacheType == .none, "it has come to nothing")
        #expect(web.requests.count == 2)
    }

    @Test func whatIsStoredWhileItWaitsForItsTurnIsSkipped() async throws {
        let web = try web()
        defer { web.stop() }
        let running = Task { try await prefetcher(["/held", "/b"].map(web.url), concurrency: 1).run() }
        try await eventually("it has begun") { web.requestCount("/held") == 1 }
        _ = try await engine.image(web.url("/b"))
        gate.open()
        let report = try await running.value
        #expect(report.completed == [web.url("/held")] && report.skipped == [web.url("/b")])
        #expect(web.requestCount("/b") == 1)
    }

    /// An option is never ignored: what the request wants checked is checked.
    @Test(arguments: Revalidation.allCases)
    func whatIsCachedIsCheckedAsTheRequestWantsIt(_ mode: Revalidation) async throws {
        let web = try PictureServer()
        web.set { $0.headers = ["Cache-Control": "max-age=10"] }
        web.set { $0.confirmation = ["Cache-Control": "max-age=10"] }
        _ = try await engine.image(web.url)
        func prefetch() async throws -> [Int] {
            let report = try await prefetcher([web.url]) { $0.lookup.revalidate = mode }.run()
            return [report.completed.count, report.skipped.count]
        }
        let isAlways = mode == .always
        #expect(try await prefetch() == (isAlways ? [1, 0] : [0, 1]))
        engine.clock.advance(seconds: 10)
        #expect(try await prefetch() == (isAlways || mode == .http ? [1, 0] : [0, 1]))
        engine.clock.advance(seconds: 8 * 86_400)
        #expect(try await prefetch() == [1, 0])
        #expect(web.conditions.dropFirst().allSatisfy { ($0 != nil) == (mode != .never) })
    }

    @Test func stoppingReportsEveryURLExactlyOnce() async throws {
        let web = try web()
        defer { web.stop() }
        let urls = (0..<10).map { web.url("/held/\($0)") } + (0..<3).map { web.url("/held/\($0)") }
        let prefetcher = prefetcher(urls, concurrency: 3)
        async let running = prefetcher.run()
        // Half of the four slots of a host are for those who wait.
        try await eventually("two are under way, one waits") { [engine] in
            web.requests.count == 2 && engine.manager.downloader.load.waiting == 1
        }
        prefetcher.stop()
        let report = try await running
        #expect(report.completed.isEmpty && report.skipped.isEmpty)
        #expect(report.failed.map(\.url).sorted() == urls[..<10].sorted())
        #expect(report.failed.allSatisfy { $0.error is CancellationError }, "\(report.failed)")
        #expect(try await prefetcher.run().failed.count == 10, "it does not start again")
        #expect(web.requests.count == 2)
        try await eventually("the connections are dropped") { web.droppedCount == 2 }
    }

    @Test func cancellingItEndsItWithoutAReport() async throws {
        let web = try web()
        defer { web.stop() }
        let prefetcher = prefetcher([web.url("/held")])
        let task = Task { try await prefetcher.run() }
        try await eventually { web.requests.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aRealRequestJoinsAndIsNoLongerBehindTheOthers() async throws {
        let web = try web()
        defer { web.stop() }
        // Half of the four slots of a host are for those who wait: two prefetches run.
        let urls = (0..<6).map { web.url("/held/\($0)") }
        let prefetcher = prefetcher(urls, concurrency: 6)
        async let running = prefetcher.run()
        try await eventually("two are under way, four wait") { [engine] in
            let load = engine.manager.downloader.load
            return load.running == 2 && load.waiting == 4 && web.requests.count == 2
        }
        let waits = try #require(urls.first { url in !web.requests.contains { url.hasSuffix($0.path) } })
        async let image = engine.image(waits)
        try await eventually("it has got a slot of its own") { web.requests.contains { waits.hasSuffix($0.path) } }
        #expect(web.requests.count == 3)
        gate.open()
        _ = try await image
        #expect(try await running.completed.count == 6)
        for url in urls { #expect(web.requestCount(String(url.dropFirst(web.url("").count))) == 1) }
    }

    @Test func memoryIsFilledOnlyWhenAsked() async throws {
        let web = try web()
        defer { web.stop() }
        let key = CacheKey(web.url("/a"))
        _ = try await prefetcher([web.url("/a")]).run()
        #expect(!engine.cache.holdsBytes(key))
        let report = try await prefetcher([web.url("/a")]) { $0.caller.alsoPrefetchToMemory = true }.run()
        #expect(report.skipped.count == 1 && engine.cache.holdsBytes(key))
        _ = try await prefetcher([web.url("/b")]) { $0.caller.alsoPrefetchToMemory = true }.run()
        #expect(engine.cache.holdsBytes(CacheKey(web.url("/b"))))
        #expect(try engine.cache.inspect(key)?.leasedUntil == nil, "no path was handed out")
    }
}

/// What was reported, in order.
private final class Steps: Sendable {
    private let steps = Mutex<[ImagePrefetcher.Progress]>([])

    var all: [ImagePrefetcher.Progress] { steps.withLock { $0 } }

    func add(_ progress: ImagePrefetcher.Progress) { steps.withLock { $0.append(progress) } }
}
