import Foundation
import ImageCodec
import ImageRecipes
import TestSupport
import Testing

/// Small forms of AVIF, HEIC and JPEG, which are shrunk as they are decoded.
@Suite struct SmallHEIFTests {
    /// How much the small form of a picture is like that of all its pixels, in dB.
    private func likeness(
        of path: String, _ format: String, _ size: PixelSize, _ bench: CodecBench
    ) async throws -> Double {
        let small = ImageProcessor.downsample(size)
        let full = try bench.file(try await bench.make(path, format, rule: .format(.png, Encoding())).bytes)
        return try await bench.pixels(of: path, format, [small]).likeness(bench.pixels(of: full, "png", [small]))
    }

    @Test(
        "A small form of a picture looks like that of all of it", arguments: [EncodedFormat.avif, .heic, .jpeg],
        [60, 95])
    func photographs(_ format: EncodedFormat, _ quality: Int) async throws {
        let bench = try await CodecBench()
        let crop = ImageProcessor.crop(try Crop(size: try PixelSize(width: 601, height: 403)))
        let large = try await bench.encode("jpeg-large.jpg", [crop], .format(format, Encoding(quality: quality)))
        for side in [140.0, 70, 45, 25] {
            let size = try PixelSize(width: side, height: side)
            let likeness = try await likeness(of: large.path, format.rawValue, size, bench)
            #expect(likeness >= 50, "\(side) \(likeness)")
        }
    }

    @Test("So does a large one that is turned, or gray, or has alpha", arguments: [EncodedFormat.avif, .heic])
    func largeOthers(_ format: EncodedFormat) async throws {
        let bench = try await CodecBench()
        let crop = ImageProcessor.crop(try Crop(size: try PixelSize(width: 601, height: 403)))
        let size = try PixelSize(width: 75, height: 75)
        for step in [ImageProcessor.blackWhite, .roundCorner(try RoundCorner(radius: .pixels(200)))] {
            let large = try await bench.encode("jpeg-large.jpg", [crop, step], .format(format, Encoding()))
            #expect(try await likeness(of: large.path, format.rawValue, size, bench) >= 42, "\(step.identifier)")
        }
        let large = try await bench.encode("jpeg-large.jpg", [crop], .format(format, Encoding()))
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: large.path)))
        // A turn to the left in the place of what tells the number of bits, which the coded picture tells too.
        let place = try #require((0..<bytes.count - 5).first { Array(bytes[$0..<($0 + 4)]) == Array("pixi".utf8) })
        bytes.replaceSubrange(place..<place + 5, with: Array("irot".utf8) + [1])
        let turned = try bench.file(bytes)
        let pixels = try await bench.pixels(of: turned, format.rawValue, [.downsample(size)])
        #expect(pixels.width == 50 && pixels.height == 75)
        #expect(try await likeness(of: turned, format.rawValue, size, bench) >= 42)
    }

    @Test("So does one that is small, has alpha or ten bits, is gray or is turned", arguments: ["avif", "heic"])
    func others(_ format: String) async throws {
        let bench = try await CodecBench()
        let size = try PixelSize(width: 15, height: 15)
        for fixture in Fixtures.all where fixture.format == format && !fixture.file.contains("animated") {
            let path = Fixtures.folder + "/" + fixture.file
            let likeness = try await likeness(of: path, format, size, bench)
            #expect(likeness >= 42, "\(fixture.file) \(likeness)")
        }
    }
}
