import TestSupport
import Testing

@testable import ImageFormats

/// Formats are told by the whole signature, never by a name.
@Suite struct ImageFormatTests {
    @Test(
        arguments: [
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], ImageFormat.png),
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0B], nil),
            ([0x89, 0x50, 0x4E, 0x47], nil),
            ([0xFF, 0xD8, 0xFF], .jpeg),
            ([0xFF, 0xD8], nil),
            (ascii("GIF87a"), .gif),
            (ascii("GIF89a"), .gif),
            (ascii("GIF88a"), nil),
            (ascii("GIF"), nil),
            (ascii("RIFF....WEBP"), .webp),
            (ascii("RIFF....WAVE"), nil),
            (big32(16) + ascii("ftypavif") + zeros(4), .avif),
            (big32(20) + ascii("ftypmif1") + zeros(4) + ascii("avif"), .avif),
            (big32(20) + ascii("ftypmif1") + zeros(4) + ascii("heic"), .heic),
            (big32(16) + ascii("ftypmp42") + zeros(4), nil),
            (ascii("II*\0"), .tiff),
            (ascii("MM\0*"), .tiff),
            (ascii("II*"), nil),
            (ascii("<svg>"), .svg),
            (ascii("<svg:svg>"), .svg),
            (ascii("<svgs>"), nil),
            (ascii("<!DOCTYPE html><html>"), nil),
            (ascii("<?xml?><!-- a -- b --><!DOCTYPE svg [<!ENTITY a \">\">]> <svg "), .svg),
            ([0xFF, 0x0A], .jxl),
            ([0xFF, 0x0B], nil),
            ([0x00, 0x00, 0x00, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jxl),
            ([0x00, 0x00, 0x00, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0D], nil),
            ([0x00, 0x00, 0x00, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87], nil),
            (big32(12) + ascii("jP  ") + [0x0D, 0x0A, 0x87, 0x0A], .jp2),
            (big32(12) + ascii("jP  ") + [0x0D, 0x0A, 0x87, 0x0D], nil),
            ([0xFF, 0x4F, 0xFF, 0x51], .jp2),
            ([0xFF, 0x4F, 0xFF, 0x52], nil),
            (ascii("icns") + big32(100), .icns),
            (ascii("icns") + big32(8), nil),
            (ascii("%PDF-1.7"), .pdf),
            (ascii("%PDX-1.7"), nil),
            (ascii("P6\n# by hand\n4 3\n255\n"), .pnm),
            (ascii("P4 4 3\n"), .pnm),
            (ascii("P5 4 3\n"), nil),
            (ascii("P5 4 3 0\n"), nil),
            (ascii("P5 4 3 65536\n"), nil),
            (ascii("P7 4 3 255\n"), nil),
            (ascii("P6 is the best camera"), nil),
            (ascii("P1") + [UInt8](repeating: 0x20, count: 5_000) + ascii("1 1 1"), nil),
            (ascii("hello"), nil),
            ([], nil),
        ] as [([UInt8], ImageFormat?)])
    func signatureDecides(_ bytes: [UInt8], _ format: ImageFormat?) {
        #expect(bytes.withUnsafeBytes { ImageFormat(signatureOf: $0) } == format)
    }

    @Test(arguments: [
        ("jpg", ImageFormat.jpeg), ("JPEG", .jpeg), ("jpe", .jpeg), ("jfif", .jpeg), ("png", .png), ("apng", .png),
        ("Tif", .tiff), ("tiff", .tiff), ("heif", .heic), ("heic", .heic), ("webp", .webp), ("svg", .svg),
        ("JXL", .jxl), ("j2k", .jp2), ("PPM", .pnm), ("icns", .icns), ("pdf", .pdf),
        ("txt", nil),
        ("", nil), ("png ", nil), ("ｐｎｇ", nil),
    ])
    func extensionNamesAFormat(_ text: String, _ format: ImageFormat?) {
        #expect(ImageFormat(fileExtension: text) == format)
    }

    @Test(arguments: ImageFormat.allCases)
    func extensionOfAFormatNamesIt(_ format: ImageFormat) {
        #expect(ImageFormat(fileExtension: format.fileExtension) == format)
    }
}
