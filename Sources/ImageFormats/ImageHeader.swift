/// The facts that the bytes of a picture tell and that an entry keeps, read without decoding a pixel.
///
/// A picture counts as whole when its structure is: every block inside the file, and the end where the format marks one.
public struct ImageHeader: Equatable, Sendable {
    /// The format, by signature.
    public let format: ImageFormat
    /// Pixels across, as coded: orientation is not applied. For an icon the largest entry; for SVG in CSS pixels, for PDF in points.
    public let width: Int
    /// Pixels down, as coded.
    public let height: Int
    /// Pictures of an animation, pages of a TIFF; 1 for stills, and for JPEG XL.
    public let frameCount: Int
    /// The turn that shows the picture upright, 1 to 8 as in EXIF; nil where it is not known.
    public let orientation: Int?
    /// `true` when a pixel may be transparent; nil where it is not known.
    public let hasAlpha: Bool?
    /// The times of the frames of a GIF, PNG or WebP, if these bytes were read; see ``ImageRecord/timing``.
    package let timing: FrameTiming?

    /// `true` when both are the same but for the timing, which an index keeps elsewhere, and what older versions did not keep.
    public static func == (one: ImageHeader, other: ImageHeader) -> Bool {
        one.format == other.format && one.width == other.width && one.height == other.height
            && one.frameCount == other.frameCount
    }

    /// The reasons why bytes are not taken for a picture.
    public enum Failure: Error, Equatable, Sendable {
        /// It is empty.
        case empty
        /// The signature is unknown.
        case unrecognised
        /// The bytes are of a known format, but end too early.
        case cutOff(ImageFormat)
        /// The bytes are of a known format, but their structure is impossible.
        case malformed(ImageFormat)
        /// The bytes cannot be read, by this error number of the system. They may be a picture all the same.
        case unreadable(Int32)
    }

    /// Reads the header of a picture in memory.
    ///
    /// - Complexity: O(blocks) for most formats; JPEG and GIF are looked through to their end mark.
    public init(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        try self.init(MemoryBytes(bytes))
    }

    /// Reads the header of a picture in an open file of `count` bytes.
    public init(descriptor: Int32, count: Int) throws(Failure) {
        try self.init(descriptor: descriptor, count: count, map: nil)
    }

    /// Reads the header of a picture in an open file, of which the map was made while it was written.
    package init(descriptor: Int32, count: Int, map: ScanMap?) throws(Failure) {
        try self.init(FileBytes(descriptor: descriptor, count: count, map: map))
    }

    private init(_ bytes: consuming some ByteSource) throws(Failure) {
        let found = try ImageProbe(whole: bytes)
        (format, width, height) = (found.format, found.width, found.height)
        (frameCount, timing) = (found.frameCount ?? 1, found.timing)
        (orientation, hasAlpha) = (found.orientation, found.hasAlpha)
    }

    /// A header that an index has kept.
    package init(
        _ format: ImageFormat, _ width: Int, _ height: Int, frames: Int = 1, orientation: Int? = nil,
        hasAlpha: Bool? = nil
    ) throws(Failure) {
        guard width > 0, height > 0, frames > 0 else { throw .malformed(format) }
        (self.format, self.width, self.height, frameCount, timing) = (format, width, height, frames, nil)
        self.orientation = orientation.flatMap { (1...8).contains($0) ? $0 : nil }
        self.hasAlpha = hasAlpha
    }
}
