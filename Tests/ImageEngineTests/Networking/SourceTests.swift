import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Retries, alternatives and digests.
@Suite struct SourceTests {
    private let engine: TestEngine
    private let picture = hollowPNG(width: 7)
    private let large = hollowPNG(width: 8, count: 1 << 20)
    private static let empty = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    init() throws { engine = try TestEngine { $0.downloader.proxy = .none } }

    // MARK: Retry-After

    @Test(
        arguments: [
            (nil, 4.0, 2.0...4.0), (3.0, 4.0, 3.0...4.0), (30.0, 4.0, 30.0...30.0), (60.0, 4.0, 60.0...60.0),
        ] as [(Double?, Double, ClosedRange<Double>)])
    func pauseIsShortenedByChanceButNeverBelowWhatTheServerWants(
        _ wanted: Double?, _ base: Double, _ range: ClosedRange<Double>
    ) throws {
        let strategy = RetryStrategy(maxRetries: 9, interval: .exponential(base))
        let error = ImageError.invalidStatusCode(503, url: "", retryAfter: wanted)
        var generator = SeededGenerator(seed: 1)
        var seen: Set<Double> = []
        for _ in 0..<100 {
            let delay = try #require(strategy.delay(before: 1, after: error, using: &generator))
            #expect(range.contains(delay))
            seen.insert(delay)
        }
        #expect((seen.count == 1) == (range.lowerBound == range.upperBound))
    }

    @Test func fixedPauseIsFixedAndATooLongWishEndsIt() {
        var generator = SeededGenerator(seed: 1)
        let strategy = RetryStrategy(maxRetries: 9, interval: .seconds(2))
        #expect(strategy.delay(before: 1, after: .invalidStatusCode(503, url: ""), using: &generator) == 2)
        let long = ImageError.invalidStatusCode(429, url: "", retryAfter: 61)
        #expect(strategy.delay(before: 1, after: long, using: &generator) == nil)
    }

