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

/// Chains that begin alike: what a cache has of the beginning is worked on instead of the original.
@Suite struct IntermediateTests {
    private let standIn: CodecStandIn
    private let engine: TestEngine
    private let server: LocalServer
    /// What the server has: seven pixels; what is made has three.
    private let original: Box

    init() throws {
        let standIn = try CodecStandIn(making: hollowPNG(width: 3), .exact)
        self.standIn = standIn
        engine = try TestEngine { $0.codec.executable = standIn.path }
        let original = Box(hollowPNG(width: 7))
        self.original = original
        server = try LocalServer { request in
            let bytes = original.bytes.withLock { $0 }
            let etag = "\"\(bytes.count)\""
            return request.headers["if-none-match"] == etag
                ? .reply(304, ["ETag": etag], []) : .reply(200, ["ETag": etag], bytes)
        }
    }

    private final class Box: Sendable {
        let bytes: Mutex<[UInt8]>
        init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }
    }

    private var url: String { server.url("/a.png") }
    private let gray = ImageProcessor.blackWhite
    private func blur() throws -> ImageProcessor { .blur(try Blur(radius: 1)) }
    private func small() throws -> ImageProcessor { .downsample(try PixelSize(width: 1, height: 1)) }

    @discardableResult
    private func image(
        _ steps: [ImageProcessor], _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageResult {
        try await engine.image(url) {
            $0.processing.recipe.processors = steps
            change(&$0)
        }
    }

    private func dropOriginal() throws { _ = try engine.cache.remove(CacheKey(url)) }

    /// What the worker was asked last: the file's name, and the steps.
    private func lastWork() throws -> (source: String, steps: [[String]]) {
        let request = try #require(standIn.requests.last)
        return (request.source, request.outputs)
    }

    @Test func aBeginningThatIsCachedSparesTheDownload() async throws {
        let first = try await image([gray])
        try dropOriginal()
        let second = try await image([gray, blur()])
        #expect(server.requests.count == 1)
        #expect(try lastWork() == (first.record.path ?? "", [["blur"]]))
        #expect(second.record.key.identifier == "blackWhite.1()|>blur.2(radius=1)")
        #expect(second.record.etag == first.record.etag && second.record.url == url, "it is still of its original")
        // The longest beginning there is.
        try await image([gray, blur(), small()])
        #expect(try lastWork() == (second.record.path ?? "", [["downsample"]]))
        #expect(server.requests.count == 1 && standIn.requests.count == 3)
        // Nothing else may be loaded, and nothing has to be.
        try await image([gray, blur(), gray]) { $0.lookup.onlyFromCache = true }
        #expect(server.requests.count == 1)
    }

    /// That an image is missing is then known only after those folders were looked into.
    @Test func aBeginningThatIsCachedSparesTheDownloadWhereOtherFoldersAreReadToo() async throws {
        let other = try TemporaryFolder()
        var configuration = engine.cache.disk.configuration
        configuration.readOnlyPaths = [other.path]
        engine.cache.disk.configure(configuration)
        let first = try await image([gray])
        try dropOriginal()
        try await image([gray, blur()])
        #expect(try lastWork() == (first.record.path ?? "", [["blur"]]))
        #expect(server.requests.count == 1)
    }

    @Test func aBeginningOfFewerPixelsSparesDecodingTheOriginal() async throws {
        let first = try await image([gray])
        try await image([gray, blur()])
        #expect(try lastWork() == (first.record.path ?? "", [["blur"]]))
        #expect(standIn.requests.last?.original == "png")
        // One of as many pixels spares nothing.
        original.bytes.withLock { $0 = hollowPNG(width: 3, count: 300) }
        let other = server.url("/b.png")
        for steps in [[gray], [gray, try blur()]] {
            _ = try await engine.image(other) { $0.processing.recipe.processors = steps }
        }
        #expect(try lastWork().steps == [["blackWhite", "blur"]])
    }

    /// The stand-in makes no pixels; what it was asked for counts.
    private func askForPixels(_ steps: [ImageProcessor], _ change: (inout ImageOptions) -> Void = { _ in }) async {
        var options = ImageOptions()
        options.processing.recipe.processors = steps
        change(&options)
        let (engine, resource) = (engine, Resource(url: url))
        await #expect(throws: ImageError.self) {
            try await engine.manager.pixels(of: resource, in: engine.cache, options: options)
        }
    }

    @Test func pixelsAreMadeOfABeginningToo() async throws {
        let first = try await image([gray])
        await askForPixels([gray, try blur()])
        #expect(try lastWork() == (first.record.path ?? "", [["blur"]]), "the original has more pixels")
        // All of the chain is a beginning, since no file is to be made.
        await askForPixels([gray])
        #expect(try lastWork() == (first.record.path ?? "", [[]]))
        try dropOriginal()
        await askForPixels([gray, try blur()]) { $0.lookup.onlyFromCache = true }
        #expect(try lastWork() == (first.record.path ?? "", [["blur"]]))
        #expect(server.requests.count == 1)
        // What is to be new, or looked at by its server, is made of the original.
        await askForPixels([gray, try blur()]) { $0.lookup.forceRefresh = true }
        #expect(try lastWork().steps == [["blackWhite", "blur"]] && server.requests.count == 2)
    }

    /// Whether there is anything to do, only the original shows: a still is its own first frame, byte for byte.
    @Test func whatMayBeTheOriginalItselfIsNotMadeOfABeginning() async throws {
        try await image([]) {
            $0.processing.recipe.frames = .first
            $0.processing.recipe.serializer = CacheSerializer(format: .png)
        }
        try dropOriginal()
        let still = try await image([]) { $0.processing.recipe.frames = .first }
        #expect(server.requests.count == 2)
        #expect(still.record.header.width == 7)
    }

    @Test func manyWhoWantMoreOfOneBeginningShareTheWork() async throws {
        try await image([gray])
        try dropOriginal()
        let chain = [gray, try blur()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try await image(chain) } }
            try await group.waitForAll()
        }
        #expect(standIn.requests.count == 2 && server.requests.count == 1)
    }

    @Test func aSerializationThatLosesSomethingIsNotUsed() async throws {
        try standIn.set(.make)
        try await image([gray])
        try dropOriginal()
        try await image([gray, blur()])
        #expect(try lastWork().steps == [["blackWhite", "blur"]])
        #expect(server.requests.count == 2)
    }

    @Test func anotherChoiceOfFramesIsAnotherPicture() async throws {
        try await image([gray]) { $0.processing.recipe.frames = .number(1) }
        try dropOriginal()
        try await image([gray, blur()])
        #expect(try lastWork().steps == [["blackWhite", "blur"]] && server.requests.count == 2)
        // Of one frame that was taken there are no others to choose from.
        try dropOriginal()
        try await image([gray, blur()]) { $0.processing.recipe.frames = .number(1) }
        #expect(try lastWork().steps == [["blur"]] && server.requests.count == 2)
    }

    @Test func aBeginningOfAnOlderOriginalIsNeverUsedWithANewerOne() async throws {
        try await image([gray])
        _ = try engine.manager.store(hollowPNG(width: 9), for: CacheKey(url), in: engine.cache, options: ImageOptions())
        try await image([gray, blur()])
        #expect(try lastWork().steps == [["blackWhite", "blur"]])
        // What was made of the newer one counts from now on.
        try await image([gray])
        try await image([gray, small()])
        #expect(try lastWork().steps == [["downsample"]] && server.requests.count == 1)
    }

    @Test func whatIsToBeCheckedWithItsServerIsMadeOfWhatThatHas() async throws {
        try await image([gray]) { $0.lookup.revalidate = .always }
        // Not changed: the server has said so, and the beginning is as good as it was.
        try await image([gray, blur()]) { $0.lookup.revalidate = .always }
        #expect(try lastWork().steps == [["blur"]] && server.requests.count == 2)
        original.bytes.withLock { $0 = hollowPNG(width: 8, count: 200) }
        try await image([gray, small()]) { $0.lookup.revalidate = .always }
        #expect(try lastWork().steps == [["blackWhite", "downsample"]] && server.requests.count == 3)
        // Without its original it is not known how fresh it is.
        try await image([gray]) { $0.lookup.revalidate = .always }
        try dropOriginal()
        let before = server.requests.count
        try await image([gray, blur(), gray]) { $0.lookup.revalidate = .http }
        #expect(server.requests.count == before + 1)
    }

    @Test func whoeverMayNotHaveTheOriginalMayNotHaveWhatIsMadeOfIts() async throws {
        try await image([gray]) { $0.network.request.authorization = .bearer("mine") }
        try dropOriginal()
        try await image([gray, blur()]) { $0.network.request.authorization = .bearer("mine") }
        #expect(try lastWork().steps == [["blur"]] && server.requests.count == 1)
        // Whoever loads the very same bytes without credentials has nothing of what was made for another.
        let common = try await image([gray, small()])
        #expect(try lastWork().steps == [["blackWhite", "downsample"]] && server.requests.count == 2)
        #expect(!common.record.isPersonal && common.record.key.partition.isEmpty)
        let again = try await image([gray, small()])
        #expect(again.cacheType != .none)
    }

    @Test func aRefreshAndDigestsOfTheOriginalWantTheOriginal() async throws {
        try await image([gray])
        try await image([gray, blur()]) { $0.lookup.forceRefresh = true }
        #expect(try lastWork().steps == [["blackWhite", "blur"]] && server.requests.count == 2)
        try dropOriginal()
        let digest = hollowPNG(width: 7).withUnsafeBytes { Digest(of: $0) }
        let integrity = try #require(Integrity("sha256-" + Data(digest.bytes).base64EncodedString()))
        try await image([gray, small()]) { $0.lookup.integrity = integrity }
        #expect(server.requests.count == 3)
    }

    @Test func aBeginningWhoseFileIsGoneIsNone() async throws {
        let first = try await image([gray])
        try dropOriginal()
        unlink(try #require(first.record.path))
        try await image([gray, blur()])
        #expect(try lastWork().steps == [["blackWhite", "blur"]] && server.requests.count == 2)
    }

    // MARK: Which they are

    @Test func theBeginningsOfAChainAreTheLongestFirstInTheLikelySerializations() throws {
        var recipe = ImageRecipe()
        recipe.processors = [gray, try blur()]
        func names() -> [String] { ChainPrefix.all(of: recipe).map(\.recipe.identifier) }
        let png = "serialize.1(format=png)"
        let both = "blackWhite.1()|>blur.2(radius=1)"
        #expect(names() == ["\(both)|>\(png)", "blackWhite.1()", "blackWhite.1()|>\(png)", png])
        recipe.serializer = CacheSerializer(format: .tiff)
        let tiff = "serialize.1(format=tiff)"
        #expect(
            names() == [
                both, "\(both)|>\(png)", "blackWhite.1()|>\(tiff)", "blackWhite.1()", "blackWhite.1()|>\(png)", tiff,
                png,
            ])
        recipe = ImageRecipe()
        recipe.frames = .first
        recipe.scalesDown = true
        let start = "scaleDown.1(pixels=15728640)|>"
        #expect(names() == ["\(start)frame.1(number=0)|>\(png)"])
        #expect(ChainPrefix.all(of: ImageRecipe()).map(\.recipe.identifier) == [png])
    }

    @Test func theRestSaysWhatTheWholeSaysOfTheResult() throws {
        var recipe = ImageRecipe()
        recipe.processors = [.format(try FormatChange(to: .tiff)), gray, try blur()]
        recipe.frames = .first
        recipe.scalesDown = true
        let prefix = try #require(ChainPrefix.all(of: recipe).first { $0.recipe.processors.count == 2 })
        #expect(prefix.rest.processors == [.format(try FormatChange(to: .tiff)), try blur()])
        #expect(prefix.rest.frames == .all && !prefix.rest.scalesDown)
        let header = try ImageHeader(.png, 9000, 9000)
        #expect(prefix.rest.output(of: header, to: "/a").rule == .format(.tiff, Encoding()))
    }

    @Test func aStepThatTheDecoderMayDoIsOnlyDoneOnWhatItsDecoderLeavesAlone() throws {
        func serves(
            _ begun: [ImageProcessor], _ next: [ImageProcessor], _ format: ImageFormat = .png, width: Int = 100
        ) throws -> Bool {
            var recipe = ImageRecipe()
            recipe.processors = begun + next
            recipe.serializer = CacheSerializer(format: .png)
            let prefix = try #require(ChainPrefix.all(of: recipe).first { $0.recipe.processors == begun })
            return prefix.serves(try ImageHeader(format, width, 1000))
        }
        let tail: [ImageProcessor] = [try small(), .format(try FormatChange(to: .png))]
        #expect(try serves([gray], [blur(), small()], width: 90_000))
        #expect(try serves([gray], tail))
        #expect(try !serves([], tail) && !serves([.rotate(.auto)], tail))
        #expect(try serves([], [blur(), small()]))
        #expect(try !serves([gray], tail, .webp) && serves([gray], [blur()], .webp))
        #expect(try serves([gray], tail, width: 2000) && !serves([gray], tail, width: 2001))
    }
}

