internal import ImageRecipes

/// Encodes icons with one image, stored as PNG, which Windows supports since Vista and every browser does.
enum ICOEncoder {
    /// The file around a PNG of 32 bits per pixel.
    static func encode(png: [UInt8], size: Extent) -> [UInt8] {
        let start = 6 + 16
        var file = LittleEndianBytes(capacity: start + png.count)
        file.append16(0, 1, 1)
        // 256 is written as 0; there is no palette.
        file.bytes += [UInt8(truncatingIfNeeded: size.width), UInt8(truncatingIfNeeded: size.height), 0, 0]
        file.append16(1, 32)
        file.append32(png.count, start)
        file.bytes += png
        return file.bytes
    }
}
