import Foundation
import ImageRecipes
import TestSupport
import Testing

/// JPEG XL in and out of the worker.
@Suite struct JXLTests {
    @Test("A picture whose JPEG XL takes more memory than a worker has is refused, and the worker goes on")
    func memory() async throws {
        let bench = try await CodecBench()
        let source = Fixtures.folder + "/png-1x1.png"
        for (side, kind) in [(6000.0, RenderFailure.Kind.outOfMemory), (600, nil)] as [(Double, RenderFailure.Kind?)] {
            let step = ImageProcessor.resize(try Resize(width: side, height: side, mode: .none, upscale: true))
            let made = try await bench.make(source, "png", [step], rule: .format(.jxl, Encoding()))
            #expect(made.outcome.failure?.kind == kind, "\(side)")
        }
    }

    private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// What a PNG holds from its samples on; a resolution is rounded this way or that.
    private func samples(_ png: [UInt8]) -> ArraySlice<UInt8> {
        png.indices.first { png[$0...].starts(with: Array("IDAT".utf8)) }.map { png[$0...] } ?? []
    }

    /// Whether a file has a box of that type, and the text.
    private func holds(_ path: String, _ text: String) throws -> Bool {
        try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data(text.utf8)) != nil
    }

    @Test("Sixteen bits, gray and alpha come back sample for sample when nothing is to be lost")
    func samples() async throws {
        let bench = try await CodecBench()
        for name in ["png-rgb-16bit.png", "png-gray-16bit.png", "png-gray.png", "png-gray-alpha.png", "png-rgba.png"] {
            let there = try await bench.encode(name, [], .format(.jxl, Encoding(lossless: true)))
            #expect(there.image.hasAlpha == (name.contains("alpha") || name.contains("rgba")))
            let back = try await bench.make(there.path, "jxl", rule: .format(.png, Encoding())).bytes
            let straight = try await bench.encode(name, [], .format(.png, Encoding()))
            #expect(try samples(back) == samples(bytes(straight.path)) && !samples(back).isEmpty, "\(name)")
            #expect(back[24] == (name.contains("16bit") ? 16 : 8))
        }
    }

    @Test("A lower quality gives a smaller file, to the lowest")
    func qualities() async throws {
        let bench = try await CodecBench()
        var sizes: [Int] = []
        for quality in [1, 5, 20, 40, 70, 90, 100] {
            let made = try await bench.encode("jpeg-photo.jpg", [], .format(.jxl, Encoding(quality: quality)))
            sizes.append(made.image.byteCount)
        }
        #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $0 < $1 }, "\(sizes)")
    }

    @Test("EXIF, XMP and the profile are taken over into JPEG XL and out of it, and left out when they are to be")
    func metadata() async throws {
        let bench = try await CodecBench()
        let turned = try await bench.encode("jpeg-orientation-6.jpg", [], .format(.jxl, Encoding()))
        #expect(try holds(turned.path, "Exif"))
        // The picture is upright already.
        let pixels = try await bench.pixels(of: turned.path, "jxl")
        #expect(pixels.width == 64 && pixels.height == 48)
        let bare = try await bench.encode("jpeg-orientation-6.jpg", [], .format(.jxl, Encoding(metadata: .none)))
        #expect(try !holds(bare.path, "Exif"))

        let cut = try await bench.encode("jpeg-thumbnail.jpg", [.blackWhite], .format(.jxl, Encoding()))
        #expect(
            try bytes(cut.path).firstRange(of: [0xFF, 0xD8, 0xFF]) == nil, "The preview of the whole picture is there")

        let late = Fixtures.folder + "/jxl-late.jxl"
        for (format, mark) in [(EncodedFormat.jpeg, "http://ns.adobe.com"), (.jxl, "xml ")] {
            let path = bench.path()
            let output = RenderOutput(steps: [], rule: .format(format, Encoding()), path: path)
            _ = try await bench.worker.render(RenderRequest(source: late, format: "jxl", outputs: [output]))
            #expect(try holds(path, "a hill") && holds(path, mark), "\(format)")
            let shown = try await bench.pixels(of: path, format.rawValue)
            #expect(shown.width == 61 && shown.height == 37, "\(format)")
        }

        let profiled = Fixtures.folder + "/jxl-icc.jxl"
        let kept = try await bench.make(profiled, "jxl", rule: .format(.jpeg, Encoding(metadata: .none))).bytes
        #expect(Data(kept).range(of: Data("ICC_PROFILE".utf8)) != nil)
        let plain = try await bench.make(profiled, "jxl", rule: .format(.jpeg, Encoding(profile: .sRGB))).bytes
        #expect(Data(plain).range(of: Data("ICC_PROFILE".utf8)) == nil)
        let straight = try await bench.pixels("jxl-icc.jxl")
        for lossless in [true, false] {
            let again = try await bench.make(
                profiled, "jxl", rule: .format(.jxl, Encoding(quality: 99, lossless: lossless))
            ).bytes
            let back = try await bench.pixels(of: try bench.file(again), "jxl")
            #expect(back.likeness(straight) > (lossless ? 45 : 35))
        }
    }

    @Test("Every frame of an animation is decoded, all of them or one by its number")
    func animations() async throws {
        let bench = try await CodecBench()
        let path = Fixtures.folder + "/jxl-animated-whole.jxl"
        let all = try await bench.pixels(of: path, "jxl")
        #expect(try await all == bench.pixels("png-animated.png") && all.frames == 3)
        for number in 0..<3 {
            #expect(try await bench.pixels(of: path, "jxl", frames: .number(number)) == all.frame(number), "\(number)")
        }
        #expect(try await bench.pixels(of: path, "jxl", frames: .first) == all.frame(0))
        #expect(try await bench.make(path, "jxl", frames: .number(3)).outcome.failure?.kind == .processingFailed)
        let made = try await bench.encode("jxl-animated-whole.jxl", [], .automatic(Encoding()))
        #expect(made.image.format == "webp" && made.image.frameCount == 3)
        let limits = RenderLimits(maxFrames: 2)
        #expect(try await bench.make(path, "jxl", limits: limits).outcome.failure?.kind == .limit("maxFrames"))
    }

    @Test("Colours that are multiplied by alpha come back as they were")
    func premultiplied() async throws {
        let bench = try await CodecBench()
        // What is nearly clear has lost its colour when it was multiplied.
        let white = ImageProcessor.compositing(
            try Compositing(operation: .sourceOver, background: RecipeColor(red: 255, green: 255, blue: 255)))
        let straight = try await bench.pixels("jxl-alpha.jxl", [white])
        #expect(try await bench.pixels("jxl-premultiplied.jxl", [white]).likeness(straight) > 45)
    }

    @Test("Making one takes no thread more than there were")
    func threads() async throws {
        let bench = try await CodecBench()
        _ = try await bench.encode("jpeg-photo.jpg", [], .format(.png, Encoding()))
        let process = bench.worker.process
        @Sendable func count() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").count
        }
        let before = try count()
        let made = try await bench.encode("jpeg-photo.jpg", [], .format(.jxl, Encoding()))
        _ = try await bench.pixels(of: made.path, "jxl")
        // One that has ended may be listed for a moment.
        try await eventually("there are no more threads") { try count() <= before }
    }
}
