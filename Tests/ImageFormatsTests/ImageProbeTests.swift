import TestSupport
import Testing

@testable import ImageFormats

/// The facts of a picture, from its first kilobytes and from all of it.
@Suite struct ImageProbeTests {
    @Test(arguments: Fixtures.valid)
    func theStartOfAPictureNeverSaysSomethingElseThanTheWhole(picture: Fixtures.Picture) throws {
        let bytes = try picture.bytes
        let whole = try wholeProbe(bytes)
        #expect(whole.format.rawValue == picture.format && whole.width == picture.width)
        let isUncounted = picture.format == "pdf" || picture.file.hasPrefix("jxl-animated")
        #expect(whole.height == picture.height && whole.frameCount == (isUncounted ? nil : picture.frameCount))
        // Headers are cut at every place, pixels here and there.
        let places =
            Array(0..<min(bytes.count, 700)) + stride(from: 700, to: bytes.count, by: max(1, bytes.count / 200))
        for count in places {
            let part = bytes[..<count].withUnsafeBytes { try? ImageProbe(start: $0, of: bytes.count) }
            guard let part else { continue }
            #expect(part.format == whole.format && part.width == whole.width && part.height == whole.height)
            if let turn = part.orientation, whole.format != .png { #expect(turn == whole.orientation, "\(count)") }
            if let alpha = part.hasAlpha, whole.format != .png { #expect(alpha == whole.hasAlpha, "\(count)") }
            if let frames = part.frameCount, whole.format != .png { #expect(frames == whole.frameCount, "\(count)") }
        }
    }

    @Test func orientationAndTransparencyAreFound() throws {
        func probe(_ name: String) throws -> ImageProbe {
            try Fixtures.bytes(name).withUnsafeBytes { try ImageProbe(start: $0, of: $0.count) }
        }
        for orientation in 1...8 {
            #expect(try probe("jpeg-orientation-\(orientation).jpg").orientation == orientation)
        }
        let cases = [
            ("png-rgb.png", false), ("png-rgba.png", true), ("png-gray-alpha.png", true), ("png-palette.png", false),
            ("png-palette-trns.png", true), ("gif-static.gif", false), ("gif-transparent.gif", true),
            ("webp-lossless-alpha.webp", true), ("webp-lossy.webp", false), ("webp-lossy-alpha.webp", true),
            ("jpeg-420.jpg", false), ("gif-offset-frame.gif", true), ("avif-rgb.avif", false),
            ("avif-alpha.avif", true),
            ("avif-10bit.avif", false), ("heic-rgb.heic", false), ("heic-alpha.heic", true),
            ("heic-thumbnail.heic", false), ("tiff-little-endian.tiff", false), ("tiff-big-endian-gray16.tiff", false),
            ("bmp-24bit.bmp", false), ("bmp-palette.bmp", false), ("bmp-core-header.bmp", false),
            ("bmp-v5-alpha.bmp", true), ("ico-sizes.ico", true), ("jxl-lossy.jxl", false), ("jxl-alpha.jxl", true),
            ("jxl-premultiplied.jxl", true), ("jxl-gray-16bit.jxl", false), ("jxl-split.jxl", false),
        ]
        for (name, hasAlpha) in cases { #expect(try probe(name).hasAlpha == hasAlpha, "\(name)") }
        #expect(try probe("png-animated.png").frameCount ?? 0 > 1)
        for name in ["avif-rgb.avif", "heic-rgb.heic", "tiff-big-endian.tiff", "bmp-24bit.bmp", "ico-png.ico"] {
            #expect(try probe(name).orientation == 1, "\(name)")
        }
        #expect(try [6, 8].contains(probe("avif-rotated.avif").orientation))
        #expect(try probe("jxl-orientation-5.jxl").orientation == 5)
        #expect(try probe("jxl-orientation-6.jxl").orientation == 6)
    }

    @Test func aDrawingIsUprightAndMayBeSeenThrough() throws {
        let bytes = try Fixtures.bytes("svg-sized.svg")
        let whole = try wholeProbe(bytes)
        #expect(whole.orientation == 1 && whole.hasAlpha == true)
    }

    /// The walk ends where the bytes do, also when nobody knows where the file ends.
    @Test(.timeLimit(.minutes(1)), arguments: Fixtures.all)
    func theStartOfAFileOfUnknownSizeIsReadToItsEnd(picture: Fixtures.Picture) throws {
        let bytes = try picture.bytes
        for count in stride(from: 0, through: bytes.count, by: max(1, bytes.count / 500)) {
            guard let part = startProbe(bytes[..<count], of: .max), picture.isValid else { continue }
            #expect(part.format.rawValue == picture.format && part.width == picture.width, "\(count)")
        }
    }

    @Test(.timeLimit(.minutes(1))) func anIconWithoutPixelsEndsWithItsBytes() {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + big32(13) + ascii("IHDR")
        let content = png + big32(48) + big32(48) + [8, 2, 0, 0, 0] + zeros(4)
        let entry = [48, 48, 0, 0, 1, 0, 32, 0] + little32(UInt32(content.count)) + little32(22)
        let found = startProbe([0, 0, 1, 0, 1, 0] + entry + content, of: .max)
        #expect(found?.width == 48 && found?.orientation == 1 && found?.hasAlpha == nil)
    }
}
