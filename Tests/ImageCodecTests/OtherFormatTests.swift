import Foundation
import ImageRecipes
import TestSupport
import Testing

/// Formats that are read and not written; `CorpusTests` compares their pixels.
@Suite struct OtherFormatTests {
    @Test("The first page of a PDF is drawn at the size that fits the box, and the other pages are told")
    func pages() async throws {
        let bench = try await CodecBench()
        let large: [ImageProcessor] = [.resize(try Resize(width: 640, height: 999, mode: .aspectFit))]
        let drawn = try await bench.pixels("pdf-page.pdf", large)
        #expect(drawn.width == 640 && drawn.height == 480)
        // The edges of what is drawn are sharp at any size.
        #expect(drawn[318, 238] == [0, 0, 255, 255] && drawn[321, 238] == [255, 0, 0, 255])
        #expect(drawn[318, 241] == [255, 0, 0, 255])
        let small = try await bench.pixels("pdf-page.pdf", [.downsample(try PixelSize(width: 16, height: 16))])
        #expect(small.width == 16 && small.height == 12 && small[2, 2] == [0, 0, 255, 255])

        let path = Fixtures.folder + "/pdf-text.pdf"
        let made = try await bench.make(path, "pdf", large).outcome.image
        #expect(made.format == "png" && made.framesDropped == 1 && !made.hasAlpha)
        let text = try await bench.pixels("pdf-text.pdf", large)
        // White letters of a font of the system, on the lower half.
        let white = (240..<480).reduce(0) { count, y in
            count + (0..<640).count { x in text[x, y] == [255, 255, 255, 255] }
        }
        #expect(white > 5_000, "\(white)")
    }

    @Test("A PDF keeps the limits of what is drawn, and one that is none is bad data")
    func bounds() async throws {
        let bench = try await CodecBench()
        let huge: [ImageProcessor] = [.resize(try Resize(width: 9_000, height: 9_000, mode: .aspectFit))]
        let made = try await bench.make(
            Fixtures.folder + "/pdf-page.pdf", "pdf", huge, limits: RenderLimits(maxPixels: 1_000_000))
        #expect(made.outcome.failure?.kind == .limit("maxPixels"))
        let torn = try bench.file(Array(try Fixtures.bytes("pdf-page.pdf").prefix(60)))
        #expect(try await bench.make(torn, "pdf").outcome.failure?.kind == .badData)
    }

    @Test("Samples of a JPEG 2000 or PNM whose white is not the largest number of their bits are as light as others")
    func whites() async throws {
        let bench = try await CodecBench()
        let straight = try await bench.pixels("pnm-rgb.pnm")
        #expect(try await bench.pixels("pnm-rgb-10bit.pnm").likeness(straight) > 45)
        let made = try await bench.encode("pnm-rgb-10bit.pnm", [], .format(.png, Encoding()))
        #expect(try Data(contentsOf: URL(fileURLWithPath: made.path))[24] == 16)
        let steps = try await bench.pixels("pnm-gray-text.pnm")
        #expect(steps.bytes.enumerated().allSatisfy { $0.offset % 4 == 3 || $0.element % 17 == 0 })
    }

    @Test("The largest PNG or JPEG 2000 of an ICNS is shown, and older icons alone are said not to be read")
    func icons() async throws {
        let bench = try await CodecBench()
        let made = try await bench.encode("icns-png.icns", [], .automatic(Encoding()))
        #expect(made.image.width == 64 && made.image.format == "png" && made.image.hasAlpha)
        let old = ascii("icns") + [0, 0, 0, 32] + ascii("is32") + [0, 0, 0, 24] + [UInt8](repeating: 0x80, count: 16)
        let failure = try await bench.make(bench.file(old), "icns").outcome.failure
        #expect(failure?.kind == .unsupported && failure?.reason.contains("ICNS") == true)
    }

    @Test("The bits of a PBM as text may stand side by side, or apart, with comments between them")
    func bits() async throws {
        let bench = try await CodecBench()
        for text in ["P1\n5 3\n10110\n01001\n11100\n", "P1 # bits\n5 3\n1 0 1 1 0 0 1 0 # 11\n01111 0\t0"] {
            let source = try bench.file(ascii(text))
            for steps in [[], [.flip(try Flip(vertical: true)), .flip(try Flip(vertical: true))]] as [[ImageProcessor]]
            {
                let pixels = try await bench.pixels(of: source, "pnm", steps)
                let bits = stride(from: 0, to: pixels.bytes.count, by: 4).map { pixels.bytes[$0] == 0 ? 1 : 0 }
                #expect(bits == [1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 0], "\(text)")
            }
        }
    }
}
