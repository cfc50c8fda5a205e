internal import Platform

extension ImageHeader {
    /// WebP: a RIFF container with VP8, VP8L or VP8X first (RFC 9649, section 2).
    static func webp(_ bytes: inout some ByteSource) throws(Failure) -> ImageHeader {
        guard bytes.count >= 30 else { throw .cutOff(.webp) }
        let end = bytes.little32(at: 4) + 8
        guard end <= bytes.count else { throw .cutOff(.webp) }
        if bytes.matches("VP8 ", at: 12) || bytes.matches("VP8L", at: 12) {
            guard 20 + bytes.little32(at: 16) <= end else { throw .cutOff(.webp) }
            let size = try bitstreamSize(&bytes, at: 12)
            return try ImageHeader(.webp, size.width, size.height)
        }
        guard bytes.matches("VP8X", at: 12) else { throw .malformed(.webp) }
        let isAnimated = bytes.byte(at: 20) & 0x02 != 0
        let width = bytes.little24(at: 24) + 1
        let height = bytes.little24(at: 27) + 1
        var pictures = 0
        var timing = FrameTiming.Reader(loopCount: 0)
        var place = 12
        while place + 8 <= end {
            let length = bytes.little32(at: place + 4)
            guard length <= end - place - 8 else { throw .cutOff(.webp) }
            let isPicture =
                isAnimated
                ? bytes.matches("ANMF", at: place)
                : bytes.matches("VP8 ", at: place) || bytes.matches("VP8L", at: place)
            if isPicture {
                pictures += 1
                timing.note(bytes.little24(at: place + 20))
            } else if bytes.matches("ANIM", at: place), length >= 6 {
                timing.loopCount = bytes.little16(at: place + 12)
            }
            place += 8 + length + length & 1
        }
        return try ImageHeader(
            .webp, width, height, frames: isAnimated ? pictures : min(pictures, 1), timing: isAnimated ? timing : nil)
    }

    /// The size in a VP8 key frame (RFC 6386, section 9.1) or a VP8L header (RFC 9649, section 3.4).
    private static func bitstreamSize(
        _ bytes: inout some ByteSource, at place: Int
    ) throws(Failure) -> (width: Int, height: Int) {
        let data = place + 8
        if bytes.matches("VP8L", at: place) {
            guard bytes.byte(at: data) == 0x2F else { throw .malformed(.webp) }
            let bits = bytes.little32(at: data + 1)
            return (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        }
        guard bytes.matches([0x9D, 0x01, 0x2A], at: data + 3) else { throw .malformed(.webp) }
        return (bytes.little16(at: data + 6) & 0x3FFF, bytes.little16(at: data + 8) & 0x3FFF)
    }
}
