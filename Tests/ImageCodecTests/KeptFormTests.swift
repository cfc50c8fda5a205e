import Foundation
import ImageRecipes
import TestSupport
import Testing

/// What results keep of the form of their source: no loss, a palette, no size in pixels.
@Suite struct KeptFormTests {
    @Test("What is made of a WebP without loss has none, unless a quality or a number of bytes is asked for")
    func losslessWebP() async throws {
        let bench = try await CodecBench()
        let box = ImageProcessor.downsample(try PixelSize(width: 40, height: 30))
        for name in ["webp-lossless-alpha.webp", "webp-lossless.webp", "webp-animated-lossless.webp"] {
            let straight = try await bench.pixels(name, [box]).normalised
            let made = try await bench.encode(name, [box], .automatic(Encoding()))
            #expect(made.image.format == "webp", "\(name)")
            #expect(try await bench.pixels(of: made.path, "webp").normalised == straight, "\(name)")
        }
        let name = "webp-lossless-alpha.webp"
        let straight = try await bench.pixels(name).normalised
        for encoding in [Encoding(quality: 50), Encoding(maxBytes: 800)] {
            let made = try await bench.encode(name, [], .automatic(encoding))
            #expect(made.image.format == "webp" && made.image.byteCount <= encoding.maxBytes ?? .max)
            #expect(try await bench.pixels(of: made.path, "webp").normalised != straight)
        }
    }

    /// The type of colours of a PNG (PNG, 11.2.2): 3 is a palette.
    private func colourType(_ path: String) throws -> UInt8 {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))[25]
    }

    @Test("A PNG of few colours has a palette, with the very same pixels")
    func fewColours() async throws {
        let bench = try await CodecBench()
        for name in ["png-palette.png", "png-palette-trns.png", "bmp-palette.bmp"] {
            let straight = try await bench.pixels(name).normalised
            for rule in [RenderOutput.Rule.automatic(Encoding()), .format(.png, Encoding(progressive: true))] {
                let made = try await bench.encode(name, [], rule)
                #expect(try colourType(made.path) == 3, "\(name)")
                #expect(try await bench.pixels(of: made.path, "png").normalised == straight, "\(name)")
            }
        }
        let photo = try await bench.encode("jpeg-photo.jpg", [], .format(.png, Encoding()))
        #expect(try colourType(photo.path) == 2)
    }

    @Test("What is made of a picture with a palette has one, looks the same, and takes fewer bytes")
    func palette() async throws {
        let bench = try await CodecBench()
        let box = ImageProcessor.downsample(try PixelSize(width: 75, height: 75))
        let drawing = try await drawing(bench)
        let straight = try await bench.pixels(of: drawing, "png", [box])
        let automatic = try await bench.make(drawing, "png", [box])
        let asked = try await bench.make(drawing, "png", [box], rule: .format(.png, Encoding()))
        #expect(automatic.bytes[25] == 3 && asked.bytes[25] == 2)
        #expect(automatic.bytes.count * 4 < asked.bytes.count * 3)
        let looks = try await bench.pixels(of: try bench.file(automatic.bytes), "png")
        #expect(looks.likeness(straight) >= 40)
        #expect(try !automatic.outcome.image.isExact)
        #expect(try !asked.outcome.image.isExact)
    }

    /// A PNG of 150 × 150 pixels with a palette: circles of a few colours on white.
    private func drawing(_ bench: CodecBench) async throws -> String {
        let circles = (0..<40).map { number in
            let (x, y, colour) = (number * 37 % 150, number * 61 % 150, [0x20, 0x48, 0x90, 0xFF][number % 4])
            let fill = "rgb(\(colour),\(255 - colour),\(number % 2 * 200))"
            return "<circle cx='\(x)' cy='\(y)' r='\(8 + number % 20)' fill='\(fill)'/>"
        }
        let text =
            "<svg xmlns='http://www.w3.org/2000/svg' width='150' height='150' shape-rendering='crispEdges'>"
            + "<rect width='150' height='150' fill='white'/>\(circles.joined())</svg>"
        let made = try await bench.make(try bench.file(Array(text.utf8)), "svg")
        #expect(made.bytes[25] == 3)
        return try bench.file(made.bytes)
    }

    @Test("A drawing fills the box of a resize, whatever size it gives itself; a picture is not enlarged")
    func fillsBox() async throws {
        let bench = try await CodecBench()
        let text = "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'><path d='M0 0h10v10H0'/></svg>"
        let path = try bench.file(Array(text.utf8))
        let fit = try Resize(width: 200, height: 200, mode: .aspectFit)
        let cases: [(Resize, [Int])] = [
            (fit, [200, 100]), (try Resize(width: 200, height: 200, mode: .aspectFill), [400, 200]),
            (try Resize(width: 50, height: 60), [50, 60]), (try Resize(width: nil, height: 30), [60, 30]),
        ]
        for (resize, size) in cases {
            let pixels = try await bench.pixels(of: path, "svg", [.resize(resize)])
            #expect([pixels.width, pixels.height] == size)
        }
        // Drawn at that size, not enlarged: there is nothing between black and clear.
        let pixels = try await bench.pixels(of: path, "svg", [.resize(fit)])
        #expect(pixels[99, 50] == [0, 0, 0, 255])
        #expect(pixels[100, 50][3] == 0)
        let same = try await bench.pixels("png-1x1.png", [.resize(fit)])
        #expect(same.width == 1 && same.height == 1)
        // A stretched one is drawn at the larger scale, which is bounded too.
        let stretched = try await bench.make(path, "svg", [.resize(try Resize(width: 1, height: 30_000))])
        #expect(stretched.outcome.failure?.kind == .limit("maxPixels"))
    }
}
