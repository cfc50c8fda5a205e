/// What the head of a JPEG XL codestream says: SizeHeader and ImageMetadata up to its channels (ISO/IEC 18181-1, 9.3 and
/// D.2–D.4).
struct JXLHeader: Equatable {
    /// Pixels across, as coded: orientation is not applied.
    var width = 0
    /// Pixels down, as coded.
    var height = 0
    /// 1 to 8, as in EXIF; what EXIF itself says does not count.
    var orientation = 1
    var isAnimated = false
    var hasAlpha = false

    /// Reads the head of a codestream.
    ///
    /// - Complexity: O(bytes of the head), which are few unless the channels have long names: 4 MB at most.
    init(
        _ stream: inout JXLCodestream, _ bytes: inout some ByteSource
    ) throws(JXLCodestream.Failure) {
        for byte in JXLCodestream.start {
            guard try stream.number(8, &bytes) == Int(byte) else { throw .malformed }
        }
        (width, height) = try Self.size(&stream, &bytes, Self.lengths, Self.eighths)
        let isPlain = try stream.flag(&bytes)
        if isPlain { return }
        if try stream.flag(&bytes) {
            orientation = try stream.number(3, &bytes) + 1
            if try stream.flag(&bytes) { _ = try Self.size(&stream, &bytes, Self.lengths, Self.eighths) }
            if try stream.flag(&bytes) { _ = try Self.size(&stream, &bytes, Self.previewLengths, Self.previewEighths) }
            isAnimated = try stream.flag(&bytes)
            if isAnimated { try Self.skipAnimation(&stream, &bytes) }
        }
        try Self.skipDepth(&stream, &bytes)
        // Whether 16 bits are enough for the samples.
        _ = try stream.flag(&bytes)
        for _ in 0..<(try stream.choice([(0, 0), (1, 0), (2, 4), (1, 12)], &bytes)) {
            if try Self.isAlpha(&stream, &bytes) { hasAlpha = true }
        }
    }

    private typealias Ways = [(base: Int, bits: Int)]

    private static let lengths: Ways = [(1, 9), (1, 13), (1, 18), (1, 30)]
    private static let eighths: Ways? = nil
    private static let previewLengths: Ways = [(1, 6), (65, 8), (321, 10), (1345, 12)]
    private static let previewEighths: Ways? = [(16, 0), (32, 0), (1, 5), (33, 9)]
    /// Width to height, for the numbers from 1.
    private static let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]

    /// SizeHeader or PreviewHeader: the height, in pixels or in eighths, and the width likewise or as a ratio to it.
    ///
    /// - Parameter eighths: How a count of eighths is said; five bits and one when nil.
    private static func size(
        _ stream: inout JXLCodestream, _ bytes: inout some ByteSource, _ lengths: Ways, _ eighths: Ways?
    ) throws(JXLCodestream.Failure) -> (width: Int, height: Int) {
        let isSmall = try stream.flag(&bytes)
        func length(
            _ stream: inout JXLCodestream, _ bytes: inout some ByteSource
        ) throws(JXLCodestream.Failure) -> Int {
            if !isSmall { return try stream.choice(lengths, &bytes) }
            guard let eighths else { return 8 * (try stream.number(5, &bytes) + 1) }
            return 8 * (try stream.choice(eighths, &bytes))
        }
        let height = try length(&stream, &bytes)
        let ratio = try stream.number(3, &bytes)
        if ratio == 0 { return (try length(&stream, &bytes), height) }
        let (across, down) = ratios[ratio - 1]
        return (height * across / down, height)
    }

    /// AnimationHeader: ticks a second, how often it is played, and whether frames have time codes.
    private static func skipAnimation(
        _ stream: inout JXLCodestream, _ bytes: inout some ByteSource
    ) throws(JXLCodestream.Failure) {
        _ = try stream.choice([(100, 0), (1000, 0), (1, 10), (1, 30)], &bytes)
        _ = try stream.choice([(1, 0), (1001, 0), (1, 8), (1, 10)], &bytes)
        _ = try stream.choice([(0, 0), (0, 3), (0, 16), (0, 32)], &bytes)
        _ = try stream.flag(&bytes)
    }

    /// BitDepth.
    private static func skipDepth(
        _ stream: inout JXLCodestream, _ bytes: inout some ByteSource
    ) throws(JXLCodestream.Failure) {
        if try stream.flag(&bytes) {
            _ = try stream.choice([(32, 0), (16, 0), (24, 0), (1, 6)], &bytes)
            _ = try stream.number(4, &bytes)
        } else {
            _ = try stream.choice([(8, 0), (10, 0), (12, 0), (1, 6)], &bytes)
        }
    }

    /// ExtraChannelInfo: whether the channel says how much is seen through.
    private static func isAlpha(
        _ stream: inout JXLCodestream, _ bytes: inout some ByteSource
    ) throws(JXLCodestream.Failure) -> Bool {
        if try stream.flag(&bytes) { return true }
        let kind = try stream.choice([(0, 0), (1, 0), (2, 4), (18, 6)], &bytes)
        try skipDepth(&stream, &bytes)
        _ = try stream.choice([(0, 0), (3, 0), (4, 0), (1, 3)], &bytes)
        try stream.skip(bytes: try stream.choice([(0, 0), (0, 4), (16, 5), (48, 10)], &bytes), &bytes)
        switch kind {
        // Whether colours are multiplied by it.
        case 0: _ = try stream.flag(&bytes)
        // The colour of an ink, in four numbers of 16 bits.
        case 2: try stream.skip(bytes: 8, &bytes)
        // The place in a colour filter.
        case 5: _ = try stream.choice([(1, 0), (0, 2), (3, 4), (19, 8)], &bytes)
        default: break
        }
        return kind == 0
    }
}

extension ImageHeader {
    /// JPEG XL: the head of the codestream, and that every part of it lies in the file.
    ///
    /// An animation counts as one picture: how many it has is known only to who decodes the heads of all. A codestream without
    /// boxes does not say where it ends: one that is cut off behind its head is found out by its decoder.
    static func jxl(_ bytes: inout some ByteSource) throws(Failure) -> ImageHeader {
        var stream = JXLCodestream(&bytes)
        let header: JXLHeader
        do throws(JXLCodestream.Failure) {
            header = try JXLHeader(&stream, &bytes)
            try stream.requireWhole(&bytes)
        } catch {
            switch error {
            case .cutOff: throw .cutOff(.jxl)
            case .malformed: throw .malformed(.jxl)
            }
        }
        return try ImageHeader(.jxl, header.width, header.height)
    }
}

extension ImageProbe {
    /// The head of the codestream, wherever that begins; no size if it is not there.
    static func jxl(_ bytes: inout some ByteSource) -> ImageProbe? {
        var probe = ImageProbe(.jxl, 0, 0)
        var stream = JXLCodestream(&bytes)
        guard let header = try? JXLHeader(&stream, &bytes) else { return probe }
        (probe.width, probe.height) = (header.width, header.height)
        (probe.orientation, probe.hasAlpha) = (header.orientation, header.hasAlpha)
        if !header.isAnimated { probe.frameCount = 1 }
        return probe
    }
}
