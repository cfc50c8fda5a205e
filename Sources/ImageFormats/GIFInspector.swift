/// GIF87a and GIF89a: blocks up to the trailer (GIF89a specification, appendix A).
struct GIFInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        guard bytes.count >= 14 else { throw .cutOff(.gif) }
        (found.width, found.height, found.orientation) = (bytes.little16(at: 6), bytes.little16(at: 8), 1)
        var (frames, delay, disposal, isEnded) = (0, 0, UInt8(0), false)
        var (isClear, givesWay) = (false, false)
        // Without the extension that says otherwise it is played once.
        var timing = FrameTiming(loopCount: 1)
        var place = 13 + tableSize(bytes.byte(at: 10))
        while !isEnded, place < bytes.count {
            switch bytes.byte(at: place) {
            case 0x2C:
                guard place + 10 <= bytes.count else { throw .cutOff(.gif) }
                if frames == 0 || found.width == 0 || found.height == 0 {
                    let (width, height) = (bytes.little16(at: place + 5), bytes.little16(at: place + 7))
                    // A canvas of no size takes that of its first picture, as browsers do.
                    if found.width == 0 { found.width = width }
                    if found.height == 0 { found.height = height }
                    // The first picture may make the canvas larger, as in browsers.
                    if frames == 0 {
                        found.width = max(found.width, bytes.little16(at: place + 1) + width)
                        found.height = max(found.height, bytes.little16(at: place + 3) + height)
                    }
                    // What the first picture does not cover is clear.
                    let covers =
                        bytes.little32(at: place + 1) == 0 && width >= found.width && height >= found.height
                    found.hasAlpha = found.hasAlpha ?? (isClear || !covers)
                }
                // So is what a picture leaves that gives way to the background.
                if givesWay { found.hasAlpha = true }
                givesWay = disposal == 2
                place = try endOfSubBlocks(from: place + 11 + tableSize(bytes.byte(at: place + 9)))
                (frames, disposal) = (frames + 1, 0)
                timing.note(delay)
                delay = 0
            case 0x21:
                if bytes.byte(at: place + 1) == 0xF9 {
                    (isClear, disposal) = (bytes.byte(at: place + 3) & 1 == 1, bytes.byte(at: place + 3) >> 2 & 7)
                    // In hundredths of a second.
                    delay = bytes.little16(at: place + 4) * 10
                }
                if let count = loopCount(at: place) { timing.loopCount = count }
                place = try endOfSubBlocks(from: place + 2)
            case 0x00: place += 1
            case 0x3B: isEnded = true
            default:
                // Garbage after whole pictures does no harm; every reader stops here.
                guard frames > 0 else { throw .malformed(.gif) }
                isEnded = true
            }
        }
        // Some encoders forget the trailer; whole pictures up to the last byte are accepted.
        guard isEnded || frames > 0 && place == bytes.total else { throw .cutOff(.gif) }
        (found.frameCount, found.timing) = (frames, timing.of(frames))
    }

    /// The number of times that an application extension has the animation played, 0 for ever (Netscape's looping
    /// extension, which counts the repetitions); nil for any other.
    private mutating func loopCount(at place: Int) -> Int? {
        guard bytes.byte(at: place + 1) == 0xFF, bytes.byte(at: place + 2) == 11,
            bytes.matches("NETSCAPE2.0", at: place + 3) || bytes.matches("ANIMEXTS1.0", at: place + 3),
            bytes.byte(at: place + 14) == 3, bytes.byte(at: place + 15) & 7 == 1
        else { return nil }
        let repeats = bytes.little16(at: place + 16)
        return repeats == 0 ? 0 : FrameTiming.plays(repeats + 1)
    }

    private func tableSize(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 0x07) + 1)
    }

    private mutating func endOfSubBlocks(from start: Int) throws(ImageHeader.Failure) -> Int {
        var place = start
        while place < bytes.count {
            let size = Int(bytes.byte(at: place))
            place += 1 + size
            if size == 0 { return place }
        }
        throw .cutOff(.gif)
    }
}
