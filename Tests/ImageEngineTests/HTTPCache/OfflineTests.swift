import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Offline nothing is loaded, and whatever is stored is answered.
@Suite struct OfflineTests {
    private let web: PictureServer
    private let folder: TemporaryFolder
    private let clock = ManualClock(seconds: 1_800_000_000)

    init() throws {
        web = try PictureServer()
        folder = try TemporaryFolder()
    }

    private func engine(offline: Bool = false) throws -> TestEngine {
        try TestEngine(folder: folder, clock: clock) { $0.offline = offline }
    }

    @Test(arguments: Revalidation.allCases)
    func expiredImageIsAnsweredAndCalledStale(_ mode: Revalidation) async throws {
        web.set { $0.headers = ["Cache-Control": "max-age=10"] }
        _ = try await engine().image(web.url) { $0.storage.diskCacheExpiration = .seconds(100) }
        clock.advance(seconds: 5)
        #expect(
            try await engine(offline: true).image(web.url) { $0.lookup.revalidate = mode }.isStale == (mode == .always))
        clock.advance(seconds: 10_000)
        let offline = try engine(offline: true)
        for _ in 1...2 {
            let image = try await offline.image(web.url, bytes: true) { $0.lookup.revalidate = mode }
            #expect(image.isStale && image.cacheType == .disk && image.bytes == hollowPNG(width: 7))
        }
        let path = try await engine().image(web.url) {
            $0.lookup.revalidate = mode
            $0.lookup.offline = true
        }
        #expect(path.isStale && path.record.path != nil)
        #expect(web.count == 1)
        #expect(try await engine().image(web.url).cacheType == .none, "online what is over is loaded anew")
    }

    @Test(arguments: [false, true])
    func expiredImageIsAnsweredByItsKeyAlone(_ isMade: Bool) async throws {
        let standIn = try CodecStandIn(making: hollowPNG(width: 3))
        let engine = try TestEngine(folder: folder, clock: clock) { $0.codec.executable = standIn.path }
        func image(_ url: String, _ change: (inout ImageOptions) -> Void) async throws -> ImageResult {
            try await engine.image(url, key: web.url) {
                if isMade { $0.processing.recipe.processors = [.blackWhite] }
                $0.storage.diskCacheExpiration = .seconds(100)
                change(&$0)
            }
        }
        _ = try await image(web.url) { _ in }
        clock.advance(seconds: 10_000)
        await #expect(throws: ImageError.self) { try await image("") { $0.lookup.onlyFromCache = true } }
        let found = try await image("") { ($0.lookup.onlyFromCache, $0.lookup.offline) = (true, true) }
        #expect(found.record.key.key == web.url && web.count == 1)
        #expect(found.isStale || isMade)
    }

    @Test func whatIsNotStoredIsAnErrorThatNamesTheReason() async throws {
        let engine = try engine(offline: true)
        let error = try await engine.failure(web.url)
        #expect(error == .offline(key: web.url, url: web.url))
        #expect(error?.description.contains("offline") == true)
        #expect(error?.isRetryable == false)
        let other = try await engine.failure(web.url) { $0.network.alternativeSources = [web.url + "?2"] }
        #expect(other?.first == .offline(key: web.url, url: web.url))
        #expect(web.count == 0)
    }

    @Test func whatNeedsNoNetworkIsLoaded() async throws {
        let engine = try engine(offline: true)
        #expect(try await engine.image("data:image/png;base64," + base64(hollowPNG(width: 3))).cacheType == .none)
        let standIn = try await engine.image(web.url) { $0.network.onFailureImage = Fixtures.folder + "/png-rgb.png" }
        #expect(standIn.isPlaceholder)
        let local = try await engine.image(web.url, key: "other") {
            $0.network.alternativeSources = ["file://" + Fixtures.folder + "/png-rgb.png"]
        }
        #expect(local.record.isLocalFile && web.count == 0)
    }

    @Test func refreshingIsPutOff() async throws {
        _ = try await engine().image(web.url)
        let image = try await engine(offline: true).image(web.url) { $0.lookup.forceRefresh = true }
        #expect(image.isStale && image.cacheType == .disk && web.count == 1)
    }

    @Test func imageOfOtherCredentialsStaysTheirs() async throws {
        _ = try await engine().image(web.url) { $0.network.request.authorization = .bearer("ann") }
        let error = try await engine(offline: true).failure(web.url) { $0.lookup.revalidate = .http }
        #expect(error == .offline(key: web.url, url: web.url))
    }
}
