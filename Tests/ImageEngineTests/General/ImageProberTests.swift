import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A probe loads no more of a picture than tells what it is.
@Suite struct ImageProberTests {
    @Test func whatStandsBehindTheFirstKilobytesIsAskedFor() async throws {
        let engine = try TestEngine()
        let picture = try Fixtures.bytes("jxl-late.jxl")
        let server = try LocalServer { request in
            guard let range = request.headers["range"] else { return .reply(200, [:], picture) }
            let last = min(range.split(separator: "-").last.flatMap { Int($0) } ?? 0, picture.count - 1)
            return .reply(206, ["Content-Range": "bytes 0-\(last)/\(picture.count)"], Array(picture[...last]))
        }
        let found = try await engine.manager.probe(
            Resource(url: server.url("/a")), in: engine.cache, options: ImageOptions())
        #expect(found.probe.format == .jxl && found.probe.width == 61 && found.probe.height == 37)
        #expect(found.probe.orientation == 1, "what EXIF says does not count")
        #expect(server.requests.count == 2)
    }

    @Test func onlyTheStartOfALargePictureIsLoadedAndNothingIsCached() async throws {
        let engine = try TestEngine()
        let picture = hollowPNG(width: 7, count: 3 << 20)
        let server = try LocalServer { request in
            guard let range = request.headers["range"] else { return .reply(200, [:], picture) }
            let last = range.split(separator: "-").last.flatMap { Int($0) } ?? 0
            return .reply(
                206, ["Content-Range": "bytes 0-\(last)/\(picture.count)"],
                Array(picture[...min(last, picture.count - 1)]))
        }
        let resource = Resource(url: server.url("/a"))
        let found = try await engine.manager.probe(resource, in: engine.cache, options: ImageOptions())
        #expect(found.probe.width == 7 && found.byteCount == picture.count && found.cacheType == .none)
        #expect(server.requests.count == 1 && engine.manager.statistics.downloadedBytes == 64 << 10)
        #expect(engine.blobs.isEmpty)
        _ = try await engine.image(server.url("/a"))
        let known = try await engine.manager.probe(resource, in: engine.cache, options: ImageOptions())
        #expect(known.cacheType != .none && known.probe.frameCount == 1 && server.requests.count == 2)
    }

    /// 304 answers a condition, and none was sent.
    @Test(arguments: [304, 400, 403, 405, 406, 412, 416, 500, 501])
    func serverThatRefusesARangeIsAskedForTheWhole(_ status: Int) async throws {
        let engine = try TestEngine()
        let server = try LocalServer { request in
            request.headers["range"] == nil ? .reply(200, [:], hollowPNG(width: 7)) : .reply(status, [:], [])
        }
        let resource = Resource(url: server.url("/a"))
        let found = try await engine.manager.probe(resource, in: engine.cache, options: ImageOptions())
        #expect(found.probe.width == 7 && server.requests.map { $0.headers["range"] } == ["bytes=0-65535", nil])
    }

