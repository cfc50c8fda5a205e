import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Many callers and one real server: who shares a download, and what cancelling does.
@Suite struct MergedDownloadTests {
    private let engine: TestEngine
    private let gate = Gate()
    private let picture = hollowPNG(width: 7, count: 400)

    init() throws { engine = try TestEngine() }

    /// An answer that waits for the gate; the picture unless told otherwise.
    private func held(_ answer: Script? = nil) -> Script {
        Script.empty.waiting(for: gate).followed(by: answer ?? .reply(200, [:], picture))
    }

    private func caller(
        _ url: String, key: String? = nil, _ change: @escaping @Sendable (inout ImageOptions) -> Void = { _ in }
    ) -> Task<ImageResult, any Error> {
        Task { [engine] in try await engine.image(url, key: key, bytes: true, change) }
    }

    private func eventuallyMerged(_ count: Int) async throws {
        try await eventually("\(count) merged") { [engine] in engine.manager.statistics.merged == count }
    }

    @Test func overlappingRequestsForOneURLReachTheServerOnce() async throws {
        let server = try LocalServer(routes: ["/a.png": held()])
        defer { server.stop() }
        let callers = (0..<200).map { _ in caller(server.url("/a.png")) }
        try await eventuallyMerged(199)
        gate.open()
        for caller in callers {
            let result = try await caller.value
            #expect(result.bytes == picture)
            #expect(result.cacheType == .none)
        }
        #expect(server.requestCount("/a.png") == 1)
        #expect(engine.blobs.count == 1)
        #expect(engine.manager.statistics.downloads == 1)
        #expect(engine.manager.statistics.misses == 200)
    }

