internal import Platform

extension ImageHeader {
    /// PNG and APNG: signature, IHDR, chunks up to IEND (ISO/IEC 15948, section 11; APNG 1.0 for acTL).
    static func png(_ bytes: inout some ByteSource) throws(Failure) -> ImageHeader {
        guard bytes.count >= 33 else { throw .cutOff(.png) }
        guard bytes.matches("IHDR", at: 12), bytes.big32(at: 8) == 13 else { throw .malformed(.png) }
        let width = bytes.big32(at: 16)
        let height = bytes.big32(at: 20)
        guard width < 1 << 31, height < 1 << 31 else { throw .malformed(.png) }
        var frames = 1
        var hasData = false
        var timing: FrameTiming.Reader?
        var place = 33
        while true {
            let length = bytes.big32(at: place)
            guard place + 12 <= bytes.count, length <= bytes.count - place - 12 else { throw .cutOff(.png) }
            if bytes.matches("IDAT", at: place + 4) {
                hasData = true
            } else if bytes.matches("acTL", at: place + 4), !hasData, length == 8 {
                frames = bytes.big32(at: place + 8)
                timing = FrameTiming.Reader(loopCount: bytes.big32(at: place + 12))
            } else if bytes.matches("fcTL", at: place + 4), length == 26 {
                // A fraction of a second, whose denominator of 0 means 100.
                let (numerator, denominator) = (bytes.big16(at: place + 28), bytes.big16(at: place + 30))
                timing?.note(numerator * 1000 / (denominator == 0 ? 100 : denominator))
            } else if bytes.matches("IEND", at: place + 4) {
                guard hasData else { throw .malformed(.png) }
                return try ImageHeader(.png, width, height, frames: frames, timing: timing)
            }
            place += 12 + length
        }
    }
}
