import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What a picture is, from its first kilobytes (B-113, D-26).
@Suite struct ImageProbeTests {
    @Test(arguments: Fixtures.valid)
    func theStartOfAPictureNeverSaysSomethingElseThanTheWhole(picture: Fixtures.Picture) throws {
        let bytes = try picture.bytes
        let whole = try bytes.withUnsafeBytes { bytes in
            var source = MemoryBytes(buffer: bytes)
            return try ImageProbe(whole: &source)
        }
        #expect(whole.format.rawValue == picture.format && whole.width == picture.width)
        let isUncounted = picture.file == "jxl-animated.jxl"
        #expect(whole.height == picture.height && whole.frameCount == (isUncounted ? nil : picture.frameCount))
        // Headers are cut at every place, pixels here and there.
        let places =
            Array(0..<min(bytes.count, 700)) + stride(from: 700, to: bytes.count, by: max(1, bytes.count / 200))
        for count in places {
            let part = bytes[..<count].withUnsafeBytes { try? ImageProbe(start: $0, of: bytes.count) }
            guard let part else { continue }
            #expect(part.format == whole.format && part.width == whole.width && part.height == whole.height)
            if let turn = part.orientation, whole.format != .png { #expect(turn == whole.orientation, "\(count)") }
            if let alpha = part.hasAlpha, whole.format != .png { #expect(alpha == whole.hasAlpha, "\(count)") }
            if let frames = part.frameCount, whole.format != .png { #expect(frames == whole.frameCount, "\(count)") }
        }
    }

    @Test func orientationAndTransparencyAreFound() throws {
        func probe(_ name: String) throws -> ImageProbe {
            try Fixtures.bytes(name).withUnsafeBytes { try ImageProbe(start: $0, of: $0.count) }
        }
        for orientation in 1...8 {
            #expect(try probe("jpeg-orientation-\(orientation).jpg").orientation == orientation)
        }
        let cases = [
            ("png-rgb.png", false), ("png-rgba.png", true), ("png-gray-alpha.png", true), ("png-palette.png", false),
            ("png-palette-trns.png", true), ("gif-static.gif", false), ("gif-transparent.gif", true),
            ("webp-lossless-alpha.webp", true), ("webp-lossy.webp", false), ("webp-lossy-alpha.webp", true),
            ("jpeg-420.jpg", false), ("gif-offset-frame.gif", true), ("avif-rgb.avif", false),
            ("avif-alpha.avif", true),
            ("avif-10bit.avif", false), ("heic-rgb.heic", false), ("heic-alpha.heic", true),
            ("heic-thumbnail.heic", false), ("tiff-little-endian.tiff", false), ("tiff-big-endian-gray16.tiff", false),
            ("bmp-24bit.bmp", false), ("bmp-palette.bmp", false), ("bmp-core-header.bmp", false),
            ("bmp-v5-alpha.bmp", true), ("ico-sizes.ico", true), ("jxl-lossy.jxl", false), ("jxl-alpha.jxl", true),
            ("jxl-premultiplied.jxl", true), ("jxl-gray-16bit.jxl", false), ("jxl-split.jxl", false),
        ]
        for (name, hasAlpha) in cases { #expect(try probe(name).hasAlpha == hasAlpha, "\(name)") }
        #expect(try probe("png-animated.png").frameCount ?? 0 > 1)
        for name in ["avif-rgb.avif", "heic-rgb.heic", "tiff-big-endian.tiff", "bmp-24bit.bmp", "ico-png.ico"] {
            #expect(try probe(name).orientation == 1, "\(name)")
        }
        #expect(try [6, 8].contains(probe("avif-rotated.avif").orientation))
        #expect(try probe("jxl-orientation-5.jxl").orientation == 5)
        #expect(try probe("jxl-orientation-6.jxl").orientation == 6)
    }

    @Test func aDrawingIsUprightAndMayBeSeenThrough() throws {
        let bytes = try Fixtures.bytes("svg-sized.svg")
        let whole = try bytes.withUnsafeBytes { bytes in
            var source = MemoryBytes(buffer: bytes)
            return try ImageProbe(whole: &source)
        }
        #expect(whole.orientation == 1 && whole.hasAlpha == true)
    }

    /// E2-71.
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

    @Test(arguments: [400, 403, 405, 406, 412, 416, 500, 501])
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

    /// as that of the whole, by whomever it is asked for.
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

    /// D-13: nor does it tell whether there is such a file.
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

    @Test func otherSourcesAndFurtherAttemptsCount() async throws {  // C-15, A-032
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

    /// D-32: digests are those of the whole.
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

    /// D-06.
    @Test func offlineNobodyIsAsked() async throws {
        let engine = try TestEngine()
        let server = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 7)) }
        let url = server.url("/a")
        let options = ImageOptions { $0.lookup.offline = true }
        await #expect(throws: ImageError.offline(key: url)) {
            try await engine.manager.probe(Resource(url: url), in: engine.cache, options: options)
        }
        #expect(server.requests.isEmpty)
    }

    /// D-11: of the same request, which one that asks for a range is not.
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
