internal import Platform

/// Where the codestream of a JPEG XL lies in its file: it is the file, or in boxes, whole or in parts (ISO/IEC 18181-2).
///
/// Boxes are looked for as far as they are needed, so that the head of a picture is known from the start of its file.
struct JXLCodestream {
    /// The first bytes of a file of boxes: one of its own, whose type is `JXL `.
    static let signature: [UInt8] = [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]
    /// The first bytes of a codestream.
    static let start: [UInt8] = [0xFF, 0x0A]
    /// The most boxes that are looked through.
    private static let mostBoxes = 1 << 16

    /// Why there is no more of it.
    enum Failure: Error, Equatable {
        /// The bytes end first.
        case cutOff
        /// The boxes contradict themselves.
        case malformed
    }

    /// What is still to be read of the part that was found last.
    private var part: Range<Int>
    /// Where the next box begins; nil for a codestream without boxes, and behind the last part.
    private var nextBox: Int?
    private var boxes = 0
    /// The number of the next part; nil before the first.
    private var nextPart: Int?
    /// Bits of the current byte that are not read yet, and how many.
    private var bits = 0
    private var bitCount = 0

    init(_ bytes: inout some ByteSource) {
        if bytes.matches(Self.signature, at: 0) {
            (part, nextBox) = (0..<0, Self.signature.count)
        } else {
            (part, nextBox) = (0..<bytes.count, nil)
        }
    }

    // MARK: - Parts

    /// Finds the next part.
    private mutating func findPart(_ bytes: inout some ByteSource) throws(Failure) {
        while let place = nextBox {
            boxes += 1
            guard boxes <= Self.mostBoxes else { throw .malformed }
            guard place + 8 <= bytes.count else { throw .cutOff }
            var (size, head) = (bytes.big32(at: place), 8)
            if size == 1 {
                (size, head) = (bytes.big32(at: place + 12), 16)
                // More than four GiB lie beyond every file we take.
                guard place + 16 <= bytes.count, bytes.big32(at: place + 8) == 0 else { throw .cutOff }
            } else if size == 0 {
                size = bytes.count - place
            }
            guard size >= head else { throw .malformed }
            let end = place + size
            nextBox = end
            if bytes.matches("jxlc", at: place + 4) {
                guard nextPart == nil else { throw .malformed }
                (part, nextBox) = ((place + head)..<end, nil)
                return
            }
            if bytes.matches("jxlp", at: place + 4) {
                guard size >= head + 4 else { throw .malformed }
                guard place + head + 4 <= bytes.count else { throw .cutOff }
                let number = bytes.big32(at: place + head)
                guard number & 0x7FFF_FFFF == nextPart ?? 0 else { throw .malformed }
                nextPart = (nextPart ?? 0) + 1
                part = (place + head + 4)..<end
                if number >> 31 == 1 { nextBox = nil }
                return
            }
        }
        throw .cutOff
    }

    /// Whether all parts are there, to the last byte; a codestream without boxes does not say where it ends.
    mutating func requireWhole(_ bytes: inout some ByteSource) throws(Failure) {
        while true {
            guard part.upperBound <= bytes.count else { throw .cutOff }
            if nextBox == nil { return }
            part = part.upperBound..<part.upperBound
            try findPart(&bytes)
        }
    }

    // MARK: - Fields (ISO/IEC 18181-1, 9.2)

    /// u(n): so many bits, the lowest first; at most 32.
    mutating func number(_ count: Int, _ bytes: inout some ByteSource) throws(Failure) -> Int {
        while bitCount < count {
            while part.isEmpty { try findPart(&bytes) }
            guard part.lowerBound < bytes.count else { throw .cutOff }
            bits |= Int(bytes.byte(at: part.lowerBound)) << bitCount
            bitCount += 8
            part = (part.lowerBound + 1)..<part.upperBound
        }
        defer {
            bits >>= count
            bitCount -= count
        }
        return bits & (1 << count - 1)
    }

    /// Bool().
    mutating func flag(_ bytes: inout some ByteSource) throws(Failure) -> Bool { try number(1, &bytes) == 1 }

    /// U32(): one of four ways to say a number, each a constant plus so many bits.
    mutating func choice(
        _ ways: [(base: Int, bits: Int)], _ bytes: inout some ByteSource
    ) throws(Failure) -> Int {
        let way = ways[try number(2, &bytes)]
        return way.base + (way.bits == 0 ? 0 : try number(way.bits, &bytes))
    }

    /// Passes over so many times eight bits.
    mutating func skip(bytes count: Int, _ bytes: inout some ByteSource) throws(Failure) {
        guard count > 0 else { return }
        // What is left of the current byte, whole bytes, and as much of the last as makes up for it.
        let rest = 8 - bitCount
        (bits, bitCount) = (0, 0)
        var left = count - 1
        while left > 0 {
            while part.isEmpty { try findPart(&bytes) }
            let step = min(left, part.count)
            part = (part.lowerBound + step)..<part.upperBound
            left -= step
        }
        _ = try number(rest, &bytes)
    }
}
