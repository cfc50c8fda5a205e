import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What a server may answer, and what becomes of it.
@Suite struct ResponseTests {
    private let engine: TestEngine
    private static let picture = hollowPNG(width: 7, count: 400)
    private static let large = hollowPNG(width: 8, count: 1 << 20)

    private var picture: [UInt8] { Self.picture }
    private var large: [UInt8] { Self.large }

    init() throws { engine = try TestEngine() }

    /// What one scripted answer leads to; nothing may be left on disk when it is an error.
    private func failure(
        _ script: Script, _ change: (inout ImageOptions) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ImageError? {
        let server = try LocalServer { _ in script }
        defer { server.stop() }
        let error = try await engine.failure(server.url("/a"), change)
        if error != nil {
            #expect(engine.blobs.isEmpty, sourceLocation: sourceLocation)
            try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
            let found = try engine.cache.cacheType(for: CacheKey(server.url("/a")), burst: 0, mayWait: true).value
            #expect(found == nil, sourceLocation: sourceLocation)
        }
        return error
    }

    private func isBadData(_ error: ImageError?) -> Bool {
        if case .badData = error { true } else { false }
    }

    private func isConnectionFailed(_ error: ImageError?) -> Bool {
        if case .connectionFailed = error { true } else { false }
    }

    private func limit(_ error: ImageError?) -> String? {
        if case .limitExceeded(let limit, _, _) = error { limit } else { nil }
    }

    @Test(
        arguments: [
            (404, nil, false), (500, nil, false), (199, nil, false), (206, nil, false), (400, nil, false),
            (200, nil, true),
            (201, nil, true), (226, nil, true), (300, nil, true), (399, nil, true), (404, [404], true),
            (201, [200], false), (206, [206], true),
            (200, [], false),
            (304, [304], true),
        ] as [(Int, Set<Int>?, Bool)])
    func statusDecidesBeforeTheBody(_ status: Int, _ valid: Set<Int>?, _ isAccepted: Bool) async throws {
        let server = try LocalServer { [picture] _ in .reply(status, [:], status == 304 ? [] : picture) }
        defer { server.stop() }
        let error = try await engine.failure(server.url("/a")) { $0.network.limits.validStatusCodes = valid }
        if status == 199 {
            #expect(error != nil, "an answer that never becomes final")
        } else if status == 304 {
            #expect(isBadData(error), "accepted, but there is no body")
        } else {
            #expect(error == (isAccepted ? nil : .invalidStatusCode(status, url: server.url("/a"))))
        }
        #expect(engine.blobs.count == (isAccepted && status != 304 ? 1 : 0))
    }

    @Test func notModifiedWithoutAQuestionIsAnErrorOfItsOwn() async throws {
        guard case .notModified = try await failure(.reply(304, [:], [])) else {
            Issue.record("a 304 without a validator passed")
            return
        }
    }

    /// The error shows what came instead.
    @Test(
        arguments: [
            ("<!DOCTYPE html><html>", "text/html"), ("  \n<HTML>", "text/html"), ("{\"error\":1}", "application/json"),
            ("<?xml version=\"1.0\"?><a/>", "text/xml"), ("%PDF-1.7", "application/pdf"), ("hello", "text/plain"),
            ("GIF89a", "image/gif"), ("a\u{0}b", "application/octet-stream"),
        ])
    func errorShowsHowTheBytesBegin(_ text: String, _ type: String) async throws {
        for count in [0, 600_000] {
            let body = Array(text.utf8) + [UInt8](repeating: 0x20, count: count)
            guard
                case .badData(_, _, let sample?) = try await failure(.reply(200, ["Content-Type": "image/png"], body))
            else {
                Issue.record("there is no sample")
                continue
            }
            #expect(sample.type == type && sample.firstBytes == Array(body.prefix(32)))
            #expect(sample.contentType == "image/png")
        }
    }

    @Test(arguments: [200, 203, 204, 205])
    func answerWithoutABodySaysThatItHasNone(_ status: Int) async throws {
        guard case .badData("It is empty.", _, _) = try await failure(.reply(status, [:], [])) else {
            Issue.record("something else is said of \(status)")
            return
        }
    }

    /// By default the bytes decide; who wants it otherwise says so.
    @Test(
        arguments: [
            (nil, "text/html", true), (["image/*"], "text/html", false), (["image/*"], "Image/PNG; q=1", true),
            (["image/jpeg"], "image/png", false), (["*/*"], "text/html", true), ([], "image/png", false),
            (["image/jpeg"], nil, true),
        ] as [(Set<String>?, String?, Bool)])
    func typeThatTheServerNamesMayDecide(_ types: Set<String>?, _ type: String?, _ isAccepted: Bool) async throws {
        var headers: [String: String] = [:]
        headers["Content-Type"] = type
        let error = try await failure(.reply(200, headers, picture)) { $0.network.limits.acceptContentTypes = types }
        #expect(isAccepted ? error == nil : isBadData(error))
        if case .badData(let reason, _, let sample) = error {
            #expect(reason.contains("acceptContentTypes") && sample?.contentType == type)
        }
    }

    @Test func namesOfAFormatAreNoContradiction() {
        #expect(ImageFormat.jpeg.mayBeCalled("image/JPG; charset=binary"))
        for format in ImageFormat.allCases {
            #expect(format.mayBeCalled(format.mimeType) && format.mayBeCalled("application/octet-stream"))
            #expect(!format.mayBeCalled("text/html") && format.mayBeCalled(""))
        }
        #expect(!ImageFormat.png.mayBeCalled("image/jpeg"))
    }

    @Test func bodyThatIsNoPictureIsBadDataAndNotCached() async throws {
        let bodies =
            try ["broken/html-page.jpg", "broken/json-body.png", "broken/random.bin", "broken/empty.png"]
            .map(Fixtures.bytes) + [Fixtures.bytes("broken/truncated.png"), zeros(1 << 20)]
        for body in bodies {
            let error = try await failure(.reply(200, ["Content-Type": "image/png"], body))
            #expect(isBadData(error), "\(body.prefix(20)): \(String(describing: error))")
        }
    }

    @Test func serverThatRecoversIsAskedAgain() async throws {
        let count = Counter()
        let server = try LocalServer { [picture] _ in
            count.add() == 1 ? .reply(200, ["Content-Type": "text/html"], ascii("<html>")) : .reply(200, [:], picture)
        }
        defer { server.stop() }
        let first = try await engine.failure(server.url("/a"))
        #expect(isBadData(first))
        #expect(first?.description.contains("text/html") == true, "it tells what the server called it")
        #expect(try await engine.image(server.url("/a")).record.header.width == 7)
    }

    @Test func truncatedBodyIsAConnectionFailureAndLeavesNothing() async throws {
        for body in [picture, large] {
            let half = Array(body.prefix(body.count * 2 / 3))
            for script in [
                Script.head(200, length: body.count).raw(half).closing(),
                Script.head(200, length: body.count).raw(half).resetting(),
                Script.empty.raw(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(String(body.count, radix: 16))\r\n"
                )
                .raw(half).closing(),
            ] {
                let error = try await failure(script)
                #expect(isConnectionFailed(error), "\(String(describing: error))")
            }
        }
        #expect(isConnectionFailed(try await failure(Script.empty.closing())))
        #expect(isConnectionFailed(try await failure(Script.empty.raw("HTTP/1.1 200 OK\r\nContent-").closing())))
    }

    /// A picture without a length ends with the connection; its own structure tells whether it is whole.
    @Test func bodyWithoutALengthIsJudgedByItsStructure() async throws {
        let cut = try await failure(Script.head(200, length: nil).raw(Array(picture.dropLast(5))).closing())
        #expect(isBadData(cut))
        #expect(try await failure(Script.head(200, length: nil).raw(picture).closing()) == nil)
    }

    /// What a server says without being asked is no answer to the next request.
    @Test func answerThatNobodyAskedForIsNotTakenForTheNextOne() async throws {
        let poison = hollowPNG(width: 9, count: 400)
        let (ask, said) = (Gate(), Gate())
        let server = try LocalServer { [picture] request in
            let reply = Script.reply(200, [:], picture)
            guard request.path == "/first" else { return reply }
            return reply.waiting(for: ask).followed(by: .reply(200, [:], poison)).opening(said)
        }
        defer { server.stop() }
        #expect(try await engine.image(server.url("/first"), bytes: true).bytes == picture)
        ask.open()
        try await eventually("it has been said") { said.isOpen }
        for number in 0..<3 {
            #expect(try await engine.image(server.url("/\(number)"), bytes: true).bytes == picture)
        }
        #expect(server.connectionCount == 2)
    }

    @Test func bodyOverTheLimitIsRefusedByItsHeadAndWhileItStreams() async throws {
        let gate = Gate()
        defer { gate.open() }
        let byHead = try await failure(Script.head(200, length: 1001).raw(zeros(1)).waiting(for: gate)) {
            $0.network.limits.maxBytes = 1000
        }
        #expect(limit(byHead) == "maxBytes", "the body never came")
        let streaming = try await failure(Script.head(200, length: nil).raw(large).waiting(for: gate)) {
            $0.network.limits.maxBytes = 1 << 19
        }
        #expect(limit(streaming) == "maxBytes")
        #expect(
            try await failure(.reply(200, [:], picture)) { $0.network.limits.maxBytes = 400 } == nil,
            "the limit itself is allowed")
    }

