extension ImageHeader {
    /// GIF87a and GIF89a: blocks up to the trailer (GIF89a specification, appendix A).
    static func gif(_ bytes: inout some ByteSource) throws(Failure) -> ImageHeader {
        guard bytes.count >= 14 else { throw .cutOff(.gif) }
        var width = bytes.little16(at: 6)
        var height = bytes.little16(at: 8)
        var frames = 0
        var place = 13 + tableSize(bytes.byte(at: 10))
        while place < bytes.count {
            switch bytes.byte(at: place) {
            case 0x2C:
                // A canvas of no size takes that of its first picture, as browsers do.
                if width == 0 { width = bytes.little16(at: place + 5) }
                if height == 0 { height = bytes.little16(at: place + 7) }
                place += 11 + tableSize(bytes.byte(at: place + 9))
                place = try endOfSubBlocks(&bytes, from: place)
                frames += 1
            case 0x21: place = try endOfSubBlocks(&bytes, from: place + 2)
            case 0x00: place += 1
            case 0x3B: return try ImageHeader(.gif, width, height, frames: frames)
            default:
                // Garbage after whole pictures does no harm; every reader stops here.
                guard frames > 0 else { throw .malformed(.gif) }
                return try ImageHeader(.gif, width, height, frames: frames)
            }
        }
        // Some encoders forget the trailer; whole pictures up to the last byte are accepted.
        guard frames > 0, place == bytes.count else { throw .cutOff(.gif) }
        return try ImageHeader(.gif, width, height, frames: frames)
    }

    private static func tableSize(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 0x07) + 1)
    }

    private static func endOfSubBlocks(_ bytes: inout some ByteSource, from start: Int) throws(Failure) -> Int {
        var place = start
        while place < bytes.count {
            let size = Int(bytes.byte(at: place))
            place += 1 + size
            if size == 0 { return place }
        }
        throw .cutOff(.gif)
    }
}
