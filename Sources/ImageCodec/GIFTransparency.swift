/// Adds transparency to GIFs whose first frame leaves a part of the screen uncovered.
///
/// Browsers show the page behind the uncovered part. libvips makes it black when no frame of the file has a transparent
/// colour, because the image then has no alpha channel. An additional last frame with a transparent colour, which is
/// never requested, adds that channel.
enum GIFTransparency {
    /// A transparent pixel: its control block, its descriptor with a table of two colours, and its data.
    private static let clearPixel: [UInt8] = [
        0x21, 0xF9, 4, 1, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0, 2, 2, 0x44, 1, 0, 0x3B,
    ]

    /// The file with one more frame; nil when it needs none, or does not end correctly.
    ///
    /// - Complexity: O(blocks).
    static func transparentCopy(of file: SourceBytes) -> SourceBytes? {
        guard let screenWidth = file.little16(6), let screenHeight = file.little16(8), screenWidth > 0,
            screenHeight > 0, let flags = file.byte(10)
        else { return nil }
        var place = 13 + tableSize(flags)
        var isFirst = true
        while let kind = file.byte(place) {
            switch kind {
            case 0x21:
                // A transparent colour already adds an alpha channel.
                if file.byte(place + 1) == 0xF9, let flags = file.byte(place + 3), flags & 1 == 1 { return nil }
                place += 2
            case 0x2C:
                guard let left = file.little16(place + 1), let top = file.little16(place + 3),
                    let width = file.little16(place + 5), let height = file.little16(place + 7),
                    let flags = file.byte(place + 9)
                else { return nil }
                let coversAll = left == 0 && top == 0 && width >= screenWidth && height >= screenHeight
                if isFirst, coversAll { return nil }
                isFirst = false
                place += 11 + tableSize(flags)
            case 0x3B:
                return isFirst ? nil : SourceBytes(copying: Array(file.bytes[..<place]) + clearPixel)
            default: return nil
            }
            while let size = file.byte(place), size > 0 { place += 1 + size }
            place += 1
        }
        return nil
    }

    private static func tableSize(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }
}
