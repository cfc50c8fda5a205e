import TestSupport
import Testing

@testable import ImageFormats

/// HEIF boxes and SVG text whose numbers are impossible.
@Suite struct HostileBoxTests {
    private let brand = big32(16) + ascii("ftypavif") + zeros(4)

    private func box(_ name: String, _ body: [UInt8]) -> [UInt8] {
        big32(UInt32(8 + body.count)) + ascii(name) + body
    }
    private func meta(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        let size = box("ispe", zeros(4) + big32(width) + big32(height))
        return box("meta", zeros(4) + box("iprp", box("ipco", size))) + box("mdat", [1])
    }

    private func expect(
        _ bytes: [UInt8], _ failure: ImageHeader.Failure, _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(headerInMemory(bytes) == .failure(failure), "\(what)", sourceLocation: sourceLocation)
        #expect(try ScratchFile().header(bytes) == .failure(failure), "\(what)", sourceLocation: sourceLocation)
    }

    @Test func boxesOfImpossibleSizeAreRefused() throws {
        try expect(brand, .malformed(.avif), "no picture")
        try expect(brand + big32(0) + ascii("free"), .malformed(.avif), "a box up to the end")
        try expect(brand + big32(2) + ascii("free"), .malformed(.avif), "a box of two bytes")
        try expect(brand + big32(.max) + ascii("free"), .cutOff(.avif), "a box beyond the end")
        try expect(brand + big32(1) + ascii("free") + big32(.max) + big32(.max), .cutOff(.avif), "2^64 bytes")
        try expect(brand + big32(1) + ascii("free") + big32(0) + big32(0), .malformed(.avif), "a long box of nothing")
        try expect(brand + big32(1) + ascii("free"), .malformed(.avif), "half a long box")
        try expect(brand + zeros(7), .cutOff(.avif), "half a head")
        let many = Array(repeatElement(box("free", []), count: 10_000).joined())
        try expect(brand + many, .malformed(.avif), "10,000 boxes")
        let data = box("mdat", [1])
        try expect(brand + box("meta", []) + data, .malformed(.avif), "an empty meta")
        try expect(brand + box("meta", zeros(4) + box("iprp", [])) + data, .malformed(.avif), "no properties")
        try expect(
            brand + box("meta", zeros(4) + big32(.max) + ascii("iprp")), .cutOff(.avif), "a child beyond its parent")
    }

    @Test func extentsWhoseProductOverflowsAreRefused() throws {
        try expect(brand + meta(.max, .max), .malformed(.avif), "2^32 by 2^32")
        try expect(brand + meta(0, 0), .malformed(.avif), "nothing")
        try expect(Array((brand + meta(7, 9)).dropLast(9)), .cutOff(.avif), "no picture data")
        #expect(try headerInMemory(brand + meta(7, 9)).get() == ImageHeader(.avif, 7, 9))
    }

    @Test func tableOfBillionsOfEntriesEnds() throws {
        let links = box("ipma", zeros(4) + big32(.max) + zeros(4))
        let parts = box("pitm", zeros(4) + big16(1)) + box("iprp", box("ipco", []) + links)
        let data = box("mdat", [1])
        try expect(brand + box("meta", zeros(4) + parts) + data, .malformed(.avif), "a table of 2^32 entries")
        for version: UInt8 in 0...3 {
            for sizes: UInt16 in [0x4444, 0x8888, 0x0000, 0x2222] {
                let place = box("iloc", [version, 0, 0, 0] + big16(sizes) + [UInt8](repeating: 0xFF, count: 60))
                try expect(
                    brand + box("meta", zeros(4) + place + parts) + data, .malformed(.avif), "2^32 items elsewhere")
            }
            let place = box("iloc", [version, 0, 0, 0] + big16(0x7777) + zeros(60))
            try expect(brand + box("meta", zeros(4) + place + parts) + data, .cutOff(.avif), "numbers of seven bytes")
        }
        let beyond = box(
            "iloc", zeros(4) + big16(0x4400) + big16(1) + big16(1) + zeros(2) + big16(1) + big32(90) + big32(.max))
        try expect(brand + box("meta", zeros(4) + beyond + parts) + data, .cutOff(.avif), "an item beyond the end")
        let samples = box("stsz", zeros(8) + big32(.max))
        let track = box("moov", box("trak", box("mdia", box("minf", box("stbl", samples)))))
        #expect(try headerInMemory(brand + track + meta(7, 9)).get().frameCount == Int(UInt32.max))
    }

