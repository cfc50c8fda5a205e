import Foundation
import ImageFormats
import ImageRecipes
import TestSupport
import Testing

@Suite struct AnimationTests {
    private func small() throws -> [ImageProcessor] { [.downsample(try PixelSize(width: 32, height: 32))] }

    @Test("Every frame of an animated PNG is turned as its file says, also where one is taken or made smaller")
    func turned() async throws {
        let bench = try await CodecBench()
        let colour = { (frame: Int, x: Int, y: Int) in [UInt8(40 * x), UInt8(40 * y), UInt8(100 * frame), 255] }
        var file = Drawn.animation(6, 4, frames: 2, colour)
        // A TIFF with one entry, the orientation (0x0112, a short): 6, the right side of the file is the bottom.
        let exif: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6] + zeros(6)
        file.insert(contentsOf: Bombs.chunk("eXIf", exif), at: 33)
        let source = try bench.file(file)
        let whole = try await bench.pixels(of: source, "png")
        try #require(whole.width == 4 && whole.height == 6 && whole.frames == 2)
        for frame in 0..<2 {
            for x in 0..<4 {
                for y in 0..<6 { #expect(whole.frame(frame)[x, y] == colour(frame, y, 3 - x), "\(frame) \(x) \(y)") }
            }
        }
        #expect(try await bench.pixels(of: source, "png", frames: .number(1)) == whole.frame(1))
        let steps: [ImageProcessor] = [.downsample(try PixelSize(width: 2, height: 6))]
        let small = try await bench.pixels(of: source, "png", steps)
        #expect(small.width == 2 && small.height == 3 && small.frames == 2)
    }

