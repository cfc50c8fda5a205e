import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Callers that want the same within other bounds share a download, and each is held to its own.
@Suite struct SharedLimitsTests {
    private let engine: TestEngine
    private let gate = Gate()
    private let picture = hollowPNG(width: 7, count: 4000)

    init() throws { engine = try TestEngine { $0.downloader.maxDownloadsPerHost = 8 } }

    /// What two callers differ in.
    struct Bound: Sendable, CustomTestStringConvertible {
        let name: String
        let path: String
        /// Which the answer passes.
        let strict: @Sendable (inout ImageOptions.Fields) -> Void
        /// Which it does not pass.
        let lax: @Sendable (inout ImageOptions.Fields) -> Void
        /// What the strict one hears.
        let error: @Sendable (_ url: String) -> ImageError
        var testDescription: String { name }
    }

    private static let bounds: [Bound] = [
        Bound(
            name: "maxBytes", path: "/a", strict: { $0.network.limits.maxBytes = 3999 },
            lax: { $0.network.limits.maxBytes = 4000 },
            error: {
                .limitExceeded(limit: "maxBytes", reason: "it is over the limit of 3999 bytes", source: $0)
            }),
        Bound(
            name: "maxBytes of an unknown length", path: "/unsaid", strict: { $0.network.limits.maxBytes = 3999 },
            lax: { _ in },
            error: {
                .limitExceeded(limit: "maxBytes", reason: "it is over the limit of 3999 bytes", source: $0)
            }),
        Bound(
            name: "maxRedirects", path: "/moved", strict: { $0.network.limits.maxRedirects = 1 },
            lax: { $0.network.limits.maxRedirects = 2 },
            error: {
                .limitExceeded(limit: "maxRedirects", reason: "it redirects more than 1 times", source: $0)
            }),
        Bound(
            name: "validStatusCodes", path: "/404", strict: { _ in },
            lax: { $0.network.limits.validStatusCodes = [404] },
            error: { .invalidStatusCode(404, url: $0) }),
        Bound(
            name: "acceptContentTypes", path: "/a", strict: { $0.network.limits.acceptContentTypes = ["image/webp"] },
            lax: { $0.network.limits.acceptContentTypes = ["image/png"] },
            error: {
                .badData(
                    reason: "The server calls it image/png, and acceptContentTypes allows only image/webp.", source: $0,
                    sample: ContentSample([], contentType: "image/png"))
            }),
    ]

    private func server() throws -> LocalServer {
        let type = ["Content-Type": "image/png"]
        let length = ["Content-Length": "\(picture.count)"]
        return try LocalServer(routes: [
            "/a": Script.empty.waiting(for: gate).followed(by: .reply(200, type, picture)),
            "/404": Script.empty.waiting(for: gate).followed(by: .reply(404, type, picture)),
            "/unsaid": Script.empty.waiting(for: gate).followed(
                by: .head(200, type.merging(["Connection": "close"]) { $1 }, length: nil).raw(picture).closing()),
            "/moved": Script.empty.waiting(for: gate).followed(by: .redirect(to: "/again")),
            "/again": .redirect(to: "/b"), "/b": .reply(200, type, picture),
            "/begun": Script.head(200, length, length: nil).raw(Array(picture.prefix(100))).waiting(for: gate)
                .raw(Array(picture.dropFirst(100))),
        ])
    }

    private func caller(
        _ url: String, isPlain: Bool, _ change: @escaping @Sendable (inout ImageOptions.Fields) -> Void
    ) -> Task<ImageResult, any Error> {
        Task { [engine] in
            try await engine.image(url, bytes: true) {
                // Whatever is not plain goes its way in a task.
                if !isPlain { $0.lookup.revalidate = .http }
                $0.change(change)
            }
        }
    }

    private func merged(_ count: Int) async throws {
        try await eventually("\(count) merged") { [engine] in engine.manager.statistics.merged == count }
    }

    @Test(arguments: bounds, [true, false])
    func whoIsStricterThanTheOneWhoBeganIsRefusedAndAsksNotAgain(_ bound: Bound, isPlain: Bool) async throws {
        let server = try server()
        defer { server.stop() }
        let url = server.url(bound.path)
        let first = caller(url, isPlain: isPlain, bound.lax)
        try await eventually { server.requestCount(bound.path) == 1 }
        let second = caller(url, isPlain: isPlain, bound.strict)
        try await merged(1)
        gate.open()
        #expect(try await first.value.bytes == picture)
        await #expect(throws: bound.error(url)) { try await second.value }
        #expect(server.requestCount(bound.path) == 1)
        #expect(server.droppedCount == 0)
    }