    /// The key of an image is its URL as given, so that what was stored under it is found however it is sent.
    @Test func urlIsSentPercentEncodedAndTheImageIsFoundByTheURLAsGiven() async throws {
        let server = try LocalServer { [picture] _ in .reply(200, ["ETag": "\"1\""], picture) }
        defer { server.stop() }
        let url = server.url("/{a}/\u{FC}|'?q=\"<>\\^`")
        let sent = "/%7Ba%7D/%C3%BC|'?q=%22%3C%3E%5C%5E%60"
        let image = try await engine.image(url)
        #expect(server.requests.map(\.path) == [sent] && image.record.key.key == url)
        #expect(image.record.url == server.url(sent), "it is what answered")
        #expect(try await engine.image(url).cacheType != .none)
        let checked = try await engine.image(url) { $0.lookup.revalidate = .always }
        #expect(checked.record.key.key == url && server.requests.last?.headers["if-none-match"] == "\"1\"")
        #expect(try await engine.image(server.url(sent)).cacheType == .none, "that is another key")
    }

    /// Or it would keep the thread busy that all downloads share.
    @Test func bodyInChunksOfAByteIsGatheredAndToldOfTogether() async throws {
        let body = hollowPNG(width: 7, count: 400_000)
        var chunks = body.flatMap { [0x31, 0x0D, 0x0A, $0, 0x0D, 0x0A] as [UInt8] }
        chunks += ascii("0\r\n\r\n")
        let server = try LocalServer { [chunks] _ in
            Script.head(200, ["Transfer-Encoding": "chunked"], length: nil).raw(chunks)
        }
        defer { server.stop() }
        let reports = Gathered<DownloadProgress>()
        let image = try await engine.image(server.url("/a"), bytes: true, report: { reports.add($0) })
        #expect(image.bytes == body && image.record.checksum == body.withUnsafeBytes { Digest(of: $0) })
        #expect(reports.all.last?.received == body.count && reports.all.count < body.count / 100)
        #expect(zip(reports.all, reports.all.dropFirst()).allSatisfy { $0.received < $1.received })
    }

