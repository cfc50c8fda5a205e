import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Which source is asked, and in which order.
@Suite struct RetrievalPolicyTests {
    private let engine: TestEngine
    private let picture = hollowPNG(width: 7)
    private let other = hollowPNG(width: 8)

    init() throws { engine = try TestEngine() }

    private func dataURL(_ bytes: [UInt8]) -> String { "data:image/png;base64," + base64(bytes) }

    @Test func onlyFromCacheOpensNoConnection() async throws {
        let server = try LocalServer(routes: ["/a": .reply(200, [:], picture)])
        defer { server.stop() }
        let url = server.url("/a")
        #expect(try await engine.failure(url) { $0.lookup.onlyFromCache = true } == .notCached(key: url, url: url))
        #expect(server.requests.isEmpty)
        _ = try await engine.image(url)
        #expect(try await engine.image(url) { $0.lookup.onlyFromCache = true }.cacheType == .memory)
        #expect(server.requests.count == 1)
    }

    /// Without waiting there is no path yet, and the file comes behind the answer.
    @Test func imageNobodyWaitsForIsCachedBehindTheAnswer() async throws {
        let server = try LocalServer(routes: ["/a": .reply(200, [:], picture)])
        defer { server.stop() }
        let url = server.url("/a")
        let options = ImageOptions { $0.storage.waitForCache = false }
        let image = try await engine.manager.image(
            ImageRequest(Resource(url: url), in: engine.cache, options: options, needs: []))
        #expect(image.record.path == nil && image.record.header.width == 7)
        try await eventually("the file behind the answer") { [engine] in engine.blobs.count == 1 }
        #expect(try await engine.image(url).record.path != nil, "a result that has a path waits")
        #expect(server.requestCount("/a") == 1)
    }

    @Test func forceRefreshDownloadsAndOverwrites() async throws {
        let count = Counter()
        let server = try LocalServer { [picture, other] _ in .reply(200, [:], count.add() == 1 ? picture : other) }
        defer { server.stop() }
        let url = server.url("/a")
        #expect(try await engine.image(url).record.header.width == 7)
        #expect(try await engine.image(url).record.header.width == 7)
        let fresh = try await engine.image(url) { $0.lookup.forceRefresh = true }
        #expect(fresh.record.header.width == 8 && fresh.cacheType == .none)
        #expect(try await engine.image(url, bytes: true).bytes == other)
        let restarted = try TestEngine(folder: engine.folder, clock: engine.clock)
        #expect(try await restarted.image(url, bytes: true).bytes == other)
        #expect(server.requests.count == 2)
        #expect(try engine.cache.sizes().disk.count == 1)
    }

    @Test func failedRefreshLeavesTheOldImage() async throws {
        let count = Counter()
        let server = try LocalServer { [picture] _ in
            count.add() == 1 ? .reply(200, [:], picture) : .reply(500, [:], [])
        }
        defer { server.stop() }
        _ = try await engine.image(server.url("/a"))
        #expect(try await engine.failure(server.url("/a")) { $0.lookup.forceRefresh = true } != nil)
        #expect(try await engine.image(server.url("/a"), bytes: true).bytes == picture)
    }

    @Test func imageWhoseFileWasDamagedIsDownloadedAgain() async throws {
        let server = try LocalServer(routes: ["/a": .reply(200, [:], picture)])
        defer { server.stop() }
        let path = try #require(try await engine.image(server.url("/a")).record.path)
        overwrite(path, other)
        setModified(path, 1_700_000_000)
        let again = try await engine.image(server.url("/a"), bytes: true)
        #expect(again.cacheType == .none && again.bytes == picture)
        #expect(server.requests.count == 2)
    }

    @Test func dataURLIsCachedUnderItsKey() async throws {
        let result = try await engine.image(dataURL(picture), key: "mine", bytes: true)
        #expect(result.bytes == picture && result.cacheType == .none)
        #expect(try await engine.image("data:,ignored", key: "mine").cacheType == .memory)
        let plain = String(decoding: try Fixtures.bytes("svg-sized.svg"), as: UTF8.self)
        let encoded = plain.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(try await engine.image("data:image/svg+xml," + encoded).record.header.format == .svg)
    }

    @Test(arguments: [
        "data:image/png;base64,@@@@", "data:image/png", "data:", "", "a.png", "http://", "http:///a", "gopher://h/",
        "http://h/\u{0}",
    ])
    func unusableURLIsRefused(_ url: String) async throws {
        guard case .invalidURL = try await engine.failure(url) else {
            Issue.record("\(url) was taken")
            return
        }
    }

