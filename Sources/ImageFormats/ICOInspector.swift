/// ICO: the largest entry of the directory; an entry that is a PNG tells its size itself.
struct ICOInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    /// The most entries; icons have some ten of them.
    private static var mostEntries: Int { 1024 }

    mutating func inspect() throws(ImageHeader.Failure) {
        let count = bytes.little16(at: 4)
        guard 6 + 16 * count <= bytes.count else { throw .cutOff(.ico) }
        guard count <= Self.mostEntries else { throw .malformed(.ico) }
        var entries: [Entry] = []
        for place in stride(from: 6, to: 6 + 16 * count, by: 16) {
            let entry = Entry(&bytes, at: place)
            guard entry.start >= 6, entry.length > 0 else { throw .malformed(.ico) }
            guard entry.start + entry.length <= bytes.total, bytes.isHere(upTo: entry.start + 24) else {
                throw .cutOff(.ico)
            }
            entries.append(entry)
        }
        // In the order of the file, so that it is read through once.
        for index in entries.indices.sorted(by: { entries[$0].start < entries[$1].start }) {
            let start = entries[index].start
            guard entries[index].length >= 24, isPNG(at: start) else { continue }
            (entries[index].width, entries[index].height) = (bytes.big32(at: start + 16), bytes.big32(at: start + 20))
            guard entries[index].width < 1 << 31, entries[index].height < 1 << 31 else { throw .malformed(.ico) }
        }
        // The first of those of the same size.
        guard let best = entries.max(by: { $0.area < $1.area || $0.area == $1.area && $0.place > $1.place }) else {
            return (found.frameCount, found.orientation) = (1, 1)
        }
        (found.width, found.height, found.frameCount, found.orientation) = (best.width, best.height, 1, 1)
        found.hasAlpha = hasAlpha(at: best.start)
    }

    private struct Entry {
        let place: Int
        /// The size: one byte each, in which 256 is written as 0.
        var width: Int
        var height: Int
        let length: Int
        let start: Int

        var area: Int { width * height }

        init(_ bytes: inout Bytes, at place: Int) {
            self.place = place
            (width, height) = (Int(bytes.byte(at: place)), Int(bytes.byte(at: place + 1)))
            if width == 0 { width = 256 }
            if height == 0 { height = 256 }
            (length, start) = (bytes.little32(at: place + 8), bytes.little32(at: place + 12))
        }
    }

    private mutating func isPNG(at place: Int) -> Bool { bytes.big32(at: place) == 0x8950_4E47 }

    /// `true` for a bitmap, which has a mask of what is clear, and for a PNG that says so; nil when that is not here.
    private mutating func hasAlpha(at start: Int) -> Bool? {
        guard bytes.isHere(upTo: start + 26) else { return nil }
        let colours = bytes.byte(at: start + 25)
        if !isPNG(at: start) || colours == 4 || colours == 6 { return true }
        // Of other PNGs a chunk before the pixels may name a colour that is clear.
        var place = start + 33
        while place + 8 <= bytes.count, bytes.name(at: place + 4) != "IDAT" {
            if bytes.name(at: place + 4) == "tRNS" { return true }
            place += 12 + bytes.big32(at: place)
        }
        return bytes.isHere(upTo: place + 8) ? false : nil
    }
}
