/// WebP: a RIFF container with VP8, VP8L or VP8X first (RFC 9649, section 2).
struct WebPInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        // The shortest picture has 25 bytes up to its size, one of no loss.
        guard bytes.count >= (bytes.name(at: 12) == "VP8L" ? 25 : 30) else { throw .cutOff(.webp) }
        let end = bytes.little32(at: 4) + 8
        guard end <= bytes.total else { throw .cutOff(.webp) }
        switch bytes.name(at: 12) {
        case "VP8X": try chunks(to: end)
        case "VP8 ", "VP8L":
            guard 20 + bytes.little32(at: 16) <= end else { throw .cutOff(.webp) }
            try bitstream()
        default: throw .malformed(.webp)
        }
    }

    /// The only picture, with its size in a VP8 key frame (RFC 6386, section 9.1) or a VP8L header (RFC 9649, section 3.4).
    private mutating func bitstream() throws(ImageHeader.Failure) {
        if bytes.name(at: 12) == "VP8L" {
            guard bytes.byte(at: 20) == 0x2F else { throw .malformed(.webp) }
            let bits = bytes.little32(at: 21)
            (found.width, found.height) = (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
            found.hasAlpha = bits >> 28 & 1 == 1
        } else {
            guard bytes.little24(at: 23) == 0x2A019D else { throw .malformed(.webp) }
            (found.width, found.height) = (bytes.little16(at: 26) & 0x3FFF, bytes.little16(at: 28) & 0x3FFF)
            found.hasAlpha = false
        }
        (found.frameCount, found.orientation) = (1, 1)
    }

    private mutating func chunks(to end: Int) throws(ImageHeader.Failure) {
        let flags = bytes.byte(at: 20)
        let (hasEXIF, isAnimated) = (flags & 0x08 != 0, flags & 0x02 != 0)
        (found.width, found.height) = (bytes.little24(at: 24) + 1, bytes.little24(at: 27) + 1)
        (found.hasAlpha, found.frameCount) = (flags & 0x10 != 0, isAnimated ? nil : 1)
        // EXIF comes last.
        found.orientation = hasEXIF ? nil : 1
        var pictures = 0
        var timing = FrameTiming(loopCount: 0)
        var place = 12
        while place + 8 <= end {
            let length = bytes.little32(at: place + 4)
            guard place + 8 <= bytes.count, length <= end - place - 8 else { throw .cutOff(.webp) }
            switch bytes.name(at: place) {
            case "ANMF" where isAnimated:
                pictures += 1
                timing.note(bytes.little24(at: place + 20))
            case "VP8 ", "VP8L": if !isAnimated { pictures = 1 }
            case "ANIM" where length >= 6: timing.loopCount = bytes.little16(at: place + 12)
            case "EXIF" where hasEXIF && found.orientation == nil:
                guard place + 8 + length <= bytes.count else { throw .cutOff(.webp) }
                // Some writers put the marker of JPEG's segments before it.
                let head = bytes.matches("Exif\0\0", at: place + 8) ? 6 : 0
                found.orientation = bytes.exifOrientation(at: place + 8 + head, length - head) ?? 1
            default: break
            }
            place += 8 + length + length & 1
        }
        guard bytes.isHere(upTo: end) else { throw .cutOff(.webp) }
        (found.frameCount, found.timing) = (pictures, timing.of(pictures))
    }
}
