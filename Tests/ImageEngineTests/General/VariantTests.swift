import Foundation
import Glibc
import ImageRecipes
import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Images that are made of others: looked for, made once, kept, and made anew when their original is another one.
@Suite struct VariantTests: VariantSuite {
    let scene: VariantScene

    init() throws { scene = try VariantScene() }

    private func blur(_ radius: Double = 1) throws -> ImageProcessor { .blur(try Blur(radius: radius)) }

    private func failure(
        _ steps: [ImageProcessor], url: String? = nil, _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageError? {
        try await engine.failure(url ?? self.url) {
            $0.processing.recipe.processors = steps
            change(&$0)
        }
    }

    // MARK: Made once

    @Test func oneURLWithDifferentProcessorsIsDownloadedOnceAndEachGetsItsOwn() async throws {
        let chains: [[ImageProcessor]] = try [[blur(1)], [blur(2)], [.blackWhite], []]
        let results = try await withThrowingTaskGroup(of: ImageResult.self) { group in
            for chain in chains { group.addTask { try await image(chain) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(server.requests.count == 1)
        #expect(Set(results.map(\.record.key.identifier)) == Set(chains.map(\.identifier)))
        #expect(Set(results.compactMap(\.record.path)).count == 4)
        #expect(results.filter { $0.record.header.width == 3 }.count == 3)
        #expect(passes == 3)
    }

    @Test func theSameProcessorForManyIsRunOnce() async throws {
        try standIn.set(.wait)
        try await withThrowingTaskGroup(of: ImageResult.self) { group in
            for index in 0..<20 {
                group.addTask {
                    try await engine.image(url, bytes: index % 2 == 0) {
                        $0.processing.recipe.processors = [.blackWhite]
                    }
                }
            }
            try await eventually { standIn.requests.count == 1 && engine.manager.statistics.merged >= 18 }
            try standIn.open()
            var paths: Set<String> = []
            for try await result in group { paths.insert(result.record.path ?? "") }
            #expect(paths.count == 1)
        }
        #expect(passes == 1 && server.requests.count == 1)
        #expect(try await image([.blackWhite]).cacheType != .none)
        #expect(passes == 1)
    }

    @Test func aLargeResultIsStoredForAllRequestsThatItWasMadeFor() async throws {
        let scene = try VariantScene(making: hollowPNG(width: 3, count: BodySpool.memoryLimit + 1))
        let (standIn, engine) = (scene.standIn, scene.engine)
        try standIn.set(.wait)
        try await withThrowingTaskGroup(of: ImageResult.self) { group in
            for index in 0..<4 {
                group.addTask {
                    try await engine.image(url, key: "key \(index % 2)") {
                        $0.processing.recipe.processors = [.blackWhite]
                        $0.storage.lease = Double(60 + index / 2)
                    }
                }
            }
            try await eventually { standIn.requests.count == 1 && engine.manager.statistics.merged >= 1 }
            try standIn.open()
            let paths = try await group.reduce(into: Set()) { $0.insert($1.record.path) }
            #expect(paths.count == 2)
        }
        #expect(standIn.requests.count == 1)
        #expect(try engine.cache.verify(repairs: false).isClean)
        try await eventually("nothing is left") { engine.partials.isEmpty }
    }

    @Test func theLastWhoLeavesEndsTheWorkAndNobodyElse() async throws {
        try standIn.set(.hang)
        let tasks = (0..<2).map { _ in Task { try await image([.blackWhite]) } }
        try await eventually { standIn.requests.count == 1 && engine.manager.statistics.merged >= 1 }
        let process = try #require(standIn.requests.first?.process)
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        #expect(Spawn.isRunning(process))
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        try await eventually { !Spawn.isRunning(process) }
        try standIn.set(.make)
        #expect(try await image([.blackWhite]).record.header.width == 3)
    }

    // MARK: From the cache

    @Test func aCachedOriginalIsProcessedWithoutNetworkAlsoWhenOnlyTheCacheMayBeAsked() async throws {
        _ = try await image([])
        #expect(try await image([.blackWhite]) { $0.lookup.onlyFromCache = true }.record.header.width == 3)
        #expect(server.requests.count == 1)
        #expect(
            try await failure([.blackWhite], url: server.url("/b")) { $0.lookup.onlyFromCache = true }
                == .notCached(key: server.url("/b"), url: server.url("/b")))
        #expect(server.requests.count == 1)
    }

    @Test func aFailureToProcessIsAnErrorAndNoDownloadLoop() async throws {
        try standIn.set(.refuse)
        for _ in 0..<3 {
            #expect(
                try await failure([.blackWhite])
                    == .processingFailed(reason: "\(url) cannot be processed: It does not want to."))
        }
        #expect(server.requests.count == 1)
        #expect(try await image([]).cacheType != .none)
        try standIn.set(.make)
        #expect(try await image([.blackWhite]).record.header.width == 3)
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func exactlyWhatTheOptionsSayIsStored(keepsOriginal: Bool, isProcessed: Bool) async throws {
        let result = try await image(isProcessed ? [.blackWhite] : []) {
            $0.processing.cacheOriginalImage = keepsOriginal
        }
        let original = try engine.cache.cacheType(for: CacheKey(url), burst: 0, mayWait: true).value
        let variant = try engine.cache.cacheType(
            for: CacheKey(url, identifier: "blackWhite.1()"), burst: 0, mayWait: true
        ).value
        #expect((original != nil) == (keepsOriginal || !isProcessed))
        #expect((variant != nil) == isProcessed)
        #expect(engine.blobs.count == (keepsOriginal && isProcessed ? 2 : 1))
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
        #expect(result.record.header.width == (isProcessed ? 3 : 7))
        // Both at once.
        _ = try await image([.blackWhite])
        #expect(engine.blobs.count == (isProcessed && !keepsOriginal ? 1 : 2))
    }

    @Test func aThumbnailNeverTakesThePlaceOfTheOriginal() async throws {
        let small = ImageProcessor.downsample(try PixelSize(width: 1, height: 1))
        for chain in [[small], [], [small], []] {
            #expect(try await image(chain).record.header.width == (chain.isEmpty ? 7 : 3))
        }
        #expect(try engine.cache.remove(CacheKey(url, identifier: small.identifier)).disk)
        #expect(try await image([]).cacheType == .memory)
        _ = try await image([small])
        #expect(try engine.cache.remove(CacheKey(url), allVariants: true).disk)
        #expect(engine.blobs.isEmpty)
    }

    @Test func originalsMayHaveACacheOfTheirOwn() async throws {
        let originals = try #require(engine.manager.cache("originals"))
        let result = try await image([.blackWhite]) { $0.lookup.originalCache = "originals" }
        #expect(result.cache == "default" && result.record.header.width == 3)
        #expect(try originals.cacheType(for: CacheKey(url), burst: 0, mayWait: true).value != nil)
        #expect(try engine.cache.cacheType(for: CacheKey(url), burst: 0, mayWait: true).value == nil)
        _ = try await image([blur()]) { $0.lookup.originalCache = "originals" }
        #expect(server.requests.count == 1)
        // It claims a file that is gone.
        let path = try #require(try originals.path(for: CacheKey(url), burst: 0, mayWait: true)?.path)
        unlink(path)
        _ = try await image([blur(2)]) { $0.lookup.originalCache = "originals" }
        #expect(server.requests.count == 2)
    }

    @Test func aCopyInMemoryOnlyIsWhatIsAskedFor() async throws {
        let result = try await engine.image(url, bytes: true) {
            $0.processing.recipe.processors = [.blackWhite]
            $0.storage.cacheMemoryOnly = true
        }
        #expect(result.bytes == made && result.record.path == nil)
        #expect(engine.blobs.isEmpty)
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
        let again = try await engine.image(url, bytes: true) {
            $0.processing.recipe.processors = [.blackWhite]
            $0.storage.cacheMemoryOnly = true
        }
        #expect(again.cacheType == .memory && again.bytes == made && passes == 1)
    }

    // MARK: What lies here

    @Test func localFilesAndDataAreNotCopiedButWhatIsMadeOfThemIs() async throws {
        let path = engine.folder.path + "/mine.png"
        try Data(picture).write(to: URL(fileURLWithPath: path))
        let data = "data:image/png;base64," + Data(picture).base64EncodedString()
        for source in ["file://" + path, data] {
            let before = engine.blobs.count
            #expect(try await image([.blackWhite], url: source).record.header.width == 3)
            #expect(engine.blobs.count == before + 1)
            let passes = passes
            #expect(try await image([.blackWhite], url: source).cacheType != .none)
            #expect(self.passes == passes)
        }
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
    }

    @Test func whatWasMadeOfAFileIsMadeAnewWhenTheFileHasChanged() async throws {
        let path = engine.folder.path + "/mine.png"
        try Data(picture).write(to: URL(fileURLWithPath: path))
        _ = try await image([.blackWhite], url: "file://" + path)
        try Data(hollowPNG(width: 9)).write(to: URL(fileURLWithPath: path))
        #expect(try await image([.blackWhite], url: "file://" + path).cacheType == .none)
        #expect(passes == 2)
        unlink(path)
        #expect(try await image([.blackWhite], url: "file://" + path).cacheType != .none)
    }

    @Test func aRefreshLoadsAndMakesAnew() async throws {
        _ = try await image([.blackWhite])
        #expect(try await image([.blackWhite]) { $0.lookup.forceRefresh = true }.cacheType == .none)
        #expect(passes == 2 && server.requests.count == 2)
    }

    @Test func whatIsCheckedWithItsServerIsMadeAnewOnlyWhenThatHasSomethingElse() async throws {
        let answers = AnswerBox(picture)
        let server = try LocalServer { _ in .reply(200, ["ETag": "\"\(answers.bytes.count)\""], answers.bytes) }
        let url = server.url("/c")
        for (index, width) in [7, 7, 9].enumerated() {
            answers.set(hollowPNG(width: width, count: 100 + width))
            let result = try await image([.blackWhite], url: url) { $0.lookup.revalidate = .always }
            #expect((result.cacheType == .none) == (index != 1), "\(index)")
        }
        #expect(passes == 2)
    }

    // MARK: Storing, prefetching, naming

    @Test func whatIsStoredWithProcessorsIsMadeAndTheOriginalKept() async throws {
        var options = ImageOptions()
        options.processing.recipe.processors = [.blackWhite]
        let stored = try await engine.manager.storeVariant(
            of: .bytes(picture), for: CacheKey("k"), in: engine.cache, options: options)
        #expect(stored.record.header.width == 3 && stored.cacheType == .disk)
        #expect(stored.record.key == CacheKey("k", identifier: "blackWhite.1()"))
        #expect(engine.blobs.count == 2)
        options.processing.cacheOriginalImage = false
        _ = try await engine.manager.storeVariant(
            of: .bytes(picture), for: CacheKey("l"), in: engine.cache, options: options)
        #expect(try engine.cache.cacheType(for: CacheKey("l"), burst: 0, mayWait: true).value == nil)
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
    }

    @Test func prefetchingMakesWhatIsWantedAndSkipsWhatIsThere() async throws {
        var options = ImageOptions()
        options.processing.recipe.processors = [.blackWhite]
        let urls = [url, server.url("/b.png")]
        _ = try await image([.blackWhite])
        let report = try await ImagePrefetcher(urls, manager: engine.manager, cache: engine.cache, options: options)
            .run()
        #expect(report.completed == [urls[1]] && report.skipped == [urls[0]])
        #expect(try await image([.blackWhite], url: urls[1]).cacheType != .none)
        #expect(passes == 2)
    }

    @Test func thePathOfWhatWillBeMadeIsForetold() throws {
        func ending(_ key: String, _ change: (inout ImageRecipe) throws -> Void) throws -> String {
            var recipe = ImageRecipe()
            try change(&recipe)
            let path = try #require(try engine.cache.path(for: recipe.cacheKey(key), burst: 0, mayWait: true))
            #expect(!path.exists)
            return String(path.path.suffix(4))
        }
        #expect(try ending("http://a/b.jpg") { $0.processors = [.blackWhite] } == ".jpg")
        #expect(try ending("http://a/b.webp") { $0.processors = [.blackWhite] } == ".jpg")
        #expect(try ending("http://a/b.png") { $0.processors = [.blackWhite] } == ".png")
        #expect(try ending("http://a/b.gif") { $0.processors = [.blackWhite] } == ".gif")
        #expect(try ending("http://a/b.gif") { $0.frames = .first } == ".png")
        #expect(
            try ending("http://a/b.jpg") { $0.processors = [.roundCorner(try RoundCorner(radius: .pixels(1)))] }
                == ".png")
        #expect(
            try ending("http://a/b.jpg") { $0.processors = [.format(try FormatChange(to: .gif))] } == ".gif")
        #expect(try ending("http://a/b.jpg") { $0.serializer = CacheSerializer(format: .avif) } == "avif")
    }

    // MARK: Limits

    @Test func whatIsTooLargeByItsHeaderIsRefusedBeforeAnyWorkerIsStarted() async throws {
        for (limit, change): (String, @Sendable (inout ImageOptions) -> Void) in [
            ("maxPixels", { $0.processing.limits.maxPixels = 6 }),
            ("maxPixels", { $0.processing.limits.maxPixels = 1 }),
        ] {
            let failure = try #require(try await failure([.blackWhite], change))
            guard case .limitExceeded(limit, _, _) = failure else {
                Issue.record("\(failure)")
                continue
            }
            #expect("\(failure)".contains("raise \(limit)"))
        }
        #expect(engine.manager.codec.startedCount == 0)
        #expect(try await image([.blackWhite]) { $0.processing.limits.maxPixels = 7 }.record.header.width == 3)
    }

    @Test func everyLimitIsHeldAgainstTheHeader() throws {
        let limits = RenderLimits(maxPixels: 100, maxFrames: 3, maxAnimationPixels: 250)
        func violation(_ header: ImageHeader) -> String? {
            do throws(ImageError) {
                try limits.check(header, source: "a")
                return nil
            } catch {
                guard case .limitExceeded(let limit, _, _) = error else { return "other" }
                return limit
            }
        }
        #expect(violation(try ImageHeader(.png, 10, 10)) == nil)
        #expect(violation(try ImageHeader(.png, 101, 1)) == "maxPixels")
        #expect(violation(try ImageHeader(.tiff, .max, .max)) == "maxPixels")
        #expect(violation(try ImageHeader(.gif, 5, 10, frames: 3)) == nil)
        #expect(violation(try ImageHeader(.gif, 1, 1, frames: 4)) == "maxFrames")
        #expect(violation(try ImageHeader(.gif, 10, 10, frames: 3)) == "maxAnimationPixels")
        #expect(violation(try ImageHeader(.svg, 1000, 1000)) == nil)
    }

    @Test func largeImagesAreScaledDownToTheLimitAndSmallOnesLeftAlone() throws {
        var recipe = ImageRecipe()
        recipe.scalesDown = true
        #expect(recipe.isNothing(for: try ImageHeader(.jpeg, 3000, 4000)))
        for (width, height) in [(8000, 6000), (6000, 8000), (60_000, 300)] {
            let header = try ImageHeader(.jpeg, width, height)
            #expect(!recipe.isNothing(for: header))
            guard case .downsample(let size) = recipe.output(of: header, to: "/a").steps.first else {
                Issue.record("nothing is done")
                continue
            }
            let factor = Double(size.width) / Double(max(width, height))
            let pixels = Double(width) * factor * Double(height) * factor
            #expect(pixels <= Double(ImageRecipe.largePixels) && pixels > 0.99 * Double(ImageRecipe.largePixels))
        }
    }

    @Test func theRuleForTheResultComesFromTheSerializerElseFromTheLastFormat() throws {
        let header = try ImageHeader(.png, 10, 10)
        var recipe = ImageRecipe()
        recipe.processors = try [
            .format(FormatChange(to: .gif)), .blackWhite, .format(FormatChange(to: .webp, quality: 70)),
        ]
        var output = recipe.output(of: header, to: "/a")
        #expect(output.steps == [.blackWhite])
        #expect(output.rule == .format(.webp, Encoding(quality: 70)))
        recipe.serializer = CacheSerializer(encoding: Encoding(progressive: true))
        output = recipe.output(of: header, to: "/a")
        #expect(output.rule == .format(.webp, Encoding(quality: 70, progressive: true)))
        recipe.serializer = CacheSerializer(format: .jpeg)
        #expect(recipe.output(of: header, to: "/a").rule == .format(.jpeg, Encoding()))
        #expect(ImageRecipe().output(of: header, to: "/a").rule == .automatic(Encoding()))
    }

    @Test func everythingThatChangesTheBytesIsInTheName() throws {
        var names: Set<String> = []
        var count = 0
        func add(_ change: (inout ImageRecipe) throws -> Void) throws {
            var recipe = ImageRecipe()
            try change(&recipe)
            #expect(!recipe.isEmpty)
            names.insert(recipe.identifier)
            count += 1
        }
        func serialize(_ encoding: Encoding) throws { try add { $0.serializer = CacheSerializer(encoding: encoding) } }
        try add { $0.processors = [.blackWhite] }
        try add { $0.frames = .first }
        try add { $0.frames = .number(1) }
        try add { $0.scalesDown = true }
        for format in EncodedFormat.allCases { try add { $0.serializer = CacheSerializer(format: format) } }
        try serialize(Encoding(quality: 80))
        try serialize(Encoding(lossless: true))
        try serialize(Encoding(progressive: true))
        try serialize(Encoding(background: RecipeColor("#fff")))
        try serialize(Encoding(maxBytes: 10))
        try serialize(Encoding(metadata: .none))
        try serialize(Encoding(profile: .sRGB))
        try serialize(Encoding(quality: 80, metadata: .all))
        #expect(names.count == count)
        // The original has all metadata.
        for encoding in [Encoding(), Encoding(metadata: .all)] {
            var nothing = ImageRecipe()
            nothing.serializer = CacheSerializer(encoding: encoding)
            #expect(nothing.isEmpty && nothing.identifier.isEmpty)
        }
    }

    @Test func withoutAWorkerEverythingElseGoesOn() async throws {
        let engine = try TestEngine { $0.codec.executable = "/nonexistent/halcyon-codec" }
        #expect(try await engine.image(url).record.header.width == 7)
        let failure = try #require(
            try await engine.failure(url) { $0.processing.recipe.processors = [.blackWhite] })
        #expect(failure.name == "processingFailed" && "\(failure)".contains("--codec"))
        // A still has one frame: nothing is to be made.
        #expect(try await engine.image(url) { $0.processing.recipe.frames = .first }.record.header.width == 7)
    }

    @Test func aStandInIsNotProcessedAndTheFailureOfAnOriginalIsTheAnswer() async throws {
        try standIn.set(.refuse)
        let other = engine.folder.path + "/standin.png"
        try Data(hollowPNG(width: 5)).write(to: URL(fileURLWithPath: other))
        let result = try await image([.blackWhite]) { $0.network.onFailureImage = other }
        #expect(result.isPlaceholder && result.record.header.width == 5)
        let missing = try LocalServer { _ in .reply(404, [:], []) }
        #expect(
            try await failure([.blackWhite], url: missing.url("/x")) == .invalidStatusCode(404, url: missing.url("/x")))
    }
}

/// An answer that changes.
private final class AnswerBox: Sendable {
    private let box: Mutex<[UInt8]>
    init(_ bytes: [UInt8]) { box = Mutex(bytes) }
    var bytes: [UInt8] { box.withLock { $0 } }
    func set(_ bytes: [UInt8]) { box.withLock { $0 = bytes } }
}
