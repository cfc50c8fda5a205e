/// The range of the samples of a gray picture, which libheif ignores where there is no colour.
extension HEIFInspector {
    /// `true` when a picture is gray and of limited range.
    ///
    /// - Parameters:
    ///   - properties: Those of the item, and of its first tile if it has tiles.
    ///   - data: The place of the coded data.
    mutating func isLimitedGray(_ properties: [[Box]], data: Int?) -> Bool {
        let all = properties.joined()
        guard let coding = all.first(where: { $0.name == "av1C" || $0.name == "hvcC" }), isGray(coding) else {
            return false
        }
        // What the container says is meant, else what the coded picture says, as everywhere (ISO/IEC 23008-12, 6.5.5).
        if let colours = all.first(where: { $0.name == "colr" && bytes.matches("nclx", at: $0.body) }) {
            return colours.end >= colours.body + 11 && bytes.byte(at: colours.body + 10) & 0x80 == 0
        }
        guard coding.name == "av1C" else { return false }
        if let isFull = fullRange(ofUnits: coding.body + 4, to: coding.end) { return !isFull }
        return data.flatMap { fullRange(ofUnits: $0, to: bytes.count) } == false
    }

    /// `true` when the configuration of a decoder says that there is one plane alone (AV1-ISOBMFF, section 2.3.3; ISO/IEC
    /// 14496-15, section 8.3.3.1).
    private mutating func isGray(_ coding: Box) -> Bool {
        coding.name == "av1C"
            ? bytes.byte(at: coding.body + 2) & 0x10 != 0
            : coding.end > coding.body + 16 && bytes.byte(at: coding.body + 16) & 3 == 0
    }

    /// The range that the sequence header among the first units tells: `true` for a full one; nil when there is no such
    /// header, or its picture is not gray (AV1 bitstream specification, sections 5.3 and 5.5).
    private mutating func fullRange(ofUnits start: Int, to end: Int) -> Bool? {
        var place = start
        for _ in 0..<4 where place < min(end, bytes.count) {
            let head = bytes.byte(at: place)
            guard head & 0x80 == 0, head & 2 != 0 else { return nil }
            place += head & 4 == 0 ? 1 : 2
            var size = 0
            for index in 0..<4 {
                let part = Int(bytes.byte(at: place))
                place += 1
                size |= (part & 0x7F) << (7 * index)
                if part & 0x80 == 0 { break }
            }
            if head >> 3 & 15 == 1 {
                return SequenceHeader(place: place).fullRangeOfGray(&bytes)
            }
            place += size
        }
        return nil
    }
}

/// The sequence header of AV1, bit by bit (AV1 bitstream specification, section 5.5).
private struct SequenceHeader {
    let place: Int

    /// `true` for a full range; nil for a picture with colours.
    func fullRangeOfGray(_ bytes: inout some ByteSource) -> Bool? {
        var bit = 8 * place
        func number(_ count: Int) -> Int {
            defer { bit += count }
            return (bit..<bit + count).reduce(0) { $0 << 1 | Int(bytes.byte(at: $1 / 8) >> (7 - $1 % 8) & 1) }
        }
        func flag() -> Bool { number(1) == 1 }
        let profile = number(3)
        _ = flag()
        let isReduced = flag()
        if isReduced {
            _ = number(5)
        } else {
            // Timing, of varying length, is for films.
            guard !flag() else { return nil }
            let hasDelay = flag()
            for _ in 0...number(5) {
                _ = number(12)
                if number(5) > 7 { _ = flag() }
                if hasDelay, flag() { _ = number(4) }
            }
        }
        let (across, down) = (number(4), number(4))
        _ = (number(across + 1), number(down + 1))
        if !isReduced, flag() { _ = number(7) }
        // The size of blocks, and two filters.
        _ = number(3)
        if !isReduced { skipTools(number) }
        _ = number(3)
        let isDeep = flag()
        if isDeep, profile == 2 { _ = flag() }
        let isGray = profile != 1 && flag()
        if flag() { _ = number(24) }
        return isGray ? flag() : nil
    }

    /// Passes by what a film may use.
    private func skipTools(_ number: (Int) -> Int) {
        _ = number(4)
        let hasOrder = number(1) == 1
        if hasOrder { _ = number(2) }
        let mayBeScreen = number(1) == 1 || number(1) == 1
        if mayBeScreen, number(1) == 0 { _ = number(1) }
        if hasOrder { _ = number(3) }
    }
}
