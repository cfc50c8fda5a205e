internal import ImageRecipes

/// Windows bitmaps, written here because libvips leaves them to ImageMagick.
///
/// Opaque pictures have 24 bits a pixel and the header that everything reads (BITMAPINFOHEADER); others have 32 with alpha,
/// whose place only a header of version 4 tells (BITMAPV4HEADER of the Windows documentation), and sRGB as their colours.
enum BMPEncoder {
    private static let fileHeaderSize = 14
    /// 72 pixels an inch, in pixels a metre.
    private static let density = 2835

    /// The file of a picture.
    ///
    /// - Parameter samples: RGB or RGBA of 8 bits, row by row without gaps.
    static func encode(
        _ samples: [UInt8], width: Int, height: Int, hasAlpha: Bool
    ) throws(RenderFailure) -> [UInt8] {
        let bands = hasAlpha ? 4 : 3
        let row = (width * bands + 3) / 4 * 4
        let start = fileHeaderSize + (hasAlpha ? 108 : 40)
        let (size, overflow) = row.multipliedReportingOverflow(by: height)
        guard !overflow, size <= Int(Int32.max) - start else {
            throw RenderFailure(
                .processingFailed,
                "A BMP holds at most 2 GiB, too little for \(width) × \(height) pixels; ask for a smaller picture or for another format."
            )
        }
        var file = LittleEndianBytes(capacity: start + size)
        file.append(ascii: "BM")
        file.append32(start + size, 0, start)
        file.append32(start - fileHeaderSize, width, height)
        file.append16(1, bands * 8)
        // The number of a compression: none, or bit fields.
        file.append32(hasAlpha ? 3 : 0, size, density, density, 0, 0)
        if hasAlpha {
            file.append32(0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000)
            // LCS_sRGB; end points and gammas do not count then.
            file.append32(0x7352_4742)
            for _ in 0..<12 { file.append32(0) }
        }
        let padding = row - width * bands
        for y in (0..<height).reversed() {
            for pixel in stride(from: y * width * bands, to: (y + 1) * width * bands, by: bands) {
                file.bytes.append(samples[pixel + 2])
                file.bytes.append(samples[pixel + 1])
                file.bytes.append(samples[pixel])
                if hasAlpha { file.bytes.append(samples[pixel + 3]) }
            }
            for _ in 0..<padding { file.bytes.append(0) }
        }
        return file.bytes
    }
}
