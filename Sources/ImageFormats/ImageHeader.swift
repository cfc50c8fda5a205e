internal import Platform

/// What the bytes of a picture say of themselves, read without decoding a pixel.
///
/// Reading is bounds-checked throughout: foreign bytes may be wrong or cut off, but cannot make it trap, loop or
/// allocate. A picture counts as whole when its structure is: every block inside the file and the end where the
/// format marks one.
public struct ImageHeader: Equatable, Sendable {
    /// The format, by signature.
    public let format: ImageFormat
    /// Pixels across, as coded: orientation is not applied. For an icon the largest entry; for SVG in CSS pixels.
    public let width: Int
    /// Pixels down, as coded.
    public let height: Int
    /// Pictures of an animation, pages of a TIFF; 1 for stills, and for JPEG XL.
    public let frameCount: Int
    /// When the frames of a GIF, PNG or WebP are shown, if these bytes were read; see ``ImageRecord/timing``.
    package let timing: FrameTiming?

    /// Whether both are the same but for the timing, which an index keeps elsewhere.
    public static func == (one: ImageHeader, other: ImageHeader) -> Bool {
        one.format == other.format && one.width == other.width && one.height == other.height
            && one.frameCount == other.frameCount
    }

    /// Why bytes are not taken for a picture.
    public enum Failure: Error, Equatable, Sendable {
        /// Not a single byte.
        case empty
        /// No signature that we know.
        case unrecognised
        /// Of a known format, but it ends too early.
        case cutOff(ImageFormat)
        /// Of a known format, but its structure is impossible.
        case malformed(ImageFormat)
    }

    /// Reads the header of a picture in memory.
    ///
    /// - Complexity: O(blocks) for most formats; JPEG and GIF are looked through to their end mark.
    public init(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        var source = MemoryBytes(buffer: bytes)
        self = try Self.reading(&source)
    }

    /// Reads the header of a picture in an open file of `count` bytes.
    public init(descriptor: Int32, count: Int) throws(Failure) {
        try self.init(descriptor: descriptor, count: count, map: nil)
    }

    /// Reads the header of a picture in an open file, of which somebody who has read it knows some already.
    package init(descriptor: Int32, count: Int, map: ScanMap?) throws(Failure) {
        var source = FileBytes(descriptor: descriptor, count: count, map: map)
        self = try Self.reading(&source)
    }

    package init(
        _ format: ImageFormat, _ width: Int, _ height: Int, frames: Int = 1, timing: FrameTiming.Reader? = nil
    ) throws(Failure) {
        guard width > 0, height > 0, frames > 0 else { throw .malformed(format) }
        self.format = format
        self.width = width
        self.height = height
        frameCount = frames
        self.timing = timing?.timing(of: frames)
    }

    static func reading(_ bytes: inout some ByteSource) throws(Failure) -> ImageHeader {
        switch ImageFormat.sniff(&bytes) {
        case .png: try png(&bytes)
        case .jpeg: try jpeg(&bytes)
        case .gif: try gif(&bytes)
        case .webp: try webp(&bytes)
        case .avif: try heif(&bytes, .avif)
        case .heic: try heif(&bytes, .heic)
        case .tiff: try tiff(&bytes)
        case .bmp: try bmp(&bytes)
        case .ico: try ico(&bytes)
        case .svg: try svg(&bytes)
        case .jxl: try jxl(&bytes)
        case nil: throw bytes.count == 0 ? .empty : .unrecognised
        }
    }
}
