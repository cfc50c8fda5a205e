import TestSupport
import Testing

@testable import ImageFormats

/// Hand-made headers whose numbers lead outside, around in circles, or over the edge of an integer.
@Suite struct HostileHeaderTests {
    /// Checks one file both ways, so that neither reader traps.
    private func expect(
        _ bytes: [UInt8], _ failure: ImageHeader.Failure, _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(headerInMemory(bytes) == .failure(failure), "\(what)", sourceLocation: sourceLocation)
        #expect(try ScratchFile().header(bytes) == .failure(failure), "\(what)", sourceLocation: sourceLocation)
    }

    private let pngStart: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private func ihdr(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        big32(13) + ascii("IHDR") + big32(width) + big32(height) + [8, 2, 0, 0, 0] + zeros(4)
    }
    private func chunk(_ name: String, _ body: [UInt8] = []) -> [UInt8] {
        big32(UInt32(body.count)) + ascii(name) + body + zeros(4)
    }

    @Test func pngNumbersOverTheEdgeAreRefused() throws {
        let end = chunk("IDAT", [1]) + chunk("IEND")
        try expect(pngStart + ihdr(1, 1) + big32(.max) + ascii("IDAT") + zeros(100), .cutOff(.png), "endless chunk")
        try expect(pngStart + ihdr(0, 5) + end, .malformed(.png), "no width")
        try expect(pngStart + ihdr(.max, .max) + end, .malformed(.png), "too wide")
        try expect(pngStart + ihdr(1 << 31, 1) + end, .malformed(.png), "2^31 wide")
        try expect(pngStart + ihdr(1, 1) + chunk("IEND"), .malformed(.png), "no data")
        try expect(pngStart + ihdr(1, 1) + chunk("IDAT", [1]), .cutOff(.png), "no end")
        try expect(pngStart + big32(.max) + ascii("IHDR") + zeros(40), .malformed(.png), "long IHDR")
        let most = headerInMemory(pngStart + ihdr(0x7FFF_FFFF, 0x7FFF_FFFF) + end)
        #expect(try most.get().width == 0x7FFF_FFFF)
    }

    /// Entries that lead to and fro are read in few reads, and no more of them than an icon has.
    @Test func anIconIsReadThroughOnce() throws {
        func icon(_ count: Int, of size: Int) -> [UInt8] {
            var bytes = little16(0) + little16(1) + little16(UInt16(count))
            for index in 0..<count {
                // From both ends of the file in turn.
                let place = index % 2 == 0 ? size - 100 - index * 16 : 6 + 16 * count + index * 16
                bytes += [16, 16, 0, 0] + little16(1) + little16(32) + little32(64) + little32(UInt32(place))
            }
            return bytes + zeros(size - bytes.count)
        }
        let file = try ScratchFile()
        let many = file.readsOfIcon(icon(1000, of: 1 << 20))
        #expect(many.failure == nil && many.reads <= 20, "\(many.reads) reads")
        let hostile = file.readsOfIcon(icon(65_535, of: 3 << 20))
        #expect(hostile.failure == .malformed(.ico) && hostile.reads == 1)
    }

    /// Pages at both ends of a large file in turn: reading is given up, and what was found does not count.
    @Test func aFileThatLeadsToAndFroIsGivenUp() throws {
        let page = { (next: Int) in
            little16(2) + little16(256) + little16(4) + little32(1) + little32(5) + little16(257) + little16(4)
                + little32(1) + little32(6) + little32(UInt32(next))
        }
        let (count, size) = (20_000, 2 << 20)
        var bytes = ascii("II*\0") + little32(8) + zeros(size - 8)
        func place(_ index: Int) -> Int { index % 2 == 0 ? 8 + index / 2 * 30 : size - 30 * (index / 2 + 1) }
        for index in 0..<count {
            let next = index + 1 < count ? place(index + 1) : 0
            bytes.replaceSubrange(place(index)..<place(index) + 30, with: page(next))
        }
        #expect(try headerInMemory(bytes).get().frameCount == count)
        #expect(try ScratchFile().header(bytes) == .failure(.malformed(.tiff)))
    }

