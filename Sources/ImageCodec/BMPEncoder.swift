internal import ImageRecipes

/// Encodes Windows bitmaps, because libvips would leave them to ImageMagick.
///
/// Opaque images have 24 bits per pixel and the header that every reader supports (BITMAPINFOHEADER). Others have 32
/// bits with alpha, whose position only a header of version 4 specifies (BITMAPV4HEADER of the Windows documentation),
/// and sRGB as colour space.
enum BMPEncoder {
    private static let fileHeaderSize = 14
    /// The resolution in pixels per metre: 72 pixels per inch.
    private static let density = 2835

    /// The file of an image.
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
        // The compression: 0 for none, 3 for bit fields.
        file.append32(hasAlpha ? 3 : 0, size, density, density, 0, 0)
        if hasAlpha {
            file.append32(0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000)
            // LCS_sRGB; end points and gammas are ignored then.
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
