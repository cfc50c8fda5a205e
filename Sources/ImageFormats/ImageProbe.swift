internal import Platform

/// What the first bytes of a picture tell of it (B-113, D-26).
///
/// What they do not tell is nil: the number of frames of a GIF, say, is known only at its end.
public struct ImageProbe: Equatable, Sendable {
    /// The format, by signature.
    public var format: ImageFormat
    /// Pixels across, as coded: orientation is not applied.
    public var width: Int
    /// Pixels down, as coded.
    public var height: Int
    /// How the picture is to be turned, 1 to 8 as in EXIF.
    public var orientation: Int?
    /// How many pictures there are.
    public var frameCount: Int?
    /// Whether a pixel may be transparent.
    public var hasAlpha: Bool?
    /// When the frames of an animation are shown, if the whole of it was looked at.
    public var timing: FrameTiming?

    /// The bytes tell too little; more of them may tell it.
    package struct TooFew: Error, Equatable {}

    package init(_ format: ImageFormat, _ width: Int, _ height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }

    /// Reads a picture that is there whole.
    package init(whole bytes: inout some ByteSource) throws(ImageHeader.Failure) {
        let header = try ImageHeader.reading(&bytes)
        self.init(header.format, header.width, header.height)
        frameCount = header.frameCount
        timing = header.timing
        if let known = Self.known(header.format, &bytes) {
            // Its header takes an animation for one picture.
            if header.format == .jxl { frameCount = known.frameCount }
            orientation = known.orientation
            hasAlpha = known.hasAlpha
        } else if let traits = Self.traits(header.format, &bytes) {
            orientation = traits.orientation
            hasAlpha = traits.hasAlpha
        }
    }

    /// Reads the first bytes of a picture.
    ///
    /// - Parameter total: How long it is in all.
    package init(start: UnsafeRawBufferPointer, of total: Int) throws(TooFew) {
        var bytes = MemoryBytes(buffer: start)
        // The end of a drawing may say what its names mean.
        guard let format = ImageFormat.sniff(&bytes), format != .svg else { throw TooFew() }
        if let known = Self.known(format, &bytes) {
            guard known.width > 0, known.height > 0 else { throw TooFew() }
            self = known
            return
        }
        // The others are read as if the rest were there.
        var first = FirstBytes(buffer: start, count: max(total, start.count))
        guard let header = try? ImageHeader.reading(&first), !first.hasMissed else { throw TooFew() }
        self.init(format, header.width, header.height)
        frameCount = header.frameCount
        let traits = Self.traits(format, &first)
        if first.hasMissed { return }
        orientation = traits?.orientation
        hasAlpha = traits?.hasAlpha
    }

    private static func known(_ format: ImageFormat, _ bytes: inout some ByteSource) -> ImageProbe? {
        switch format {
        case .png: png(&bytes)
        case .jpeg: jpeg(&bytes)
        case .gif: gif(&bytes)
        case .webp: webp(&bytes)
        case .tiff: tiff(&bytes)
        case .jxl: jxl(&bytes)
        case .avif, .heic, .bmp, .ico, .svg: nil
        }
    }

    /// What is known besides the size, of formats whose size ``ImageHeader`` reads; nil where the bytes contradict themselves.
    private static func traits(_ format: ImageFormat, _ bytes: inout some ByteSource) -> Traits? {
        switch format {
        case .avif, .heic: heif(&bytes, format)
        case .bmp: Traits(orientation: 1, hasAlpha: bitmapHasAlpha(&bytes))
        case .ico: icon(&bytes)
        // Nothing is drawn where nothing is said.
        case .svg: Traits(orientation: 1, hasAlpha: true)
        case .png, .jpeg, .gif, .webp, .tiff, .jxl: nil
        }
    }

    /// What turns a picture, and what may be seen through it.
    struct Traits: Equatable {
        var orientation: Int?
        var hasAlpha: Bool?
    }

    /// Up to the image data (ISO/IEC 15948; APNG 1.0).
    private static func png(_ bytes: inout some ByteSource) -> ImageProbe? {
        guard bytes.count >= 33 else { return ImageProbe(.png, 0, 0) }
        var probe = ImageProbe(.png, bytes.big32(at: 16), bytes.big32(at: 20))
        probe.orientation = 1
        probe.hasAlpha = [4, 6].contains(bytes.byte(at: 25))
        var place = 33
        while place + 8 <= bytes.count {
            let length = bytes.big32(at: place)
            if bytes.matches("IDAT", at: place + 4) {
                probe.frameCount = probe.frameCount ?? 1
                return probe
            }
            if bytes.matches("tRNS", at: place + 4) { probe.hasAlpha = true }
            if bytes.matches("acTL", at: place + 4) { probe.frameCount = max(1, bytes.big32(at: place + 8)) }
            if bytes.matches("eXIf", at: place + 4) {
                probe.orientation = orientation(&bytes, at: place + 8, length) ?? probe.orientation
            }
            place += 12 + length
        }
        return probe
    }

