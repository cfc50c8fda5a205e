import Foundation
import ImageFormats
import ImageRecipes
import TestSupport
import Testing

/// Files that other readers show although something in them is unusual: header and pixels say the same.
@Suite struct OddFileTests {
    /// The pixels, whose size and number of frames are those of the header.
    private func shown(_ bench: CodecBench, _ bytes: [UInt8], _ format: String) async throws -> Pixels {
        let header = try bytes.withUnsafeBytes { try ImageHeader($0) }
        #expect(header.format.rawValue == format)
        let pixels = try await bench.pixels(of: try bench.file(bytes), format)
        #expect(pixels.width == header.width && pixels.height == header.height)
        #expect(format == "tiff" || pixels.frames == header.frameCount)
        return pixels
    }

    private func bitmap(_ header: [UInt8], _ palette: [UInt8], _ data: [UInt8]) -> [UInt8] {
        let start = 14 + header.count + palette.count
        return ascii("BM") + little32(UInt32(start + data.count)) + zeros(4) + little32(UInt32(start)) + header
            + palette
            + data
    }

    private func information(_ width: Int, _ height: Int, compression: Int, size: Int) -> [UInt8] {
        little32(40) + little32(UInt32(width)) + little32(UInt32(height)) + little16(1) + little16(8)
            + little32(UInt32(compression)) + little32(UInt32(size)) + zeros(8) + little32(2) + little32(2)
    }

    /// Blue and green.
    private let colours: [UInt8] = [255, 0, 0, 0, 0, 255, 0, 0]