    @Test func gifWithoutAnEndIsRefused() throws {
        let screen = ascii("GIF89a") + little16(1) + little16(1) + [0, 0, 0]
        try expect(screen, .cutOff(.gif), "a screen alone")
        try expect(screen + [UInt8](repeating: 0x21, count: 10_000), .cutOff(.gif), "extensions without end")
        try expect(screen + zeros(100_000), .cutOff(.gif), "zeros")
        try expect(screen + [0x3B], .malformed(.gif), "no picture")
        try expect(screen + [0x77], .malformed(.gif), "an unknown block")
        try expect(screen + [0x2C] + zeros(8) + [0x87], .cutOff(.gif), "a colour table beyond the end")
        let picture: [UInt8] = [0x2C] + zeros(9) + [2, 1, 0, 0]
        try expect(ascii("GIF89a") + zeros(7) + picture + [0x3B], .malformed(.gif), "no size anywhere")
        let many = screen + Array(repeatElement(picture, count: 5000).joined()) + [0x3B]
        #expect(try headerInMemory(many).get().frameCount == 5000)
    }

    @Test func tiffThatRunsInACircleIsRefused() throws {
        let entry = { (tag: UInt16, value: UInt32) in little16(tag) + little16(4) + little32(1) + little32(value) }
        let page = { (next: UInt32) in little16(2) + entry(256, 5) + entry(257, 6) + little32(next) }
        #expect(try headerInMemory(ascii("II*\0") + little32(8) + page(8)).get().frameCount == 1)
        #expect(try headerInMemory(ascii("II*\0") + little32(8) + page(38) + page(8)).get().frameCount == 2)
        try expect(ascii("II*\0") + little32(.max) + page(0), .cutOff(.tiff), "a page beyond the end")
        try expect(ascii("II*\0") + little32(4) + page(0), .malformed(.tiff), "a page in the signature")
        try expect(ascii("II*\0") + little32(0) + page(0), .malformed(.tiff), "no page")
        try expect(ascii("II*\0") + little32(8) + little16(.max) + zeros(50), .cutOff(.tiff), "65,535 entries")
        try expect(
            ascii("II*\0") + little32(8) + little16(1) + entry(256, .max) + little32(0), .malformed(.tiff), "no height")
        try expect(ascii("II*\0"), .malformed(.tiff), "a signature alone")
    }

