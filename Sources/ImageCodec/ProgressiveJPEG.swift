/// The first scan of a progressive JPEG: the mean of each block of 8 × 8 pixels, which is all that a thumbnail needs.
enum ProgressiveJPEG {
    /// The file up to the end of its first scan, with an end mark, if that scan holds the means of all components.
    ///
    /// nil for other JPEGs, and for a file that does not end as JPEGs do, so that one that is cut off is found out.
    static func firstScan(of file: SourceBytes) -> SourceBytes? {
        guard let end = endOfFirstScan(file), endsProperly(file) else { return nil }
        return SourceBytes(copying: Array(file.bytes[..<end]) + [0xFF, 0xD9])
    }

    private static func endsProperly(_ file: SourceBytes) -> Bool {
        // Cameras put little behind the end mark; what has more is read in the ordinary way.
        let tail = file.bytes.suffix(256)
        return tail.indices.dropLast().contains { file.bytes[$0] == 0xFF && file.bytes[$0 + 1] == 0xD9 }
    }

    private static func endOfFirstScan(_ file: SourceBytes) -> Int? {
        var place = 2
        var components: Int?
        guard file.big16(0) == 0xFFD8 else { return nil }
        while let mark = file.byte(place), mark == 0xFF, let kind = file.byte(place + 1) {
            if kind == 0xFF {
                place += 1
                continue
            }
            guard let length = file.big16(place + 2), length >= 2 else { return nil }
            switch kind {
            case 0xC2: components = file.byte(place + 9)
            case 0xC0, 0xC1, 0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: return nil
            case 0xDA:
                // Ns, a pair for each component, Ss, Se, Ah and Al (ITU T.81, B.2.3).
                guard let components, file.byte(place + 4) == components else { return nil }
                let parameters = place + 5 + 2 * components
                guard file.byte(parameters) == 0, file.byte(parameters + 1) == 0,
                    let approximation = file.byte(parameters + 2), approximation >> 4 == 0
                else { return nil }
                return endOfCodedData(file, from: place + 2 + length)
            default: break
            }
            place += 2 + length
        }
        return nil
    }

    /// Where the next marker is that is no restart.
    private static func endOfCodedData(_ file: SourceBytes, from start: Int) -> Int? {
        var place = start
        while place < file.count - 1 {
            if file.bytes[place] == 0xFF {
                let next = file.bytes[place + 1]
                if next != 0, next != 0xFF, !(0xD0...0xD7).contains(next) { return place }
            }
            place += 1
        }
        return nil
    }
}