    /// Up to the frame header (ITU-T T.81).
    private static func jpeg(_ bytes: inout some ByteSource) -> ImageProbe? {
        var probe = ImageProbe(.jpeg, 0, 0)
        (probe.orientation, probe.frameCount, probe.hasAlpha) = (1, 1, false)
        var place = 2
        while place + 9 <= bytes.count, bytes.byte(at: place) == 0xFF {
            let marker = bytes.byte(at: place + 1)
            if marker == 0xFF {
                place += 1
                continue
            }
            let length = bytes.big16(at: place + 2)
            if marker == 0xE1, bytes.matches([0x45, 0x78, 0x69, 0x66, 0, 0], at: place + 4) {
                probe.orientation = orientation(&bytes, at: place + 10, length - 8) ?? probe.orientation
            }
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                (probe.width, probe.height) = (bytes.big16(at: place + 7), bytes.big16(at: place + 5))
                return probe
            }
            guard length >= 2 else { break }
            place += 2 + length
        }
        return probe
    }

    /// The screen, and the transparency of the first picture (GIF89a).
    private static func gif(_ bytes: inout some ByteSource) -> ImageProbe? {
        guard bytes.count >= 13 else { return ImageProbe(.gif, 0, 0) }
        var probe = ImageProbe(.gif, bytes.little16(at: 6), bytes.little16(at: 8))
        probe.orientation = 1
        let flags = bytes.byte(at: 10)
        var place = 13 + (flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1))
        while place + 8 <= bytes.count {
            if bytes.byte(at: place) == 0x2C {
                guard place + 10 <= bytes.count else { return probe }
                // What the first picture does not cover is clear.
                let coversAll =
                    bytes.little32(at: place + 1) == 0 && bytes.little16(at: place + 5) >= probe.width
                    && bytes.little16(at: place + 7) >= probe.height
                probe.hasAlpha = probe.hasAlpha == true || !coversAll
                return probe
            }
            guard bytes.byte(at: place) == 0x21 else { return probe }
            if bytes.byte(at: place + 1) == 0xF9 { probe.hasAlpha = bytes.byte(at: place + 3) & 1 == 1 }
            place += 2
            while place < bytes.count {
                let size = Int(bytes.byte(at: place))
                place += 1 + size
                if size == 0 { break }
            }
        }
        return probe
    }

    /// The first chunk (RFC 9649).
    private static func webp(_ bytes: inout some ByteSource) -> ImageProbe? {
        guard bytes.count >= 30 else { return ImageProbe(.webp, 0, 0) }
        if bytes.matches("VP8X", at: 12) {
            let flags = bytes.byte(at: 20)
            var probe = ImageProbe(.webp, bytes.little24(at: 24) + 1, bytes.little24(at: 27) + 1)
            probe.hasAlpha = flags & 0x10 != 0
            probe.frameCount = flags & 0x02 == 0 ? 1 : nil
            // EXIF comes last.
            probe.orientation = flags & 0x08 == 0 ? 1 : webpOrientation(&bytes)
            return probe
        }
        var probe = ImageProbe(.webp, 0, 0)
        (probe.orientation, probe.frameCount) = (1, 1)
        if bytes.matches("VP8L", at: 12), bytes.byte(at: 20) == 0x2F {
            let bits = bytes.little32(at: 21)
            (probe.width, probe.height) = (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
            probe.hasAlpha = bits >> 28 & 1 == 1
        } else if bytes.matches("VP8 ", at: 12), bytes.matches([0x9D, 0x01, 0x2A], at: 23) {
            (probe.width, probe.height) = (bytes.little16(at: 26) & 0x3FFF, bytes.little16(at: 28) & 0x3FFF)
            probe.hasAlpha = false
        }
        return probe
    }

    /// The orientation in the EXIF chunk, if that is there; some writers put the marker of JPEG's segments before it.
    private static func webpOrientation(_ bytes: inout some ByteSource) -> Int? {
        var place = 12
        while place + 8 <= bytes.count {
            let length = bytes.little32(at: place + 4)
            if bytes.matches("EXIF", at: place) {
                let head = bytes.matches([0x45, 0x78, 0x69, 0x66, 0, 0], at: place + 8) ? 6 : 0
                guard place + 8 + length <= bytes.count else { return nil }
                return orientation(&bytes, at: place + 8 + head, length - head) ?? 1
            }
            place += 8 + length + length & 1
        }
        return nil
    }

    /// The orientation in EXIF data, a TIFF whose first directory has it as tag 0x0112 (EXIF 2.3, section 4.6.4).
    private static func orientation(_ bytes: inout some ByteSource, at start: Int, _ length: Int) -> Int? {
        let isLittle = bytes.byte(at: start) == 0x49
        func short(_ bytes: inout some ByteSource, _ place: Int) -> Int {
            isLittle ? bytes.little16(at: place) : bytes.big16(at: place)
        }
        let directory = isLittle ? bytes.little32(at: start + 4) : bytes.big32(at: start + 4)
        guard length > 8, directory >= 8, directory < length else { return nil }
        for entry in 0..<min(short(&bytes, start + directory), 256) {
            let place = start + directory + 2 + 12 * entry
            guard place + 12 <= start + length else { return nil }
            if short(&bytes, place) == 0x0112 {
                let value = short(&bytes, place + 8)
                return (1...8).contains(value) ? value : nil
            }
        }
        return nil
    }
}

/// The first bytes of something longer: what lies beyond them reads as zeros, and is missed.
struct FirstBytes: ByteSource {
    let buffer: UnsafeRawBufferPointer
    /// Of the whole.
    let count: Int
    /// Whether something was read that lies beyond.
    private(set) var hasMissed = false

    init(buffer: UnsafeRawBufferPointer, count: Int) {
        self.buffer = buffer
        self.count = count
    }

    mutating func byte(at place: Int) -> UInt8 {
        if place >= 0, place < buffer.count { return buffer[place] }
        if place >= 0, place < count { hasMissed = true }
        return 0
    }

    mutating func firstPlace(of value: UInt8, from place: Int) -> Int? {
        let found = MemoryBytes(buffer: buffer).firstPlace(of: value, from: place)
        if found == nil { hasMissed = true }
        return found
    }
}
