import Foundation
import ImageRecipes
import TestSupport
import Testing

/// The facts of ``EncodedFormat``, of which the table of formats is made.
@Suite struct FormatTableTests {
    @Test("A file holds what the table of formats says", arguments: EncodedFormat.allCases)
    func written(format: EncodedFormat) async throws {
        let bench = try await CodecBench()
        let exact = RenderOutput.Rule.format(format, Encoding(lossless: true))
        let clear = try await bench.encode("png-rgba.png", [], exact)
        #expect(clear.image.hasAlpha == format.hasAlpha)

        let straight = try await bench.pixels("png-rgb.png")
        let kept = try await bench.pixels(of: bench.encode("png-rgb.png", [], exact).path, format.rawValue)
        if format.isLossless {
            // AVIF and HEIC turn colours into others of eight bits and back.
            let isExact = format != .avif && format != .heic
            #expect(isExact ? kept == straight : kept.likeness(straight) > 40)
        } else {
            #expect(kept != straight)
        }
        let plain = RenderOutput.Rule.format(format, Encoding())
        let usual = try await bench.pixels(of: bench.encode("png-rgb.png", [], plain).path, format.rawValue)
        #expect((usual == straight) == (!format.isLossy && format.isLossless))

        for (name, isHeld, mark) in [
            ("png-rgb-16bit.png", format.hasSixteenBits, "IHDR"), ("png-icc-exif.png", format.hasProfile, "iCCP"),
        ] {
            let made = try await bench.encode(name, [], exact)
            let png = try await bench.make(made.path, format.rawValue, rule: .format(.png, Encoding())).bytes
            #expect((mark == "IHDR" ? png[24] == 16 : Data(png).range(of: Data(mark.utf8)) != nil) == isHeld, "\(name)")
        }

        let source = Fixtures.folder + "/gif-animated.gif"
        let frames = try await bench.make(source, "gif", rule: plain).outcome
        #expect(((try? frames.image.frameCount) ?? 0 > 1) == format.isAnimated)
    }
}
