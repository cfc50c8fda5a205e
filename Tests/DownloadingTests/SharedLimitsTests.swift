import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// Callers that want the same within other bounds share a download, and each is held to its own.
@Suite struct SharedLimitsTests {
    private let downloader: TestDownloader
    private let gate = Gate()
    private let picture = hollowPNG(width: 7, count: 4000)

    init() throws { downloader = try TestDownloader { $0.maxDownloadsPerHost = 8 } }

    /// What two callers differ in.
    struct Bound: Sendable, CustomTestStringConvertible {
        let name: String
        let path: String
        /// Which the answer passes.
        let strict: @Sendable (inout NetworkOptions) -> Void
        /// Which it does not pass.
        let lax: @Sendable (inout NetworkOptions) -> Void
        /// What the strict one hears.
        let error: @Sendable (_ url: String) -> ImageError
        var testDescription: String { name }
    }

    private static let bounds: [Bound] = [
        Bound(
            name: "maxBytes", path: "/a", strict: { $0.limits.maxBytes = 3999 },
            lax: { $0.limits.maxBytes = 4000 },
            error: {
                .limitExceeded(limit: "maxBytes", reason: "it is over the limit of 3999 bytes", source: $0)
            }),
        Bound(
            name: "maxBytes of an unknown length", path: "/unsaid", strict: { $0.limits.maxBytes = 3999 },
            lax: { _ in },
            error: {
                .limitExceeded(limit: "maxBytes", reason: "it is over the limit of 3999 bytes", source: $0)
            }),
        Bound(
            name: "maxRedirects", path: "/moved", strict: { $0.limits.maxRedirects = 1 },
            lax: { $0.limits.maxRedirects = 2 },
            error: {
                .limitExceeded(limit: "maxRedirects", reason: "it redirects more than 1 times", source: $0)
            }),
        Bound(
            name: "validStatusCodes", path: "/404", strict: { _ in },
            lax: { $0.limits.validStatusCodes = [404] },
            error: { .invalidStatusCode(404, url: $0) }),
        Bound(
            name: "acceptContentTypes", path: "/a", strict: { $0.limits.acceptContentTypes = ["image/webp"] },
            lax: { $0.limits.acceptContentTypes = ["image/png"] },
            error: {
                .badData(
                    reason: "The server calls it image/png, and acceptContentTypes allows only image/webp.", source: $0,
                    sample: ContentSample(contentType: "image/png"))
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

    /// - Parameter isPlain: Whether it can do without a task.
    private func caller(
        _ url: String, isPlain: Bool, _ change: @escaping @Sendable (inout NetworkOptions) -> Void
    ) -> Task<Download, any Error> {
        Task { [downloader] in try await downloader.load(url, owner: TestOwner(isPlain: isPlain), change) }
    }

    private func merged(_ count: Int) async throws {
        try await eventually("\(count) merged") { [downloader] in downloader.downloader.counts.merged == count }
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
        #expect(try await first.value.body.bytes() == picture)
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
        let first = Task { [downloader, bound] in
            try await downloader.load(url, bound.lax) { _ in begun.open() }
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
        #expect(try await first.value.body.bytes() == picture)
        #expect(server.requestCount("/a") == 1 && server.droppedCount == 0)
    }

    @Test(arguments: bounds, [true, false])
    func whoIsLaxerThanTheOneWhoBeganGetsWhatThatOneIsRefused(_ bound: Bound, isPlain: Bool) async throws {
        let server = try server()
        defer { server.stop() }
        let url = server.url(bound.path)
        let first = caller(url, isPlain: isPlain, bound.strict)
        try await eventually { server.requestCount(bound.path) == 1 }
        let others = (0..<2).map { _ in caller(url, isPlain: isPlain, bound.lax) }
        try await merged(2)
        gate.open()
        await #expect(throws: bound.error(url)) { try await first.value }
        for other in others { #expect(try await other.value.body.bytes() == picture) }
        #expect(server.requestCount(bound.path) == 1 && server.droppedCount == 0)
    }

    /// Who comes when the last one has been refused does not share the end of that one's transfer.
    @Test func whoComesAfterTheLastWasRefusedAsksAnew() async throws {
        let (rest, told) = (Gate(), Gate())
        let server = try LocalServer { [picture] _ in
            Script.head(200, [:], length: nil).raw(Array(picture.prefix(100))).opening(told).waiting(for: rest)
                .raw(Array(picture.dropFirst(100))).closing()
        }
        defer { server.stop() }
        let url = server.url("/a")
        let first = caller(url, isPlain: true) { $0.limits.maxBytes = 10 }
        await told.wait()
        let second = caller(url, isPlain: true) { _ in }
        await #expect(throws: ImageError.self) { try await first.value }
        rest.open()
        #expect(try await second.value.body.bytes() == picture)
        #expect(server.requests.count <= 2)
    }

    /// What would have failed within any bounds is not tried again.
    @Test func aFailureThatIsNoBoundsIsEverybodys() async throws {
        let server = try LocalServer { [gate] _ in
            Script.empty.waiting(for: gate).followed(by: .reply(404, [:], []))
        }
        defer { server.stop() }
        let url = server.url("/a")
        let callers = [1000, 2000, 3000].map { bytes in
            caller(url, isPlain: true) { $0.limits.maxBytes = bytes }
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
        let second = caller(url, isPlain: true) { $0.limits.maxBytes = 200 }
        await #expect(throws: ImageError.self) { try await second.value }
        #expect(!gate.isOpen)
        gate.open()
        #expect(try await first.value.body.bytes() == picture)
        #expect(server.requestCount("/begun") == 1)
    }

    @Test(arguments: ["/a", "/begun"])
    func whoIsMoreImpatientThanTheOneWhoBeganWaitsNoLonger(_ path: String) async throws {
        let server = try server()
        defer { server.stop() }
        let url = server.url(path)
        let first = caller(url, isPlain: true) { $0.limits.timeout = 600 }
        try await eventually { server.requestCount(path) == 1 }
        let second = caller(url, isPlain: true) { $0.limits.timeout = 3 }
        await #expect(throws: ImageError.timedOut(url: url, option: "timeout", seconds: 3)) {
            try await second.value
        }
        gate.open()
        #expect(try await first.value.body.bytes() == picture)
        // One of its own only where it took so long to join that the transfer had been silent for too long.
        #expect(server.requestCount(path) <= 2)
    }

    @Test func whoIsMorePatientThanTheOneWhoBeganWaitsOn() async throws {
        let server = try server()
        defer { server.stop() }
        let url = server.url("/a")
        let first = caller(url, isPlain: true) { $0.limits.timeout = 0.5 }
        try await eventually { server.requestCount("/a") == 1 }
        let second = caller(url, isPlain: true) { $0.limits.timeout = 600 }
        try await eventually { server.requestCount("/a") == 2 || downloader.downloader.counts.merged == 1 }
        await #expect(throws: ImageError.timedOut(url: url, option: "timeout", seconds: 0.5)) {
            try await first.value
        }
        gate.open()
        #expect(try await second.value.body.bytes() == picture)
        // One of its own only where the first was refused before it joined.
        #expect(server.requestCount("/a") <= 2)
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
        let patient = caller(url, isPlain: true) { $0.limits.timeout = 600 }
        try await eventually { server.requests.count == 1 }
        // The first attempt joins, unless the machine is so busy that it has been silent for too long by then.
        var second = await caller(url, isPlain: true) { $0.limits.timeout = 1 }.result
        if case .failure(let error) = second {
            #expect(error as? ImageError == .timedOut(url: url, option: "timeout", seconds: 1))
            second = await caller(url, isPlain: true) { $0.limits.timeout = 1 }.result
        }
        #expect(try second.get().body.bytes() == picture)
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
            $0.limits.validStatusCodes = [200, 503]
            if !isLarge { $0.limits.acceptContentTypes = ["image/*"] }
        }
        try await eventually { server.requests.count == 1 }
        let second = caller(url, isPlain: true) {
            if isLarge { $0.limits.maxBytes = 10 } else { $0.limits.acceptContentTypes = ["image/*"] }
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
        let downloader = try TestDownloader { $0.maxDownloadsPerHost = 1 }
        let server = try server()
        defer { server.stop() }
        let running = Task { try await downloader.load(server.url("/a")) { $0.limits.timeout = 600 } }
        try await eventually { server.requestCount("/a") == 1 }
        let first = Task { try await downloader.load(server.url("/b")) { $0.limits.timeout = 600 } }
        try await eventually { downloader.downloader.load.waiting == 1 }
        let second = Task { try await downloader.load(server.url("/b")) { $0.limits.timeout = 1 } }
        try await eventually { downloader.downloader.counts.merged == 1 }
        // Longer than its timeout.
        try await Task.sleep(for: .milliseconds(1500))
        gate.open()
        _ = try await running.value
        _ = try await first.value
        _ = try await second.value
        #expect(server.requestCount("/b") == 1)
    }

    /// What keeps the owner of a caller from beginning, say because another process is downloading the same, is its own
    /// business: another caller begins in its place.
    @Test(arguments: [true, false]) func whatKeptTheFirstFromBeginningIsNotToldToWhoShares(leaves: Bool) async throws {
        let downloader = try TestDownloader { $0.maxDownloadsPerHost = 1 }
        let server = try server()
        defer { server.stop() }
        let url = server.url("/b")
        let running = Task { try await downloader.load(server.url("/a")) }
        try await eventually { server.requestCount("/a") == 1 }
        let (busy, ready) = (TestOwner(isPlain: false, isBusy: true), TestOwner(isPlain: true))
        let first = Task { try await downloader.load(url, owner: busy) }
        try await eventually { downloader.downloader.load.waiting == 1 }
        let others = [ready, TestOwner(isPlain: true)].map { owner in
            Task { try await downloader.load(url, owner: owner) { $0.limits.maxBytes = 1 << 20 } }
        }
        try await eventually { downloader.downloader.counts.merged == 2 }
        if leaves { first.cancel() }
        gate.open()
        _ = try await running.value
        await #expect(throws: (any Error).self) { try await first.value }
        for other in others { #expect(try await other.value.body.bytes() == picture) }
        #expect(server.requestCount("/b") == 1 && downloader.downloader.counts.failed == 0)
        try await eventually { downloader.downloader.load == (0, 0, 0) }
    }

    /// One that comes as the body is complete either shares the download, or finds it noted that the body has come.
    @Test(arguments: [true, false], ["/a", "/from"])
    func bodyIsNotedBeforeNobodyMayJoin(isPlain: Bool, path: String) async throws {
        let server = try LocalServer { request in
            request.path == "/from" ? .reply(302, ["Location": "/a"], []) : .reply(200, [:], [1, 2, 3])
        }
        defer { server.stop() }
        let request = try downloader.request(server.url(path))
        let (late, has) = AsyncStream.makeStream(of: Int?.self)
        let owner = TestOwner(isPlain: isPlain) { [downloader] in
            _ = downloader.downloader.start(request, priority: CallPriority(0.5), report: nil, owner: nil) { result in
                has.yield(try? result.get().body.count)
                has.finish()
            }
        }
        #expect(try await downloader.load(server.url(path), owner: owner).body.count == 3)
        for await count in late { #expect(count == 3) }
        #expect(server.requests.count { $0.path == "/a" } == 1)
    }

    /// When nobody else shares it, nobody begins.
    @Test func whatKeepsTheOnlyOneFromBeginningEndsTheDownload() async throws {
        let server = try server()
        defer { server.stop() }
        let busy = TestOwner(isPlain: false, isBusy: true)
        await #expect(throws: TestOwner.Busy.self) { try await downloader.load(server.url("/b"), owner: busy) }
        #expect(server.requests.isEmpty && downloader.downloader.load == (0, 0, 0))
    }

    /// The callers' own questions and loads are no bounds.
    @Test func whatIsSentToOtherPlacesOrJudgedByAnotherIsNotShared() throws {
        func sharing(_ change: (inout NetworkOptions) -> Void) throws -> DownloadRequest.Sent {
            try downloader.request("http://h/a", change).sent
        }
        let plain = try sharing { _ in }
        #expect(try plain == sharing { $0.limits.maxBytes = 7 })
        #expect(try plain == sharing { $0.dataModifier = .base64 })
        #expect(try plain != sharing { $0.merges = false })
        #expect(try plain != sharing { $0.transfer.redirect = .sameOrigin })
        #expect(try plain == sharing { $0.limits.validStatusCodes = [200] })
        #expect(
            try plain != sharing { $0.limits.validStatusCodes = [200, 401] },
            "credentials are not sent to a challenge")
        #expect(try plain != sharing { $0.request.headers = ["a": "b"] })
        let delegates = DownloadDelegates(TestDelegate(), questions: [.validateStatus])
        #expect(try plain != sharing { $0.delegates = delegates })
        #expect(try sharing { $0.delegates = delegates } == sharing { $0.delegates = delegates })
        #expect(
            try sharing { $0.delegates = delegates }
                != sharing {
                    $0.delegates = delegates
                    $0.limits.maxBytes = 7
                })
    }
}

/// One that starts downloads for tests.
final class TestOwner: DownloadOwner {
    struct Busy: Error {}

    private let isPlain: Bool
    private let isBusy: Bool
    private let onBody: Once<@Sendable () -> Void>

    /// - Parameters:
    ///   - isPlain: Whether it is prepared without waiting.
    ///   - isBusy: Whether it does not get to begin.
    ///   - onBody: Called once when the body is noted.
    init(isPlain: Bool, isBusy: Bool = false, onBody: @escaping @Sendable () -> Void = {}) {
        (self.isPlain, self.isBusy, self.onBody) = (isPlain, isBusy, Once(onBody))
    }

    func prepareAtOnce() -> Bool { isPlain }
    func prepare() async throws { if isBusy { throw Busy() } }
    func noteProgress() {}
    func noteBody() { onBody.take()?() }
    func noteChange(at url: String, isAnswer: Bool) {}
}
