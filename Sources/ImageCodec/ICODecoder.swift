internal import ImageRecipes

/// Decodes icons: the largest image of the file, and among several of that size the one with the most bits.
enum ICODecoder {
    /// The content of an icon.
    enum Entry {
        case bitmap(CodecImage)
        /// An embedded PNG.
        case png(SourceBytes)
    }

    /// The largest entry, decoded if it is a bitmap.
    static func largest(of file: SourceBytes, _ limits: RenderLimits) throws(RenderFailure) -> Entry {
        guard file.little16(0) == 0, file.little16(2) == 1, let count = file.little16(4), count > 0 else {
            throw BMPDecoder.damaged("it has no list of icons")
        }
        var best: (score: Int, place: Int, count: Int)?
        for index in 0..<count {
            let entry = 6 + 16 * index
            guard let width = file.byte(entry), let height = file.byte(entry + 1), let bits = file.little16(entry + 6),
                let length = file.little32(entry + 8), let place = file.little32(entry + 12)
            else { throw BMPDecoder.damaged("it ends within its list of icons") }
            let score = (width == 0 ? 256 : width) * (height == 0 ? 256 : height) * 64 + min(bits, 63)
            if best.map({ score > $0.score }) ?? true { best = (score, place, length) }
        }
        guard let best, best.place <= file.count, best.count <= file.count - best.place else {
            throw BMPDecoder.damaged("an icon lies outside of the file")
        }
        let part = SourceBytes(copying: Array(file.bytes[best.place..<(best.place + best.count)]))
        if part.big32(0) == 0x8950_4E47 { return .png(part) }
        return .bitmap(try BMPDecoder.decodeIcon(part, at: 0, limits))
    }
}
