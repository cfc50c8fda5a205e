/// JPEG: marker segments up to the end of image (ITU-T T.81, annex B).
struct JPEGInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        found.orientation = 1
        var (hasFrame, hasScan) = (false, false)
        var place = 2
        while place < bytes.count {
            guard bytes.byte(at: place) == 0xFF else { throw .malformed(.jpeg) }
            let marker = bytes.byte(at: place + 1)
            switch marker {
            case 0xFF:
                place += 1
                continue
            case 0xD9:
                guard hasFrame, hasScan else { throw .malformed(.jpeg) }
                return
            case 0x01, 0xD0...0xD8:
                place += 2
                continue
            default: break
            }
            let length = bytes.big16(at: place + 2)
            guard place + 4 <= bytes.count, place + 2 + length <= bytes.count else { throw .cutOff(.jpeg) }
            guard length >= 2 else { throw .malformed(.jpeg) }
            switch marker {
            // Tables and a reserved marker among those that start a frame.
            case 0xC4, 0xC8, 0xCC: break
            case 0xC0...0xCF where !hasFrame:
                guard length >= 8 else { throw .malformed(.jpeg) }
                hasFrame = true
                (found.width, found.height) = (bytes.big16(at: place + 7), bytes.big16(at: place + 5))
                (found.frameCount, found.hasAlpha) = (1, false)
            case 0xE1 where !hasFrame && bytes.matches("Exif\0\0", at: place + 4):
                found.orientation = bytes.exifOrientation(at: place + 10, length - 8) ?? found.orientation
            case 0xDA: hasScan = true
            default: break
            }
            place += 2 + length
            if marker == 0xDA { place = endOfScan(from: place) }
        }
        throw .cutOff(.jpeg)
    }

    /// The place of the next marker that is neither a stuffed byte, nor a fill byte, nor a restart.
    private mutating func endOfScan(from start: Int) -> Int {
        var place = start
        while let found = bytes.firstPlace(of: 0xFF, from: place, isInScan: true) {
            let next = bytes.byte(at: found + 1)
            if ScanMap.endsScan(next) { return found + 1 < bytes.count ? found : bytes.count }
            // With a fill byte a marker may begin.
            place = next == 0xFF ? found + 1 : found + 2
        }
        return bytes.count
    }
}
