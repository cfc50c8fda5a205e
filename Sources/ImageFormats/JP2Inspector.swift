/// JPEG 2000: the sizes that the codestream says, and that its parts lie in the file up to its end mark (ISO/IEC 15444-1, A.4
/// and A.5). The codestream is the file, or lies in a box (I.5).
struct JP2Inspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        var (start, end, hasInks) = (0, bytes.total, false)
        if bytes.big32(at: 0) == 12 {
            (start, end) = try codestream(&hasInks)
        }
        try readHead(at: start, hasInks: hasInks)
        try walk(from: start + 2, to: end)
    }

    /// The place of the codestream among the boxes.
    private mutating func codestream(_ hasInks: inout Bool) throws(ImageHeader.Failure) -> (Int, Int) {
        var place = 12
        for _ in 0..<4096 {
            let box = try Box(&bytes, at: place, end: bytes.total, .jp2)
            switch box.name {
            case "jp2c": return (box.body, box.end)
            case "jp2h": hasInks = try self.hasInks(in: box)
            default: break
            }
            place = box.end
        }
        throw .malformed(.jp2)
    }

    /// `true` when the colours are those of four inks (I.5.3.3 and ISO/IEC 15444-2, M.11.7.3.1: method 1, colours 12).
    private mutating func hasInks(in header: Box) throws(ImageHeader.Failure) -> Bool {
        var place = header.body
        while place < header.end {
            let box = try Box(&bytes, at: place, end: header.end, .jp2)
            if box.name == "colr" { return bytes.byte(at: box.body) == 1 && bytes.big32(at: box.body + 3) == 12 }
            place = box.end
        }
        return false
    }

    /// SOC, and SIZ with the components (A.5.1).
    private mutating func readHead(at place: Int, hasInks: Bool) throws(ImageHeader.Failure) {
        guard place + 43 <= bytes.count else { throw .cutOff(.jp2) }
        guard bytes.big32(at: place) == 0xFF4F_FF51 else { throw .malformed(.jp2) }
        let (width, height) = (
            bytes.big32(at: place + 8) - bytes.big32(at: place + 16),
            bytes.big32(at: place + 12) - bytes.big32(at: place + 20)
        )
        let (components, depth) = (bytes.big16(at: place + 40), Int(bytes.byte(at: place + 42) & 0x7F) + 1)
        guard width > 0, height > 0, width < 1 << 31, height < 1 << 31, components > 0, depth <= 38 else {
            throw .malformed(.jp2)
        }
        (found.width, found.height, found.frameCount, found.orientation) = (width, height, 1, 1)
        found.hasAlpha = components == 2 || components == 4 && !hasInks
        found.mostSample = 1 << depth - 1
    }

    /// Goes from one marker segment and tile-part to the next, to the end mark.
    ///
    /// - Complexity: O(tile-parts).
    private mutating func walk(from start: Int, to end: Int) throws(ImageHeader.Failure) {
        var place = start
        while true {
            guard place + 2 <= min(end, bytes.count) else { throw .cutOff(.jp2) }
            let marker = bytes.big16(at: place)
            if marker == 0xFFD9 { return }
            guard marker > 0xFF4F, marker < 0xFFFF else { throw .malformed(.jp2) }
            guard place + 12 <= min(end, bytes.count) else { throw .cutOff(.jp2) }
            guard marker == 0xFF90 else {
                place += 2 + max(2, bytes.big16(at: place + 2))
                continue
            }
            let length = bytes.big32(at: place + 6)
            // The last part may go up to the end mark, which then ends the file.
            if length == 0 {
                guard bytes.isHere(upTo: end), bytes.big16(at: end - 2) == 0xFFD9 else { throw .cutOff(.jp2) }
                return
            }
            guard length >= 14 else { throw .malformed(.jp2) }
            place += length
        }
    }
}
