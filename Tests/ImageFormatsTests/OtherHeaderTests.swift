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

    @Test func aGIFMayLackItsLastByteAlone() throws {
        for name in ["gif-static.gif", "gif-animated.gif"] {
            let bytes = try Fixtures.bytes(name)
            #expect(try headerInMemory(Array(bytes.dropLast())).get().format == .gif)
            for count in 2..<20 {
                #expect(headerInMemory(Array(bytes.dropLast(count))) == .failure(.cutOff(.gif)), "\(name) \(count)")
            }
        }
    }
}

/// TIFFs whose strips or tiles do not end where they say.
@Suite struct TIFFDataTests {
    private func cut(_ bytes: [UInt8], by count: Int) throws -> HeaderOutcome {
        let cut = Array(bytes.dropLast(count))
        #expect(try ScratchFile().header(cut) == headerInMemory(cut))
        return headerInMemory(cut)
    }

    @Test(arguments: [false, true])
    func aTIFFWhoseDataEndsEarlyIsCutOff(_ isBig: Bool) throws {
        let strip = HandmadeTIFF(width: 5, height: 4, bands: 3, bits: 8, kind: 1, samples: zeros(60))
        let tiles = HandmadeTIFF(width: 16, height: 16, bands: 3, bits: 8, kind: 1, samples: zeros(256))
        for bytes in [strip.bytes(isBig: isBig), tiles.bytes(tiledPlanes: true, isBig: isBig)] {
            #expect(try cut(bytes, by: 0).get().frameCount == 1)
            for count in [1, 30, 60, 61, 64] {
                #expect(try cut(bytes, by: count) == .failure(.cutOff(.tiff)), "\(count)")
            }
            // The start of a whole one still tells what it told.
            let start = startProbe(bytes.dropLast(60), of: bytes.count)
            #expect(start?.frameCount == 1 && start?.width == (bytes.count > 400 ? 16 : 5))
        }
    }

    @Test func theLengthOfOnePlainStripMayBeWrong() throws {
        let picture = HandmadeTIFF(width: 5, height: 4, bands: 3, bits: 8, kind: 1, samples: zeros(100))
        #expect(try cut(picture.bytes(), by: 40).get() == ImageHeader(.tiff, 5, 4))
        #expect(try cut(picture.bytes(), by: 41) == .failure(.cutOff(.tiff)))
    }

    @Test func everyPageIsLookedAtForItsData() throws {
        func entry(_ tag: UInt16, _ value: UInt32) -> [UInt8] {
            little16(tag) + little16(4) + little32(1) + little32(value)
        }
        func file(_ place: UInt32, _ length: UInt32, compression: UInt32) -> [UInt8] {
            var file: [UInt8] = ascii("II*\0") + little32(8)
            file += little16(2) + entry(256, 5) + entry(257, 6)
            file += little32(38) + little16(3)
            file += entry(259, compression) + entry(273, place) + entry(279, length)
            return file + zeros(14)
        }
        #expect(try cut(file(80, 10, compression: 5), by: 0).get().frameCount == 2)
        #expect(try cut(file(80, 10, compression: 5), by: 1) == .failure(.cutOff(.tiff)))
        #expect(try cut(file(.max, .max, compression: 5), by: 0) == .failure(.cutOff(.tiff)))
        // Empty, and JPEG in its old form, whose lengths are not what they say.
        #expect(try cut(file(0, 0, compression: 5), by: 10).get().frameCount == 2)
        #expect(try cut(file(80, 99, compression: 6), by: 0).get().frameCount == 2)
    }
}
