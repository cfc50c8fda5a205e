import Foundation
@testable import ImageCodec
import ImageRecipes
import TestSupport
import Testing

@Suite struct ProgressiveJPEGTests {
    @Test("A small form of a progressive JPEG, of which only the first scan is read, looks like that of a plain one")
    func likeness() async throws {
        let bench = try await CodecBench()
        let small = ImageProcessor.downsample(try PixelSize(width: 120, height: 120))
        for steps in [[], [.blackWhite], [.crop(try Crop(size: try PixelSize(width: 1001, height: 803)))]]
            as [[ImageProcessor]]
        {
            for quality in [95, 60] {
                let plain = try await bench.encode("jpeg-large.jpg", steps, .format(.jpeg, Encoding(quality: quality)))
                let progressive = try await bench.encode(
                    "jpeg-large.jpg", steps, .format(.jpeg, Encoding(quality: quality, progressive: true)))
                let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: progressive.path)))
                #expect(ProgressiveJPEG.eighth(of: SourceBytes(copying: bytes)) != nil)
                let one = try await bench.pixels(of: plain.path, "jpeg", [small])
                let other = try await bench.pixels(of: progressive.path, "jpeg", [small])
                #expect(one.likeness(other) > 30, "\(steps.identifier) \(quality)")
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
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 2..<(bytes.count - 2), using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = ProgressiveJPEG.eighth(of: SourceBytes(copying: bytes))
        }
    }
}
