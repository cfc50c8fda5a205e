import Foundation
import ImageFormats
import ImageRecipes
import TestSupport
import Testing

/// AVIFs of which the samples or the size are not those of the coded picture.
@Suite struct ApertureTests {
    /// 32 × 24 pixels, of which 20 × 8 are shown (`clap`), turned to the left (`irot`), drawn by avifenc.
    private static let cropped = """
        AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAAElbWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAA\
        AGxpYmF2aWYAAAAADnBpdG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABTQAAACwAAAAoaWluZgAAAAAAAQAAABppbmZl\
        AgAAAAABAABhdjAxQ29sb3IAAAAAnWlwcnAAAAB8aXBjbwAAABRpc3BlAAAAAAAAACAAAAAYAAAAEHBpeGkAAAAAAwgICAAAAAxh\
        djFDgSAAAAAAABNjb2xybmNseAABAA0ABoAAAAAoY2xhcAAAABQAAAABAAAACAAAAAH////+AAAAAf////4AAAABAAAACWlyb3QB\
        AAAAGWlwbWEAAAAAAAAAAQABBgECgwSFhgAAADRtZGF0EgAKCDgRP3YQENBpMh4WQAYYYYQAtNj9IUg0Khs2pCXRT6EkK6ziw0BV\
        FL4=
        """

    @Test("The size that is told of a picture with a clean aperture is the size that is decoded")
    func aperture() async throws {
        let bench = try await CodecBench()
        let bytes = [UInt8](try #require(Data(base64Encoded: Self.cropped)))
        let header = try bytes.withUnsafeBytes { try ImageHeader($0) }
        #expect(header.width == 20 && header.height == 8 && header.orientation == 8)
        let pixels = try await bench.pixels(of: try bench.file(bytes), "avif")
        #expect(pixels.width == 8 && pixels.height == 20)
    }

    @Test("A gray AVIF of limited range has its black and white back, in eight and in ten bits")
    func range() async throws {
        let bench = try await CodecBench()
        for name in ["avif-gray-limited.avif", "avif-gray-10bit.avif"] {
            let path = Fixtures.folder + "/references/" + name.replacing(".avif", with: ".png")
            let reference = try await bench.pixels(of: path, "png")
            #expect(try await bench.pixels(name).likeness(reference) > 45, "\(name)")
        }
    }

    @Test("The range is that of the container, else that of the coded picture")
    func placesOfRange() throws {
        let whole = try Fixtures.bytes("avif-gray-limited.avif")
        func isLimited(_ bytes: [UInt8]) throws -> Bool {
            try bytes.withUnsafeBytes { try ImageProbe(whole: $0) }.isLimitedGray
        }
        #expect(try isLimited(whole))
        let place = try #require((0..<whole.count - 8).first { Array(whole[$0..<($0 + 8)]) == Array("colrnclx".utf8) })
        var other = whole
        other[place + 14] = 0x80
        #expect(try !isLimited(other))
        // Without the box, the sequence header counts.
        other[place] = 0x78
        #expect(try isLimited(other))
        for count in 0..<whole.count { _ = try? isLimited(Array(other[..<count])) }
    }
}