    @Test(
        "An animation keeps its frames, delays and loop count through processors and formats",
        arguments: ["gif", "webp", "png"])
    func formats(format: String) async throws {
        let bench = try await CodecBench()
        let target = try #require(EncodedFormat(rawValue: format))
        for (name, delays, loop) in [
            ("gif-animated.gif", [50, 100, 150, 200], 0), ("png-animated.png", [80, 120, 200], 0),
            ("jxl-animated.jxl", [80, 120, 200], 0), ("misnamed/gif-named.webp", [100, 100], 1),
            ("webp-animated-lossless.webp", [80, 80, 100, 500], 0),
        ] as [(String, [Int], Int)] {
            let made = try await bench.encode(name, try small(), .format(target, Encoding(quality: 95)))
            #expect(
                made.image.delays == delays && made.image.loopCount == loop && made.image.frameCount == delays.count)
            #expect(made.image.width == 32 && made.image.height == 24)
            // What was written says the same when it is read.
            let (outcome, bytes) = try await bench.make(made.path, format, rule: .pixels)
            let again = try outcome.image
            #expect(again.delays == delays, "\(name) as \(format)")
            #expect(again.loopCount == loop, "\(name) as \(format)")
            let pixels = Pixels(width: 32, height: 24, frames: delays.count, bytes: bytes)
            let direct = try await bench.pixels(name, try small())
            for frame in 0..<delays.count {
                #expect(
                    pixels.frame(frame).likeness(direct.frame(frame)) > (target == .png ? 90 : 22),
                    "\(name) \(format) \(frame)")
            }
        }
    }

    @Test("An animation is made byte for byte the same however often one worker makes it")
    func sameEachTime() async throws {
        let bench = try await CodecBench()
        var made: Set<Data> = []
        for _ in 0..<80 {
            let file = try await bench.encode(
                "webp-animated-lossless.webp", try small(), .format(.webp, Encoding(lossless: true)))
            made.insert(try Data(contentsOf: URL(filePath: file.path)))
        }
        #expect(made.count == 1)
    }

    @Test("Processors act on each frame as on a still: nothing bleeds from one frame into the next")
    func frames() async throws {
        let bench = try await CodecBench()
        let size = try PixelSize(width: 30, height: 20)
        let chains: [[ImageProcessor]] = [
            [.blur(try Blur(radius: 4))], [.crop(try Crop(size: size, anchorX: 1, anchorY: 1))],
            [.rotate(try .byDegrees(90))], [.roundCorner(try RoundCorner(radius: .pixels(8)))], try small(),
            [.flip(try Flip(horizontal: true))], [.pad(try Pad(size: size))], [.circle(try Circle())],
            [.pixelate(try Pixelate(size: 5))], [.sharpen(try Sharpen()), .gamma(try Gamma(gamma: 2))],
            [.crop(try Crop(width: 20, height: 10, place: .corner(x: 30, y: 20)))],
            [.resize(try Resize(width: 20, height: 20, mode: .aspectFill, kernel: .nearest, focus: FocalPoint(x: 1)))],
        ]
        for name in [
            "gif-animated.gif", "gif-animated-optimised.gif", "webp-animated-lossless.webp", "png-animated.png",
        ] {
            for chain in chains {
                let all = try await bench.pixels(name, chain)
                #expect(all.frames > 1)
                for number in 0..<all.frames {
                    let one = try await bench.pixels(name, chain, frames: .number(number))
                    #expect(
                        one.frames == 1 && one.normalised == all.frame(number).normalised,
                        "\(name) \(number) \(chain.identifier)")
                }
                let first = try await bench.pixels(name, chain, frames: .first)
                #expect(first.normalised == all.frame(0).normalised)
            }
        }
    }

    @Test(
        "One request gives the animation, its first frame and another one; a frame that is not there fails alone"
    )
    func choices() async throws {
        let bench = try await CodecBench()
        let outputs = [RenderOutput.Frames.all, .first, .number(3), .number(4), .number(-1)].map {
            RenderOutput(steps: [], frames: $0, path: bench.path())
        }
        let source = Fixtures.folder + "/gif-animated.gif"
        let reply = try await bench.worker.render(RenderRequest(source: source, format: "gif", outputs: outputs))
        let images = reply.outcomes.map { try? $0.image }
        #expect(images.map { $0?.frameCount } == [4, 1, 1, nil, nil])
        #expect(images.map { $0?.format } == ["gif", "png", "png", nil, nil])
        #expect(reply.outcomes[3].failure?.reason.contains("4 frames") == true)
    }

    @Test("A format that holds one picture takes the first frame")
    func stills() async throws {
        let bench = try await CodecBench()
        for format in [EncodedFormat.jpeg, .tiff] {
            let made = try await bench.encode("gif-animated.gif", try small(), .format(format, Encoding()))
            #expect(made.image.frameCount == 1 && made.image.delays.isEmpty && made.image.height == 24)
        }
    }

    @Test("A result tells how many pictures of its original it lacks, unless one of them was asked for")
    func lostPictures() async throws {
        let bench = try await CodecBench()
        func lost(
            _ name: String, _ rule: RenderOutput.Rule = .automatic(Encoding()), frames: RenderOutput.Frames = .all
        ) async throws -> Int {
            let format = try #require(Fixtures.all.first { $0.file == name }?.format)
            let image = try await bench.make(
                Fixtures.folder + "/" + name, format, try small(), frames: frames, rule: rule
            ).outcome.image
            #expect(!image.isExact || image.framesDropped == 0)
            return image.framesDropped
        }
        for (name, count) in [("gif-animated.gif", 4), ("png-animated.png", 3), ("jxl-animated.jxl", 3)] {
            #expect(try await lost(name, .format(.jpeg, Encoding())) == count - 1, "\(name)")
            #expect(try await lost(name) == 0, "\(name)")
            #expect(try await lost(name, .pixels) == 0, "\(name)")
            for frames in [RenderOutput.Frames.first, .number(1)] {
                #expect(try await lost(name, .format(.jpeg, Encoding()), frames: frames) == 0, "\(name)")
            }
        }
        // The library decodes one picture of a sequence, and one page at a time.
        for (name, count) in [("avif-animated.avif", 3), ("tiff-two-pages.tiff", 2)] {
            #expect(try await lost(name) == count - 1, "\(name)")
            #expect(try await lost(name, .pixels) == count - 1, "\(name)")
            #expect(try await lost(name, frames: .first) == 0, "\(name)")
        }
        for still in ["jpeg-photo.jpg", "ico-sizes.ico", "heic-alpha.heic"] {
            #expect(try await lost(still) == 0, "\(still)")
        }
    }

    @Test("Of a HEIC that holds two pictures the primary one is taken")
    func primary() async throws {
        let bench = try await CodecBench()
        let made = try await bench.make(Fixtures.folder + "/damaged/two-pictures.heic", "heic")
        let image = try made.outcome.image
        #expect(image.width == 160 && image.height == 120 && image.frameCount == 1)
    }

    @Test("A page of a TIFF is taken by its number")
    func pages() async throws {
        let bench = try await CodecBench()
        let pages = try await [0, 1].asyncMap { try await bench.pixels("tiff-two-pages.tiff", frames: .number($0)) }
        #expect(pages.map(\.width) == [64, 61] && pages.map(\.height) == [48, 37])
    }

    @Test("What the first picture of a GIF leaves free is clear, as browsers show it, and there is no frame more")
    func freeGround() async throws {
        let bench = try await CodecBench()
        let still = try await bench.pixels("gif-offset-frame.gif")
        #expect(still.frames == 1 && still[0, 0] == [0, 0, 0, 0] && still[63, 47][3] == 0)
        #expect(still[20, 10][3] == 255 && still[43, 27][3] == 255 && still[44, 27][3] == 0)
        let made = try await bench.encode("gif-offset-frame.gif", [], .automatic(Encoding())).image
        #expect(made.format == "png" && made.hasAlpha && made.frameCount == 1)
        // Two pictures that each fill a quarter: the second one is drawn on the first.
        let source = try Fixtures.bytes("gif-offset-frame.gif")
        let picture = try #require(source.lastIndex(of: 0x2C).map { _ in source.dropLast() })
        let start = try #require((13..<source.count).first { source[$0] == 0x2C && source[$0 + 1] == 20 })
        var second = Array(source[start..<(source.count - 1)])
        second[1] = 0
        second[3] = 0
        let two = try bench.file(Array(picture) + second + [0x3B])
        let pixels = try await bench.pixels(of: two, "gif")
        #expect(pixels.frames == 2)
        #expect(pixels.frame(0)[0, 0][3] == 0 && pixels.frame(1)[0, 0][3] == 255)
        #expect(pixels.frame(1)[30, 20][3] == 255 && pixels.frame(1)[63, 0][3] == 0)
        let third = try await bench.make(two, "gif", frames: .number(2))
        #expect(third.outcome.failure?.kind == .processingFailed)
    }
}

