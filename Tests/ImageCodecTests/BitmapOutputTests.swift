import Foundation
import ImageRecipes
import TestSupport
import Testing

/// Formats that are written here and not by libvips: BMP and ICO.
@Suite struct BitmapOutputTests {
    private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func little(_ bytes: [UInt8], _ place: Int, _ count: Int = 4) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }

    @Test("A BMP has 24 bits when it is opaque, and 32 with the place of alpha in its header when it is not")
    func bitmaps() async throws {
        let bench = try await CodecBench()
        for (name, header, bits) in [("png-rgb.png", 40, 24), ("png-rgba.png", 108, 32)] {
            let made = try await bench.encode(name, [], .format(.bmp, Encoding()))
            let file = try bytes(made.path)
            #expect(made.image.hasAlpha == (bits == 32) && little(file, 2) == file.count)
            #expect(little(file, 14) == header && little(file, 28, 2) == bits)
            #expect(little(file, 10) == 14 + header && little(file, 18) == made.image.width)
            let row = (made.image.width * bits / 8 + 3) / 4 * 4
            #expect(file.count == 14 + header + row * made.image.height)
            // The last row comes first: blue, green, red.
            let pixels = try await bench.pixels(name)
            let corner = pixels[0, pixels.height - 1]
            #expect(Array(file[(14 + header)..<(17 + header)]) == [corner[2], corner[1], corner[0]])
        }
    }

    @Test(
        "A format that cannot hold so long a side is refused with what it holds, and the worker goes on",
        arguments: [
            (.jxl, 262_144), (.jpeg, 65_500), (.gif, 65_535), (.webp, 16_383), (.avif, 16_384), (.heic, 16_384),
            (.ico, 256),
        ] as [(EncodedFormat, Int)])
    func longSides(_ format: EncodedFormat, _ most: Int) async throws {
        let bench = try await CodecBench()
        let words = "\(format.rawValue) is written with at most \(most) × \(most) pixels here"
        for (width, height) in [(most + 1, 1), (1, most + 1)] {
            let source = try bench.file(Drawn.bitmap(width, height) { _, _ in [9, 9, 9, 255] })
            let failure = try await bench.make(source, "bmp", rule: .format(format, Encoding())).outcome.failure
            #expect(failure?.kind == .processingFailed, "\(width) × \(height)")
            let reason = try #require(failure?.reason)
            #expect(reason.contains(words) && reason.contains("\(width) × \(height)"), "\(reason)")
        }
    }

    @Test("A BMP on a background is opaque")
    func background() async throws {
        let bench = try await CodecBench()
        let ground = RecipeColor(red: 1, green: 2, blue: 3)
        let made = try await bench.encode("png-rgba.png", [], .format(.bmp, Encoding(background: ground)))
        #expect(try !made.image.hasAlpha && little(bytes(made.path), 28, 2) == 24)
    }

    @Test(
        "An icon holds one picture of up to 256 pixels either way; a larger one is refused, and the error says what helps"
    )
    func icons() async throws {
        let bench = try await CodecBench()
        let largest = ImageProcessor.resize(try Resize(width: 256, height: 256, upscale: true))
        let made = try await bench.encode("jpeg-photo.jpg", [largest], .format(.ico, Encoding()))
        let file = try bytes(made.path)
        #expect(Array(file[..<12]) == [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0] && little(file, 12, 2) == 32)
        #expect(little(file, 14) == file.count - 22 && little(file, 18) == 22)
        #expect(Array(file[22..<26]) == [0x89, 0x50, 0x4E, 0x47] && file[22 + 25] == 6)
        for steps in [[], [.resize(try Resize(width: 257, height: 1, mode: .none, upscale: true))]]
            as [[ImageProcessor]]
        {
            let failure = try await bench.make(
                Fixtures.folder + "/jpeg-large.jpg", "jpeg", steps, rule: .format(.ico, Encoding())
            ).outcome.failure
            #expect(failure?.kind == .processingFailed)
            #expect(failure?.reason.contains("at most 256 × 256 pixels") == true)
            #expect(failure?.reason.contains("resize") == true)
        }
    }

    @Test("Of an animation a BMP or an icon shows the first frame", arguments: [EncodedFormat.bmp, .ico])
    func animations(format: EncodedFormat) async throws {
        let bench = try await CodecBench()
        let made = try await bench.encode("gif-animated.gif", [], .format(format, Encoding()))
        #expect(made.image.frameCount == 1)
        let first = try await bench.pixels("gif-animated.gif", frames: .first)
        #expect(try await bench.pixels(of: made.path, format.rawValue).normalised == first.normalised)
    }
}
