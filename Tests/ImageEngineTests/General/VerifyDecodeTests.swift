import Foundation
import ImageRecipes
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Images that are only answered and kept once all of them has been decoded.
@Suite struct VerifyDecodeTests {
    private let standIn: CodecStandIn
    private let engine: TestEngine
    private let server: LocalServer
    private let picture = hollowPNG(width: 7)

    init() throws {
        let standIn = try CodecStandIn(making: hollowPNG(width: 3))
        self.standIn = standIn
        engine = try TestEngine { $0.codec.executable = standIn.path }
        let picture = picture
        server = try LocalServer { request in
            let isLarge = request.path.hasPrefix("/large")
            return .reply(200, ["ETag": "\"1\""], isLarge ? hollowPNG(width: 9, count: 400_000) : picture)
        }
    }

    private var url: String { server.url("/a.png") }
    /// How often the worker decoded something.
    private var passes: Int { standIn.requests.flatMap(\.outputs).count { $0 == ["nothing"] } }

    private func verified(
        _ path: String = "/a.png", bytes: Bool = false, _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageResult {
        try await engine.image(server.url(path), bytes: bytes) {
            $0.lookup.verifyDecode = true
            change(&$0)
        }
    }

    private func failure(
        _ path: String = "/a.png", _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageError? {
        try await engine.failure(server.url(path)) {
            $0.lookup.verifyDecode = true
            change(&$0)
        }
    }

    @Test func anImageIsDecodedBeforeItIsAnsweredAndOnceForAll() async throws {
        try standIn.set(.wait)
        try await withThrowingTaskGroup(of: ImageResult.self) { group in
            // Some want the bytes and some another lease: they share the download, and the pass.
            for index in 0..<20 {
                group.addTask {
                    try await verified(bytes: index % 2 == 0) { $0.storage.lease = Double(60 + index % 4) }
                }
            }
            try await eventually { standIn.requests.count == 1 }
            #expect(try engine.cache.cacheType(for: CacheKey(url), burst: 0, mayWait: true).value == nil)
            try standIn.open()
            for try await result in group { #expect(result.record.decodeVerdict == .sound) }
        }
        #expect(passes == 1 && server.requests.count == 1)
        for _ in 0..<3 { #expect(try await verified().cacheType != .none) }
        #expect(passes == 1, "what is known to be sound is answered as it is")
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
    }

    @Test func aDamagedImageIsRefusedAndNotKept() async throws {
        try standIn.set(.damaged)
        for path in ["/a.png", "/large.png"] {
            let failure = try #require(
                try await failure(path) { $0.network.retry = RetryStrategy(maxRetries: 3, interval: .seconds(0)) })
            #expect(failure.name == "badData" && "\(failure)".contains("torn") && "\(failure)".contains("verifyDecode"))
            #expect(server.requestCount(path) == 1, "it would come again as it is")
        }
        #expect(engine.blobs.isEmpty)
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
        #expect(try await engine.image(url).record.decodeVerdict == nil, "others get it")
        #expect(passes == 2)
    }

    @Test func anotherSourceOrAStandInTakesThePlaceOfADamagedImage() async throws {
        try standIn.set(.damaged)
        let local = engine.folder.path + "/local.png"
        try Data(picture).write(to: URL(fileURLWithPath: local))
        let failed = try #require(try await failure { $0.network.alternativeSources = [server.url("/b.png")] })
        guard case .afterAttempts(let attempts) = failed else { return #expect(Bool(false), "\(failed)") }
        #expect(attempts.map(\.error.name) == ["badData", "badData"])
        #expect(try await failure { $0.network.onFailureImage = local }?.name == "badData", "a stand-in is decoded too")
    }

    @Test func whatWasKeptWithoutIsDecodedAtItsFirstUseAndThatIsNoted() async throws {
        #expect(try await engine.image(url).record.decodeVerdict == nil)
        #expect(try await engine.image(url).cacheType != .none && passes == 0)
        #expect(try await verified().cacheType != .none)
        #expect(passes == 1 && server.requests.count == 1)
        // Another process reads it from the index.
        let standIn = standIn
        let other = try TestEngine(folder: engine.folder, clock: engine.clock) { $0.codec.executable = standIn.path }
        #expect(try await other.image(url) { $0.lookup.verifyDecode = true }.cacheType == .disk)
        #expect(passes == 1 && other.manager.codec.startedCount == 0)
        // What replaces it has to show itself.
        _ = try await engine.image(url) { $0.lookup.forceRefresh = true }
        _ = try await verified()
        #expect(passes == 2 && server.requests.count == 2)
    }

    @Test func whatTheCacheHasAndCannotBeDecodedIsLoadedAnewOnceAndStaysForOthers() async throws {
        _ = try await engine.image(url)
        try standIn.set(.damaged)
        #expect(try await failure()?.name == "badData")
        #expect(server.requests.count == 2 && passes == 2)
        #expect(try await engine.image(url).record.decodeVerdict == .damaged, "what was kept is kept")
        #expect(try await failure { $0.lookup.onlyFromCache = true }?.name == "notCached")
        #expect(try await failure { $0.lookup.offline = true }?.name == "notCached")
        for mode in [Revalidation.always, .http, .ifExpired] {
            _ = try await failure { $0.lookup.revalidate = mode }
        }
        #expect(server.requests.allSatisfy { $0.headers["if-none-match"] == nil }, "it is not asked whether it changed")
        try standIn.set(.make)
        #expect(try await verified().record.decodeVerdict == .sound)
        #expect(try await engine.image(url).record.decodeVerdict == .sound)
    }

    @Test func aServerThatConfirmsAnImageLeavesItKnownToBeSound() async throws {
        let picture = picture
        let server = try LocalServer { request in
            request.headers["if-none-match"] == nil
                ? .reply(200, ["ETag": "\"1\""], picture) : .reply(304, ["ETag": "\"1\""], [])
        }
        for _ in 0..<3 {
            let result = try await engine.image(server.url("/a.png")) {
                $0.lookup.verifyDecode = true
                $0.lookup.revalidate = .always
            }
            #expect(result.record.decodeVerdict == .sound)
        }
        #expect(server.requests.count == 3 && passes == 1)
    }

    @Test func memoryAloneAndBytesAloneAreDecodedToo() async throws {
        for _ in 0..<2 { _ = try await verified(bytes: true) { $0.storage.cacheMemoryOnly = true } }
        #expect(passes == 1 && server.requests.count == 1)
        try standIn.set(.damaged)
        let error = try await failure("/b.png") {
            $0.storage.cacheMemoryOnly = true
            $0.storage.keepsInMemory = false
            $0.storage.waitForCache = false
        }
        #expect(error?.name == "badData")
    }

    @Test func filesAndDataURLsAreDecoded() async throws {
        let local = engine.folder.path + "/local.png"
        try Data(picture).write(to: URL(fileURLWithPath: local))
        let data = "data:image/png;base64," + Data(picture).base64EncodedString()
        for url in ["file://" + local, data] {
            #expect(try await engine.failure(url) { $0.lookup.verifyDecode = true } == nil)
        }
        try standIn.set(.damaged)
        for url in ["file://" + local, data.replacing("image/png", with: "image/x-png")] {
            #expect(
                try await engine.failure(url) { $0.lookup.verifyDecode = true }?.name == "badData", "\(url.prefix(20))")
        }
    }

    @Test func theOriginalOfWhatIsMadeIsDecodedAndWhatIsMadeIsNot() async throws {
        let made = try await verified { $0.processing.recipe.processors = [.blackWhite] }
        #expect(made.record.header.width == 3 && passes == 1)
        #expect(
            try await verified { $0.processing.recipe.processors = [.blackWhite] }.cacheType != .none && passes == 1)
        try standIn.set(.damaged)
        #expect(try await failure("/b.png") { $0.processing.recipe.processors = [.blackWhite] }?.name == "badData")
        #expect(engine.blobs.count == 2, "neither the original nor anything made of it is kept")
    }

    @Test func withoutAWorkerTheErrorSaysWhatIsMissing() async throws {
        let engine = try TestEngine { $0.codec.executable = "/nonexistent/halcyon-codec" }
        let error = try #require(try await engine.failure(url) { $0.lookup.verifyDecode = true })
        #expect(error.name == "processingFailed")
        #expect("\(error)".contains("verifyDecode") && "\(error)".contains("--codec"), "\(error)")
        #expect(engine.blobs.isEmpty)
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
    }

    @Test func limitsRefuseWithoutDecoding() async throws {
        let error = try #require(try await failure { $0.processing.limits.maxPixels = 1 })
        guard case .limitExceeded(let limit, _, _) = error else { return #expect(Bool(false), "\(error)") }
        #expect(limit == "maxPixels" && passes == 0 && engine.blobs.isEmpty)
    }

    @Test func whatIsRememberedOfADamagedImageIsNoMatterOfThoseWhoTakeItAsItIs() async throws {
        try standIn.set(.damaged)
        for _ in 0..<2 { #expect(try await failure { $0.lookup.negativeCache = 60 }?.name == "badData") }
        #expect(server.requests.count == 1)
        #expect(try await engine.failure(url) { $0.lookup.negativeCache = 60 } == nil)
    }

    @Test func theCachesSettingCountsUnlessTheRequestSaysOtherwise() async throws {
        let standIn = standIn
        let engine = try TestEngine {
            $0.codec.executable = standIn.path
            $0.defaults.verifyDecode = true
        }
        #expect(try await engine.image(url).record.decodeVerdict == .sound)
        #expect(
            try await engine.image(server.url("/b.png")) { $0.lookup.verifyDecode = false }.record.decodeVerdict == nil)
        #expect(passes == 1)
        var settings = engine.cache.configuration
        settings.verifyDecode = false
        engine.cache.configure(settings)
        #expect(try await engine.image(server.url("/c.png")).record.decodeVerdict == nil)
    }

    @Test func aPrefetchDecodesWhatIsThere() async throws {
        _ = try await engine.image(url)
        func report() async throws -> ImagePrefetcher.Report {
            try await ImagePrefetcher(
                [url, server.url("/large.png")], manager: engine.manager, cache: engine.cache,
                options: ImageOptions { $0.lookup.verifyDecode = true }
            ).run()
        }
        #expect(try await report().skipped == [url] && passes == 2)
        #expect(try await report().skipped.count == 2 && passes == 2)
    }

    @Test func whatIsStoredIsDecodedFirst() async throws {
        let large = engine.folder.path + "/large.png"
        try Data(hollowPNG(width: 9, count: 400_000)).write(to: URL(fileURLWithPath: large))
        let options = ImageOptions { $0.lookup.verifyDecode = true }
        for (key, given) in [("a", GivenImage.bytes(picture)), ("b", .file(large))] {
            let stored = try await engine.manager.storeVariant(
                of: given, for: CacheKey(key), in: engine.cache, options: options)
            #expect(stored.record.decodeVerdict == .sound && stored.record.path != nil)
        }
        #expect(passes == 2)
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
        try standIn.set(.damaged)
        await #expect(throws: ImageError.self) {
            try await engine.manager.storeVariant(
                of: .bytes(picture), for: CacheKey("c"), in: engine.cache, options: options)
        }
        #expect(engine.blobs.count == 2)
    }
}
