import TestSupport
import Testing

@testable import ImageFormats

/// The headers of JPEG 2000, PNM, ICNS and PDF, beside those of the corpus.
@Suite struct OtherHeaderTests {
    @Test(arguments: [
        "jp2-rgb.jp2", "jp2-codestream.jp2", "pnm-bits.pnm", "pnm-gray.pnm", "pnm-rgb-10bit.pnm", "icns-png.icns",
        "pdf-page.pdf",
    ])
    func everyCutIsFoundOut(_ name: String) throws {
        let bytes = try Fixtures.bytes(name)
        let format = try headerInMemory(bytes).get().format
        for count in stride(from: 20, to: bytes.count - 8, by: 7) {
            let cut = headerInMemory(Array(bytes[..<count]))
            #expect(cut == .failure(.cutOff(format)) || cut == .failure(.unrecognised), "\(name) \(count)")
        }
    }

    @Test func textOfAPNMMayBeAsShortAsItsSamples() throws {
        #expect(try headerInMemory(ascii("P1 3 2\n101010")).get() == ImageHeader(.pnm, 3, 2))
        #expect(headerInMemory(ascii("P1 3 2\n10101")) == .failure(.cutOff(.pnm)))
        #expect(try headerInMemory(ascii("P2 2 1 9\n3 4")).get() == ImageHeader(.pnm, 2, 1))
        #expect(headerInMemory(ascii("P2 2 1 9\n34")) == .failure(.cutOff(.pnm)))
        #expect(headerInMemory(ascii("P6 9999999 9999999 65535\n")) == .failure(.cutOff(.pnm)))
    }

    @Test func sizeOfAPDFIsThatOfItsFirstPageSizeOrUSLetter() throws {
        func size(_ text: String) throws -> [Int] {
            let header = try headerInMemory(ascii("%PDF-1.7\n\(text)\n%%EOF\n")).get()
            return [header.width, header.height]
        }
        #expect(try size("/MediaBox [10 20 605.28 861.9]") == [596, 842])
        #expect(try size("/MediaBox[0 0 100 50] /MediaBox [0 0 1 1]") == [100, 50])
        #expect(try size("/MediaBox 7 0 R /MediaBox [0\n0\n300\n200]") == [300, 200])
        #expect(try size("/MediaBox [0 0 0 0]") == [612, 792])
        #expect(try size("/MediaBox [0 0 nan 1e300]") == [612, 792])
        #expect(headerInMemory(ascii("%PDF-1.7\n/MediaBox [0 0 9 9]\n")) == .failure(.cutOff(.pdf)))
    }

    @Test func icnsTellsTheLargestIconThatCanBeDecoded() throws {
        func icon(_ type: String, _ body: [UInt8]) -> [UInt8] { ascii(type) + big32(UInt32(8 + body.count)) + body }
        func file(_ icons: [UInt8]...) -> [UInt8] {
            ascii("icns") + big32(UInt32(8 + icons.joined().count)) + Array(icons.joined())
        }
        let png = try Fixtures.bytes("png-rgb.png")
        let old = icon("it32", zeros(40))
        #expect(try headerInMemory(file(old, icon("ic07", png))).get() == ImageHeader(.icns, 61, 37))
        #expect(try headerInMemory(file(icon("is32", zeros(9)), old)).get() == ImageHeader(.icns, 128, 128))
        #expect(headerInMemory(file(icon("TOC ", zeros(9)))) == .failure(.malformed(.icns)))
        #expect(headerInMemory(file(ascii("ic07") + big32(4) + zeros(30))) == .failure(.malformed(.icns)))
    }
}
