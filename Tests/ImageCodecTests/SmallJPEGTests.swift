import Foundation
import ImageRecipes
import TestSupport
import Testing

/// Small JPEGs go past libvips' pipeline (T14), with the same outcome.
@Suite struct SmallJPEGTests {
    /// The segments of a JPEG up to its first scan: marker and content.
    private func segments(_ bytes: [UInt8]) -> [(marker: UInt8, content: [UInt8])] {
        var (found, place): ([(UInt8, [UInt8])], Int) = ([], 2)
        while place + 4 <= bytes.count, bytes[place] == 0xFF, bytes[place + 1] != 0xDA {
            let length = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
            found.append((bytes[place + 1], Array(bytes[(place + 4)..<(place + 2 + length)])))
            place += 2 + length
        }
        return found
    }

    private func profile(_ bytes: [UInt8]) -> [UInt8] {
        segments(bytes).filter { $0.marker == 0xE2 && $0.content.starts(with: Array("ICC_PROFILE".utf8)) }
            .flatMap { $0.content.dropFirst(14) }
    }

    @Test("A profile that fills several markers is kept whole", arguments: [100, 65_519, 65_520, 200_000])
    func profiles(count: Int) async throws {
        let bench = try await CodecBench()
        // The library looks into none that it need not apply.
        let content: [UInt8] = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 251) }
        let parts: [[UInt8]] = stride(from: 0, to: count, by: 60_000).map {
            Array(content[$0..<min($0 + 60_000, count)])
        }
        var file: [UInt8] = [0xFF, 0xD8]
        for (number, part) in parts.enumerated() {
            let length = part.count + 16
            file += [0xFF, 0xE2, UInt8(length >> 8), UInt8(length & 255)] + Array("ICC_PROFILE".utf8)
            file += [0, UInt8(number + 1), UInt8(parts.count)] + part
        }
        file += try Fixtures.bytes("jpeg-420.jpg").dropFirst(2)
        for encoding in [Encoding(), Encoding(metadata: .none)] {
            let made = try await bench.make(try bench.file(file), "jpeg", rule: .format(.jpeg, encoding))
            #expect(try made.outcome.image.format == "jpeg")
            #expect(profile(made.bytes) == content)
        }
    }

    @Test("Quality chooses how colours are sampled, and progressive and gray are what they say")
    func shapes() async throws {
        let bench = try await CodecBench()
        func frame(_ name: String, _ encoding: Encoding) async throws -> (marker: UInt8, content: [UInt8]) {
            let made = try await bench.encode(name, [], .format(.jpeg, encoding))
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: made.path)))
            return try #require(segments(bytes).first { (0xC0...0xC2).contains($0.marker) })
        }
        let half = try await frame("png-rgb.png", Encoding(quality: 90))
        #expect(half.marker == 0xC0 && half.content[5] == 3 && half.content[7] == 0x22)
        #expect(try await frame("png-rgb.png", Encoding(quality: 91)).content[7] == 0x11)
        #expect(try await frame("png-rgb.png", Encoding(progressive: true)).marker == 0xC2)
        #expect(try await frame("png-gray.png", Encoding()).content[5] == 1)
    }

    @Test("The short way and the library's make the same picture")
    func sameAsTheLibrary() async throws {
        let bench = try await CodecBench()
        // EXIF makes a file go the long way; the pixels are those of another fixture.
        let plain = try Fixtures.bytes("jpeg-420.jpg")
        var marked: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE1, 0, 34]
        marked += Array("Exif".utf8)
        marked += [0, 0, 0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]
        marked += plain.dropFirst(2)
        let source = try bench.file(marked)
        let small = ImageProcessor.downsample(try PixelSize(width: 20, height: 20))
        for steps in [[], [small]] as [[ImageProcessor]] {
            let short = try await bench.make(
                Fixtures.folder + "/jpeg-420.jpg", "jpeg", steps, rule: .format(.jpeg, Encoding()))
            let long = try await bench.make(source, "jpeg", steps, rule: .format(.jpeg, Encoding()))
            #expect(segments(long.bytes).contains { $0.marker == 0xE1 })
            #expect(segments(short.bytes).allSatisfy { $0.marker != 0xE1 })
            // Tables, frame, scans: all but what stands before them.
            let ends = [short, long].map { made -> [UInt8] in
                let tables = made.bytes.indices.first {
                    made.bytes[$0] == 0xFF && $0 + 1 < made.bytes.count && made.bytes[$0 + 1] == 0xDB
                }
                return Array(made.bytes[(tables ?? 0)...])
            }
            #expect(ends[0] == ends[1] && ends[0].count > 200)
        }
    }
}