    @Test func dataThatIsNoPictureIsBadData() async throws {
        guard case .badData = try await engine.failure("data:,hello") else {
            Issue.record("text was taken for a picture")
            return
        }
        #expect(engine.blobs.isEmpty)
    }

    @Test func alternativeSourcesAreTriedInOrder() async throws {
        let server = try LocalServer(routes: ["/good": .reply(200, [:], picture)])
        defer { server.stop() }
        let url = server.url("/bad")
        let result = try await engine.image(url) {
            $0.network.alternativeSources = [
                server.url("/worse"), "nonsense", server.url("/good"), server.url("/never"),
            ]
        }
        #expect(result.record.header.width == 7 && !result.isPlaceholder)
        #expect(result.record.key == CacheKey(url))
        #expect(server.requests.map(\.path) == ["/bad", "/worse", "/good"])
        #expect(try await engine.image(url).cacheType == .memory, "kept under the first source's key")
        let failure = try await engine.failure(server.url("/first")) {
            $0.network.alternativeSources = ["nonsense", server.url("/x")]
        }
        #expect(failure?.first == .invalidStatusCode(404, url: server.url("/first")), "the first failure is told")
        guard case .afterAttempts(let attempts) = failure else {
            Issue.record("the others are not told: \(String(describing: failure))")
            return
        }
        #expect(attempts.map(\.url) == [server.url("/first"), "nonsense", server.url("/x")])
        #expect(attempts.map(\.error.name) == ["invalidStatusCode", "invalidURL", "invalidStatusCode"])
    }

    @Test func placeholderStandsInAndIsNotKeptForTheURL() async throws {
        let server = try LocalServer(routes: [:])
        defer { server.stop() }
        let url = server.url("/a")
        for standIn in [
            Fixtures.folder + "/png-rgb.png", "file://" + Fixtures.folder + "/png-rgb.png", dataURL(picture),
        ] {
            let result = try await engine.image(url, bytes: true) { $0.network.onFailureImage = standIn }
            #expect(result.isPlaceholder)
            #expect(result.bytes != nil)
            #expect(try engine.cache.cacheType(for: CacheKey(url), burst: 0, mayWait: true).value == nil)
        }
        #expect(server.requests.count == 3, "the URL is asked again each time")
        let failure = try await engine.failure(url) { $0.network.onFailureImage = "/no/such/file" }
        #expect(failure == .invalidStatusCode(404, url: url), "the first failure is told")
    }

    /// As with `onlyFromCache`: what is asked of the image is not asked of its stand-in.
    @Test func placeholderIsLoadedForWhatIsOnlyWantedFromTheCache() async throws {
        let server = try LocalServer(routes: ["/b": .reply(200, [:], hollowPNG(width: 7))])
        defer { server.stop() }
        let result = try await engine.image(server.url("/a")) {
            $0.network.onFailureImage = server.url("/b")
            $0.lookup.revalidate = .http
            $0.network.request.headers = ["Cache-Control": "only-if-cached"]
        }
        #expect(result.isPlaceholder && server.requests.map(\.path) == ["/b"])
    }

    @Test(arguments: [(0, 1, false), (1, 2, false), (2, 3, true), (9, 3, true)])
    func failedDownloadIsTriedAgainAsOftenAsAsked(_ retries: Int, _ requests: Int, _ succeeds: Bool) async throws {
        let count = Counter()
        let server = try LocalServer { [picture] _ in count.add() < 3 ? .reply(503, [:], []) : .reply(200, [:], picture)
        }
        defer { server.stop() }
        let error = try await engine.failure(server.url("/a")) {
            $0.network.retry = RetryStrategy(maxRetries: retries, interval: .seconds(0))
        }
        #expect(error?.first == (succeeds ? nil : .invalidStatusCode(503, url: server.url("/a"))))
        #expect(server.requests.count == requests)
    }

    @Test func whatWouldFailAgainIsNotTriedAgain() async throws {
        let server = try LocalServer(routes: ["/html": .reply(200, [:], ascii("<html>"))])
        defer { server.stop() }
        for path in ["/missing", "/html"] {
            _ = try await engine.failure(server.url(path)) {
                $0.network.retry = RetryStrategy(maxRetries: 5, interval: .seconds(0))
            }
            #expect(server.requestCount(path) == 1)
        }
    }

    @Test func cancellingDuringThePauseBeforeARetryEndsIt() async throws {
        let server = try LocalServer { _ in .reply(503, [:], []) }
        defer { server.stop() }
        let task = Task { [engine] in
            try await engine.image(server.url("/a")) {
                $0.network.retry = RetryStrategy(maxRetries: 5, interval: .seconds(50))
            }
        }
        try await eventually { [engine] in engine.manager.statistics.failedDownloads == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests.count == 1)
    }
}
