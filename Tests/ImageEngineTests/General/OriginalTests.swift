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

/// What images are made from: it may go on its way to the worker, and it may be the answer itself.
@Suite struct OriginalTests: VariantSuite {
    let scene: VariantScene

    init() throws { scene = try VariantScene() }

    private func dataURL(_ bytes: [UInt8]) -> String { "data:image/png;base64," + Data(bytes).base64EncodedString() }

    private func hasOriginal(_ url: String? = nil) throws -> Bool {
        try engine.cache.cacheType(for: CacheKey(url ?? self.url), burst: 0, mayWait: true).value != nil
    }

    // MARK: Originals that go

    @Test(arguments: [0, 2])
    func anOriginalThatGoesWheneverItIsCachedIsLoadedForOneRequestAlone(retries: Int) async throws {
        try standIn.set(.lose)
        let result = try await engine.image(url) {
            $0.processing.recipe.processors = [.blackWhite]
            $0.network.retry.maxRetries = retries
        }
        #expect(result.record.header.width == 3 && result.record.path != nil)
        #expect(server.requests.count == 2)
        #expect(try hasOriginal() == false)
        #expect(standIn.requests.count == 2, "a source that is gone was rendered to one place alone")
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
    }

    @Test func pixelsAreMadeOfAnOriginalThatGoesToo() async throws {
        _ = try await engine.image(url)
        try standIn.set(.lose)
        var options = ImageOptions()
        options.processing.recipe.processors = [.blackWhite]
        let resource = engine.cache.resource(url)
        await #expect(throws: ImageError.self) {
            // The stand-in makes no pixels; but it has been given an original that it did not lose.
            try await engine.manager.pixels(of: resource, in: engine.cache, options: options)
        }
        #expect(server.requests.count == 2)
        #expect(standIn.requests.count == 2 && standIn.requests.last?.source.contains("/blobs/") == false)
    }

    @Test func whatMayNotBeLoadedAnewIsToldToBeGone() async throws {
        _ = try await engine.image(url)
        try standIn.set(.lose)
        let failure = try await engine.failure(url) {
            $0.processing.recipe.processors = [.blackWhite]
            $0.lookup.onlyFromCache = true
        }
        #expect(failure == .notCached(key: url, url: url))
        #expect(server.requests.count == 1)
    }

    // MARK: Originals that no cache keeps

    /// It is not loaded again for what comes while it is worked on, though no cache keeps it.
    @Test func anOriginalThatIsNotKeptIsThereAsLongAsItIsWorkedOn() async throws {
        try standIn.set(.wait)
        func blur(_ radius: Double) throws -> ImageProcessor { .blur(try Blur(radius: radius)) }
        func image(
            _ steps: [ImageProcessor], _ change: (inout ImageOptions) -> Void
        ) async throws -> ImageResult {
            try await engine.image(url) {
                ($0.processing.recipe.processors, $0.processing.cacheOriginalImage) = (steps, false)
                change(&$0)
            }
        }
        func begin(_ steps: [ImageProcessor]) -> Task<ImageResult, any Error> {
            Task { try await image(steps) { _ in } }
        }
        let first = begin([.blackWhite])
        try await eventually("it is worked on") { standIn.requests.count == 1 }
        let same = begin([.blackWhite])
        try await eventually("it waits for the same") { engine.manager.statistics.merged == 1 }
        let other = begin([try blur(1)])
        try await eventually("that is worked on, too") { standIn.requests.count == 2 }
        let afresh = Task { try await image([try blur(2)]) { $0.lookup.forceRefresh = true } }
        try await eventually("that wants one of its own") { server.requests.count == 2 }
        #expect(engine.manager.services.jobs.heldCount == 1)
        let asked = Task {
            try await image([try blur(4)]) { ($0.network.request.method, $0.network.request.body) = (.post, [1]) }
        }
        try await eventually("it waits for a worker, as the one before") { engine.manager.codec.waitingCount == 2 }
        let askedAgain = Task {
            try await image([try blur(5)]) { ($0.network.request.method, $0.network.request.body) = (.post, [1]) }
        }
        try await eventually("what is no GET is sent again") { server.requests.count == 4 }
        try standIn.open()
        for task in [asked, askedAgain] { _ = try await task.value }
        for task in [first, same, other, afresh] { #expect(try await task.value.record.header.width == 3) }
        try await eventually("nothing is left of it") { engine.manager.services.jobs.heldCount == 0 }
        #expect(try hasOriginal() == false)
        _ = try await image([try blur(3)]) { _ in }
        #expect(server.requests.count == 5)
    }

    // MARK: Originals that are the answer

    @Test(arguments: [true, false], [true, false])
    func anImageOfOneFrameIsKeptLikeAnyOtherWhenItsFirstIsAskedFor(isData: Bool, keepsOriginal: Bool) async throws {
        let url = isData ? dataURL(picture) : url
        for _ in 0..<2 {
            let result = try await engine.image(url) {
                $0.processing.recipe.frames = .first
                $0.processing.cacheOriginalImage = keepsOriginal
            }
            let path = try #require(result.record.path)
            #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == picture)
        }
        #expect(server.requests.count == (isData ? 0 : 1))
        #expect(try hasOriginal(url))
        #expect(standIn.requests.isEmpty)
        // In memory alone, if that is what is wanted.
        let other = isData ? hollowPNG(width: 9) : picture
        let held = try await engine.image(isData ? dataURL(other) : server.url("/b.png"), bytes: true) {
            $0.processing.recipe.frames = .first
            $0.processing.cacheOriginalImage = keepsOriginal
            $0.storage.cacheMemoryOnly = true
        }
        #expect(held.bytes == other && held.isHeldInMemory && held.record.path == nil)
        #expect(engine.blobs.count == 1)
    }
}