    @Test func requestsAcrossTheEndsOfDownloadsAreAllAnswered() async throws {
        let server = try LocalServer(routes: ["/a.png": .reply(200, [:], picture)])
        defer { server.stop() }
        let answered = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { [engine, picture] in
                    for _ in 0..<number { await Task.yield() }
                    let result = try await engine.image(server.url("/a.png"), bytes: true) {
                        $0.lookup.forceRefresh = number % 2 == 0
                    }
                    if result.bytes == picture { answered.add() }
                }
            }
            try await group.waitForAll()
        }
        #expect(answered.value == 200)
        #expect((1...200).contains(server.requestCount("/a.png")))
    }

    @Test func everyCallerOfAFailingURLGetsItsOneError() async throws {
        let server = try LocalServer(routes: ["/a.png": held(.reply(404, [:], []))])
        defer { server.stop() }
        let url = server.url("/a.png")
        let callers = (0..<50).map { _ in caller(url) }
        try await eventuallyMerged(49)
        gate.open()
        for caller in callers {
            await #expect(throws: ImageError.invalidStatusCode(404, url: url)) { try await caller.value }
        }
        #expect(server.requestCount("/a.png") == 1)
    }

    @Test func requestsWithOtherHeadersOrCredentialsAreNotMerged() async throws {
        let server = try LocalServer(routes: ["/a.png": held()])
        defer { server.stop() }
        let variants: [@Sendable (inout ImageOptions) -> Void] = [
            { _ in }, { $0.network.request.headers = ["Accept": "image/png"] },
            { $0.network.request.headers = ["Accept": "image/webp"] },
            { $0.network.request.authorization = .basic(user: "me", password: "one") },
            { $0.network.request.authorization = .basic(user: "me", password: "two") },
            { $0.network.request.authorization = .bearer("token") },
        ]
        let wide = try TestEngine { $0.downloader.maxDownloadsPerHost = 10 }
        let callers = variants.enumerated().map { index, change in
            Task { try await wide.image(server.url("/a.png"), key: "\(index)", change) }
        }
        try await eventually("all at the server") { server.requestCount("/a.png") == variants.count }
        gate.open()
        for caller in callers { _ = try await caller.value }
        let credentials = Set(server.requests.map { $0.headers["authorization"] ?? "none" })
        #expect(credentials == ["none", "Basic bWU6b25l", "Basic bWU6dHdv", "Bearer token"])
        #expect(Set(server.requests.compactMap { $0.headers["accept"] }).count == 3)
    }

    @Test func textThatOnlyLooksTheSameIsAnotherRequest() throws {
        func request(_ url: String, _ change: (inout ImageOptions) -> Void = { _ in }) throws -> DownloadRequest {
            try DownloadRequest(url: url, options: ImageOptions(change).network)
        }
        #expect(try request("http://h/é") == request("http://h/é"))
        #expect(try request("http://h/é") != request("http://h/e\u{301}"))
        #expect(
            try request("http://h") { $0.network.request.authorization = .bearer("é") }
                != request("http://h") { $0.network.request.authorization = .bearer("e\u{301}") })
        #expect(
            try request("http://h") { $0.network.request.headers = ["a": "é"] }
                != request("http://h") { $0.network.request.headers = ["a": "e\u{301}"] })
        #expect(
            try request("http://h") { $0.network.request.headers = ["bearer": "a"] }
                != request("http://h") { $0.network.request.authorization = .bearer("a") })
        for seconds in [Double.nan, .infinity, 1e300, -1] {
            let strange = try request("http://h") {
                $0.network.limits.timeout = seconds
                $0.network.limits.minBytesPerSecond = seconds
            }
            #expect((0...1e8).contains(strange.limits.timeoutSeconds))
            #expect((0...1e9).contains(strange.limits.minBytesPerSecond))
        }
    }

    /// What is sent counts, and not how it is written.
    @Test func fragmentsAndTheCaseOfHeaderNamesSplitNoDownloads() async throws {
        func request(_ url: String, _ headers: [String: String] = [:]) throws -> DownloadRequest {
            try DownloadRequest(url: url, options: ImageOptions { $0.network.request.headers = headers }.network)
        }
        #expect(try request("http://h/a#b") == request("HTTP://h/a#c"))
        #expect(try request("http://h/a#b").url == "http://h/a#b", "errors name what was asked for")
        #expect(try request("http://h/a?b#") == request("http://h/a?b"))
        #expect(try request("http://h/a?b") != request("http://h/a?c"))
        #expect(
            try request("http://h/a", ["ACCEPT": "x", "b": "y"]) == request("http://h/a", ["Accept": "x", "B": "y"]))
        #expect(try request("http://h/a", ["Accept": "x"]) != request("http://h/a", ["Accept": "X"]))
        #expect(try request("http://h/a", ["A": "1", "a": "2"]) == request("http://h/a", ["a": "1", "A": "2"]))
        #expect(try request("http://h/a", ["A": "1", "a": "2"]) != request("http://h/a", ["A": "1"]))
        #expect(try request("http://h/a", ["K": "1"]) != request("http://h/a", ["\u{212A}": "1"]), "ASCII only")
        #expect(try request("http://u:p@h/a") != request("http://u:q@h/a"))
        for (one, other) in [("#b", ""), ("#b", "#c")] {
            let flights = try [one, other].map { try request("http://h/a" + $0).flight(to: CacheKey("k")) }
            #expect(flights[0] == flights[1], "processes merge alike")
        }
        #expect(
            try request("http://u:p@h/a").flight(to: CacheKey("k")) != request("http://h/a").flight(to: CacheKey("k")))
        let server = try LocalServer(routes: ["/a.png": held()])
        defer { server.stop() }
        let callers = ["Accept", "accept", "ACCEPT"].map { name in
            caller(server.url("/a.png#\(name)"), key: name) { $0.network.request.headers = [name: "image/png"] }
        }
        try await eventuallyMerged(2)
        gate.open()
        for caller in callers { #expect(try await caller.value.bytes == picture) }
        #expect(server.requestCount("/a.png") == 1)
    }

    /// A deadline is its caller's own.
    @Test func callerWhoseDeadlinePassesLeavesTheDownloadToTheOthers() async throws {
        let server = try LocalServer(routes: ["/a.png": held()])
        defer { server.stop() }
        let url = server.url("/a.png")
        let patient = caller(url)
        try await eventually { server.requestCount("/a.png") == 1 }
        for key in [nil, "another"] {
            let hasty = caller(url, key: key) { $0.caller.deadline = 0.05 }
            await #expect(throws: ImageError.timedOut(url: url, option: "deadline", seconds: 0.05)) {
                try await hasty.value
            }
        }
        gate.open()
        #expect(try await patient.value.bytes == picture)
        #expect(server.requestCount("/a.png") == 1)
    }

    @Test func firstCallerCancelsAndTheSecondSucceeds() async throws {
        let server = try LocalServer(routes: ["/a.png": held()])
        defer { server.stop() }
        let first = caller(server.url("/a.png"))
        try await eventually { server.requestCount("/a.png") == 1 }
        let second = caller(server.url("/a.png"))
        try await eventuallyMerged(1)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value.bytes == picture)
        #expect(server.requestCount("/a.png") == 1)
        #expect(server.droppedCount == 0)
    }

    @Test func serverSeesTheConnectionDropWhenEverybodyCancels() async throws {
        let server = try LocalServer(routes: ["/a.png": held()])
        defer { server.stop() }
        let callers = (0..<2).map { _ in caller(server.url("/a.png")) }
        try await eventually { server.requestCount("/a.png") == 1 }
        try await eventuallyMerged(1)
        for caller in callers { caller.cancel() }
        for caller in callers { await #expect(throws: CancellationError.self) { try await caller.value } }
        try await eventually("the server notices") { server.droppedCount == 1 }
        #expect(engine.blobs.isEmpty && engine.partials.isEmpty)
        try await eventually { [engine] in engine.manager.statistics.runningDownloads == 0 }
    }

    /// The first download of a process opens the file of flights, in a task; what comes after it needs none.
    @Test func laterDownloadsAreBrokenOffToo() async throws {
        let picture = picture
        let server = try LocalServer(routes: ["/a.png": held(), "/first.png": .reply(200, [:], picture)])
        defer { server.stop() }
        _ = try await caller(server.url("/first.png")).value
        // No timeout drops it in the end.
        let callers = (0..<2).map { _ in caller(server.url("/a.png")) { $0.network.limits.timeout = 3600 } }
        try await eventually { server.requestCount("/a.png") == 1 }
        try await eventuallyMerged(1)
        callers[0].cancel()
        await #expect(throws: CancellationError.self) { try await callers[0].value }
        #expect(server.droppedCount == 0, "one still waits")
        callers[1].cancel()
        await #expect(throws: CancellationError.self) { try await callers[1].value }
        try await eventually("the server notices") { server.droppedCount == 1 }
        try await eventually { [engine] in engine.manager.statistics.runningDownloads == 0 }
        #expect(engine.blobs.count == 1 && engine.partials.isEmpty)
        gate.open()
        #expect(try await caller(server.url("/a.png")).value.bytes == picture, "it starts afresh")
    }

    @Test func requestAfterACancelledOneStartsAfresh() async throws {
        let count = Counter()
        let server = try LocalServer { [gate, picture] _ in
            let answer = Script.reply(200, [:], picture)
            return count.add() == 1 ? Script.empty.waiting(for: gate) : answer
        }
        defer { server.stop() }
        let first = caller(server.url("/a.png"))
        try await eventually { server.requestCount("/a.png") == 1 }
        first.cancel()
        #expect(try await caller(server.url("/a.png")).value.bytes == picture)
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(server.requestCount("/a.png") == 2)
    }

    @Test func neverMoreThanFourDownloadsAtOnceFromOneHost() async throws {
        let server = try LocalServer { [gate, picture] _ in
            Script.empty.waiting(for: gate).followed(by: .reply(200, [:], picture))
        }
        defer { server.stop() }
        let callers = (0..<20).map { caller(server.url("/\($0).png")) }
        try await eventually { [engine] in
            let statistics = engine.manager.statistics
            return statistics.runningDownloads == 4 && statistics.waitingDownloads == 16
        }
        try await eventually { server.requests.count == 4 }
        gate.open()
        for caller in callers { _ = try await caller.value }
        #expect(server.requests.count == 20)
        #expect(server.mostActive == 4)
    }

    @Test func cancelledAndFailedDownloadsLeaveTheCountRight() async throws {
        let server = try LocalServer { [gate, picture] request in
            request.path == "/bad"
                ? .reply(500, [:], []) : Script.empty.waiting(for: gate).followed(by: .reply(200, [:], picture))
        }
        defer { server.stop() }
        for _ in 0..<6 { #expect(try await engine.failure(server.url("/bad")) != nil) }
        let running = (0..<4).map { caller(server.url("/\($0).png")) }
        try await eventually { server.requests.count == 10 }
        let queued = (4..<10).map { caller(server.url("/\($0).png")) }
        try await eventually { [engine] in engine.manager.statistics.waitingDownloads == 6 }
        for caller in queued.dropFirst() { caller.cancel() }
        for caller in queued.dropFirst() { await #expect(throws: CancellationError.self) { try await caller.value } }
        #expect(engine.manager.statistics.runningDownloads == 4)
        #expect(engine.manager.statistics.waitingDownloads == 1)
        gate.open()
        for caller in running + queued.prefix(1) { _ = try await caller.value }
        #expect(server.mostActive == 4)
        #expect(server.requests.count == 11)
    }

    @Test func waitingDownloadsStartByPriority() async throws {
        let single = try TestEngine { $0.downloader.maxDownloadsPerHost = 1 }
        let server = try LocalServer { [gate, picture] _ in
            Script.empty.waiting(for: gate).followed(by: .reply(200, [:], picture))
        }
        defer { server.stop() }
        var callers: [Task<ImageResult, any Error>] = []
        for (index, priority) in [0.5, 0.1, 0.5, 0.9, 0.1].enumerated() {
            callers.append(
                Task { try await single.image(server.url("/\(index)")) { $0.caller.downloadPriority = priority } })
            try await eventually {
                let statistics = single.manager.statistics
                return statistics.runningDownloads + statistics.waitingDownloads == index + 1
            }
        }
        gate.open()
        for caller in callers { _ = try await caller.value }
        #expect(server.requests.map(\.path) == ["/0", "/3", "/2", "/1", "/4"])
    }

    /// Whichever thread is first to put its download in the queue.
    @Test(arguments: DownloadOrder.allCases)
    func downloadsOfEqualPriorityStartInTheOrderInWhichTheyWereAskedFor(_ order: DownloadOrder) async throws {
        let single = try TestEngine {
            $0.downloader.maxDownloadsPerHost = 1
            $0.downloader.order = order
        }
        let server = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { server.stop() }
        single.manager.downloader.pause(.all)
        let callers = (0..<10).map { _ in CallPriority(0.5) }
        var tasks: [Task<ImageResult, any Error>] = []
        for (count, index) in [4, 9, 0, 7, 2, 1, 8, 6, 3, 5].enumerated() {
            tasks.append(Task { try await single.image(server.url("/\(index)"), priority: callers[index]) })
            try await eventually { single.manager.statistics.waitingDownloads == count + 1 }
        }
        single.manager.downloader.pause(.none)
        for task in tasks { _ = try await task.value }
        let asked = (0..<10).map { "/\($0)" }
        #expect(server.requests.map(\.path) == (order == .fifo ? asked : asked.reversed()))
    }
}
