import Foundation
import ImageFormats
import ImageRecipes
import TestSupport
import Testing

/// AVIFs of which the samples or the size are not those of the coded picture, and colours that nobody sees.
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

    /// 16 × 8 red pixels with an alpha of 64 to the left and 200 to the right, by which they are multiplied (`prem`), drawn by
    /// avifenc.
    private static let premultiplied = """
        AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAAGbbWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAGxp\
        YmF2aWYAAAAADnBpdG0AAAAAAAEAAAAsaWxvYwAAAABEAAACAAEAAAABAAAB2wAAACoAAgAAAAEAAAHDAAAAGAAAAEJpaW5mAAAAAAAC\
        AAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAAAaaW5mZQIAAAAAAgAAYXYwMUFscGhhAAAAAChpcmVmAAAAAAAAAA5wcmVtAAEAAQAC\
        AAAADmF1eGwAAgABAAEAAADDaXBycAAAAJ1pcGNvAAAAFGlzcGUAAAAAAAAAEAAAAAgAAAAQcGl4aQAAAAADCAgIAAAADGF2MUOBIAAA\
        AAAAE2NvbHJuY2x4AAEADQAAgAAAAA5waXhpAAAAAAEIAAAADGF2MUOBABwAAAAAOGF1eEMAAAAAdXJuOm1wZWc6bXBlZ0I6Y2ljcDpz\
        eXN0ZW1zOmF1eGlsaWFyeTphbHBoYQAAAAAeaXBtYQAAAAAAAAACAAEEAQKDBAACBAEFhgcAAABKbWRhdBIACgUYDL+wqDINEAC2/xw5\
        5XnY4SN59BIACgg4DL+wgIaAEDIcEAAAtvwyijvydeKPCoJjffswhVhI+V897xDMoA==
        """

    @Test("Samples that are multiplied by their alpha are divided by it")
    func premultiplied() async throws {
        let bench = try await CodecBench()
        let bytes = [UInt8](try #require(Data(base64Encoded: Self.premultiplied)))
        let pixels = try await bench.pixels(of: try bench.file(bytes), "avif")
        for (place, alpha) in [(2, 64), (13, 200)] {
            let pixel = pixels.bytes[4 * place..<4 * place + 4].map(Int.init)
            #expect(pixel[0] >= 250 && pixel[1] <= 5 && pixel[2] <= 5 && abs(pixel[3] - alpha) <= 1, "\(pixel)")
        }
    }

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

    /// A red disc of 64 pixels whose transparent ground is black, lossy, drawn by Pillow.
    private static let disc = """
        UklGRmQCAABXRUJQVlA4WAoAAAAQAAAAPwAAPwAAQUxQSGEAAAABcNs2kiQp/6TL2+tS73tWREwAX2aObsjvrkxr0nSka0i7FmMnzkas\
        c/GeVcwzcU/Efj7x341svBfZ+VfECu4FC7gb6DgfZIyqGBZxVmgoSqgqaNcQllBWsI6hHmDhIV5sAFZQOCDcAQAAMAwAnQEqQABAAD6x\
        SJ9JpyQjITXy6ZjgFglsAMCd7D1f7hxqu024BtgLsP3iPybs0zSoEqB7QsRX8CLxYJVRXgNi/p/4SSY9FeLw4QLWHaBM1Z2R1RjSMpp8\
        pdFtDleRv4SBrwB0wr6OAAD+9exQfUJMGd+DFsN7m+l2UDc/A+absflNMiJqsaddUVZoVajj4hdMhLnKQbz3+jkyzQ5jMdhZP29LoVCM\
        ELZTUbmBWJQyfbi22Hs3yf/mzWEGjf+wIM6+/frLLEfQIlvr0wnOckJHgWc++OYVJ4up6L3XbUlr8TPREUTZ6lUw5pP+OB9f/k3mdWDt\
        RnYJ4t2RjCVwL2pZmTJFoYsrRTcENpCLafMNC+4+vyWPR/D7uyfyYf63QgR2LY9AmXbzctcbwruZn9t5fafQTpDJ4iCKCKIBdaB1DTnK\
        cWev7Knzp5/rZgE3Zm8UNXIbQMBy9vnZHpd9axOwixkP6wmDU5CD+t8e61smpi59vVEq+qu6ygPwyUaKerveC4+OmVDl5PSyNErObdVX\
        Wn4imzl5dVaKRPDz+WwtW0Xx+hL6jIYxG3C85pSZbhgc1PuirvexYupeQ+TjksSLHRdbZHj5r51hRxYosXuXe4b5HFl8ZrLZAAA=
        """

    @Test("The colour of transparent pixels of a WebP does not bleed into a small form")
    func hiddenColour() async throws {
        let bench = try await CodecBench()
        let path = try bench.file([UInt8](try #require(Data(base64Encoded: Self.disc))))
        let size = try PixelSize(width: 15, height: 15)
        let pixels = try await bench.pixels(of: path, "webp", [.downsample(size)])
        var edges = 0
        for place in stride(from: 0, to: pixels.bytes.count, by: 4) where (40..<220).contains(pixels.bytes[place + 3]) {
            #expect(pixels.bytes[place] > 190, "\(pixels.bytes[place..<place + 4])")
            edges += 1
        }
        #expect(edges >= 8)
    }
}
