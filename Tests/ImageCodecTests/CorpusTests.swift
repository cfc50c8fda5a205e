import Foundation
import ImageRecipes
import TestSupport
import Testing

@Suite struct CorpusTests {
    /// What another decoder says of a file: `Tests/Fixtures/references.json`.
    struct Reference: CustomStringConvertible, Sendable {
        let file: String
        let width: Int
        let height: Int
        /// Of each frame's samples.
        let hashes: [String]
        let picture: String?
        let decibels: Int

        var description: String { file }

        static let all: [Reference] = {
            guard let text = try? Fixtures.bytes("references.json"), let table = try? JSON(text) else { return [] }
            return Fixtures.valid.compactMap { fixture in
                guard let fact = table[fixture.file], let width = fact["width"]?.integer,
                    let height = fact["height"]?.integer
                else { return nil }
                return Reference(
                    file: fixture.file, width: width, height: height,
                    hashes: fact["sha256"]?.elements?.compactMap(\.string) ?? [], picture: fact["reference"]?.string,
                    decibels: fact["decibels"]?.integer ?? 0)
            }
        }()
    }

    @Test("Every whole picture decodes to the size that its manifest tells, or that turned upright")
    func sizes() async throws {
        let bench = try await CodecBench()
        for fixture in Fixtures.valid {
            let format = try #require(fixture.format)
            let source = Fixtures.folder + "/" + fixture.file
            let image = try await bench.make(source, format, rule: .pixels).outcome.image
            let told = try [#require(fixture.width), #require(fixture.height)]
            #expect([image.width, image.height] == told || [image.height, image.width] == told, "\(fixture)")
            let isAnimation = format == "gif" || format == "webp" || format == "png" || format == "jxl"
            #expect(image.frameCount == (isAnimation ? fixture.frameCount : 1), "\(fixture)")
        }
    }

    @Test(
        "Pictures without loss have the very pixels that another decoder finds; those with loss look the same")
    func references() async throws {
        let bench = try await CodecBench()
        #expect(Reference.all.count > 60)
        for reference in Reference.all {
            let pixels = try await bench.pixels(reference.file).normalised
            #expect(pixels.width == reference.width && pixels.height == reference.height, "\(reference)")
            if let picture = reference.picture {
                let other = try await bench.pixels(of: Fixtures.folder + "/" + picture, "png").normalised
                let likeness = pixels.frame(0).likeness(other)
                #expect(likeness >= Double(reference.decibels), "\(reference)")
            } else {
                let hashes = (0..<pixels.frames).map { SHA256.hexadecimal(pixels.frame($0).bytes) }
                #expect(hashes == reference.hashes, "\(reference)")
            }
        }
    }

    @Test("What is no whole picture is refused as bad data, whatever it is taken for, and leaves no file")
    func broken() async throws {
        let bench = try await CodecBench()
        for fixture in Fixtures.broken {
            for format in ["png", "jpeg", "gif", "webp", "avif", "tiff", "bmp", "ico", "svg", "jxl"] {
                let made = try await bench.make(Fixtures.folder + "/" + fixture.file, format)
                #expect(made.outcome.failure?.kind == .badData, "\(fixture) as \(format)")
            }
        }
    }

    @Test("A picture that is cut off anywhere is refused or made whole, and never ends the worker")
    func cuts() async throws {
        let bench = try await CodecBench()
        for name in [
            "png-rgb.png", "jpeg-progressive.jpg", "gif-animated.gif", "webp-lossy-alpha.webp", "bmp-palette.bmp",
            "ico-sizes.ico", "tiff-big-endian.tiff", "avif-alpha.avif", "png-animated.png", "svg-sized.svg",
            "jxl-lossless.jxl", "jxl-lossy.jxl", "jxl-split.jxl", "jxl-orientation-6.jxl", "jxl-animated.jxl",
        ] {
            let fixture = try #require(Fixtures.all.first { $0.file == name })
            let bytes = try fixture.bytes
            for count in stride(from: 1, to: bytes.count, by: max(1, bytes.count / 24)) {
                let made = try await bench.make(
                    try bench.file(Array(bytes[..<count])), try #require(fixture.format), rule: .pixels)
                if let failure = made.outcome.failure {
                    #expect(failure.kind == .badData, "\(name) \(count) \(failure)")
                }
            }
        }
    }

    @Test("The eight EXIF orientations give one picture, whole, shrunk, and cut")
    func orientations() async throws {
        let bench = try await CodecBench()
        let box = try PixelSize(width: 16, height: 12)
        let chains: [[ImageProcessor]] = [
            [], [.downsample(box)], [.crop(try Crop(size: box, anchorX: 0, anchorY: 0))],
            [.crop(try Crop(size: box)), .rotate(.auto)],
        ]
        for chain in chains {
            let straight = try await bench.pixels("jpeg-orientation-1.jpg", chain)
            for orientation in 2...8 {
                let turned = try await bench.pixels("jpeg-orientation-\(orientation).jpg", chain)
                #expect(turned.likeness(straight) > 33, "\(orientation) \(chain.identifier)")
            }
            // The library of JPEG XL turns pictures itself, and nobody does so again for EXIF.
            for orientation in [5, 6] {
                let turned = try await bench.pixels("jxl-orientation-\(orientation).jxl", chain)
                #expect(turned.likeness(straight) > 30, "JPEG XL \(orientation) \(chain.identifier)")
            }
        }
    }
}
