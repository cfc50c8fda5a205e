import ImageRecipes
import TestSupport
import Testing

/// TIFFs whose samples are not unsigned bytes, made by hand.
@Suite struct SampleFormatTests {
    /// The least, the middle and the largest sample of a format, in bytes, and what becomes of them; the last is opaque too.
    static let formats: [(bits: Int, kind: Int, samples: [[UInt8]], expected: [Int])] = [
        (8, 1, [[0], [128], [255]], [0, 128, 255]),
        (8, 2, [[0x80], [0], [0x7F]], [0, 128, 255]),
        (16, 1, [[0, 0], [0, 0x80], [255, 255]], [0, 128, 255]),
        (16, 2, [[0, 0x80], [0, 0], [255, 0x7F]], [0, 128, 255]),
        (32, 1, [[0, 0, 0, 0], [0, 0, 0, 0x80], [255, 255, 255, 255]], [0, 128, 255]),
        (32, 2, [[0, 0, 0, 0x80], [0, 0, 0, 0], [255, 255, 255, 0x7F]], [0, 128, 255]),
        // Half the light is 188 in sRGB (IEC 61966-2-1).
        (32, 3, [[0, 0, 0, 0], little32(Float(0.5).bitPattern), little32(Float(1).bitPattern)], [0, 188, 255]),
    ]

    /// A row of the three samples in all colours of a pixel, opaque.
    private static func picture(_ number: Int, bands: Int) -> [UInt8] {
        let (bits, kind, samples, _) = formats[number]
        var bytes: [UInt8] = []
        for sample in samples {
            for band in 0..<bands { bytes += bands % 2 == 0 && band == bands - 1 ? samples[2] : sample }
        }
        return HandmadeTIFF(width: 3, height: 1, bands: bands, bits: bits, kind: kind, samples: bytes).bytes()
    }

    @Test("Samples of every format fill the range of eight bits, in pixels, in made files and in the placeholder")
    func everyFormat() async throws {
        let bench = try await CodecBench()
        for number in Self.formats.indices {
            for bands in 1...4 {
                let source = try bench.file(Self.picture(number, bands: bands))
                let name = "\(Self.formats[number].bits) bits of kind \(Self.formats[number].kind), \(bands) bands"
                let expected = Self.formats[number].expected
                func check(_ pixels: Pixels, _ within: Int) throws {
                    try #require(pixels.bytes.count == 12, "\(name)")
                    for x in 0..<3 {
                        let pixel = pixels[x, 0].map(Int.init)
                        for band in 0..<3 { #expect(abs(pixel[band] - expected[x]) <= within, "\(name): \(pixel)") }
                        #expect(pixel[3] == 255, "\(name)")
                    }
                }
                // Half of 65,535 is 127 or 128 of 255.
                try check(try await bench.pixels(of: source, "tiff"), 1)
                for format in [EncodedFormat.png, .webp, .jpeg] {
                    let encoding = Encoding(quality: 100, lossless: format == .webp)
                    let made = try await bench.make(source, "tiff", rule: .format(format, encoding))
                    _ = try made.outcome.image
                    let file = try bench.file(made.bytes)
                    try check(try await bench.pixels(of: file, format.rawValue), format == .jpeg ? 4 : 1)
                }
                let placeholders = [source, try bench.file(Self.picture(0, bands: bands))]
                var hashes: [[UInt8]] = []
                for file in placeholders {
                    let request = RenderRequest(
                        source: file, format: "tiff", outputs: [], limits: RenderLimits(), wantsPlaceholder: true)
                    hashes.append(try #require(try await bench.worker.render(request).placeholder).thumbHash)
                }
                #expect(hashes[0].count == hashes[1].count && (number == 6 || hashes[0] == hashes[1]), "\(name)")
            }
        }
    }

    @Test("A picture that needs what the library lacks is unsupported, not damaged, for pixels and for a check")
    func unsupported() async throws {
        let bench = try await CodecBench()
        func tiff(_ bits: Int, _ kind: Int) -> HandmadeTIFF {
            HandmadeTIFF(width: 1, height: 1, bands: 1, bits: bits, kind: kind, samples: zeros(bits / 8))
        }
        let planes = HandmadeTIFF(width: 16, height: 16, bands: 3, bits: 8, kind: 1, samples: zeros(256))
        var twelve = try Fixtures.bytes("jpeg-420.jpg")
        let frame = try #require(twelve.firstRange(of: [0xFF, 0xC0])?.lowerBound)
        (twelve[frame + 1], twelve[frame + 4]) = (0xC1, 12)
        var lossless = try Fixtures.bytes("jpeg-420.jpg")
        lossless[frame + 1] = 0xC3
        let pictures: [(name: String, format: String, bytes: [UInt8])] = [
            ("double", "tiff", tiff(64, 3).bytes()), ("complex", "tiff", tiff(64, 6).bytes()),
            ("complex of 16 bits", "tiff", tiff(32, 5).bytes()),
            ("tiled planes", "tiff", planes.bytes(tiledPlanes: true)), ("12 bits", "jpeg", twelve),
            ("lossless", "jpeg", lossless),
        ]
        for (name, format, bytes) in pictures {
            let source = try bench.file(bytes)
            for rule in [RenderOutput.Rule.pixels, .nothing] {
                let request = RenderRequest(
                    source: source, format: format,
                    outputs: [RenderOutput(steps: [], rule: rule, path: rule == .nothing ? "" : bench.path())],
                    limits: RenderLimits())
                let outcome = try #require(try await bench.worker.render(request).outcomes.first)
                #expect(outcome.failure?.kind == .unsupported, "\(name): \(outcome)")
            }
        }
    }
}
