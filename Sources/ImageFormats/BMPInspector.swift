/// BMP: the bitmap header of any version (Windows GDI, BITMAPFILEHEADER, BITMAPINFOHEADER and BITMAPV4HEADER).
struct BMPInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        guard bytes.count >= 26 else { throw .cutOff(.bmp) }
        if bytes.little32(at: 14) == 12 {
            try note(bytes.little16(at: 18), bytes.little16(at: 20), depth: bytes.little16(at: 24))
        } else if bytes.little32(at: 14) == 16 {
            // The second version of OS/2, cut down.
            guard bytes.count >= 30 else { throw .cutOff(.bmp) }
            try note(signed(at: 18), abs(signed(at: 22)), depth: bytes.little16(at: 28))
        } else {
            guard bytes.count >= 54 else { throw .cutOff(.bmp) }
            let (width, height) = (signed(at: 18), signed(at: 22))
            let isPlain = [0, 3, 6].contains(bytes.little32(at: 30))
            // A negative height means rows from the top.
            try note(width, abs(height), depth: isPlain ? bytes.little16(at: 28) : 0)
        }
        found.orientation = 1
        if bytes.isHere(upTo: 70) { found.hasAlpha = hasAlpha() }
    }

    private mutating func signed(at place: Int) -> Int { Int(Int32(truncatingIfNeeded: bytes.little32(at: place))) }

    /// Checks that rows of `depth` bits a pixel, padded to four bytes, lie inside the file; 0 for compressed ones.
    private mutating func note(_ width: Int, _ height: Int, depth: Int) throws(ImageHeader.Failure) {
        guard width > 0, height > 0 else { throw .malformed(.bmp) }
        let pixels = bytes.little32(at: 10)
        let row = (width * depth + 31) / 32 * 4
        let (size, overflow) = row.multipliedReportingOverflow(by: height)
        guard !overflow, pixels < bytes.total, size <= bytes.total - pixels else { throw .cutOff(.bmp) }
        (found.width, found.height, found.frameCount) = (width, height, 1)
    }

    /// `true` when the header has bits for alpha: one of version 3 on with them among its masks, or 32 bits that it does
    /// not describe.
    private mutating func hasAlpha() -> Bool {
        let (size, bits) = (bytes.little32(at: 14), bytes.little16(at: 28))
        guard size >= 40, bits == 16 || bits == 32 else { return false }
        switch bytes.little32(at: 30) {
        case 0: return bits == 32 && size >= 56
        case 3: return size >= 56 && bytes.little32(at: 66) != 0
        case 6: return bytes.little32(at: 66) != 0
        default: return false
        }
    }
}