    /// The body is held back until all have heard.
    @Test(arguments: ["maxBytes", "maxRedirects", "validStatusCodes", "acceptContentTypes"], [true, false])
    func whoIsStricterHearsAsSoonAsTheHeadTells(name: String, joinsLate: Bool) async throws {
        let bound = try #require(Self.bounds.first { $0.name == name })
        let (rest, status) = (Gate(), name == "validStatusCodes" ? 404 : 200)
        let held = Script.head(status, ["Content-Type": "image/png"], length: picture.count)
            .raw(Array(picture.prefix(100))).waiting(for: rest).raw(Array(picture.dropFirst(100)))
        let server = try LocalServer(routes: [
            "/a": Script.empty.waiting(for: gate)
                .followed(by: name == "maxRedirects" ? .redirect(to: "/b") : held),
            "/b": .redirect(to: "/c"), "/c": held,
        ])
        defer { server.stop() }
        let url = server.url("/a")
        let begun = Gate()
        let first = Task { [engine, bound] in
            try await engine.image(url, bytes: true) {
                $0.change(bound.lax)
            } report: { _ in
                begun.open()
            }
        }
        try await eventually { server.requestCount("/a") == 1 }
        if joinsLate {
            gate.open()
            await begun.wait()
        }
        let second = caller(url, isPlain: true, bound.strict)
        if !joinsLate {
            try await merged(1)
            gate.open()
        }
        await #expect(throws: bound.error(url)) { try await second.value }
        rest.open()
        #expect(try await first.value.bytes == picture)
        #expect(server.requestCount("/a") == 1 && server.droppedCount == 0)
    }

    @Test(arguments: bounds, [true, false])
    func whoIsLaxerThanTheOneWhoBeganAsksAnew(_ bound: Bound, isPlain: Bool) async throws {
        let server = try server()
        defer { server.stop() }
        let url = server.url(bound.path)
        let first = caller(url, isPlain: isPlain, bound.strict)
        try await eventually { server.requestCount(bound.path) == 1 }
        let others = (0..<2).map { _ in caller(url, isPlain: isPlain, bound.lax) }
        try await merged(2)
        gate.open()
        await #expect(throws: bound.error(url)) { try await first.value }
        for other in others { #expect(try await other.value.bytes == picture) }
        #expect(server.requestCount(bound.path) == 2, "the two share the second")
    }

    /// What would have failed within any bounds is not tried again.
    @Test func aFailureThatIsNoBoundsIsEverybodys() async throws {
        let server = try LocalServer { [gate] _ in
            Script.empty.waiting(for: gate).followed(by: .reply(404, [:], []))
        }
        defer { server.stop() }
        let url = server.url("/a")
        let callers = [1000, 2000, 3000].map { bytes in
            caller(url, isPlain: true) { $0.network.limits.maxBytes = bytes }
        }
        try await merged(2)
        gate.open()
        for caller in callers {
            await #expect(throws: ImageError.invalidStatusCode(404, url: url)) { try await caller.value }
        }
        #expect(server.requests.count == 1)
    }

    /// The length is known before anything of it has come: nobody waits for the rest of what he may not have.
    @Test func whoMayNotHaveItAllLeavesAsSoonAsThatIsKnown() async throws {
        let server = try server()
        defer {
            gate.open()
            server.stop()
        }
        let url = server.url("/begun")
        let first = caller(url, isPlain: true) { _ in }
        try await eventually { server.requestCount("/begun") == 1 }
        let second = caller(url, isPlain: true) { $0.network.limits.maxBytes = 200 }
        await #expect(throws: ImageError.self) { try await second.value }
        #expect(!gate.isOpen)
        gate.open()
        #expect(try await first.value.bytes == picture)
        #expect(server.requestCount("/begun") == 1)
    }

    @Test(arguments: ["/a", "/begun"])
    func whoIsMoreImpatientThanTheOneWhoBeganWaitsNoLonger(_ path: String) async throws {
        let server = try server()
        defer { server.stop() }
        let url = server.url(path)
        let first = caller(url, isPlain: true) { $0.network.limits.timeout = 600 }
        try await eventually { server.requestCount(path) == 1 }
        let second = caller(url, isPlain: true) { $0.network.limits.timeout = 3 }
        await #expect(throws: ImageError.timedOut(url: url, option: "timeout", seconds: 3)) {
            try await second.value
        }
        gate.open()
        #expect(try await first.value.bytes == picture)
        // One of its own only where it took so long to join that the transfer had been silent for too long.
        #expect(server.requestCount(path) <= 2)
    }

