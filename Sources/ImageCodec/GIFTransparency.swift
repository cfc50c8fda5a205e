/// Adds transparency to GIFs as browsers show them: where the first frame leaves a part of the screen uncovered, and where a
/// frame gives way to the background.
///
/// Browsers show the page there. libvips makes the uncovered part black when no frame of the file has a transparent colour,
/// because the image then has no alpha channel, and fills with the first colour of the table after a frame without one. An
/// additional last frame with a transparent colour, which is never requested, adds that channel; a frame that gives way is
/// given a transparent colour that none of its pixels has. One whose pixels have all 256 gives way to what was there before,
/// where that is clear ground.
enum GIFTransparency {
    /// What lets a frame leave clear ground.
    private enum Remedy {
        case clearColour(UInt8)
        case formerGround
    }

    /// A transparent pixel: its control block, its descriptor with a table of two colours, and its data.
    private static let clearPixel: [UInt8] = [
        0x21, 0xF9, 4, 1, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0, 2, 2, 0x44, 1, 0, 0x3B,
    ]

    /// The file as it is shown, with the number of frames that are added; nil when it is shown so anyhow, or does not end
    /// correctly.
    ///
    /// - Complexity: O(blocks), and O(bytes) of frames that give way and have more than 128 colours.
    static func transparentCopy(of file: SourceBytes) -> (file: SourceBytes, added: Int)? {
        guard let screenWidth = file.little16(6), let screenHeight = file.little16(8), screenWidth > 0,
            screenHeight > 0, let flags = file.byte(10)
        else { return nil }
        var place = 13 + tableSize(flags)
        var (isFirst, isCovered, hasClearColour, isGroundClear) = (true, true, false, true)
        // The place of the control block of the next frame; those of the last one and of others that are changed, and how.
        var (control, last, changed): (Int?, (Int, Remedy)?, [(Int, Remedy)]) = (nil, nil, [])
        while let kind = file.byte(place) {
            switch kind {
            case 0x21:
                if file.byte(place + 1) == 0xF9 { control = place }
                place += 2
            case 0x2C:
                guard let left = file.little16(place + 1), let top = file.little16(place + 3),
                    let width = file.little16(place + 5), let height = file.little16(place + 7),
                    let flags = file.byte(place + 9)
                else { return nil }
                if isFirst { isCovered = left == 0 && top == 0 && width >= screenWidth && height >= screenHeight }
                isFirst = false
                place += 10 + tableSize(flags)
                // Nothing follows the last frame for which it would give way.
                if let last { changed.append(last) }
                last = nil
                if let control, (file.byte(control + 3) ?? 0) & 1 == 1 { hasClearColour = true }
                if let control, givesWay(file, control) {
                    if let colour = unusedColour(file, place) {
                        last = (control, .clearColour(colour))
                    } else if isGroundClear {
                        last = (control, .formerGround)
                    }
                }
                isGroundClear = isGroundClear && control.map { [2, 3].contains(disposal(file, $0)) } ?? false
                control = nil
                place += 1
            case 0x3B:
                if isFirst || isCovered && changed.isEmpty { return nil }
                var bytes = Array(file.bytes[..<place])
                for (control, remedy) in changed {
                    switch remedy {
                    case .clearColour(let colour):
                        bytes[control + 3] |= 1
                        bytes[control + 6] = colour
                        hasClearColour = true
                    // The third way to give way.
                    case .formerGround: bytes[control + 3] |= 3 << 2
                    }
                }
                let addsFrame = !hasClearColour
                if changed.isEmpty, !addsFrame { return nil }
                bytes += addsFrame ? clearPixel : [0x3B]
                return (SourceBytes(copying: bytes), addsFrame ? 1 : 0)
            default: return nil
            }
            while let size = file.byte(place), size > 0 { place += 1 + size }
            place += 1
        }
        return nil
    }

    /// `true` when the frame of a control block is replaced by the background, and has no transparent colour.
    private static func givesWay(_ file: SourceBytes, _ control: Int) -> Bool {
        disposal(file, control) == 2 && (file.byte(control + 3) ?? 0) & 1 == 0
    }

    private static func disposal(_ file: SourceBytes, _ control: Int) -> Int { (file.byte(control + 3) ?? 0) >> 2 & 7 }

    /// The number of a colour that no pixel of a frame has; nil when they have all 256, or its data is damaged.
    ///
    /// The first pixel of a colour is always coded by the colour's own number. So the codes that stand for several pixels need
    /// only be counted, as more of them make the following ones longer.
    ///
    /// - Parameter start: The place of the data.
    /// - Complexity: O(1) for pixels that are coded with less than eight bits, else O(length of the data).
    private static func unusedColour(_ file: SourceBytes, _ start: Int) -> UInt8? {
        guard let bits = file.byte(start), bits <= 8 else { return nil }
        if bits < 8 { return 255 }
        var isUsed = [Bool](repeating: false, count: 256)
        var (place, sum, filled, width, latest) = (start + 1, 0, 0, 9, 257)
        data: while let size = file.byte(place), size > 0, place + size < file.count {
            for byte in file.bytes[place + 1...place + size] {
                sum |= Int(byte) << filled
                filled += 8
                guard filled >= width else { continue }
                let code = sum & (1 << width - 1)
                (sum, filled) = (sum >> width, filled - width)
                switch code {
                case 256: (width, latest) = (9, 257)
                case 257: break data
                default:
                    guard code <= latest else { return nil }
                    if code < 256 { isUsed[code] = true }
                    latest += 1
                    if latest == 1 << width, width < 12 { width += 1 }
                }
            }
            place += 1 + size
        }
        return isUsed.lastIndex(of: false).map { UInt8($0) }
    }

    private static func tableSize(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }
}
