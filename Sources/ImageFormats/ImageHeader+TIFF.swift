internal import Platform

extension ImageHeader {
    /// TIFF: the first page's size, and the length of the chain of pages (TIFF 6.0, section 2).
    static func tiff(_ bytes: inout some ByteSource) throws(Failure) -> ImageHeader {
        let isLittle = bytes.byte(at: 0) == 0x49
        func short(_ bytes: inout some ByteSource, _ place: Int) -> Int {
            isLittle ? bytes.little16(at: place) : bytes.big16(at: place)
        }
        func long(_ bytes: inout some ByteSource, _ place: Int) -> Int {
            isLittle ? bytes.little32(at: place) : bytes.big32(at: place)
        }
        var size = (width: 0, height: 0)
        var pages = 0
        var seen: Set<Int> = []
        var directory = long(&bytes, 4)
        while directory != 0 {
            guard directory >= 8, seen.insert(directory).inserted, pages < 65536 else { throw .malformed(.tiff) }
            let entries = short(&bytes, directory)
            guard directory + 2 + 12 * entries + 4 <= bytes.count else { throw .cutOff(.tiff) }
            for entry in 0..<(pages == 0 ? entries : 0) {
                let place = directory + 2 + 12 * entry
                // Type 3 is a 16-bit value, type 4 a 32-bit one; both stand in the entry itself.
                let value = short(&bytes, place + 2) == 3 ? short(&bytes, place + 8) : long(&bytes, place + 8)
                switch short(&bytes, place) {
                case 256: size.width = value
                case 257: size.height = value
                default: break
                }
            }
            pages += 1
            directory = long(&bytes, directory + 2 + 12 * entries)
        }
        return try ImageHeader(.tiff, size.width, size.height, frames: pages)
    }
}