    @Test func whoIsMorePatientThanTheOneWhoBeganAsksAnew() async throws {
        let server = try server()
        defer { server.stop() }
        let url = server.url("/a")
        let first = caller(url, isPlain: true) { $0.network.limits.timeout = 0.5 }
        try await eventually { server.requestCount("/a") == 1 }
        let second = caller(url, isPlain: true) { $0.network.limits.timeout = 600 }
        await #expect(throws: ImageError.timedOut(url: url, option: "timeout", seconds: 0.5)) {
            try await first.value
        }
        try await eventually { server.requestCount("/a") == 2 }
        gate.open()
        #expect(try await second.value.bytes == picture)
        #expect(server.requestCount("/a") == 2)
    }

    /// Whose transfer hangs hangs for himself: neither a retry nor who comes later joins it.
    @Test func whatHasBeenSilentForTooLongIsNotJoined() async throws {
        let hung = Gate()
        let server = try LocalServer { [picture] request in
            request.headers["x"] == nil && !hung.isOpen
                ? Script.empty.opening(hung).waiting(for: Gate()) : .reply(200, [:], picture)
        }
        defer { server.stop() }
        let url = server.url("/a")
        let patient = caller(url, isPlain: true) { $0.network.limits.timeout = 600 }
        try await eventually { server.requests.count == 1 }
        let second = caller(url, isPlain: true) {
            $0.network.limits.timeout = 1
            $0.network.retry = RetryStrategy(maxRetries: 1, interval: .seconds(0))
        }
        #expect(try await second.value.bytes == picture)
        #expect(server.requests.count == 2 && server.droppedCount == 0)
        patient.cancel()
        await #expect(throws: CancellationError.self) { try await patient.value }
    }

    /// The status of an answer comes before its type and its size.
    @Test(arguments: [true, false])
    func aHeadIsJudgedByTheStatusFirst(_ isLarge: Bool) async throws {
        let server = try LocalServer { [gate, picture] _ in
            Script.empty.waiting(for: gate).followed(by: .reply(503, ["Content-Type": "text/html"], picture))
        }
        defer { server.stop() }
        let url = server.url("/a")
        let first = caller(url, isPlain: true) {
            $0.network.limits.validStatusCodes = [200, 503]
            if !isLarge { $0.network.limits.acceptContentTypes = ["image/*"] }
        }
        try await eventually { server.requests.count == 1 }
        let second = caller(url, isPlain: true) {
            if isLarge { $0.network.limits.maxBytes = 10 } else { $0.network.limits.acceptContentTypes = ["image/*"] }
        }
        try await merged(1)
        gate.open()
        if isLarge {
            _ = try await first.value
        } else {
            await #expect(throws: ImageError.self) { try await first.value }
        }
        await #expect(throws: ImageError.invalidStatusCode(503, url: url)) { try await second.value }
    }

    /// A download that waits for its turn keeps nobody's time.
    @Test func theTimeoutOfWhoSharesBeginsWithTheTransfer() async throws {
        let engine = try TestEngine { $0.downloader.maxDownloadsPerHost = 1 }
        let server = try server()
        defer { server.stop() }
        let running = Task { try await engine.image(server.url("/a")) { $0.network.limits.timeout = 600 } }
        try await eventually { server.requestCount("/a") == 1 }
        let first = Task { try await engine.image(server.url("/b")) { $0.network.limits.timeout = 600 } }
        try await eventually { engine.manager.downloader.load.waiting == 1 }
        let second = Task { try await engine.image(server.url("/b")) { $0.network.limits.timeout = 1 } }
        try await eventually { engine.manager.statistics.merged == 1 }
        // Longer than its timeout.
        try await Task.sleep(for: .milliseconds(1500))
        gate.open()
        _ = try await running.value
        _ = try await first.value
        _ = try await second.value
        #expect(server.requestCount("/b") == 1)
    }

    /// A hooks that was called off, say because another process is downloading the same, is its own caller's business.
    @Test func whatKeptTheFirstFromBeginningIsNotToldToWhoShares() throws {
        let request = try DownloadRequest(url: "http://h/a", options: NetworkOptions())
        let (first, other) = (TransferWaiter(request), TransferWaiter(request))
        first.setStarter()
        #expect(throws: FetchJob.Interruption.isBusy) {
            try first.outcome(of: .failure(FetchJob.Interruption.isBusy))
        }
        #expect(throws: ImageDownloader.EndedForAnother.self) {
            try other.outcome(of: .failure(FetchJob.Interruption.isBusy))
        }
        #expect(throws: CancellationError.self) { try other.outcome(of: .failure(CancellationError())) }
        #expect(throws: ImageError.notModified(url: "u")) {
            try other.outcome(of: .failure(ImageError.notModified(url: "u")))
        }
    }

    /// The callers' own questions and loads are no bounds.
    @Test func whatIsSentToOtherPlacesOrJudgedByAnotherIsNotShared() throws {
        func sharing(_ change: (inout ImageOptions.Fields) -> Void) throws -> ImageDownloader.Sharing {
            ImageDownloader.Sharing(
                try DownloadRequest(url: "http://h/a", options: ImageOptions { $0.change(change) }.network))
        }
        let plain = try sharing { _ in }
        #expect(try plain == sharing { $0.network.limits.maxBytes = 7 })
        #expect(try plain == sharing { $0.network.dataModifier = .base64 })
        #expect(try plain != sharing { $0.network.merges = false })
        #expect(try plain != sharing { $0.network.transfer.redirect = .sameOrigin })
        #expect(try plain == sharing { $0.network.limits.validStatusCodes = [200] })
        #expect(
            try plain != sharing { $0.network.limits.validStatusCodes = [200, 401] },
            "credentials are not sent to a challenge")
        #expect(try plain != sharing { $0.network.request.headers = ["a": "b"] })
        let delegates = DownloadDelegates(TestDelegate(), questions: [.validateStatus])
        #expect(try plain != sharing { $0.network.delegates = delegates })
        #expect(try sharing { $0.network.delegates = delegates } == sharing { $0.network.delegates = delegates })
        #expect(
            try sharing { $0.network.delegates = delegates }
                != sharing {
                    $0.network.delegates = delegates
                    $0.network.limits.maxBytes = 7
                })
    }
}