/// The data of a frame of a GIF: the table is begun anew before each pixel, so that no code becomes longer.
///
/// - Parameter bits: Those that pixels are coded with, 2 to 8.
private func frameData(_ pixels: [Int], bits: Int) -> [UInt8] {
    var codes: [Int] = []
    for pixel in pixels { codes += [1 << bits, pixel] }
    codes.append((1 << bits) + 1)
    var (packed, sum, filled): ([UInt8], Int, Int) = ([], 0, 0)
    for code in codes {
        sum |= code << filled
        filled += bits + 1
        while filled >= 8 {
            packed.append(UInt8(sum & 255))
            (sum, filled) = (sum >> 8, filled - 8)
        }
    }
    packed.append(UInt8(sum & 255))
    var data = [UInt8(bits)]
    for start in stride(from: 0, to: packed.count, by: 255) {
        let part = packed[start..<min(start + 255, packed.count)]
        data += [UInt8(part.count)] + part
    }
    return data + [0]
}

private func frame(_ width: UInt8, _ height: UInt8, disposal: UInt8, _ data: [UInt8]) -> [UInt8] {
    let control: [UInt8] = [0x21, 0xF9, 4, disposal << 2, 10, 0, 0, 0]
    let descriptor: [UInt8] = [0x2C, 0, 0, 0, 0, width, 0, height, 0, 0]
    return control + descriptor + data
}

/// A GIF of four by two pixels with a table of two colours, green and blue, whose first frame fills it with blue and gives way
/// to the background, and whose second one is a blue pixel.
private func vanishingFrame(bits: Int) -> [UInt8] {
    var file = Array("GIF89a".utf8)
    file += [4, 0, 2, 0, 0x80, 0, 0] as [UInt8]
    file += [0, 255, 0, 0, 0, 255] as [UInt8]
    file += frame(4, 2, disposal: 2, frameData(Array(repeating: 1, count: 8), bits: bits))
    file += frame(1, 1, disposal: 0, frameData([1], bits: bits))
    return file + [0x3B]
}

