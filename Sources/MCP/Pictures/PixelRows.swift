internal import ImageEngine
internal import Platform

/// Decoded pixels in a file, from which rows are read as they are needed: RGBA, eight bits each, not premultiplied.
final class PixelRows: Sendable {
    let width: Int
    let height: Int
    private let file: Descriptor

    /// Opens a file, which is removed with the last use of `pixels`.
    init(_ pixels: PixelFile) throws {
        (width, height) = (pixels.width, pixels.height)
        file = try withExtendedLifetime(pixels) {
            try Descriptor(reading: pixels.path, followsLinks: UnnamedFile.isPath(pixels.path))
        }
    }

    /// The bytes of some rows.
    func bytes(ofRows rows: Range<Int>) throws -> [UInt8] {
        let stride = 4 * width
        let bytes = try file.bytes(rows.count * stride, at: rows.lowerBound * stride)
        guard bytes.count == rows.count * stride else {
            throw ToolFailure("The picture was removed while it was read; try again.")
        }
        return bytes
    }

    /// All of them.
    var image: PixelImage {
        get throws {
            guard let image = PixelImage(width: width, height: height, rgba: try bytes(ofRows: 0..<height)) else {
                throw ToolFailure("The picture has no pixels.")
            }
            return image
        }
    }
}