    /// libcurl would take two million of them at once, and all downloads share a thread.
    @Test func ofABodyInChunksOfAByteOnlySomeAreTakenAtOnce() async throws {
        let size = 1 << 20
        let chunks = [UInt8](repeating: 0x61, count: 1 << 16).flatMap { [0x31, 0x0D, 0x0A, $0, 0x0D, 0x0A] as [UInt8] }
        var script = Script.head(200, ["Transfer-Encoding": "chunked"], length: nil)
        for _ in 0..<(size >> 16) { script = script.raw(chunks) }
        let hostile = try LocalServer { [script] _ in script.raw("0\r\n\r\n") }
        defer { hostile.stop() }
        let server = try LocalServer(host: 2) { [picture] _ in .reply(200, [:], picture) }
        defer { server.stop() }
        let received = Gathered<Int>()
        let engine = engine
        async let error = failure(hostile.url("/a"), on: engine) { received.add($0.received) }
        try await eventually("it comes") { !received.all.isEmpty }
        _ = try await engine.image(server.url("/b"))
        #expect(isBadData(try await error))
        // A report comes once a turn.
        let turns = zip([0] + received.all, received.all).map { $1 - $0 }
        #expect(received.all.last == size && (turns.max() ?? 0) < 100_000)
    }

    private func failure(
        _ url: String, on engine: TestEngine, report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> ImageError? {
        do {
            _ = try await engine.image(url, report: report)
            return nil
        } catch let error as ImageError { return error }
    }

    /// RFC 9112, 7: nobody has asked for it by `TE`.
    @Test func compressedTransferIsBadData() async throws {
        let packed: [UInt8] = [0x1F, 0x8B]
        let error = try await failure(
            Script.head(200, ["Transfer-Encoding": "gzip, chunked"], length: nil).raw("2\r\n").raw(packed).raw(
                "\r\n0\r\n\r\n"))
        #expect(isBadData(error))
    }

    @Test func whatIsWrongWithTheAnswerIsTold() async throws {
        let chunked = Script.head(200, ["Transfer-Encoding": "chunked"], length: nil)
        let bad = try await failure(chunked.raw("zz\r\n"))
        #expect(
            isConnectionFailed(bad) && bad?.description.contains("not well-formed HTTP: ") == true,
            "\(String(describing: bad))")
        let folded = try await failure(Script.empty.raw("HTTP/1.1 200 OK\r\n folded: x\r\n\r\n").closing())
        #expect(folded?.description.contains("not well-formed HTTP") == true, "\(String(describing: folded))")
    }

