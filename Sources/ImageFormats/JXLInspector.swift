/// JPEG XL: the head of the codestream, and that every part of it lies in the file (ISO/IEC 18181-1, 9.3 and D.2–D.4;
/// ISO/IEC 18181-2).
///
/// The codestream is the file, or lies in boxes, whole or in parts. Boxes are looked for as far as they are needed, so that
/// the start of the file tells the head. A codestream without boxes does not say where it ends: one that is cut off behind
/// its head is found out by its decoder. Nor does an animation say how many pictures it has.
struct JXLInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    private(set) var found: ImageProbe
    /// The bytes still to be read of the part of the codestream that was found last.
    private var part: Range<Int>
    /// The place of the next box; nil for a codestream without boxes, and behind the last part.
    private var nextBox: Int?
    private var boxes = 0
    /// The number of the next part; nil before the first.
    private var nextPart: Int?
    /// The bits of the current byte that are not read yet, and their number.
    private var (bits, bitCount) = (0, 0)

    init(bytes: consuming Bytes, found: ImageProbe) {
        let isBare = bytes.big16(at: 0) == 0xFF0A
        part = isBare ? 0..<bytes.count : 0..<0
        nextBox = isBare ? nil : 12
        self.bytes = bytes
        self.found = found
    }

    mutating func inspect() throws(ImageHeader.Failure) {
        try readHead()
        while true {
            guard part.upperBound <= bytes.count else { throw .cutOff(.jxl) }
            if nextBox == nil { return }
            try findPart()
        }
    }

    // MARK: - Head

    /// SizeHeader, and ImageMetadata up to its channels.
    ///
    /// - Complexity: O(bytes of the head), which are few unless the channels have long names: 4 MB at most.
    private mutating func readHead() throws(ImageHeader.Failure) {
        for byte in [0xFF, 0x0A] {
            guard try number(8) == byte else { throw .malformed(.jxl) }
        }
        let (width, height) = try size(lengths)
        var (orientation, isAnimated, hasAlpha) = (1, false, false)
        let isPlain = try flag()
        if !isPlain {
            if try flag() {
                // What EXIF itself says does not count.
                orientation = try number(3) + 1
                if try flag() { _ = try size(lengths) }
                if try flag() { _ = try size(previewLengths, eighths: previewEighths) }
                isAnimated = try flag()
                if isAnimated {
                    // AnimationHeader: ticks a second, the number of repetitions, and whether frames have time codes.
                    _ = try choice([(100, 0), (1000, 0), (1, 10), (1, 30)])
                    _ = try choice([(1, 0), (1001, 0), (1, 8), (1, 10)])
                    _ = try choice([(0, 0), (0, 3), (0, 16), (0, 32)])
                    _ = try flag()
                }
            }
            try skipDepth()
            // Whether 16 bits are enough for the samples.
            _ = try flag()
            for _ in 0..<(try choice([(0, 0), (1, 0), (2, 4), (1, 12)])) where try isAlpha() { hasAlpha = true }
        }
        (found.width, found.height, found.orientation) = (width, height, orientation)
        (found.hasAlpha, found.frameCount) = (hasAlpha, isAnimated ? nil : 1)
    }

    /// SizeHeader or PreviewHeader: the height, in pixels or in eighths, and the width likewise or as a ratio to it.
    ///
    /// - Parameter eighths: The ways to say a count of eighths; five bits and one when nil.
    private mutating func size(
        _ lengths: Ways, eighths: Ways? = nil
    ) throws(ImageHeader.Failure) -> (width: Int, height: Int) {
        let isSmall = try flag()
        func length() throws(ImageHeader.Failure) -> Int {
            if !isSmall { return try choice(lengths) }
            guard let eighths else { return 8 * (try number(5) + 1) }
            return 8 * (try choice(eighths))
        }
        let height = try length()
        let ratio = try number(3)
        if ratio == 0 { return (try length(), height) }
        let (across, down) = ratios[ratio - 1]
        return (height * across / down, height)
    }

    /// BitDepth.
    private mutating func skipDepth() throws(ImageHeader.Failure) {
        let isFloat = try flag()
        _ = try choice(isFloat ? [(32, 0), (16, 0), (24, 0), (1, 6)] : [(8, 0), (10, 0), (12, 0), (1, 6)])
        if isFloat { _ = try number(4) }
    }

    /// ExtraChannelInfo: `true` for a channel of transparency.
    private mutating func isAlpha() throws(ImageHeader.Failure) -> Bool {
        if try flag() { return true }
        let kind = try choice([(0, 0), (1, 0), (2, 4), (18, 6)])
        try skipDepth()
        _ = try choice([(0, 0), (3, 0), (4, 0), (1, 3)])
        // The name.
        for _ in 0..<(try choice([(0, 0), (0, 4), (16, 5), (48, 10)])) { _ = try number(8) }
        switch kind {
        // Whether colours are multiplied by it.
        case 0: _ = try flag()
        // The colour of an ink, in four numbers of 16 bits.
        case 2: for _ in 0..<4 { _ = try number(16) }
        // The place in a colour filter.
        case 5: _ = try choice([(1, 0), (0, 2), (3, 4), (19, 8)])
        default: break
        }
        return kind == 0
    }

    // MARK: - Fields (ISO/IEC 18181-1, 9.2)

    /// u(n): so many bits, the lowest first; at most 32.
    private mutating func number(_ count: Int) throws(ImageHeader.Failure) -> Int {
        while bitCount < count {
            while part.isEmpty { try findPart() }
            guard part.lowerBound < bytes.count else { throw .cutOff(.jxl) }
            bits |= Int(bytes.byte(at: part.lowerBound)) << bitCount
            bitCount += 8
            part = (part.lowerBound + 1)..<part.upperBound
        }
        defer { (bits, bitCount) = (bits >> count, bitCount - count) }
        return bits & (1 << count - 1)
    }

    /// Bool().
    private mutating func flag() throws(ImageHeader.Failure) -> Bool { try number(1) == 1 }

    /// U32(): one of four ways to say a number, each a constant plus so many bits.
    private mutating func choice(_ ways: Ways) throws(ImageHeader.Failure) -> Int {
        let way = ways[try number(2)]
        return way.base + (try number(way.bits))
    }

    // MARK: - Boxes

    /// Finds the next part of the codestream.
    private mutating func findPart() throws(ImageHeader.Failure) {
        while let place = nextBox {
            boxes += 1
            guard boxes <= 1 << 16 else { throw .malformed(.jxl) }
            guard place <= bytes.count - 16 || place < bytes.count && bytes.big32(at: place) != 1 else {
                throw .cutOff(.jxl)
            }
            let box = try Box(&bytes, at: place, end: bytes.total, .jxl)
            nextBox = box.end
            if box.name == "jxlc" {
                guard nextPart == nil else { throw .malformed(.jxl) }
                (part, nextBox) = (box.body..<box.end, nil)
                return
            }
            if box.name == "jxlp" {
                guard box.end - box.body >= 4 else { throw .malformed(.jxl) }
                guard box.body + 4 <= bytes.count else { throw .cutOff(.jxl) }
                let number = bytes.big32(at: box.body)
                guard number & 0x7FFF_FFFF == nextPart ?? 0 else { throw .malformed(.jxl) }
                (part, nextPart) = ((box.body + 4)..<box.end, (nextPart ?? 0) + 1)
                if number >> 31 == 1 { nextBox = nil }
                return
            }
        }
        throw .cutOff(.jxl)
    }
}

/// The four ways to say a number.
private typealias Ways = [(base: Int, bits: Int)]

private let lengths: Ways = [(1, 9), (1, 13), (1, 18), (1, 30)]
private let previewLengths: Ways = [(1, 6), (65, 8), (321, 10), (1345, 12)]
private let previewEighths: Ways = [(16, 0), (32, 0), (1, 5), (33, 9)]
/// Width to height, for the numbers from 1.
private let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