    @Test func whatIsNotThereIsAskedForOnce() async throws {
        let engine = try TestEngine()
        let server = try LocalServer { _ in .reply(404, [:], []) }
        let resource = Resource(url: server.url("/a"))
        await #expect(throws: ImageError.self) {
            try await engine.manager.probe(resource, in: engine.cache, options: ImageOptions())
        }
        #expect(server.requests.count == 1)
    }

    /// As that of the whole, by whomever it is asked for.
    @Test(arguments: [404, 401])
    func failureIsRememberedForProbesAndRetrievesAlike(_ status: Int) async throws {
        let server = try LocalServer { _ in .reply(status, [:], []) }
        let engine = try TestEngine()
        for path in ["/a", "/a", "/b", "/b"] {
            let isProbe = server.requests.count(where: { $0.path == path }) == (path == "/a" ? 0 : 1)
            let error = await #expect(throws: ImageError.self) {
                if isProbe { return _ = try await probe(server.url(path), on: engine) { $0.lookup.negativeCache = 60 } }
                _ = try await engine.image(server.url(path)) { $0.lookup.negativeCache = 60 }
            }
            #expect(error?.name == "invalidStatusCode")
        }
        #expect(server.requests.map(\.path) == ["/a", "/b"])
        let error = await #expect(throws: ImageError.self) {
            try await probe(server.url("/a"), on: engine) { $0.lookup.negativeCache = 60 }
        }
        #expect(error?.name == "invalidStatusCode" && server.requests.count == 2)
    }

    // MARK: Options

    private func dataURL(_ bytes: [UInt8]) -> String { "data:image/png;base64," + base64(bytes) }

    private func probe(
        _ url: String, on engine: TestEngine, _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ProbedImage {
        try await engine.manager.probe(
            engine.cache.resource(url), in: engine.cache, options: ImageOptions { change(&$0) })
    }

    /// Nor does it tell whether there is such a file.
    @Test func schemesThatAreNotAllowedAreNotLookedInto() async throws {
        let engine = try TestEngine { $0.downloader.policy.allowedSchemes = ["http", "https"] }
        let place = engine.folder.path + "/a.png"
        overwrite(place, hollowPNG(width: 7))
        let data = dataURL(hollowPNG(width: 7))
        for url in ["file://" + place, "file:///etc/passwd", "file:///there/is/none", data] {
            let error = await #expect(throws: ImageError.self) { try await probe(url, on: engine) }
            #expect(error?.name == "invalidURL", "\(url)")
        }
        #expect(try await probe("file://" + place, on: try TestEngine()).probe.width == 7)
    }

    @Test func otherSourcesAndFurtherAttemptsCount() async throws {
        let number = Counter()
        let server = try LocalServer { request in
            request.path == "/a" || number.add() < 3 ? .reply(503, [:], []) : .reply(200, [:], hollowPNG(width: 7))
        }
        let found = try await probe(server.url("/a"), on: try TestEngine()) {
            $0.network.alternativeSources = [server.url("/b")]
            $0.network.retry = RetryStrategy(maxRetries: 2, interval: .seconds(0))
        }
        #expect(found.probe.width == 7)
        #expect(server.requests.map(\.path) == ["/a", "/a", "/a", "/b", "/b", "/b"])
    }

    @Test func deadlineEndsIt() async throws {
        let gate = Gate()
        let server = try LocalServer { _ in Script.empty.waiting(for: gate) }
        defer {
            gate.open()
            server.stop()
        }
        let error = await #expect(throws: ImageError.self) {
            try await probe(server.url("/a"), on: try TestEngine()) { $0.caller.deadline = 0.05 }
        }
        guard case .timedOut(_, "deadline", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        try await eventually("the server notices") { server.droppedCount == server.requests.count }
    }

    /// Digests are those of the whole.
    @Test func integrityIsThatOfTheWhole() async throws {
        let picture = hollowPNG(width: 7, count: 300_000)
        let server = try LocalServer { _ in .reply(200, [:], picture) }
        let right = "sha256-" + base64(picture.withUnsafeBytes { Digest(of: $0) }.bytes)
        let wrong = "sha256-" + base64(Digest(of: "another").bytes)
        let engine = try TestEngine()
        for url in [server.url("/a"), dataURL(picture)] {
            let found = try await probe(url, on: engine) { $0.lookup.integrity = Integrity(right) }
            #expect(found.byteCount == picture.count)
            let error = await #expect(throws: ImageError.self) {
                try await probe(url, on: engine) { $0.lookup.integrity = Integrity(wrong) }
            }
            #expect(error?.name == "badData")
        }
        #expect(server.requests.allSatisfy { $0.headers["range"] == nil })
    }

    @Test func whatTheStartDoesNotTellIsAskedForAndWhatIsNoPictureIsSaid() async throws {
        let engine = try TestEngine()
        // A comment of a megabyte before the frame header.
        var picture: [UInt8] = [0xFF, 0xD8]
        for _ in 0..<20 { picture += [0xFF, 0xFE, 0xFF, 0xFF] + zeros(65_533) }
        picture += try Fixtures.bytes("jpeg-420.jpg").dropFirst(2)
        let bytes = picture
        let server = try LocalServer { request in
            if request.path == "/text" { return .reply(200, [:], ascii("hello")) }
            guard let range = request.headers["range"] else { return .reply(200, [:], bytes) }
            let last = range.split(separator: "-").last.flatMap { Int($0) } ?? 0
            return .reply(206, ["Content-Range": "bytes 0-\(last)/\(bytes.count)"], Array(bytes[...last]))
        }
        let found = try await engine.manager.probe(
            Resource(url: server.url("/a")), in: engine.cache, options: ImageOptions())
        #expect(found.probe.format == .jpeg && found.probe.width > 0)
        #expect(server.requests.count == 3)
        await #expect(throws: ImageError.self) {
            try await engine.manager.probe(
                Resource(url: server.url("/text")), in: engine.cache, options: ImageOptions())
        }
    }

    @Test func whatIsNoPictureIsAskedForOnceWhenItsStartIsAllOfIt() async throws {
        let engine = try TestEngine()
        let server = try LocalServer { _ in .reply(206, ["Content-Range": "bytes 0-4/5"], ascii("hello")) }
        await #expect(throws: ImageError.self) {
            try await engine.manager.probe(
                Resource(url: server.url("/text")), in: engine.cache, options: ImageOptions())
        }
        #expect(server.requests.count == 1)
    }

    @Test func offlineNobodyIsAsked() async throws {
        let engine = try TestEngine()
        let server = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 7)) }
        let url = server.url("/a")
        let options = ImageOptions { $0.lookup.offline = true }
        await #expect(throws: ImageError.offline(key: url, url: url)) {
            try await engine.manager.probe(Resource(url: url), in: engine.cache, options: options)
        }
        #expect(server.requests.isEmpty)
    }

    @Test func offlineWhatIsStoredIsToldAlsoWhenItIsToBeLoadedAnew() async throws {
        let engine = try TestEngine()
        let server = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 7)) }
        let resource = Resource(url: server.url("/a"))
        _ = try await engine.image(resource.url)
        let options = ImageOptions { ($0.lookup.offline, $0.lookup.forceRefresh) = (true, true) }
        let found = try await engine.manager.probe(resource, in: engine.cache, options: options)
        #expect(found.probe.width == 7 && found.cacheType != .none && server.requests.count == 1)
    }

    /// Of the same request, which one that asks for a range is not.
    @Test func failureThatIsRememberedIsRepeated() async throws {
        let engine = try TestEngine()
        let server = try LocalServer { _ in .reply(404, [:], []) }
        let url = server.url("/a")
        let options = ImageOptions {
            $0.network.request.method = .post
            $0.lookup.negativeCache = 60
        }
        let error = try #require(try await engine.failure(url) { $0 = options })
        await #expect(throws: ImageError.remembered(error)) {
            try await engine.manager.probe(Resource(url: url), in: engine.cache, options: options)
        }
        #expect(server.requests.count == 1)
    }
}