    @Test func endlessHeadersAreRefused() async throws {
        let line = "X-Filler: " + String(repeating: "x", count: 1000) + "\r\n"
        let head = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 400)
        #expect(limit(try await failure(Script.empty.raw(head).closing())) == "headerBytes")
    }

    /// libcurl refuses a line before we see it, and as if there were no memory.
    @Test func oneHeaderLineThatIsTooLongIsALimitTooAndNotTriedAgain() async throws {
        let line = "X-Long: " + String(repeating: "x", count: 150 << 10)
        let heads = [
            "HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 \(line)\r\nContent-Length: 0\r\n\r\n",
        ]
        for head in heads {
            let error = try await failure(Script.empty.raw(head).closing())
            #expect(limit(error) == "headerBytes")
            #expect(error?.isRetryable == false)
            #expect(error?.description.contains("raise") == false, "no option raises it")
        }
    }

    @Test(arguments: [false, true])
    func largeBodyGoesThroughAFileAndNoneIsLeft(_ needsBytes: Bool) async throws {
        let server = try LocalServer { [large] _ in .reply(200, ["ETag": "\"1\"", "Last-Modified": "then"], large) }
        defer { server.stop() }
        let result = try await engine.image(server.url("/a"), bytes: needsBytes)
        #expect(result.bytes == (needsBytes ? large : nil))
        let path = try #require(result.record.path)
        #expect(try Files.read(path, followsLinks: false) == large)
        #expect(result.record.etag == "\"1\"" && result.record.lastModified == "then")
        #expect(engine.blobs.count == 1)
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
        #expect(try engine.cache.sizes().disk.bytes == large.count)
        #expect(engine.manager.statistics.downloadedBytes == large.count)
    }

    @Test func cacheThatCannotBeWrittenFailsClearlyAndYetHandsOutWhatItCan() async throws {
        let server = try LocalServer { [large, picture] request in
            .reply(200, [:], request.path == "/large" ? large : picture)
        }
        defer { server.stop() }
        let blocked = try TestEngine()
        overwrite(blocked.folder.path + "/cache", [1])
        for path in ["/small", "/large"] {
            let failure = try await blocked.failure(server.url(path))
            guard case .notStored(.diskFailed, .storageFailed(_, let hint, _)) = failure else {
                Issue.record("\(path) did not fail with storageFailed")
                continue
            }
            #expect(!hint.isEmpty)
        }
        let result = try await blocked.image(server.url("/small"), bytes: true)
        #expect(result.bytes == picture && result.record.path == nil, "the download was not in vain")
        let memoryOnly = try await blocked.image(server.url("/other")) { $0.storage.cacheMemoryOnly = true }
        #expect(memoryOnly.record.path == nil)
    }

    @Test func silentServerTimesOut() async throws {
        let gate = Gate()
        defer { gate.open() }
        for script in [
            Script.empty.waiting(for: gate), Script.head(200, length: 400).waiting(for: gate),
            Script.head(200, length: 400).raw(Array(picture.prefix(200))).waiting(for: gate),
        ] {
            guard case .timedOut(_, "timeout", 0.2) = try await failure(script, { $0.network.limits.timeout = 0.2 })
            else {
                Issue.record("no timeout")
                continue
            }
            let late = try await failure(script) { $0.caller.deadline = 0.2 }
            guard case .timedOut(_, "deadline", 0.2) = late else {
                Issue.record("no deadline: \(String(describing: late))")
                continue
            }
        }
    }

    @Test func serverThatIsNotThereIsAConnectionFailure() async throws {
        let port = try DeafPort()
        defer { withExtendedLifetime(port) {} }
        #expect(isConnectionFailed(try await engine.failure(port.url("/a"))))
        #expect(isConnectionFailed(try await engine.failure("http://no-such-host.invalid/a")))
    }

    @Test func whatCannotBeReachedIsNamedAndWhy() async throws {
        let port = try DeafPort()
        defer { withExtendedLifetime(port) {} }
        let direct = try await engine.failure(port.url("/a"))
        #expect(direct?.description.hasSuffix("/a: the server cannot be reached: connection refused.") == true)
        let proxy = port.url("")
        let engine = try TestEngine { $0.downloader.proxy = .url("http://user:secret@" + proxy.dropFirst(7)) }
        let proxied = try await engine.failure("http://no-such-host.invalid/a")
        let reason = "the proxy \(proxy) cannot be reached: connection refused."
        #expect(proxied?.description == "Cannot download http://no-such-host.invalid/a: \(reason)")
    }

    @Test(arguments: [
        (401, "(set authorization)."), (407, "(set them in the URL of the setting proxy)."),
        (403, "the server answered 403."),
    ])
    func refusalForWantOfCredentialsSaysWhereTheyAreSet(status: Int, says: String) async throws {
        let error = try await failure(.reply(status, [:], []))
        #expect(error?.description.hasSuffix(says) == true, "\(String(describing: error))")
    }
}
