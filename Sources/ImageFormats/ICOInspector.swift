/// ICO: the largest entry of the directory; an entry that is a PNG tells its size itself.
struct ICOInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe
    let wantsDetails: Bool

    mutating func inspect() throws(ImageHeader.Failure) {
        let count = bytes.little16(at: 4)
        guard 6 + 16 * count <= bytes.count else { throw .cutOff(.ico) }
        var best = (width: 0, height: 0, place: 0)
        for entry in stride(from: 6, to: 6 + 16 * count, by: 16) {
            let (length, place) = (bytes.little32(at: entry + 8), bytes.little32(at: entry + 12))
            guard place >= 6, length > 0 else { throw .malformed(.ico) }
            guard place + length <= bytes.total, bytes.isHere(upTo: place + 24) else { throw .cutOff(.ico) }
            // The size is one byte, in which 256 is written as 0.
            var size = (width: Int(bytes.byte(at: entry)), height: Int(bytes.byte(at: entry + 1)))
            if size.width == 0 { size.width = 256 }
            if size.height == 0 { size.height = 256 }
            if isPNG(at: place), length >= 24 { size = (bytes.big32(at: place + 16), bytes.big32(at: place + 20)) }
            guard size.width < 1 << 31, size.height < 1 << 31 else { throw .malformed(.ico) }
            if size.width * size.height > best.width * best.height { best = (size.width, size.height, place) }
        }
        (found.width, found.height, found.frameCount, found.orientation) = (best.width, best.height, 1, 1)
        if wantsDetails { found.hasAlpha = hasAlpha(at: best.place) }
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
