internal import Platform

extension ImageHeader {
    /// GIF87a and GIF89a: blocks up to the trailer (GIF89a specification, appendix A).
    static func gif(_ bytes: inout some ByteSource) throws(Failure) -> ImageHeader {
        guard bytes.count >= 14 else { throw .cutOff(.gif) }
        var width = bytes.little16(at: 6)
        var height = bytes.little16(at: 8)
        var frames = 0
        var delay = 0
        // Without the extension that says otherwise it is played once.
        var timing = FrameTiming.Reader(loopCount: 1)
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
                timing.note(delay)
                delay = 0
            case 0x21:
                // In hundredths of a second.
                if bytes.byte(at: place + 1) == 0xF9 { delay = bytes.little16(at: place + 4) * 10 }
                if let count = loopCount(&bytes, at: place) { timing.loopCount = count }
                place = try endOfSubBlocks(&bytes, from: place + 2)
            case 0x00: place += 1
            case 0x3B: return try ImageHeader(.gif, width, height, frames: frames, timing: timing)
            default:
                // Garbage after whole pictures does no harm; every reader stops here.
                guard frames > 0 else { throw .malformed(.gif) }
                return try ImageHeader(.gif, width, height, frames: frames, timing: timing)
            }
        }
        // Some encoders forget the trailer; whole pictures up to the last byte are accepted.
        guard frames > 0, place == bytes.count else { throw .cutOff(.gif) }
        return try ImageHeader(.gif, width, height, frames: frames, timing: timing)
    }

    /// How often an application extension wants the animation played, 0 for ever (Netscape's looping extension, which
    /// counts how often it is repeated); nil for any other.
    private static func loopCount(_ bytes: inout some ByteSource, at place: Int) -> Int? {
        guard bytes.byte(at: place + 1) == 0xFF, bytes.byte(at: place + 2) == 11,
            bytes.matches("NETSCAPE2.0", at: place + 3) || bytes.matches("ANIMEXTS1.0", at: place + 3),
            bytes.byte(at: place + 14) == 3, bytes.byte(at: place + 15) & 7 == 1
        else { return nil }
        let repeats = bytes.little16(at: place + 16)
        return repeats == 0 ? 0 : repeats + 1
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
