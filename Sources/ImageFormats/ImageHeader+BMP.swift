internal import Platform

extension ImageHeader {
    /// BMP: the bitmap header of any version (Windows GDI, BITMAPFILEHEADER and BITMAPINFOHEADER).
    static func bmp(_ bytes: inout some ByteSource) throws(Failure) -> ImageHeader {
        guard bytes.count >= 26 else { throw .cutOff(.bmp) }
        let pixels = bytes.little32(at: 10)
        if bytes.little32(at: 14) == 12 {
            return try bitmap(
                &bytes, bytes.little16(at: 18), bytes.little16(at: 20), depth: bytes.little16(at: 24), at: pixels)
        }
        guard bytes.count >= 54 else { throw .cutOff(.bmp) }
        let width = Int(Int32(truncatingIfNeeded: bytes.little32(at: 18)))
        // A negative height means rows from the top.
        let height = abs(Int(Int32(truncatingIfNeeded: bytes.little32(at: 22))))
        let isPlain = [0, 3, 6].contains(bytes.little32(at: 30))
        return try bitmap(&bytes, width, height, depth: isPlain ? bytes.little16(at: 28) : 0, at: pixels)
    }

    /// Checks that rows of `depth` bits a pixel, padded to four bytes, lie inside the file; 0 for compressed ones.
    private static func bitmap(
        _ bytes: inout some ByteSource, _ width: Int, _ height: Int, depth: Int, at pixels: Int
    ) throws(Failure) -> ImageHeader {
        let header = try ImageHeader(.bmp, width, height)
        let row = (width * depth + 31) / 32 * 4
        let (size, overflow) = row.multipliedReportingOverflow(by: height)
        guard !overflow, pixels < bytes.count, size <= bytes.count - pixels else { throw .cutOff(.bmp) }
        return header
    }
}
