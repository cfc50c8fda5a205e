/// TIFF: the first page, and the length of the chain of pages (TIFF 6.0, section 2); BigTIFF has numbers of 64 bits there.
struct TIFFInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        let isLittle = bytes.byte(at: 0) == 0x49
        let isBig = bytes.short(at: 2, isLittle) == 43
        var pages = 0
        var seen: Set<Int> = []
        var directory = bytes.offset(at: isBig ? 8 : 4, isLittle, isBig)
        // A chain that leads back ends there: the pages before are whole.
        while directory != 0, seen.insert(directory).inserted {
            guard directory >= 8, pages < 65536 else { throw .malformed(.tiff) }
            guard directory < bytes.count else { throw .cutOff(.tiff) }
            let start = directory + (isBig ? 8 : 2)
            let entries = isBig ? bytes.offset(at: directory, isLittle, true) : bytes.short(at: directory, isLittle)
            guard entries < 65536 else { throw .malformed(.tiff) }
            let end = start + (isBig ? 20 : 12) * entries
            guard end + (isBig ? 8 : 4) <= bytes.count else { throw .cutOff(.tiff) }
            if pages == 0 { noteFirst(start..<end, isLittle, isBig) }
            pages += 1
            directory = bytes.offset(at: end, isLittle, isBig)
        }
        found.frameCount = pages
    }

    /// Notes what the entries of the first directory say (TIFF 6.0, section 8 and "ExtraSamples").
    private mutating func noteFirst(_ entries: Range<Int>, _ isLittle: Bool, _ isBig: Bool) {
        found.orientation = 1
        var (samples, photometric) = (1, 1)
        for place in stride(from: entries.lowerBound, to: entries.upperBound, by: isBig ? 20 : 12) {
            // Type 3 is a 16-bit value, type 4 a 32-bit one, 16 one of 64 bits; all stand in the entry itself.
            let type = bytes.short(at: place + 2, isLittle)
            let content = place + (isBig ? 12 : 8)
            let value =
                type == 3
                ? bytes.short(at: content, isLittle) : bytes.offset(at: content, isLittle, isBig && type == 16)
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

    /// A number of 32 bits, or of 64; what lies beyond every file that is taken is the same.
    fileprivate mutating func offset(at place: Int, _ isLittle: Bool, _ isLong: Bool) -> Int {
        guard isLong else { return long(at: place, isLittle) }
        let (low, high) = (long(at: place, isLittle), long(at: place + 4, isLittle))
        let (upper, lower) = isLittle ? (high, low) : (low, high)
        return min(upper, 1 << 16) << 32 | lower
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