/// A GIF of 16 × 16 pixels with a table of 256 shades, whose frames have so many of them, one pixel after the other, and whose
/// last one is a single pixel.
///
/// - Parameter disposals: What becomes of each frame.
private func gif(of count: Int, disposals: [UInt8]) -> [UInt8] {
    var file = Array("GIF89a".utf8)
    file += [16, 0, 16, 0, 0xF7, 0, 0] as [UInt8]
    for shade in UInt8.min ... .max { file += [shade, 100, 255 - shade] as [UInt8] }
    let full = frameData((0..<256).map { $0 % count }, bits: 8)
    for disposal in disposals { file += frame(16, 16, disposal: disposal, full) }
    file += frame(1, 1, disposal: 0, frameData([5], bits: 8))
    return file + [0x3B]
}

@Suite struct VanishingFrameTests {
    @Test(
        "A frame of a GIF that gives way to the background leaves clear ground, as in browsers",
        arguments: [2, 5, 7, 8])
    func clearGround(_ bits: Int) async throws {
        let (bench, bytes) = (try await CodecBench(), vanishingFrame(bits: bits))
        let pixels = try await bench.pixels(of: try bench.file(bytes), "gif")
        #expect(pixels.frames == 2)
        #expect(pixels.frame(0)[3, 1] == [0, 0, 255, 255])
        #expect(pixels.frame(1)[0, 0] == [0, 0, 255, 255] && pixels.frame(1)[3, 1][3] == 0)
        #expect(try bytes.withUnsafeBytes { try ImageHeader($0) }.hasAlpha == true)
    }

    @Test(
        "So does one of many colours, one that has all of them, and one on others that stay",
        arguments: [
            (200, [2]), (256, [2]), (200, [2, 2]), (256, [2, 2]), (256, [2, 3, 2]), (200, [0, 2]), (255, [1, 2, 2]),
        ] as [(Int, [UInt8])])
    func manyColours(_ count: Int, _ disposals: [UInt8]) async throws {
        let (bench, bytes) = (try await CodecBench(), gif(of: count, disposals: disposals))
        let pixels = try await bench.pixels(of: try bench.file(bytes), "gif")
        #expect(pixels.frames == disposals.count + 1)
        let shades = (0..<256).map { UInt8($0 % count) }
        let full = shades.flatMap { [$0, 100, 255 - $0, 255] as [UInt8] }
        for number in disposals.indices { #expect(pixels.frame(number).bytes == full, "\(number)") }
        let last = pixels.frame(disposals.count)
        #expect(last[0, 0] == [5, 100, 250, 255])
        #expect((1..<256).allSatisfy { last[$0 % 16, $0 / 16][3] == 0 })
    }

    @Test("What stays of a GIF stays, and a frame whose data is damaged fails as before")
    func others() async throws {
        let bench = try await CodecBench()
        let pixels = try await bench.pixels(of: try bench.file(gif(of: 256, disposals: [0])), "gif")
        #expect(pixels.frames == 2 && pixels.frame(1)[15, 15] == [255, 100, 0, 255])
        // A code that no table has yet.
        let bad = frame(16, 16, disposal: 2, frameData([1, 2, 400], bits: 8))
        var damaged = gif(of: 200, disposals: [0])
        damaged.insert(contentsOf: bad, at: damaged.count - 1 - frame(1, 1, disposal: 0, frameData([5], bits: 8)).count)
        let failure = try await bench.make(try bench.file(damaged), "gif", rule: .pixels).outcome.failure
        #expect(failure?.kind == .badData)
    }

    @Test("Clear pixels of an animated PNG stay clear in the GIF that is made of it")
    func written() async throws {
        let bench = try await CodecBench()
        let file = Drawn.animation(24, 24, frames: 2) { frame, x, y in
            frame == 1 ? [0, 0, 255, x < 12 ? 255 : 0] : [UInt8(10 * x), UInt8(10 * y), 90, 255]
        }
        let written = try await bench.make(try bench.file(file), "png", rule: .format(.gif, Encoding())).bytes
        let pixels = try await bench.pixels(of: try bench.file(written), "gif")
        #expect(pixels.frames == 2 && pixels.frame(0)[23, 0][3] == 255)
        #expect(pixels.frame(1)[0, 0][3] == 255 && pixels.frame(1)[23, 0][3] == 0 && pixels.frame(1)[12, 23][3] == 0)
    }
}

extension Sequence {
    /// `map` that waits.
    func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
