import Foundation
@testable import ImageCodec
import ImageRecipes
import TestSupport
import Testing

@Suite struct ProgressiveJPEGTests {
    @Test("A small form of a progressive JPEG looks like that of all of it, at every quality")
    func likeness() async throws {
        let bench = try await CodecBench()
        let sizes = try [120, 75, 40].map { ImageProcessor.downsample(try PixelSize(width: $0, height: $0)) }
        for steps in [[], [.blackWhite], [.crop(try Crop(size: try PixelSize(width: 1001, height: 803)))]]
            as [[ImageProcessor]]
        {
            for quality in stride(from: 5, through: 95, by: steps.isEmpty ? 10 : 30) {
                let plain = try await bench.encode("jpeg-large.jpg", steps, .format(.jpeg, Encoding(quality: quality)))
                let progressive = try await bench.encode(
                    "jpeg-large.jpg", steps, .format(.jpeg, Encoding(quality: quality, progressive: true)))
                let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: progressive.path)))
                // At low qualities the means of the first scan are coarse.
                let isRead = ProgressiveJPEG.eighth(of: SourceBytes(copying: bytes)) != nil
                // The steps of grey are finer than those of colours.
                if quality != 40 { #expect(isRead == (quality > 40), "\(quality)") }
                // What shrinks on load has another error than what is decoded in full.
                let full = try bench.file(
                    try await bench.make(plain.path, "jpeg", rule: .format(.png, Encoding())).bytes)
                for small in sizes {
                    let one = try await bench.pixels(of: full, "png", [small])
                    let other = try await bench.pixels(of: progressive.path, "jpeg", [small])
                    #expect(one.likeness(other) >= 38, "\(steps.identifier) \(quality) \(small)")
                }
            }
        }
    }

    @Test("Only whole progressive JPEGs are read that way")
    func others() throws {
        for name in ["jpeg-photo.jpg", "jpeg-gray.jpg", "jpeg-cmyk.jpg", "png-rgb.png"] {
            #expect(ProgressiveJPEG.eighth(of: SourceBytes(copying: try Fixtures.bytes(name))) == nil)
        }
        let whole = try Fixtures.bytes("jpeg-progressive.jpg")
        let eighth = try #require(ProgressiveJPEG.eighth(of: SourceBytes(copying: whole)))
        #expect(eighth.size == Extent(width: 8, height: 6) && eighth.bands == 3)
        for count in 0..<(whole.count - 1) {
            #expect(ProgressiveJPEG.eighth(of: SourceBytes(copying: Array(whole[..<count]))) == nil)
        }
    }

    @Test("Damaged progressive JPEGs never trap")
    func damage() throws {
        var random = SeededGenerator(seed: 7)
        let whole = try Fixtures.bytes("jpeg-progressive.jpg")
        for _ in 0..<1000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 2..<(bytes.count - 2), using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = ProgressiveJPEG.eighth(of: SourceBytes(copying: bytes))
        }
    }
}
