/// Adds transparency to GIFs as browsers show them: where the first frame leaves a part of the screen uncovered, and where a
/// frame gives way to the background.
///
/// Browsers show the page there. libvips makes the uncovered part black when no frame of the file has a transparent colour,
/// because the image then has no alpha channel, and fills with the first colour of the table after a frame without one. An
/// additional last frame with a transparent colour, which is never requested, adds that channel; a frame that gives way is
/// given a transparent colour that none of its pixels has.
enum GIFTransparency {
    /// A transparent pixel: its control block, its descriptor with a table of two colours, and its data.
    private static let clearPixel: [UInt8] = [
        0x21, 0xF9, 4, 1, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0, 2, 2, 0x44, 1, 0, 0x3B,
    ]

    /// The file as it is shown, with the number of frames that are added; nil when it is shown so anyhow, or does not end
    /// correctly.
    ///
    /// - Complexity: O(blocks).
    static func transparentCopy(of file: SourceBytes) -> (file: SourceBytes, added: Int)? {
        guard let screenWidth = file.little16(6), let screenHeight = file.little16(8), screenWidth > 0,
            screenHeight > 0, let flags = file.byte(10)
        else { return nil }
        var place = 13 + tableSize(flags)
        var (isFirst, isCovered, hasClearColour) = (true, true, false)
        // The places of control blocks: of the next frame, of the last one if it can be given a colour, and of those that are.
        var (control, last, changed): (Int?, Int?, [Int]) = (nil, nil, [])
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
                if let control, givesWay(file, control), file.byte(place) ?? 8 < 8 { last = control }
                control = nil
                place += 1
            case 0x3B:
                let addsFrame = !isFirst && !isCovered && !hasClearColour && changed.isEmpty
                if changed.isEmpty, !addsFrame { return nil }
                var bytes = Array(file.bytes[..<place])
                for control in changed {
                    bytes[control + 3] |= 1
                    bytes[control + 6] = unusedColour
                }
                bytes += addsFrame ? clearPixel : [0x3B]
                return (SourceBytes(copying: bytes), addsFrame ? 1 : 0)
            default: return nil
            }
            while let size = file.byte(place), size > 0 { place += 1 + size }
            place += 1
        }
        return nil
    }

    /// The number of a colour that no frame has whose pixels are coded with less than eight bits.
    private static let unusedColour: UInt8 = 255

    /// `true` when the frame of a control block is replaced by the background, and has no transparent colour.
    private static func givesWay(_ file: SourceBytes, _ control: Int) -> Bool {
        file.byte(control + 3).map { $0 >> 2 & 7 == 2 && $0 & 1 == 0 } ?? false
    }

    private static func tableSize(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }
}
