import Foundation
import ImageFormats
import ImageRecipes
import TestSupport
import Testing

@Suite struct OutputTests {
    @Test(
        "The result chooses the format: clear PNG, of WebP WebP, opaque JPEG, of a source without loss PNG, animated its own or GIF"
    )
    func automatic() async throws {
        let bench = try await CodecBench()
        let round = ImageProcessor.roundCorner(try RoundCorner(radius: .pixels(9)))
        let cases: [(String, [ImageProcessor], String)] = [
            ("jpeg-420.jpg", [], "jpeg"), ("jpeg-420.jpg", [round], "png"), ("png-rgb.png", [], "png"),
            ("png-rgba.png", [], "png"), ("webp-lossy.webp", [], "jpeg"), ("webp-lossy-alpha.webp", [], "webp"),
            ("webp-lossy.webp", [round], "webp"),
            ("avif-rgb.avif", [], "jpeg"), ("gif-animated.gif", [round], "gif"), ("webp-animated.webp", [], "webp"),
            ("png-animated.png", [], "png"), ("gif-static.gif", [], "png"), ("svg-sized.svg", [], "png"),
            ("bmp-24bit.bmp", [], "png"), ("tiff-little-endian.tiff", [], "png"), ("jxl-lossy.jxl", [], "jpeg"),
            ("jxl-alpha.jxl", [], "png"),
        ]
        for (name, steps, format) in cases {
            let image = try await bench.encode(name, steps, .automatic(Encoding())).image
            #expect(image.format == format, "\(name)")
            #expect(
                image.hasAlpha == (steps.contains(round) || name.contains("alpha") || name.contains("rgba")), "\(name)")
        }
    }

    @Test("A JPEG of a clear picture stands on the colour given, or on white")
    func background() async throws {
        let bench = try await CodecBench()
        let round = ImageProcessor.roundCorner(try RoundCorner(radius: .fraction(0.5)))
        for (color, expected) in [
            (nil, [255, 255, 255]), (RecipeColor(red: 200, green: 10, blue: 30), [200, 10, 30]),
        ] as [(RecipeColor?, [Int])] {
            let made = try await bench.encode(
                "jpeg-photo.jpg", [round], .format(.jpeg, Encoding(quality: 100, background: color)))
            let corner = try await bench.pixels(of: made.path, "jpeg")[0, 0]
            for band in 0..<3 { #expect(abs(Int(corner[band]) - expected[band]) <= 6, "\(corner)") }
        }
        let translucent = RecipeColor(red: 0, green: 0, blue: 255, alpha: 128)
        let png = try await bench.encode("jpeg-photo.jpg", [round], .automatic(Encoding(background: translucent)))
        #expect(png.image.format == "png" && png.image.hasAlpha)
    }

    @Test("A limit on the file's size lowers the quality until it is kept, or fails and says so")
    func sizeLimit() async throws {
        let bench = try await CodecBench()
        for format in [EncodedFormat.jpeg, .webp, .jxl] {
            let free = try await bench.encode("jpeg-photo.jpg", [], .format(format, Encoding(quality: 95))).image
                .byteCount
            let most = free / 3
            let limited = try await bench.encode(
                "jpeg-photo.jpg", [], .format(format, Encoding(quality: 95, maxBytes: most)))
            #expect(limited.image.byteCount <= most && limited.image.byteCount > most / 2, "\(format)")
        }
        for format in [EncodedFormat.jpeg, .png] {
            let failure = try await bench.make(
                Fixtures.folder + "/jpeg-photo.jpg", "jpeg", rule: .format(format, Encoding(maxBytes: 200))
            ).outcome.failure
            #expect(failure?.kind == .limit("cacheSerializer.maxBytes"))
        }
    }

    @Test(
        "A long and narrow picture is written as HEIC or AVIF, or fails with a sentence where the encoder refuses it",
        arguments: [EncodedFormat.heic, .avif])
    func narrow(format: EncodedFormat) async throws {
        let bench = try await CodecBench()
        guard bench.worker.facts.encodes.contains(format.rawValue) else { return }
        for (width, height) in [
            (1, 1), (20, 3000), (3000, 20), (32, 5000), (20, 5000), (5000, 31), (20, 17_000), (1, 70_000),
        ] {
            let source = try bench.file(Drawn.bitmap(width, height) { [UInt8($0 & 255), UInt8($1 & 255), 90, 255] })
            let (outcome, bytes) = try await bench.make(source, "bmp", rule: .format(format, Encoding()))
            if let failure = outcome.failure {
                #expect(max(width, height) >= 5000 && failure.kind == .processingFailed, "\(width) × \(height)")
                #expect(failure.reason.contains("\(width) × \(height)"))
            } else {
                let header = try bytes.withUnsafeBytes { try ImageHeader($0) }
                #expect(header.width == width && header.height == height && max(width, height) <= 16_384)
            }
        }
    }

    @Test(
        "Each format that can be written reads back alike, in eight bits or sixteen", arguments: EncodedFormat.allCases)
    func formats(format: EncodedFormat) async throws {
        let bench = try await CodecBench()
        guard bench.worker.facts.encodes.contains(format.rawValue) else { return }
        let names = ["png-rgb.png", "png-rgba.png", "png-gray.png", "png-rgb-16bit.png", "jpeg-photo.jpg"]
        // The photo is too large for an icon.
        for name in names.prefix(format == .ico ? 4 : 5) {
            let made = try await bench.encode(name, [], .format(format, Encoding(quality: 98)))
            #expect(made.image.format == format.rawValue)
            let back = try await bench.pixels(of: made.path, format.rawValue)
            var source = try await bench.pixels(name)
            if !format.hasAlpha, name == "png-rgba.png" {
                source = try await bench.pixels(
                    name,
                    [
                        .compositing(
                            try Compositing(
                                operation: .sourceOver, background: RecipeColor(red: 255, green: 255, blue: 255)))
                    ])
            }
            let least: Double =
                switch format {
                case .png, .tiff, .bmp, .ico: name == "png-rgba.png" ? 60 : 90;
                case .gif: name == "png-rgba.png" ? 8 : 16;
                default: 26
                }
            #expect(back.onBlack.likeness(source.onBlack) > least, "\(name) as \(format)")
        }
    }

    @Test("Without loss means that every pixel stays")
    func lossless() async throws {
        let bench = try await CodecBench()
        let source = try await bench.pixels("png-rgb.png")
        for format in [EncodedFormat.webp, .jxl] {
            let made = try await bench.encode("png-rgb.png", [], .format(format, Encoding(lossless: true)))
            #expect(try await bench.pixels(of: made.path, format.rawValue) == source)
        }
    }

    @Test("Sixteen bits stay sixteen in PNG and TIFF, also after a processor")
    func depth() async throws {
        let bench = try await CodecBench()
        for steps in [[], [.colorControls(try ColorControls(contrast: 1.1))]] as [[ImageProcessor]] {
            let made = try await bench.encode("png-rgb-16bit.png", steps, .format(.png, Encoding()))
            let bytes = try Data(contentsOf: URL(fileURLWithPath: made.path))
            #expect(bytes[24] == 16)
        }
    }

    @Test(
        "EXIF goes when it is to be stripped; orientation and preview go always; the profile goes with sRGB"
    )
    func metadata() async throws {
        let bench = try await CodecBench()
        func text(_ name: String, _ encoding: Encoding) async throws -> String {
            let made = try await bench.encode(name, [], .format(.jpeg, encoding))
            return String(decoding: try Data(contentsOf: URL(fileURLWithPath: made.path)), as: Unicode.ASCII.self)
        }
        #expect(try await text("jpeg-orientation-6.jpg", Encoding()).contains("Exif"))
        #expect(try await !text("jpeg-orientation-6.jpg", Encoding(metadata: .none)).contains("Exif"))
        let upright = try await bench.encode("jpeg-orientation-6.jpg", [], .format(.jpeg, Encoding()))
        let again = try await bench.pixels(of: upright.path, "jpeg")
        #expect(again.width == 64 && again.height == 48)
        #expect(try await text("jpeg-icc.jpg", Encoding()).contains("ICC_PROFILE"))
        #expect(try await text("jpeg-icc.jpg", Encoding(metadata: .none)).contains("ICC_PROFILE"))
        #expect(try await !text("jpeg-icc.jpg", Encoding(profile: .sRGB)).contains("ICC_PROFILE"))
        let preview = try await bench.encode("jpeg-thumbnail.jpg", [.blackWhite], .format(.jpeg, Encoding()))
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: preview.path)))
        let starts = zip(bytes, bytes.dropFirst()).filter { $0 == 0xFF && $1 == 0xD8 }.count
        #expect(starts == 1)
    }

    @Test("Several outputs of one request are those of several requests, and one that fails fails alone")
    func several() async throws {
        let bench = try await CodecBench()
        let small = ImageProcessor.downsample(try PixelSize(width: 40, height: 40))
        let smaller = ImageProcessor.downsample(try PixelSize(width: 20, height: 20))
        let chains: [[ImageProcessor]] = [
            [smaller], [small, .blackWhite], [], [small, .blur(try Blur(radius: 2))], [small],
        ]
        var outputs = chains.map { RenderOutput(steps: $0, rule: .pixels, path: bench.path()) }
        let tiny = RenderOutput.Rule.format(.jpeg, Encoding(maxBytes: 10))
        outputs.append(RenderOutput(steps: [small], rule: tiny, path: bench.path()))
        let source = Fixtures.folder + "/jpeg-photo.jpg"
        let reply = try await bench.worker.render(RenderRequest(source: source, format: "jpeg", outputs: outputs))
        for (number, chain) in chains.enumerated() {
            let together = [UInt8](try Data(contentsOf: URL(fileURLWithPath: outputs[number].path)))
            let image = try reply.outcomes[number].image
            let alone = try await bench.pixels("jpeg-photo.jpg", chain)
            #expect(
                Pixels(width: image.width, height: image.height, bytes: together).likeness(alone) > 34,
                "\(chain.identifier)")
        }
        #expect(reply.outcomes[5].failure?.kind == .limit("cacheSerializer.maxBytes"))
    }

    @Test("Raw pixels are RGBA rows without padding, the frames one after another")
    func rawPixels() async throws {
        let bench = try await CodecBench()
        let (outcome, bytes) = try await bench.make(Fixtures.folder + "/gif-animated.gif", "gif", rule: .pixels)
        let image = try outcome.image
        #expect(image.format == "rgba" && image.stride == 64 * 4 && bytes.count == 64 * 48 * 4 * 4)
    }

    @Test("Drawings are drawn at the size that is asked for")
    func drawings() async throws {
        let bench = try await CodecBench()
        let large = ImageProcessor.resize(try Resize(width: 640, height: nil, upscale: true))
        let drawn = try await bench.pixels("svg-sized.svg", [large])
        #expect(drawn.width == 640 && drawn.height == 480)
        // An edge that is drawn is sharp; one that is enlarged is ten pixels wide.
        let enlarged = try await bench.pixels(
            of: bench.encode("svg-sized.svg", [], .format(.png, Encoding())).path, "png", [large])
        #expect(drawn.likeness(enlarged) < 40)
    }

    @Test("The same request gives the same bytes, from one worker or another")
    func determinism() async throws {
        var seen: Set<[UInt8]> = []
        for _ in 0..<3 {
            let bench = try await CodecBench()
            let chain: [ImageProcessor] = [
                .downsample(try PixelSize(width: 50, height: 50)), .blur(try Blur(radius: 2)),
            ]
            seen.insert(try await bench.make(Fixtures.folder + "/jpeg-photo.jpg", "jpeg", chain).bytes)
        }
        #expect(seen.count == 1)
    }
}
