import ImageRecipes
import TestSupport
import Testing

@Suite struct QualityTests {
    private static let lossy = EncodedFormat.allCases.filter(\.isLossy)

    @Test("At one number every format looks about as JPEG does, in no more bytes", arguments: [40, 60, 80, 90])
    func looks(quality: Int) async throws {
        let bench = try await CodecBench()
        // Half of its size, so that nothing is left of the blocks of the JPEG that it comes from.
        let steps: [ImageProcessor] = [.downsample(try PixelSize(width: 400, height: 400))]
        let half = try await bench.encode("jpeg-large.jpg", steps, .format(.png, Encoding())).path
        let source = try await bench.pixels(of: half, "png")
        var found: [EncodedFormat: (likeness: Double, bytes: Int)] = [:]
        for format in Self.lossy where bench.worker.facts.encodes.contains(format.rawValue) {
            let made = try await bench.make(half, "png", rule: .format(format, Encoding(quality: quality)))
            let back = try await bench.pixels(of: try bench.file(made.bytes), format.rawValue)
            found[format] = (back.likeness(source), made.bytes.count)
        }
        let jpeg = try #require(found[.jpeg])
        for (format, one) in found {
            #expect(abs(one.likeness - jpeg.likeness) < 2.5, "\(format) \(quality): \(one), JPEG \(jpeg)")
            #expect(one.bytes <= jpeg.bytes, "\(format) \(quality): \(one), JPEG \(jpeg)")
        }
    }

    @Test("A higher number never gives a smaller file, from the lowest to the highest")
    func order() async throws {
        let bench = try await CodecBench()
        for format in Self.lossy where bench.worker.facts.encodes.contains(format.rawValue) {
            var last = 0
            for quality in [1, 15, 20, 45, 65, 75, 85, 90, 93, 97, 99, 100] {
                let made = try await bench.encode("jpeg-photo.jpg", [], .format(format, Encoding(quality: quality)))
                #expect(made.image.byteCount >= last, "\(format) \(quality)")
                last = made.image.byteCount
            }
        }
    }

    @Test("Colours are kept at full size above 90", arguments: [EncodedFormat.avif, .heic])
    func colours(format: EncodedFormat) async throws {
        let bench = try await CodecBench()
        guard bench.worker.facts.encodes.contains(format.rawValue) else { return }
        // Red and blue in turns, which become one colour where it is stored at half the size.
        let source = try bench.file(
            Drawn.animation(32, 32, frames: 1) { _, x, _ in x % 2 == 0 ? [255, 0, 0, 255] : [0, 0, 255, 255] })
        var reds: [Int] = []
        for quality in [90, 91] {
            let made = try await bench.make(source, "png", rule: .format(format, Encoding(quality: quality)))
            let pixels = try await bench.pixels(of: try bench.file(made.bytes), format.rawValue)
            reds.append(Int(pixels[16, 16][0]) - Int(pixels[17, 16][0]))
        }
        #expect(reds[0] < 80 && reds[1] > 160, "\(reds)")
    }
}