/// The real worker: what is made of a beginning is, sample for sample, what is made of the original.
@Suite(.serialized) struct ExactIntermediateTests {
    private static let pictures = [
        "png-rgb.png", "png-rgba.png", "png-rgb-16bit.png", "png-gray-alpha.png", "png-palette-trns.png",
        "png-icc-exif.png", "png-animated.png", "jpeg-photo.jpg", "jpeg-icc.jpg", "jpeg-cmyk.jpg",
        "jpeg-orientation-6.jpg", "gif-animated.gif", "webp-metadata.webp", "tiff-big-endian-gray16.tiff",
        "svg-viewbox.svg", "bmp-palette.bmp",
    ]

    private static func chains() throws -> [(begin: [ImageProcessor], next: [ImageProcessor])] {
        func resized(_ width: Double, _ height: Double?) throws -> ImageProcessor {
            .resize(try Resize(width: width, height: height))
        }
        let line = ImageProcessor.border(try Border(color: RecipeColor(red: 9, green: 200, blue: 30), width: 2))
        return [
            ([try resized(20, nil)], [.blur(try Blur(radius: 1.5))]),
            ([.crop(try Crop(size: try PixelSize(width: 30, height: 20)))], [try resized(11, 7), line]),
            ([.roundCorner(try RoundCorner(radius: .pixels(4)))], [.blackWhite]),
            ([.colorControls(try ColorControls(contrast: 1.2)), line], [.rotate(try .byDegrees(30))]),
            ([], [try resized(13, nil)]),
        ]
    }