    @Test("A bitmap with OS/2's header of 16 bytes is read, and a pixel without a colour is black")
    func bitmaps() async throws {
        let bench = try await CodecBench()
        let short = little32(16) + little32(2) + little32(1) + little16(1) + little16(8)
        let palette = (0..<256).flatMap { (shade: Int) -> [UInt8] in [UInt8(shade), 0, UInt8(255 - shade), 0] }
        #expect(
            try await shown(bench, bitmap(short, palette, [0, 255, 0, 0]), "bmp").bytes
                == [255, 0, 0, 255, 0, 0, 255, 255])
        let plain = information(2, 1, compression: 0, size: 4)
        #expect(
            try await shown(bench, bitmap(plain, colours, [1, 9, 0, 0]), "bmp").bytes == [0, 255, 0, 255, 0, 0, 0, 255])
        let runs = information(2, 1, compression: 1, size: 6)
        #expect(
            try await shown(bench, bitmap(runs, colours, [1, 1, 1, 9, 0, 1]), "bmp").bytes
                == [0, 255, 0, 255, 0, 0, 0, 255])
    }

    @Test("Run lengths that end before the size that their header tells do not pass a check, wherever they end")
    func cutRunLengths() async throws {
        let bench = try await CodecBench()
        let runs: [UInt8] = [4, 1, 0, 0, 4, 1, 0, 0, 0, 1]
        let whole = bitmap(information(4, 2, compression: 1, size: runs.count), colours, runs)
        for missing in 0..<runs.count {
            let request = RenderRequest(
                source: try bench.file(Array(whole.dropLast(missing))), format: "bmp",
                outputs: [RenderOutput(steps: [], rule: .nothing, path: "")], limits: RenderLimits())
            let failure = try await bench.worker.render(request).outcomes.first?.failure
            #expect(failure?.kind == (missing == 0 ? nil : .badData), "\(missing) bytes missing")
        }
    }

    @Test("A lossless WebP of 28 bytes is read")
    func smallestWebP() async throws {
        let bench = try await CodecBench()
        // Five codes of the one symbol 0 (RFC 9649, section 3.7.2.1.1).
        let bytes =
            ascii("RIFF") + little32(20) + ascii("WEBPVP8L") + little32(8) + [0x2F] + zeros(4) + [0x88, 0x88, 8]
        #expect(try await shown(bench, bytes, "webp").bytes.prefix(3) == [0, 0, 0])
    }

    @Test("A BigTIFF is read, and a TIFF whose pages lead in a circle is its pages")
    func tiffs() async throws {
        let bench = try await CodecBench()
        let picture = HandmadeTIFF(width: 2, height: 1, bands: 3, bits: 8, kind: 1, samples: [1, 2, 3, 4, 5, 6])
        for bytes in [picture.bytes(isBig: true), picture.bytes(next: 8)] {
            #expect(try await shown(bench, bytes, "tiff").bytes == [1, 2, 3, 255, 4, 5, 6, 255])
            #expect(try bytes.withUnsafeBytes { try ImageHeader($0) }.frameCount == 1)
        }
    }

    @Test("The first frame of a GIF makes its screen larger")
    func largeFrame() async throws {
        let bench = try await CodecBench()
        var bytes = try Fixtures.bytes("gif-static.gif")
        let size = [bytes[6], bytes[7], bytes[8], bytes[9]]
        bytes.replaceSubrange(6..<10, with: [1, 0, 1, 0])
        let pixels = try await shown(bench, bytes, "gif")
        #expect(pixels.width == Int(size[0]) + Int(size[1]) << 8 && pixels.height == Int(size[2]) + Int(size[3]) << 8)
    }

    @Test("A bitmap with a side that the library cannot have is refused, and not shown with a side of one pixel")
    func longSides() async throws {
        let bench = try await CodecBench()
        for (width, height) in [(10_000_001, 1), (1, 10_000_001)] {
            let bytes = bitmap(information(width, height, compression: 1, size: 2), colours, [0, 1])
            let failure = try await bench.make(try bench.file(bytes), "bmp", rule: .nothing).outcome.failure
            #expect(failure?.kind == .unsupported && failure?.reason.contains("\(width) × \(height)") == true)
        }
    }

    /// The chunk that tells a number of frames, with a checksum that decoders do not look at.
    private func announcing(_ frames: UInt32) -> [UInt8] { big32(8) + ascii("acTL") + big32(frames) + zeros(8) }

    @Test("An animated PNG that tells another number of frames than it has is shown still")
    func wrongNumbers() async throws {
        let bench = try await CodecBench()
        let bytes = try Fixtures.bytes("png-animated.png")
        for number: UInt32 in [0, 1, 1 << 31, .max, 99] {
            let file =
                bytes[..<8] + PNGChunk.all(of: bytes).flatMap { $0.name == "acTL" ? announcing(number) : $0.bytes }
            #expect(try await shown(bench, Array(file), "png").frames == 1, "\(number)")
        }
    }

    @Test(
        "An animation that is played more often than 65,535 times is played so often",
        arguments: [1 << 16, 1 << 31, .max] as [UInt32])
    func manyPlays(_ said: UInt32) async throws {
        let bench = try await CodecBench()
        let bytes = try Fixtures.bytes("png-animated.png")
        let parts = PNGChunk.all(of: bytes).flatMap { part in
            part.name == "acTL"
                ? Array(part.bytes[..<12]) + big32(said) + zeros(4) : part.bytes
        }
        let file = try bench.file(Array(bytes[..<8]) + parts)
        for format in [EncodedFormat.png, .gif, .webp] {
            let made = try await bench.make(file, "png", [.blackWhite], rule: .format(format, Encoding()))
            #expect(try made.outcome.image.loopCount == 65_535, "\(format)")
            let timing = try made.bytes.withUnsafeBytes { try ImageHeader($0) }.timing
            #expect(timing?.loopCount == 65_535, "\(format)")
        }
        // A GIF tells the repetitions, one fewer.
        var gif = try await bench.make(file, "png", rule: .format(.gif, Encoding())).bytes
        let place = try #require((0..<gif.count - 11).first { Array(gif[$0..<($0 + 11)]) == ascii("NETSCAPE2.0") })
        gif.replaceSubrange((place + 13)..<(place + 15), with: [255, 255])
        for format in [EncodedFormat.gif, .webp] {
            let made = try await bench.make(
                try bench.file(gif), "gif", [.blackWhite], rule: .format(format, Encoding()))
            #expect(try made.outcome.image.loopCount == 65_535, "\(format)")
        }
    }

    @Test("The header of an animated PNG is its first one, whatever is called so behind it")
    func headers() async throws {
        let bench = try await CodecBench()
        let bytes = try Fixtures.bytes("png-animated.png")
        let parts = PNGChunk.all(of: bytes)
        let data = try #require(parts.firstIndex { $0.name == "IDAT" })
        for length in [0, 7, 13] {
            let second = big32(UInt32(length)) + ascii("IHDR") + zeros(length + 4)
            var file = Array(bytes[..<8]) + parts[...data].flatMap(\.bytes)
            file += second + parts[(data + 1)...].flatMap(\.bytes)
            #expect(try await shown(bench, file, "png") == (try await bench.pixels("png-animated.png")), "\(length)")
        }
    }

    @Test("The one frame of an animated PNG with a default image is shown, as in browsers")
    func oneFrame() async throws {
        let bench = try await CodecBench()
        let name = "png-animated-hidden-default.png"
        let bytes = try Fixtures.bytes(name)
        var controls = 0
        var file = Array(bytes[..<8])
        for part in PNGChunk.all(of: bytes) {
            if part.name == "fcTL" { controls += 1 }
            if part.name == "acTL" { file += announcing(1) }
            let isSecond = controls > 1 && (part.name == "fcTL" || part.name == "fdAT")
            if part.name != "acTL", !isSecond { file += part.bytes }
        }
        #expect(try await shown(bench, file, "png") == (try await bench.pixels(name).frame(0)))
    }
}
