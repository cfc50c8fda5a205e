import TestSupport
import Testing

@testable import ImageFormats

/// What headers say of orientation and transparency, made up byte by byte.
@Suite struct ImageProbeHeaderTests {
    private func probe(_ bytes: [UInt8]) -> ImageProbe? {
        bytes.withUnsafeBytes { try? ImageProbe(start: $0, of: bytes.count) }
    }

    /// Says nothing else of any part of the bytes than of all of them.
    private func probeCut(_ bytes: [UInt8]) -> ImageProbe? {
        let whole = probe(bytes)
        for count in 0..<bytes.count {
            let part = bytes[..<count].withUnsafeBytes { try? ImageProbe(start: $0, of: bytes.count) }
            guard let part else { continue }
            #expect(part.width == whole?.width && part.height == whole?.height, "\(count)")
            if let turn = part.orientation { #expect(turn == whole?.orientation, "\(count)") }
            if let alpha = part.hasAlpha { #expect(alpha == whole?.hasAlpha, "\(count)") }
        }
        return whole
    }

    private func big(_ value: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    private func little(_ value: Int, _ count: Int = 4) -> [UInt8] { big(value, count).reversed() }

    // MARK: - HEIF

    private func box(_ type: String, _ content: [UInt8]) -> [UInt8] { big(content.count + 8) + ascii(type) + content }

    /// An AVIF of one item with these properties, and of another that is auxiliary to item `master`.
    private func heif(
        _ properties: [[UInt8]], auxiliary: String? = nil, master: Int = 1, isWide: Bool = false
    ) -> [UInt8] {
        let id = isWide ? 4 : 2
        let version: [UInt8] = [isWide ? 1 : 0, 0, 0, 0]
        var container: [UInt8] = box("ispe", big(0) + big(40) + big(30))
        for property in properties { container += property }
        container += box("auxC", big(0) + ascii(auxiliary ?? "none") + [0])
        let count = properties.count + 1
        var links: [UInt8] = version
        links += big(2)
        links += big(1, id)
        links.append(UInt8(count))
        for number in 1...count { links.append(UInt8(number)) }
        links += big(2, id)
        links += [1, UInt8(count + 1)]
        var reference: [UInt8] = big(2, id)
        reference += big(1, 2)
        reference += big(master, id)
        var meta: [UInt8] = big(0)
        meta += box("pitm", version + big(1, id))
        meta += box("iref", version + box("auxl", reference))
        meta += box("iprp", box("ipco", container) + box("ipma", links))
        var file: [UInt8] = box("ftyp", ascii("avif") + big(0) + ascii("avifmif1"))
        file += box("meta", meta)
        return file + box("mdat", [1, 2, 3])
    }

    @Test func turnsAndMirrorsOfHEIFMakeOneOrientation() {
        func turn(_ angle: UInt8) -> [UInt8] { box("irot", [angle]) }
        func mirror(_ axis: UInt8) -> [UInt8] { box("imir", [axis]) }
        let cases: [(properties: [[UInt8]], orientation: Int)] = [
            ([], 1), ([turn(0)], 1), ([turn(1)], 8), ([turn(2)], 3), ([turn(3)], 6), ([mirror(0)], 4),
            ([mirror(1)], 2), ([turn(1), mirror(1)], 7), ([mirror(1), turn(1)], 5), ([turn(3), mirror(1)], 5),
            ([mirror(1), turn(3)], 7), ([turn(1), mirror(0)], 5), ([turn(2), mirror(0)], 2),
            ([mirror(0), mirror(1)], 3), ([turn(1), turn(3)], 1),
        ]
        for (properties, orientation) in cases {
            for isWide in [false, true] {
                let found = probeCut(heif(properties, isWide: isWide))
                #expect(found?.orientation == orientation, "\(properties)")
                #expect(found?.hasAlpha == false && found?.width == 40 && found?.height == 30)
            }
        }
    }

    @Test func anAuxiliaryPictureOfHEIFIsAlphaWhenItSaysSoAndBelongsToThePrimaryOne() {
        for isWide in [false, true] {
            for name in ["urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"] {
                #expect(probeCut(heif([], auxiliary: name, isWide: isWide))?.hasAlpha == true)
                #expect(probe(heif([], auxiliary: name, master: 7, isWide: isWide))?.hasAlpha == false)
            }
            let depth = "urn:mpeg:mpegB:cicp:systems:auxiliary:depth"
            #expect(probe(heif([], auxiliary: depth, isWide: isWide))?.hasAlpha == false)
        }
    }

    // MARK: - TIFF

    private func tiff(_ tags: [(Int, Int)], isLittle: Bool = true, next: Int = 0) -> [UInt8] {
        func number(_ value: Int, _ count: Int = 4) -> [UInt8] { isLittle ? little(value, count) : big(value, count) }
        var file: [UInt8] = ascii(isLittle ? "II" : "MM")
        file += number(42, 2)
        file += number(8)
        file += number(tags.count, 2)
        for (tag, value) in tags {
            file += number(tag, 2)
            file += number(3, 2)
            file += number(1)
            file += number(value, 2)
            file += [0, 0]
        }
        return file + number(next)
    }

    @Test func orientationAndSpareSamplesOfTIFFAreInItsFirstDirectory() {
        let size = [(256, 40), (257, 30)]
        let cases: [([(Int, Int)], Int, Bool?)] = [
            ([], 1, false), ([(262, 2), (277, 3)], 1, false), ([(262, 2), (277, 4)], 1, true),
            ([(262, 1), (277, 2)], 1, true), ([(262, 5), (277, 4)], 1, false), ([(262, 5), (277, 5)], 1, true),
            ([(274, 6)], 6, false), ([(274, 9)], 1, false), ([(262, 32844), (277, 3)], 1, nil),
        ]
        for (tags, orientation, hasAlpha) in cases {
            for isLittle in [true, false] {
                let found = probeCut(tiff(size + tags, isLittle: isLittle))
                #expect(found?.orientation == orientation && found?.hasAlpha == hasAlpha, "\(tags)")
                #expect(found?.width == 40 && found?.height == 30 && found?.frameCount == 1)
            }
        }
        // Whether there are more pages after the second is told where that is.
        #expect(probe(tiff(size, next: 5000))?.frameCount == nil)
        #expect(probe(tiff(size, next: 5000))?.width == 40)
    }

    // MARK: - BMP and ICO

    private func bmp(_ bits: Int, _ compression: Int, header: Int, alpha: Int = 0) -> [UInt8] {
        var file: [UInt8] = ascii("BM")
        for value in [0, 0, 14 + header + 16, header, 3, 2] { file += little(value) }
        file += little(1, 2)
        file += little(bits, 2)
        file += little(compression)
        file += zeros(20)
        for mask in [0xFF_0000, 0xFF00, 0xFF, alpha] { file += little(mask) }
        file += zeros(max(0, 14 + header - file.count))
        return file + zeros(64)
    }

    @Test func aBitmapHasAlphaWhereItsHeaderHasBitsForIt() {
        let cases: [(Int, Int, Int, Int, Bool)] = [
            (24, 0, 40, 0, false), (32, 0, 40, 0, false), (32, 0, 124, 0, true), (32, 3, 40, 0xFF00_0000, false),
            (32, 3, 108, 0xFF00_0000, true), (32, 3, 124, 0, false), (16, 0, 124, 0x8000, false),
            (16, 3, 108, 0x8000, true), (32, 6, 40, 0xFF00_0000, true), (8, 0, 108, 0xFF00_0000, false),
        ]
        for (bits, compression, header, alpha, expected) in cases {
            let found = probeCut(bmp(bits, compression, header: header, alpha: alpha))
            #expect(found?.hasAlpha == expected, "\(bits) \(compression) \(header) \(alpha)")
            #expect(found?.orientation == 1 && found?.width == 3 && found?.height == 2)
        }
    }

    @Test func anIconThatIsAPNGSaysItself() {
        func icon(_ colours: UInt8, isClear: Bool = false) -> [UInt8] {
            var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            png += big(13)
            png += ascii("IHDR")
            png += big(48)
            png += big(48)
            png += [8, colours, 0, 0, 0, 0, 0, 0, 0]
            if isClear {
                png += big(2)
                png += ascii("tRNS")
                png += zeros(6)
            }
            png += big(0)
            png += ascii("IDAT")
            png += zeros(4)
            var file: [UInt8] = [0, 0, 1, 0, 1, 0, 48, 48, 0, 0, 1, 0, 32, 0]
            file += little(png.count)
            file += little(22)
            return file + png
        }
        for (colours, isClear, expected) in [
            (6, false, true), (4, false, true), (2, false, false), (3, false, false), (3, true, true),
        ] as [(UInt8, Bool, Bool)] {
            let found = probeCut(icon(colours, isClear: isClear))
            #expect(found?.hasAlpha == expected && found?.orientation == 1 && found?.width == 48, "\(colours)")
        }
    }

    // MARK: - WebP

    @Test func orientationOfAWholeWebPIsInItsLastChunk() throws {
        var exif: [UInt8] = ascii("MM")
        exif += [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        let jpegHead: [UInt8] = ascii("Exif") + [0, 0]
        for head in [[], jpegHead] as [[UInt8]] {
            let content: [UInt8] = head + exif
            var body: [UInt8] = ascii("WEBPVP8X")
            body += little(10)
            body += [0x08, 0, 0, 0, 39, 0, 0, 29, 0, 0]
            body += ascii("VP8L")
            body += little(6)
            body += [0x2F, 39, 0x40, 7, 0, 0]
            body += ascii("EXIF")
            body += little(content.count)
            body += content
            let file: [UInt8] = ascii("RIFF") + little(body.count) + body
            #expect(probeCut(file)?.orientation == 6)
        }
    }
}
