/// TIFF: the first page, and the length of the chain of pages (TIFF 6.0, section 2); BigTIFF has numbers of 64 bits there.
struct TIFFInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    /// `true` when the lowest byte of a number comes first.
    var isLittle = false
    /// `true` for BigTIFF.
    var isBig = false

    /// What a directory says of its page.
    private struct Page {
        var (width, height, orientation) = (0, 0, 1)
        var (samples, photometric, compression) = (1, 1, 1)
        /// The places of the entries that tell the bits of each sample, where strips or tiles begin, and their lengths.
        var (bits, starts, lengths): (Int?, Int?, Int?)
        var isTiled = false
    }

    /// The most entries in directories whose data is looked for: directories of a hostile file may overlap.
    private static var mostEntries: Int { 1 << 20 }

    mutating func inspect() throws(ImageHeader.Failure) {
        isLittle = bytes.byte(at: 0) == 0x49
        isBig = bytes.short(at: 2, isLittle) == 43
        var (pages, entries) = (0, 0)
        var seen: Set<Int> = []
        var directory = bytes.offset(at: isBig ? 8 : 4, isLittle, isBig)
        // A chain that leads back ends there: the pages before are whole.
        while directory != 0, seen.insert(directory).inserted {
            guard directory >= 8, pages < 65536 else { throw .malformed(.tiff) }
            guard directory < bytes.count else { throw .cutOff(.tiff) }
            let start = directory + (isBig ? 8 : 2)
            let count = isBig ? bytes.offset(at: directory, isLittle, true) : bytes.short(at: directory, isLittle)
            guard count < 65536 else { throw .malformed(.tiff) }
            let end = start + (isBig ? 20 : 12) * count
            guard end + (isBig ? 8 : 4) <= bytes.count else { throw .cutOff(.tiff) }
            entries += count
            if entries <= Self.mostEntries {
                let page = page(start..<end)
                if pages == 0 { note(page) }
                try checkEnd(of: page)
            }
            pages += 1
            directory = bytes.offset(at: end, isLittle, isBig)
        }
        found.frameCount = pages
    }

    private mutating func page(_ entries: Range<Int>) -> Page {
        var page = Page()
        for place in stride(from: entries.lowerBound, to: entries.upperBound, by: isBig ? 20 : 12) {
            // Type 3 is a 16-bit value, type 4 a 32-bit one, 16 one of 64 bits; all stand in the entry itself.
            let type = bytes.short(at: place + 2, isLittle)
            let content = place + (isBig ? 12 : 8)
            let value =
                type == 3
                ? bytes.short(at: content, isLittle) : bytes.offset(at: content, isLittle, isBig && type == 16)
            switch bytes.short(at: place, isLittle) {
            case 256: page.width = value
            case 257: page.height = value
            case 258: page.bits = place
            case 259: page.compression = value
            case 262: page.photometric = value
            case 273: page.starts = place
            case 274: page.orientation = (1...8).contains(value) ? value : 1
            case 277: page.samples = value
            case 279: page.lengths = place
            case 324: (page.starts, page.isTiled) = (place, true)
            case 325: page.lengths = place
            default: break
            }
        }
        return page
    }

    /// Notes what the first directory says (TIFF 6.0, section 8 and "ExtraSamples").
    private mutating func note(_ page: Page) {
        (found.width, found.height, found.orientation) = (page.width, page.height, page.orientation)
        // What a pixel has beyond its colours is alpha.
        switch page.photometric {
        case 0, 1, 3: found.hasAlpha = page.samples > 1
        case 2, 6, 8: found.hasAlpha = page.samples > 3
        case 5: found.hasAlpha = page.samples > 4
        default: break
        }
    }

    /// Checks that the last strip or tile of a page, which writers put last, lies inside the file.
    private mutating func checkEnd(of page: Page) throws(ImageHeader.Failure) {
        // Lengths of JPEG in its old form (6) are often wrong; a tile without a place is an empty one.
        guard page.compression != 6, let start = try last(page.starts), start.value > 0 else { return }
        let bits = try last(page.bits)?.value ?? 1
        var length = Double(try last(page.lengths)?.value ?? 0)
        // That of one plain strip may be wrong or missing: what the picture takes counts, as in libtiff.
        if page.compression == 1, start.count == 1, !page.isTiled {
            let row = (Double(page.width) * Double(page.samples) * Double(bits) / 8).rounded(.up)
            length = length > 0 ? min(length, row * Double(page.height)) : row * Double(page.height)
        }
        guard Double(start.value) + length <= Double(bytes.total) else { throw .cutOff(.tiff) }
    }

    /// The last number of an entry, and how many it has; nil when there is none among the bytes that are here.
    private mutating func last(_ entry: Int?) throws(ImageHeader.Failure) -> (value: Int, count: Int)? {
        guard let entry else { return nil }
        let type = bytes.short(at: entry + 2, isLittle)
        let size = type == 3 ? 2 : type == 16 ? 8 : 4
        let count = bytes.offset(at: entry + 4, isLittle, isBig)
        let content = entry + (isBig ? 12 : 8)
        let start = size * count <= (isBig ? 8 : 4) ? content : bytes.offset(at: content, isLittle, isBig)
        guard start + size * count <= bytes.total else { throw .cutOff(.tiff) }
        guard count > 0, bytes.isHere(upTo: start + size * count) else { return nil }
        let place = start + size * (count - 1)
        return (size == 2 ? bytes.short(at: place, isLittle) : bytes.offset(at: place, isLittle, size == 8), count)
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