    /// How the end is written.
    private static let ends: [CacheSerializer?] = [
        nil, CacheSerializer(format: .png), CacheSerializer(format: .tiff),
        CacheSerializer(format: .webp, encoding: Encoding(lossless: true)),
        CacheSerializer(format: .jpeg, encoding: Encoding(quality: 70)),
    ]

    /// The samples and the profile of a picture, at their full depth: as a PNG that says nothing else.
    private func content(_ path: String, _ format: ImageFormat, _ worker: CodecChild) async throws -> Data {
        let folder = try TemporaryFolder()
        let output = RenderOutput(
            steps: [], rule: .format(.png, Encoding(metadata: .none)), path: folder.path + "/out")
        let request = RenderRequest(source: path, format: format.rawValue, outputs: [output])
        guard case .finished = try await worker.render(request).outcomes.first else { return Data() }
        return try Data(contentsOf: URL(fileURLWithPath: output.path))
    }

    @Test func whatIsMadeOfABeginningIsWhatIsMadeOfTheOriginal() async throws {
        let server = try LocalServer.fixtures()
        defer { server.stop() }
        let worker = try await CodecChild()
        let begun = try TestEngine { $0.codec.executable = CodecChild.binary }
        let direct = try TestEngine { $0.codec.executable = CodecChild.binary }
        var used: [String: Int] = [:]
        for (number, picture) in Self.pictures.enumerated() {
            let url = server.url("/" + picture)
            for (index, (begin, next)) in try Self.chains().enumerated() where (number + index) % 2 == 0 {
                // Each picture meets every other chain, and over all of them each end.
                let end = Self.ends[(number + begin.count + next.count) % Self.ends.count]
                for serializer in Set([end, CacheSerializer(format: .png)]) {
                    _ = try await begun.image(url) {
                        $0.processing.recipe.processors = begin
                        $0.processing.recipe.serializer = serializer
                    }
                }
                _ = try begun.cache.remove(CacheKey(url))
                _ = try await direct.image(url)
                let before = server.requestCount("/" + picture)
                var results: [ImageResult] = []
                for engine in [begun, direct] {
                    results.append(
                        try await engine.image(url) {
                            $0.processing.recipe.processors = begin + next
                            $0.processing.recipe.serializer = end
                        })
                }
                if server.requestCount("/" + picture) == before { used[picture, default: 0] += 1 }
                let (first, second) = (results[0].record, results[1].record)
                #expect(first.header == second.header && first.timing == second.timing)
                let same = try await content(first.path ?? "", first.header.format, worker)
                let other = try await content(second.path ?? "", second.header.format, worker)
                let isSame = same == other && !same.isEmpty
                #expect(isSame, "\(picture) \(begin.identifier) then \(next.identifier) as \(end?.identifier ?? "")")
            }
        }
        // It is not for nothing.
        for picture in ["png-rgb.png", "png-rgb-16bit.png", "jpeg-photo.jpg", "bmp-palette.bmp", "png-icc-exif.png"] {
            #expect(used[picture, default: 0] >= 1, "\(used)")
        }
        #expect(used.values.reduce(0, +) >= 20, "\(used)")
    }
}