    /// A table of a MiB whose items have 65,535 extents of no bytes each.
    @Test(.timeLimit(.minutes(1))) func extentsWithoutNumbersAreLookedAtOnce() throws {
        let item = big16(1) + zeros(2) + big16(.max)
        let items = zeros(4) + big16(0) + big16(.max) + Array(repeatElement(item, count: 65_535).joined())
        let place = box("iloc", items)
        let size = box("iprp", box("ipco", box("ispe", zeros(4) + big32(7) + big32(9))))
        let bytes = brand + box("meta", zeros(4) + place + size) + box("mdat", [1])
        #expect(try headerInMemory(bytes).get() == ImageHeader(.avif, 7, 9))
    }

    @Test(
        arguments: [
            ("width='1e308' height='1e308'", 300, 150),
            ("width='99999999999999999999' height='5'", nil, nil),
            ("width='0' height='0'", 300, 150),
            ("width='-5' height='-5'", 300, 150),
            ("width='nan' height='inf'", 300, 150),
            ("width='100%' height='50%'", 300, 150),
            ("width='100%' height='50%' viewBox='0 0 20 10'", 20, 10),
            ("viewBox='0 0 nan nan'", nil, nil),
            ("viewBox='0 0 inf inf'", nil, nil),
            ("viewBox='0 0 1e308 1e308'", nil, nil),
            ("viewBox='0 0 -1 -1'", nil, nil),
            ("viewBox='0 0 0 0'", nil, nil),
            ("width='10' viewBox='0 0 0 5'", nil, nil),
            ("width='10' viewBox='0 0 4 2'", 10, 5),
            ("height='10' viewBox='0 0 4 2'", 20, 10),
            ("viewBox='1 2'", 300, 150),
            ("viewBox=''", 300, 150),
            ("width='0.2px' height='0.2px'", 1, 1),
            ("width='1in' height='72pt'", 96, 96),
            ("width=5 height=6", 300, 150),
            ("width='5", nil, nil),
            ("=='' ='' a='' width='3' height='4'", 300, 150),
        ] as [(String, Int?, Int?)])
    func svgLengthsGiveASizeOrARefusal(_ attributes: String, _ width: Int?, _ height: Int?) {
        let outcome = headerInMemory(ascii("<svg \(attributes)></svg>"))
        let header = try? outcome.get()
        #expect(header?.width == width)
        #expect(header?.height == height)
    }

    @Test func svgWithoutEndIsRefused() throws {
        try expect(ascii("<svg ") + [UInt8](repeating: 0x61, count: 200_000), .cutOff(.svg), "an endless attribute")
        try expect(ascii("<svg a='") + [UInt8](repeating: 0x3E, count: 200_000), .cutOff(.svg), "an endless value")
        try expect(ascii("<svg>") + zeros(10_000), .cutOff(.svg), "no end tag")
        try expect([UInt8](repeating: 0x20, count: 200_000) + ascii("<svg/>"), .unrecognised, "endless blanks")
        try expect(ascii("<!--") + [UInt8](repeating: 0x2D, count: 200_000), .unrecognised, "an endless comment")
        try expect(Array(repeatElement(ascii("<!---->"), count: 20_000).joined()), .unrecognised, "endless comments")
        try expect(ascii("<!DOCTYPE ") + [UInt8](repeating: 0x5B, count: 200_000), .unrecognised, "an endless type")
        try expect([0xEF, 0xBB, 0xBF], .unrecognised, "a byte order mark alone")
        let equals = ascii("<svg ") + [UInt8](repeating: 0x3D, count: 60_000) + ascii("></svg>")
        #expect(try headerInMemory(equals).get() == ImageHeader(.svg, 300, 150))
    }
}
