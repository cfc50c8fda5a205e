internal import Platform

extension ImageProbe {
    /// Whether a header has bits for alpha: one of version 3 on with them among its masks, or 32 bits that it does not
    /// describe (Windows GDI, BITMAPV4HEADER).
    static func bitmapHasAlpha(_ bytes: inout some ByteSource) -> Bool {
        let size = bytes.little32(at: 14)
        guard size >= 40 else { return false }
        let bits = bytes.little16(at: 28)
        guard bits == 16 || bits == 32 else { return false }
        switch bytes.little32(at: 30) {
        case 0: return bits == 32 && size >= 56
        case 3: return size >= 56 && bytes.little32(at: 66) != 0
        case 6: return bytes.little32(at: 66) != 0
        default: return false
        }
    }

    /// The largest icon. A bitmap in it has a mask of what is clear; a PNG says itself.
    static func icon(_ bytes: inout some ByteSource) -> Traits? {
        guard let largest = try? ImageHeader.largestIcon(&bytes) else { return nil }
        guard bytes.matches([0x89, 0x50, 0x4E, 0x47], at: largest.place) else {
            return Traits(orientation: 1, hasAlpha: true)
        }
        let colours = bytes.byte(at: largest.place + 25)
        if colours == 4 || colours == 6 { return Traits(orientation: 1, hasAlpha: true) }
        // Of other PNGs a chunk before the pixels may name a colour that is clear.
        var place = largest.place + 33
        while place + 8 <= bytes.count, !bytes.matches("IDAT", at: place + 4) {
            if bytes.matches("tRNS", at: place + 4) { return Traits(orientation: 1, hasAlpha: true) }
            place += 12 + bytes.big32(at: place)
        }
        return Traits(orientation: 1, hasAlpha: false)
    }
}