    @Test(
        arguments: [
            ("0", 0.0), ("120", 120.0), ("Sun, 06 Nov 1994 08:49:37 GMT", 10.0),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 10.0), ("Sun Nov  6 08:49:37 1994", 10.0),
            ("Sun, 06 Nov 1994 08:49:00 GMT", 0.0), ("soon", nil), ("-5", nil), ("", nil),
        ] as [(String, Double?)])
    func retryAfterIsSecondsOrADate(_ text: String, _ delay: Double?) {
        #expect(HTTPDate.delay(text, now: 784_111_767) == delay)
    }

    @Test func tooLongAWishIsToldAtOnce() async throws {
        let server = try LocalServer { _ in .reply(429, ["Retry-After": "3600"], []) }
        defer { server.stop() }
        let error = try await engine.failure(server.url("/a")) {
            $0.network.retry = RetryStrategy(maxRetries: 5, interval: .seconds(0))
        }
        #expect(error == .invalidStatusCode(429, url: server.url("/a"), retryAfter: 3600))
        #expect(server.requests.count == 1)
    }

    @Test func everyFailedAttemptIsListed() async throws {
        let server = try LocalServer(routes: [
            "/a": .reply(503, ["Retry-After": "0"], []), "/b": .reply(200, [:], ascii("<html>")),
        ])
        defer { server.stop() }
        let error = try await engine.failure(server.url("/a")) {
            $0.network.retry = RetryStrategy(maxRetries: 1, interval: .exponential(0))
            $0.network.alternativeSources = [server.url("/b")]
        }
        guard case .afterAttempts(let attempts) = error else {
            Issue.record("not listed: \(String(describing: error))")
            return
        }
        #expect(attempts.map(\.url) == ["/a", "/a", "/b"].map(server.url))
        #expect(attempts.map(\.error.name) == ["invalidStatusCode", "invalidStatusCode", "badData"])
        #expect(error?.name == "invalidStatusCode" && error?.isRetryable == true, "the first counts")
    }

    @Test func attemptsTellTheStatusTheTimeAndTheBytes() async throws {
        let (clock, gate) = (engine.clock, Gate())
        let server = try LocalServer { request in
            switch request.path {
            case "/a":
                clock.advance(seconds: 2.5)
                return .reply(404, [:], ascii("nothing"))
            default: return Script.head(200, length: 100).raw("0123456789").waiting(for: gate).closing()
            }
        }
        defer { server.stop() }
        let options = ImageOptions { $0.network.alternativeSources = [server.url("/b")] }
        let task = Task { [engine] in
            try await engine.image(server.url("/a"), { $0 = options }, report: { if $0.received == 10 { gate.open() } })
        }
        do {
            _ = try await task.value
            Issue.record("it came")
        } catch ImageError.afterAttempts(let attempts) {
            #expect(attempts.map(\.status) == [404, nil])
            #expect(attempts.map(\.bytes) == [0, 10])
            #expect(attempts.map(\.seconds) == [2.5, 0])
        }
    }

    // MARK: Hedging

    @Test func slowSourceIsOvertakenAndLetGo() async throws {
        let (gate, isAsked) = (Gate(), Gate())
        defer { gate.open() }
        let slow = try LocalServer { _ in
            isAsked.open()
            return Script.empty.waiting(for: gate)
        }
        // Not before the other has its request, or there would be nothing to let go.
        let fast = try LocalServer { [picture] _ in
            Script.empty.waiting(for: isAsked).followed(by: .reply(200, [:], picture))
        }
        defer {
            slow.stop()
            fast.stop()
        }
        let result = try await engine.image(slow.url("/a")) {
            $0.network.alternativeSources = [fast.url("/b")]
            $0.network.hedgeAfter = 0.01
        }
        #expect(result.record.key == CacheKey(slow.url("/a")) && result.record.url == fast.url("/b"))
        try await eventually("the loser is let go") { slow.droppedCount == 1 }
    }

    @Test func nextSourceIsNotAskedWhileTheFirstIsInTime() async throws {
        let server = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { server.stop() }
        _ = try await engine.image(server.url("/a")) {
            $0.network.alternativeSources = [server.url("/b")]
            $0.network.hedgeAfter = 1000
        }
        #expect(server.requests.map(\.path) == ["/a"])
    }

    @Test func failureBeginsTheNextSourceAtOnceAndAllAreListed() async throws {
        let server = try LocalServer(routes: ["/c": .reply(200, [:], picture)])
        defer { server.stop() }
        func failure(_ sources: [String]) async throws -> ImageError? {
            try await engine.failure(server.url("/a")) {
                $0.network.alternativeSources = sources.map(server.url)
                $0.network.hedgeAfter = 1000
                $0.lookup.forceRefresh = true
            }
        }
        #expect(try await failure(["/b", "/c"]) == nil)
        #expect(server.requests.map(\.path) == ["/a", "/b", "/c"])
        guard case .afterAttempts(let attempts) = try await failure(["/b"]) else {
            Issue.record("not listed")
            return
        }
        #expect(attempts.map(\.url) == ["/a", "/b"].map(server.url))
    }

    @Test func hedgeBeginsEachSourceOnce() {
        var hedge = Hedge(count: 3)
        #expect(hedge.begin() == 0)
        #expect(hedge.overdue(0) == 1)
        #expect(hedge.overdue(0) == nil, "the next has begun already")
        #expect(hedge.failed() == (2, false))
        #expect(hedge.overdue(2) == nil && hedge.begin() == nil)
        #expect(hedge.failed() == (nil, false))
        #expect(hedge.failed() == (nil, true))
    }

    // MARK: Integrity

    private func digest(_ bytes: [UInt8], _ kind: RunningDigest.Kind = .sha256) -> String {
        let digest = RunningDigest(kind)
        bytes.withUnsafeBytes { digest.update($0) }
        let sum = digest.finishedBytes()
        var text = [UInt8](repeating: 0, count: Base64.encodedCount(sum.count))
        text.withUnsafeMutableBytes { text in sum.withUnsafeBytes { Base64.encode($0, into: text) } }
        return "\(kind.rawValue)-\(String(decoding: text, as: UTF8.self))"
    }

    private func isBadData(_ error: ImageError?) -> Bool {
        if case .badData(let reason, _, _) = error?.first { reason.contains("integrity") } else { false }
    }

    @Test(arguments: [RunningDigest.Kind.sha256, .sha384, .sha512], [true, false])
    func onlyTheBytesThatIntegrityNamesAreTaken(_ kind: RunningDigest.Kind, _ isLarge: Bool) async throws {
        let body = isLarge ? large : picture
        let server = try LocalServer { _ in .reply(200, [:], body) }
        defer { server.stop() }
        let error = try await engine.failure(server.url("/a")) { $0.lookup.integrity = Integrity(digest([1], kind)) }
        #expect(isBadData(error))
        #expect(engine.blobs.isEmpty)
        try await eventually("nothing is left") { [engine] in engine.partials.isEmpty }
        #expect(
            try await engine.failure(server.url("/a")) {
                $0.lookup.integrity = Integrity(digest([1], kind) + " " + digest(body, kind))
            } == nil)
    }

    @Test func strongestKindCounts() throws {
        let both = try #require(Integrity(digest(picture, .sha256) + " " + digest([1], .sha512)))
        #expect(!both.allows(picture))
        #expect(try #require(Integrity(digest([1], .sha384) + "  " + digest(picture, .sha512))).allows(picture))
        #expect(try #require(Integrity(Self.empty + "?ct=x")).allows([]))
    }

    @Test(arguments: ["", " ", "sha1-AAAA", "sha256-", "sha256-AAAA", "sha256", "md5-AAAA", "sha256-47DEQpj8 x"])
    func whatIsNoIntegrityIsNone(_ text: String) { #expect(Integrity(text) == nil) }

    @Test func filesAndDataAndAlternativesAreHeldAgainstItToo() async throws {
        let good = Integrity(digest(picture))
        let bad = Integrity(digest([1]))
        let file = engine.folder.path + "/a.png"
        overwrite(file, picture)
        let data = "data:image/png;base64," + Base64Text.of(picture)
        for url in ["file://" + file, data] {
            #expect(isBadData(try await engine.failure(url) { $0.lookup.integrity = bad }), "\(url.prefix(20))")
            #expect(try await engine.failure(url) { $0.lookup.integrity = good } == nil)
            #expect(isBadData(try await engine.failure(url) { $0.lookup.integrity = bad }), "cached as it is by now")
        }
        let server = try LocalServer(routes: ["/a": .reply(200, [:], large), "/b": .reply(200, [:], picture)])
        defer { server.stop() }
        let result = try await engine.image(server.url("/a")) {
            $0.network.alternativeSources = [server.url("/b")]
            $0.lookup.integrity = good
        }
        #expect(result.record.url == server.url("/b"))
    }

    @Test(arguments: [RunningDigest.Kind.sha256, .sha512])
    func cachedBytesThatAreOthersAreLoadedAnew(_ kind: RunningDigest.Kind) async throws {
        let count = Counter()
        let server = try LocalServer { [picture, large] _ in .reply(200, [:], count.add() == 1 ? large : picture) }
        defer { server.stop() }
        _ = try await engine.image(server.url("/a"))
        let good = Integrity(digest(picture, kind))
        guard
            case .notCached = try await engine.failure(
                server.url("/a"),
                {
                    $0.lookup.integrity = good; $0.lookup.onlyFromCache = true
                })
        else {
            Issue.record("other bytes were handed out")
            return
        }
        #expect(try await engine.image(server.url("/a")) { $0.lookup.integrity = good }.record.header.width == 7)
        #expect(
            try await engine.image(server.url("/a")) { $0.lookup.integrity = good }.cacheType == .memory
                || kind == .sha512)
        #expect(server.requests.count == 2)
    }
}

/// Base64 for tests.
enum Base64Text {
    static func of(_ bytes: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: Base64.encodedCount(bytes.count))
        text.withUnsafeMutableBytes { text in bytes.withUnsafeBytes { Base64.encode($0, into: text) } }
        return String(decoding: text, as: UTF8.self)
    }
}
