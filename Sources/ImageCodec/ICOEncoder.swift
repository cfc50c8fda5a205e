internal import ImageRecipes

/// Encodes icons with one image, stored as PNG, which Windows supports since Vista and every browser does.
enum ICOEncoder {
    /// The longest side of an icon, in pixels.
    static let longestSide = 256

    /// Throws if the image is too large for an icon.
    static func checkSize(_ size: Extent) throws(RenderFailure) {
        guard size.width <= longestSide, size.height <= longestSide else {
            throw RenderFailure(
                .processingFailed,
                "An icon has at most \(longestSide) × \(longestSide) pixels, and the picture \(size.width) × \(size.height); resize it, with downsample for example."
            )
        }
    }

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
