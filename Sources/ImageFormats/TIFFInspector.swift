/// TIFF: the first page, and the length of the chain of pages (TIFF 6.0, section 2).
struct TIFFInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        let isLittle = bytes.byte(at: 0) == 0x49
        var pages = 0
        var seen: Set<Int> = []
        var directory = bytes.long(at: 4, isLittle)
        while directory != 0 {
            guard directory >= 8, seen.insert(directory).inserted, pages < 65536 else { throw .malformed(.tiff) }
            let entries = bytes.short(at: directory, isLittle)
            let end = directory + 2 + 12 * entries
            guard end + 4 <= bytes.count else { throw .cutOff(.tiff) }
            if pages == 0 { noteFirst(at: directory + 2, entries, isLittle) }
            pages += 1
            directory = bytes.long(at: end, isLittle)
        }
        found.frameCount = pages
    }

    /// Notes what the entries of the first directory say (TIFF 6.0, section 8 and "ExtraSamples").
    private mutating func noteFirst(at start: Int, _ entries: Int, _ isLittle: Bool) {
        found.orientation = 1
        var (samples, photometric) = (1, 1)
        for place in stride(from: start, to: start + 12 * entries, by: 12) {
            // Type 3 is a 16-bit value, type 4 a 32-bit one; both stand in the entry itself.
            let isShort = bytes.short(at: place + 2, isLittle) == 3
            let value = isShort ? bytes.short(at: place + 8, isLittle) : bytes.long(at: place + 8, isLittle)
            switch bytes.short(at: place, isLittle) {
            case 256: found.width = value
            case 257: found.height = value
            case 262: photometric = value
            case 274: found.orientation = (1...8).contains(value) ? value : 1
            case 277: samples = value
            default: break
            }
        }
        // What a pixel has beyond its colours is alpha.
        switch photometric {
        case 0, 1, 3: found.hasAlpha = samples > 1
        case 2, 6, 8: found.hasAlpha = samples > 3
        case 5: found.hasAlpha = samples > 4
        default: break
        }
    }
}

extension ByteSource {
    fileprivate mutating func short(at place: Int, _ isLittle: Bool) -> Int {
        isLittle ? little16(at: place) : big16(at: place)
    }

    fileprivate mutating func long(at place: Int, _ isLittle: Bool) -> Int {
        isLittle ? little32(at: place) : big32(at: place)
    }

    /// The orientation in EXIF data, a TIFF whose first directory has it as tag 0x0112 (EXIF 2.3, section 4.6.4).
    mutating func exifOrientation(at start: Int, _ length: Int) -> Int? {
        let isLittle = byte(at: start) == 0x49
        let directory = long(at: start + 4, isLittle)
        guard length > 8, directory >= 8, directory < length else { return nil }
        for entry in 0..<min(short(at: start + directory, isLittle), 256) {
            let place = start + directory + 2 + 12 * entry
            guard place + 12 <= start + length else { return nil }
            if short(at: place, isLittle) == 0x0112 {
                let value = short(at: place + 8, isLittle)
                return (1...8).contains(value) ? value : nil
            }
        }
        return nil
    }
}