/// How one who only looks now and then judges the pace of a transfer.
@Suite struct SharedPaceTests {
    private let second = 1_000_000_000

    private func pace(_ timeout: Double, _ minBytesPerSecond: Double = 0, isRunning: Bool = true) -> SharedPace {
        var limits = DownloadLimits()
        (limits.timeout, limits.minBytesPerSecond) = (timeout, minBytesPerSecond)
        return SharedPace(limits, .init(isRunning: isRunning, starts: 1, bytes: 100), now: 0)
    }

    @Test func silenceOfATimeoutEndsIt() {
        var pace = pace(10)
        #expect(pace.look(.init(starts: 1, bytes: 100), at: 9 * second) == nil)
        #expect(pace.look(.init(starts: 1, bytes: 101), at: 9 * second) == nil)
        #expect(pace.look(.init(starts: 1, bytes: 101), at: 18 * second) == nil)
        let verdict = pace.look(.init(starts: 1, bytes: 101), at: 19 * second)
        #expect(verdict?.option == "timeout" && verdict?.seconds == 10)
    }

    @Test(arguments: [true, false]) func whatDoesNotRunMayTakeItsTime(_ isRunning: Bool) {
        var pace = pace(10, isRunning: isRunning)
        #expect(pace.look(.init(isRunning: false, starts: 1, bytes: 100), at: second) == nil)
        #expect(pace.look(.init(isRunning: false, starts: 1, bytes: 100), at: 100 * second) == nil)
        #expect(pace.look(.init(starts: 2, bytes: 100), at: 101 * second) == nil)
        #expect(pace.look(.init(starts: 2, bytes: 100), at: 110 * second) == nil)
        #expect(pace.look(.init(starts: 2, bytes: 100), at: 111 * second)?.option == "timeout")
    }

    @Test func aWaitBetweenTwoLooksIsNotItsServers() {
        var pace = pace(10)
        #expect(pace.look(.init(starts: 2, bytes: 100), at: 10 * second) == nil)
        #expect(pace.look(.init(starts: 2, bytes: 100), at: 20 * second)?.option == "timeout")
    }

    @Test func aDripOfTwoTimeoutsEndsIt() {
        var pace = pace(10, 100)
        for time in 1..<20 { #expect(pace.look(.init(starts: 1, bytes: 100 + time), at: time * second) == nil) }
        let verdict = pace.look(.init(starts: 1, bytes: 120), at: 20 * second)
        #expect(verdict?.option == "minBytesPerSecond" && verdict?.seconds == 20)
    }

    @Test func aPulseTellsForHowLongItsServerHasSaidNothing() {
        let pulse = TransferActivity()
        #expect(pulse.silence(at: 9) == 0, "it has not begun")
        pulse.start(at: 10)
        #expect(pulse.silence(at: 15) == 5)
        pulse.received(3, at: 20)
        #expect(pulse.silence(at: 21) == 1 && pulse.state == .init(starts: 1, bytes: 3))
        pulse.stop()
        #expect(pulse.silence(at: 99) == 0, "it waits for somebody else")
    }
}
