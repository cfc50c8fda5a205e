/// PBM, PGM and PPM, as text and as bytes: the sizes in the head, and that so many samples can follow (netpbm's pages pbm, pgm
/// and ppm).
struct PNMInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        guard let head = bytes.pnmHead() else { throw .malformed(.pnm) }
        (found.width, found.height, found.frameCount) = (head.width, head.height, 1)
        (found.orientation, found.hasAlpha) = (1, false)
        // The bits of a PBM are black and white.
        found.mostSample = [1, 4].contains(head.kind) ? nil : head.most
        guard head.leastBytes <= bytes.total - head.end else { throw .cutOff(.pnm) }
    }
}

struct PNMHead {
    /// The digit of the signature: 1 to 3 for text, 4 to 6 for bytes; bits, gray, RGB.
    fileprivate let kind: Int
    let width: Int
    let height: Int
    /// The sample that is white.
    let most: Int
    /// The place where the samples begin.
    let end: Int

    /// The fewest bytes that the samples take.
    var leastBytes: Int {
        let samples = width * height * (kind == 3 || kind == 6 ? 3 : 1)
        switch kind {
        case 1: return samples
        // A digit each, and one byte between two.
        case 2, 3: return 2 * samples - 1
        case 4: return (width + 7) / 8 * height
        default: return most > 255 ? 2 * samples : samples
        }
    }
}

extension ByteSource {
    /// Reads the head of a PBM, PGM or PPM; nil if there is none: these have no other signature than two letters, so that all
    /// of the head must be one.
    mutating func pnmHead() -> PNMHead? {
        guard byte(at: 0) == 0x50, (0x31...0x36).contains(byte(at: 1)) else { return nil }
        let kind = Int(byte(at: 1)) - 0x30
        var place = 2
        guard let width = pnmNumber(&place), let height = pnmNumber(&place), width > 0, height > 0 else { return nil }
        var most = 1
        if kind != 1, kind != 4 {
            guard let number = pnmNumber(&place), (1...65_535).contains(number) else { return nil }
            most = number
        }
        guard isBlank(byte(at: place)) else { return nil }
        return PNMHead(kind: kind, width: width, height: height, most: most, end: place + 1)
    }

    /// A number of up to seven digits, after blanks and comments of 1 KiB at most.
    private mutating func pnmNumber(_ place: inout Int) -> Int? {
        let start = place
        while place < start + 1024 {
            if byte(at: place) == 0x23 {
                while place < start + 1024, byte(at: place) != 0x0A { place += 1 }
            } else if !isBlank(byte(at: place)) {
                break
            }
            place += 1
        }
        let digits = place
        var number = 0
        while place < digits + 8, (0x30...0x39).contains(byte(at: place)) {
            number = number * 10 + Int(byte(at: place)) - 0x30
            place += 1
        }
        return digits > start && place > digits && place < digits + 8 ? number : nil
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
