internal import Platform

extension ImageHeader {
    /// ICO: the largest entry of the directory; an entry that is a PNG tells its size itself.
    static func ico(_ bytes: inout some ByteSource) throws(Failure) -> ImageHeader {
        let best = try largestIcon(&bytes)
        return try ImageHeader(.ico, best.width, best.height)
    }

    /// The largest entry: its size, and where its picture begins.
    static func largestIcon(
        _ bytes: inout some ByteSource
    ) throws(Failure) -> (width: Int, height: Int, place: Int) {
        let count = bytes.little16(at: 4)
        guard 6 + 16 * count <= bytes.count else { throw .cutOff(.ico) }
        var best = (width: 0, height: 0, place: 0)
        for index in 0..<count {
            let entry = 6 + 16 * index
            let length = bytes.little32(at: entry + 8)
            let place = bytes.little32(at: entry + 12)
            guard place >= 6, length > 0 else { throw .malformed(.ico) }
            guard place + length <= bytes.count else { throw .cutOff(.ico) }
            // The size is one byte, in which 256 is written as 0.
            var size = (width: Int(bytes.byte(at: entry)), height: Int(bytes.byte(at: entry + 1)))
            if size.width == 0 { size.width = 256 }
            if size.height == 0 { size.height = 256 }
            if bytes.matches([0x89, 0x50, 0x4E, 0x47], at: place), length >= 24 {
                size = (bytes.big32(at: place + 16), bytes.big32(at: place + 20))
            }
            guard size.width < 1 << 31, size.height < 1 << 31 else { throw .malformed(.ico) }
            if size.width * size.height > best.width * best.height {
                best = (size.width, size.height, place)
            }
        }
        return best
    }
}