    @Test func jpegWithImpossibleSegmentsIsRefused() throws {
        let start: [UInt8] = [0xFF, 0xD8]
        let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8, 0, 5, 0, 7, 1, 1, 0x11, 0]
        let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x12]
        try expect(start + [0xFF, 0xE0, 0, 0] + zeros(20), .malformed(.jpeg), "a segment of no length")
        try expect(start + [0xFF, 0xE0, 0, 1] + zeros(20), .malformed(.jpeg), "a segment of one byte")
        try expect(start + [0xFF, 0xE0, 0xFF, 0xFF] + zeros(20), .cutOff(.jpeg), "a segment beyond the end")
        try expect(start + [0xFF, 0xC0, 0, 7] + zeros(20), .malformed(.jpeg), "a frame header too short")
        try expect(start + [UInt8](repeating: 0xFF, count: 100_000), .cutOff(.jpeg), "fill bytes without end")
        try expect(start + [0xFF, 0xD9], .malformed(.jpeg), "an end at once")
        try expect(start + frame + [0xFF, 0xD9], .malformed(.jpeg), "no scan")
        try expect(start + scan + [0xFF, 0xD9], .malformed(.jpeg), "no frame")
        try expect(start + frame + scan, .cutOff(.jpeg), "no end")
        try expect(start + frame + scan + [0xFF], .cutOff(.jpeg), "half an end")
        let restarts = [UInt8](repeating: 0xFF, count: 1) + [0xD0]
        let whole = start + frame + scan + Array(repeatElement(restarts, count: 50_000).joined()) + [0xFF, 0xD9]
        #expect(try headerInMemory(whole) == .success(ImageHeader(.jpeg, 7, 5)))
    }

    @Test func icoThatPointsOutsideIsRefused() throws {
        let entry = { (length: UInt32, place: UInt32) in [16, 16, 0, 0] + zeros(4) + little32(length) + little32(place)
        }
        let head = { (count: UInt16) in [0, 0, 1, 0] + little16(count) }
        try expect(head(1) + entry(.max, .max) + zeros(40), .cutOff(.ico), "everything beyond the end")
        try expect(head(1) + entry(40, 22) + zeros(39), .cutOff(.ico), "one byte beyond the end")
        try expect(head(1) + entry(0, 22) + zeros(40), .malformed(.ico), "nothing")
        try expect(head(1) + entry(4, 0) + zeros(40), .malformed(.ico), "the head itself")
        try expect(head(.max) + entry(4, 22) + zeros(40), .cutOff(.ico), "65,535 entries")
        let png = pngStart + big32(13) + ascii("IHDR") + big32(.max) + big32(.max)
        try expect(head(1) + entry(24, 22) + png, .malformed(.ico), "a PNG of 2^32 by 2^32")
        #expect(try headerInMemory(head(1) + entry(40, 22) + zeros(40)).get() == ImageHeader(.ico, 16, 16))
    }

    @Test func bmpWithImpossibleSizesIsRefused() throws {
        let bitmap = { (width: Int32, height: Int32, depth: UInt16) in
            ascii("BM") + zeros(8) + little32(54) + little32(40) + little32(UInt32(bitPattern: width))
                + little32(UInt32(bitPattern: height)) + little16(1) + little16(depth) + zeros(24)
        }
        try expect(bitmap(1, .min, 24) + zeros(100), .cutOff(.bmp), "the least height")
        try expect(bitmap(.max, .max, .max) + zeros(100), .cutOff(.bmp), "the largest of everything")
        try expect(bitmap(.max, .min, .max) + zeros(100), .cutOff(.bmp), "the largest and the least")
        try expect(bitmap(.min, 1, 24) + zeros(100), .malformed(.bmp), "the least width")
        try expect(bitmap(0, 1, 24) + zeros(100), .malformed(.bmp), "no width")
        try expect(bitmap(1, 0, 24) + zeros(100), .malformed(.bmp), "no height")
        try expect(Array(bitmap(1, 1, 24).prefix(53)), .cutOff(.bmp), "a cut header")
        #expect(try headerInMemory(bitmap(1, -1, 24) + zeros(4)).get() == ImageHeader(.bmp, 1, 1))
    }

    @Test func webpThatLiesAboutItsSizesIsRefused() throws {
        let riff = { (size: UInt32, body: [UInt8]) in ascii("RIFF") + little32(size) + ascii("WEBP") + body }
        try expect(riff(.max, zeros(40)), .cutOff(.webp), "a container beyond the end")
        try expect(riff(0, ascii("VP8X") + zeros(40)), .malformed(.webp), "an empty container")
        try expect(riff(22, ascii("VP8 ") + little32(.max) + zeros(20)), .cutOff(.webp), "a chunk beyond the end")
        try expect(
            riff(34, ascii("VP8X") + little32(10) + zeros(10) + ascii("ANMF") + little32(.max)), .cutOff(.webp),
            "a frame beyond the end")
        try expect(riff(22, ascii("VP8L") + little32(10) + zeros(10)), .malformed(.webp), "no lossless mark")
        try expect(riff(22, ascii("WXYZ") + little32(10) + zeros(10)), .malformed(.webp), "an unknown first chunk")
    }
}
