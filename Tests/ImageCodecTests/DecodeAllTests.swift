import Foundation
import ImageRecipes
import TestSupport
import Testing

/// Pictures of which all is decoded and nothing made: what is wrong anywhere shows.
@Suite struct DecodeAllTests {
    private func judge(
        _ bench: CodecBench, _ path: String, _ format: String, _ limits: RenderLimits = RenderLimits()
    ) async throws -> RenderOutcome {
        let request = RenderRequest(
            source: path, format: format, outputs: [RenderOutput(steps: [], rule: .nothing, path: "")], limits: limits)
        return try #require(try await bench.worker.render(request).outcomes.first)
    }

    private func judge(_ bench: CodecBench, _ bytes: [UInt8], _ format: String) async throws -> RenderOutcome {
        try await judge(bench, try bench.file(bytes), format)
    }

    @Test func everyPictureOfTheCorpusIsSound() async throws {
        let bench = try await CodecBench()
        for picture in Fixtures.valid {
            let outcome = try await judge(
                bench, Fixtures.folder + "/" + picture.file, try #require(picture.format))
            let image = try #require(try? outcome.image, "\(picture.file): \(String(describing: outcome.failure))")
            #expect(image.byteCount == 0 && image.width > 0)
        }
        #expect(bench.folder.files.isEmpty, "nothing is written")
    }

    /// What is left of a picture that ends early, and what is to end it where decoders look for that.
    static let cut: [(file: String, end: [UInt8])] = [
        ("jpeg-photo.jpg", []), ("jpeg-photo.jpg", [0xFF, 0xD9]), ("jpeg-progressive.jpg", []),
        ("jpeg-progressive.jpg", [0xFF, 0xD9]), ("jpeg-cmyk.jpg", [0xFF, 0xD9]), ("jpeg-large.jpg", [0xFF, 0xD9]),
        ("png-rgb.png", []), ("png-adam7.png", []), ("png-animated.png", []), ("gif-static.gif", []),
        ("gif-static.gif", [0x3B]), ("gif-animated.gif", []), ("gif-interlaced.gif", []), ("webp-lossy.webp", []),
        ("webp-lossless.webp", []), ("webp-animated.webp", []), ("tiff-little-endian.tiff", []),
        ("bmp-24bit.bmp", []), ("bmp-palette.bmp", []), ("ico-png.ico", []), ("avif-rgb.avif", []),
        ("heic-rgb.heic", []), ("svg-sized.svg", []),
    ]

    @Test(arguments: cut.indices)
    func whatEndsEarlyIsRefused(index: Int) async throws {
        let (file, end) = Self.cut[index]
        let bench = try await CodecBench()
        let picture = try #require(Fixtures.all.first { $0.file == file })
        let (bytes, format) = (try picture.bytes, try #require(picture.format))
        for part in [0.5, 0.8, 0.95] {
            let outcome = try await judge(bench, Array(bytes.prefix(Int(Double(bytes.count) * part))) + end, format)
            #expect(outcome.failure?.kind == .badData, "\(file) \(part): \(outcome)")
        }
    }

    /// The place of the first byte of a text in a file.
    private func place(of text: String, in bytes: [UInt8], after start: Int = 0) throws -> Int {
        try #require(bytes[start...].firstRange(of: Array(text.utf8))?.lowerBound)
    }

    @Test func aWrongChecksumOfAPartThatIsNeededIsRefused() async throws {
        let bench = try await CodecBench()
        for (file, part) in [
            ("png-rgb.png", "IDAT"), ("png-palette.png", "PLTE"), ("png-rgb.png", "IEND"), ("png-animated.png", "fdAT"),
            ("png-animated.png", "fcTL"), ("png-animated-hidden-default.png", "IDAT"),
        ] {
            var bytes = try Fixtures.bytes(file)
            let start = try place(of: part, in: bytes)
            let length = bytes[(start - 4)..<start].reduce(0) { $0 << 8 | Int($1) }
            bytes[start + 4 + length] ^= 1
            #expect(try await judge(bench, bytes, "png").failure?.kind == .badData, "\(file) \(part)")
        }
        // What is said besides costs no pixel.
        var bytes = try Fixtures.bytes("png-icc-exif.png")
        let start = try place(of: "eXIf", in: bytes)
        bytes[start + 6] ^= 1
        #expect(try await judge(bench, bytes, "png").failure == nil)
    }

    @Test func damageInAnyFrameOrPageIsFound() async throws {
        let bench = try await CodecBench()
        for (file, format) in [("png-animated.png", "png"), ("webp-animated-lossless.webp", "webp")] {
            var bytes = try Fixtures.bytes(file)
            for place in (bytes.count * 9 / 10)..<(bytes.count - 16) { bytes[place] = 0x55 }
            #expect(try await judge(bench, bytes, format).failure?.kind == .badData, "\(file)")
            let still = try await bench.make(try bench.file(bytes), format, frames: .first, rule: .pixels).outcome
            #expect(still.failure == nil, "the first frame of \(file) is whole")
        }
    }

    @Test func limitsCountAsForProcessing() async throws {
        let bench = try await CodecBench()
        func failure(_ file: String, _ limits: RenderLimits) async throws -> RenderFailure.Kind? {
            let format = try #require(Fixtures.all.first { $0.file == file }?.format)
            return try await judge(bench, Fixtures.folder + "/" + file, format, limits).failure?.kind
        }
        #expect(try await failure("png-rgb.png", RenderLimits(maxPixels: 9)) == .limit("maxPixels"))
        #expect(try await failure("gif-animated.gif", RenderLimits(maxFrames: 3)) == .limit("maxFrames"))
        #expect(try await failure("tiff-two-pages.tiff", RenderLimits(maxFrames: 1)) == .limit("maxFrames"))
        #expect(
            try await failure("webp-animated.webp", RenderLimits(maxAnimationPixels: 9)) == .limit("maxAnimationPixels")
        )
        #expect(try await failure("jpeg-large.jpg", RenderLimits(decodeSeconds: 0.000_001)) == .limit("decodeSeconds"))
    }

    @Test func aLookAndAFileAreHadOfOneRequest() async throws {
        let bench = try await CodecBench()
        let nothing = RenderOutput(steps: [], rule: .nothing, path: "")
        let file = RenderOutput(steps: [], rule: .pixels, path: bench.path())
        var bytes = try Fixtures.bytes("jpeg-photo.jpg")
        for isWhole in [true, false] {
            if !isWhole { bytes = Array(bytes.prefix(bytes.count / 2)) + [0xFF, 0xD9] }
            let request = RenderRequest(
                source: try bench.file(bytes), format: "jpeg", outputs: [nothing, file, nothing],
                limits: RenderLimits(),
                wantsPlaceholder: true)
            let reply = try await bench.worker.render(request)
            #expect(reply.outcomes.map { $0.failure == nil } == [isWhole, true, isWhole] && reply.placeholder != nil)
            try FileManager.default.removeItem(atPath: file.path)
        }
    }
}
