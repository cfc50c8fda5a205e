import Foundation
import ImageRecipes
import TestSupport
import Testing

@Suite struct LimitTests {
    @Test(
        "A picture that says it is giant is refused by its header, whatever its format, without the memory for it"
    )
    func giants() async throws {
        let bench = try await CodecBench()
        let before = try residentPeak(bench)
        let bombs: [(String, [UInt8])] = [
            ("png", Bombs.png(30_000, 30_000)), ("png", Bombs.png(1, 2_000_000_000)),
            ("gif", Bombs.gif(65_535, 65_535, frames: 1)),
            ("jpeg", Bombs.jpeg(65_500, 65_500)), ("jpeg", Bombs.jpeg(65_500, 65_500, isProgressive: true)),
            ("webp", Bombs.webp(16_383, 16_383)), ("tiff", Bombs.tiff(60_000, 60_000)),
            ("bmp", Bombs.bmp(60_000, 60_000)), ("jxl", Bombs.jxl(60_000, 60_000)),
            ("jxl", Bombs.jxl(9_000_000, 9_000_000)),
            ("svg", Bombs.drawing(30_000, 30_000)), ("png", Bombs.animatedPNG(9000, 9000, frames: 3)),
            ("svg", Bombs.drawing(1_000_000, 1_000_000)),
        ]
        for (format, bytes) in bombs {
            var chains: [[ImageProcessor]] = [[], [.blackWhite]]
            if bytes == bombs.last?.1 || format == "jpeg" {
                chains.append([.downsample(try PixelSize(width: 100, height: 100))])
            }
            for steps in chains as [[ImageProcessor]] {
                let made = try await bench.make(try bench.file(bytes), format, steps)
                let kind = made.outcome.failure?.kind
                // What even the format forbids is bad data.
                #expect(
                    kind == .limit("maxPixels") || (bytes == bombs[1].1 && kind == .badData),
                    "\(format): \(made.outcome)")
            }
        }
        #expect(try residentPeak(bench) - before < 50 << 20)
    }

    @Test("Of a JPEG that is shrunk while it is decoded, the pixels that are decoded are held against the limit")
    func shrunk() async throws {
        let bench = try await CodecBench()
        // 1200 × 900 pixels.
        let limits = RenderLimits(maxPixels: 1_000_000)
        func kind(
            _ path: String, _ format: String, _ steps: [ImageProcessor], _ rule: RenderOutput.Rule
        ) async throws -> RenderFailure.Kind? {
            try await bench.make(path, format, steps, rule: rule, limits: limits).outcome.failure?.kind
        }
        func box(_ side: Double) throws -> ImageProcessor { .downsample(try PixelSize(width: side, height: side)) }
        let plain = Fixtures.folder + "/jpeg-large.jpg"
        let automatic = RenderOutput.Rule.automatic(Encoding())
        for side in [100, 300, 590] {
            #expect(try await kind(plain, "jpeg", [try box(Double(side))], automatic) == nil)
        }
        let small = try PixelSize(width: 100, height: 100)
        for step in [
            ImageProcessor.pad(try Pad(size: small)), .circle(try Circle(diameter: 100)),
            .resize(try Resize(width: 100, height: 100, mode: .aspectFill, kernel: .cubic, focus: FocalPoint(x: 0))),
        ] {
            #expect(try await kind(plain, "jpeg", [step], automatic) == nil, "\(step.identifier)")
        }
        // The nearest pixel is one of the original.
        let nearest = ImageProcessor.resize(try Resize(width: 100, height: nil, kernel: .nearest))
        let whole: [([ImageProcessor], RenderOutput.Rule)] = [
            ([nearest], automatic), ([.circle(try Circle())], automatic), ([try box(1100)], automatic), ([], automatic),
            ([.blackWhite, try box(100)], automatic), ([], .pixels),
            ([], .nothing),
        ]
        for (steps, rule) in whole {
            #expect(try await kind(plain, "jpeg", steps, rule) == .limit("maxPixels"), "\(steps.identifier) \(rule)")
        }
        let others: [(EncodedFormat, Encoding)] = [
            (.jpeg, Encoding(progressive: true)), (.png, Encoding()), (.webp, Encoding()),
        ]
        for (format, encoding) in others {
            let file = try await bench.encode("jpeg-large.jpg", [], .format(format, encoding)).path
            let found = try await kind(file, format.rawValue, [try box(100)], automatic)
            #expect(found == .limit("maxPixels"), "\(format)")
        }
        // An eighth of it would be small enough, but its few bytes cannot hold so many blocks.
        let before = try residentPeak(bench)
        let bomb = try bench.file(Bombs.jpeg(50_000, 50_000))
        let made = try await bench.make(bomb, "jpeg", [try box(100)])
        #expect(made.outcome.failure?.kind == .limit("maxPixels"), "\(made.outcome)")
        #expect(try residentPeak(bench) - before < 50 << 20)
    }

    @Test("Too many frames, or too many pixels in all of them, are refused; the first frame alone is not")
    func animations() async throws {
        let bench = try await CodecBench()
        let many = try bench.file(Bombs.gif(10, 10, frames: 90_000))
        #expect(try await bench.make(many, "gif").outcome.failure?.kind == .limit("maxFrames"))
        #expect(try await bench.make(many, "gif", frames: .first).outcome.image.frameCount == 1)
        let wide = try bench.file(Bombs.gif(3000, 3000, frames: 100))
        #expect(try await bench.make(wide, "gif").outcome.failure?.kind == .limit("maxAnimationPixels"))
        let moving = try bench.file(Bombs.animatedPNG(3000, 3000, frames: 100))
        #expect(try await bench.make(moving, "png").outcome.failure?.kind == .limit("maxAnimationPixels"))
        let raised = RenderLimits(maxFrames: 3)
        let four = Fixtures.folder + "/gif-animated.gif"
        #expect(try await bench.make(four, "gif", limits: raised).outcome.failure?.kind == .limit("maxFrames"))
        #expect(try await bench.make(four, "gif", limits: RenderLimits(maxFrames: 4)).outcome.image.frameCount == 4)
    }

    @Test("A drawing whose entities or references expand without end is refused in bounded time")
    func drawings() async throws {
        let bench = try await CodecBench()
        let limits = RenderLimits(decodeSeconds: 2)
        let laughs = try await bench.make(try bench.file(Bombs.laughs), "svg", limits: limits)
        #expect(laughs.outcome.failure?.kind == .limit("maxEntityBytes"))
        let uses = try await bench.make(try bench.file(Bombs.uses), "svg", limits: limits)
        #expect(uses.outcome.failure != nil)
        // The library does not look at the clock while it draws: the worker was ended.
        let next = try await CodecBench()
        let outside =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"8\" height=\"8\"><image width=\"8\" height=\"8\" xlink:href=\"file://\(Fixtures.folder)/png-rgb.png\"/></svg>"
        let blank = try await next.pixels(of: try next.file(Array(outside.utf8)), "svg")
        #expect(blank.bytes.allSatisfy { $0 == 0 })
        let entity =
            "<!DOCTYPE svg [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"8\"><text>&x;</text></svg>"
        #expect(try await next.make(try next.file(Array(entity.utf8)), "svg").outcome.failure?.kind == .unsupported)
    }

    @Test("A drawing whose entities come to a few megabytes is drawn when the limit on them is raised")
    func entities() async throws {
        let bench = try await CodecBench()
        // Two hundred thousand spaces in five entities, used five times: five million bytes.
        let parts = (1...5).map { "<!ENTITY p\($0) \"\(String(repeating: " ", count: 200_000))\">" }.joined()
        let uses = String(repeating: "&p1;&p2;&p3;&p4;&p5;", count: 5)
        let drawing =
            "<!DOCTYPE svg [\(parts)]><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"4\"><desc>\(uses)</desc><rect width=\"4\" height=\"4\" fill=\"#f00\"/></svg>"
        let path = try bench.file(Array(drawing.utf8))
        let refused = try #require(try await bench.make(path, "svg").outcome.failure)
        #expect(refused.kind == .limit("maxEntityBytes") && refused.reason.contains("1000000"))
        let limits = RenderLimits(maxEntityBytes: 5_000_000)
        let (drawn, bytes) = try await bench.make(path, "svg", rule: .pixels, limits: limits)
        #expect(try drawn.image.width == 4)
        #expect(Array(bytes.prefix(4)) == [255, 0, 0, 255])
        let short = RenderLimits(maxEntityBytes: 4_999_999)
        #expect(try await bench.make(path, "svg", limits: short).outcome.failure?.kind == .limit("maxEntityBytes"))
    }

    @Test("Decoding that takes too long is ended, also where the decoder does not look at the clock, and says so")
    func slowness() async throws {
        let limits = RenderLimits(decodeSeconds: 0.05)
        let patient = try await CodecBench()
        let large = ImageProcessor.resize(try Resize(width: 6000, height: 6000, upscale: true))
        let source = Fixtures.folder + "/jpeg-large.jpg"
        let watched = try await patient.make(source, "jpeg", [large], limits: limits)
        #expect(watched.outcome.failure?.kind == .limit("decodeSeconds"))
        let deaf = try await CodecBench()
        let hung = try await deaf.make(try deaf.file(Bombs.slow), "svg", limits: limits)
        #expect(hung.outcome.failure?.kind == .limit("decodeSeconds"))
    }

    @Test("A result larger than a picture may be is refused before it is made")
    func results() async throws {
        let bench = try await CodecBench()
        let source = Fixtures.folder + "/png-rgb.png"
        for step in [
            ImageProcessor.resize(try Resize(width: 60_000, height: 60_000, upscale: true)),
            .roundCorner(try RoundCorner(radius: .pixels(1), targetSize: try PixelSize(width: 60_000, height: 60_000))),
            .pad(try Pad(size: try PixelSize(width: 60_000, height: 60_000))),
            .circle(try Circle(diameter: 60_000)),
            .resize(try Resize(width: 60_000, height: 60_000, upscale: true, kernel: .nearest)),
            .resize(
                try Resize(width: 60_000, height: 60_000, mode: .aspectFill, upscale: true, focus: FocalPoint())),
        ] {
            for chain in [[step], [.blackWhite, step]] {
                #expect(try await bench.make(source, "png", chain).outcome.failure?.kind == .limit("maxPixels"))
            }
        }
        // An animation of three frames that a step makes larger.
        let frames = RenderLimits(maxAnimationPixels: 100_000)
        let animated = Fixtures.folder + "/png-animated.png"
        let most = try PixelSize(width: 200, height: 200)
        for step in [
            ImageProcessor.pad(try Pad(size: most)), .resize(try Resize(width: 200, height: 200, upscale: true)),
        ] {
            let made = try await bench.make(animated, "png", [step], limits: frames)
            #expect(made.outcome.failure?.kind == .limit("maxAnimationPixels"), "\(made.outcome)")
            #expect(
                try await bench.make(animated, "png", [step], frames: .first, limits: frames).outcome.failure == nil)
        }
        let small = RenderLimits(maxBytes: 100)
        #expect(try await bench.make(source, "png", limits: small).outcome.failure?.kind == .limit("maxBytes"))
    }

    /// The most memory that the worker held, in bytes.
    private func residentPeak(_ bench: CodecBench) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(bench.worker.process)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first) << 10
    }
}
