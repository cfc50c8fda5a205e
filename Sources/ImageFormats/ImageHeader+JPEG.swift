internal import Platform

extension ImageHeader {
    /// JPEG: marker segments up to the end of image (ITU-T T.81, annex B).
    static func jpeg(_ bytes: inout some ByteSource) throws(Failure) -> ImageHeader {
        var size: (width: Int, height: Int)?
        var hasScan = false
        var place = 2
        while place < bytes.count {
            guard bytes.byte(at: place) == 0xFF else { throw .malformed(.jpeg) }
            let marker = bytes.byte(at: place + 1)
            switch marker {
            case 0xFF:
                place += 1
                continue
            case 0xD9:
                guard let size, hasScan else { throw .malformed(.jpeg) }
                return try ImageHeader(.jpeg, size.width, size.height)
            case 0x01, 0xD0...0xD8:
                place += 2
                continue
            default: break
            }
            let length = bytes.big16(at: place + 2)
            guard place + 4 <= bytes.count, place + 2 + length <= bytes.count else { throw .cutOff(.jpeg) }
            guard length >= 2 else { throw .malformed(.jpeg) }
            if isFrameHeader(marker), size == nil {
                guard length >= 8 else { throw .malformed(.jpeg) }
                size = (bytes.big16(at: place + 7), bytes.big16(at: place + 5))
            }
            place += 2 + length
            if marker == 0xDA {
                hasScan = true
                place = endOfScan(&bytes, from: place)
            }
        }
        throw .cutOff(.jpeg)
    }

    /// The start-of-frame markers: C0 to CF without the tables C4, CC and the reserved C8.
    private static func isFrameHeader(_ marker: UInt8) -> Bool {
        (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
    }

    /// The place of the next marker that is neither a stuffed byte, nor a fill byte, nor a restart.
    private static func endOfScan(_ bytes: inout some ByteSource, from start: Int) -> Int {
        var place = start
        while let found = bytes.firstMark(from: place) {
            let next = bytes.byte(at: found + 1)
            if ScanMap.endsScan(next) { return found + 1 < bytes.count ? found : bytes.count }
            // With a fill byte a marker may begin.
            place = next == 0xFF ? found + 1 : found + 2
        }
        return bytes.count
    }
}
