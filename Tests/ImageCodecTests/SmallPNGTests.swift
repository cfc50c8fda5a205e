import Foundation
import ImageRecipes
import TestSupport
import Testing

/// PNGs without metadata go past libvips' pipeline, with the same outcome.
@Suite struct SmallPNGTests {
    /// The same picture with XMP, which makes a file go the long way.
    private func marked(_ png: [UInt8]) -> [UInt8] {
        let xmp = ascii("XML:com.adobe.xmp\0\0\0\0\0<x:xmpmeta xmlns:x='adobe:ns:meta/'/>")
        return png[..<33] + Bombs.chunk("iTXt", xmp) + png[33...]
    }

    @Test(
        "The short way and the library's make the same file",
        arguments: [
            "png-gray.png", "png-gray-alpha.png", "png-rgb.png", "png-rgba.png", "png-gray-16bit.png",
            "png-rgb-16bit.png",
        ], [Encoding(), Encoding(progressive: true)])
    func sameAsTheLibrary(_ name: String, _ encoding: Encoding) async throws {
        let bench = try await CodecBench()
        let plain = try Fixtures.bytes(name)
        let small = ImageProcessor.downsample(try PixelSize(width: 20, height: 20))
        for steps in [[], [small]] as [[ImageProcessor]] {
            let rule = RenderOutput.Rule.format(.png, encoding)
            let short = PNGChunk.all(of: try await bench.make(try bench.file(plain), "png", steps, rule: rule).bytes)
            let long = PNGChunk.all(
                of: try await bench.make(try bench.file(marked(plain)), "png", steps, rule: rule).bytes)
            #expect(long.contains { $0.name.hasSuffix("TXt") || $0.name == "tEXt" })
            #expect(short == long.filter { !($0.name.hasSuffix("TXt") || $0.name == "tEXt") })
            #expect(short.map(\.name).first == "IHDR" && short.map(\.name).last == "IEND")
        }
    }

    @Test("A profile is kept, with metadata and without")
    func profile() async throws {
        let bench = try await CodecBench()
        let kept = try await [Encoding(), Encoding(metadata: .none)].asyncMap { encoding in
            let made = try await bench.encode("png-icc-exif.png", [], .format(.png, encoding))
            return PNGChunk.all(of: [UInt8](try Data(contentsOf: URL(fileURLWithPath: made.path))))
        }
        #expect(kept[0].contains { $0.name == "eXIf" } && !kept[1].contains { $0.name == "eXIf" })
        let profiles = kept.map { file in file.first { $0.name == "iCCP" } }
        #expect(profiles[0] != nil && profiles[0] == profiles[1])
    }

    @Test("A palette holds each colour, those of clear pixels too", arguments: [2, 3, 16, 17, 255, 256])
    func palette(colours: Int) async throws {
        let bench = try await CodecBench()
        var generator = SeededGenerator(seed: 1)
        // In no order, so that a palette takes fewer bytes.
        let order = (0..<(64 * 64)).map { $0 < colours ? $0 : Int.random(in: 0..<colours, using: &generator) }
        let source = try bench.file(
            Drawn.bitmap(64, 64) { x, y in
                let colour = order[y * 64 + x]
                return [UInt8(colour), UInt8(colour * 7 % 251), 9, [128, 0, 254, 255][colour % 4]]
            })
        let pixels = try await bench.pixels(of: source, "bmp").bytes
        for encoding in [Encoding(), Encoding(progressive: true)] {
            let made = try await bench.make(source, "bmp", rule: .format(.png, encoding))
            #expect(made.bytes[25] == 3)
            #expect(made.bytes[24] == (colours <= 2 ? 1 : colours <= 4 ? 2 : colours <= 16 ? 4 : 8))
            #expect(try await bench.pixels(of: try bench.file(made.bytes), "png").bytes == pixels)
            let alphas = try #require(PNGChunk.all(of: made.bytes).first { $0.name == "tRNS" }).content
            #expect(!alphas.contains(255) && alphas.contains(0), "only colours that are not opaque have an alpha")
        }
    }
}
