/// The facts that a picture tells of itself, from all of its bytes or from the first ones; nil is what they do not tell.
///
/// The number of frames of a GIF, for example, is known only at its end.
public struct ImageProbe: Equatable, Sendable {
    /// The format, by signature.
    public var format: ImageFormat
    /// Pixels across, as coded: orientation is not applied.
    public var width = 0
    /// Pixels down, as coded.
    public var height = 0
    /// The turn that shows the picture upright, 1 to 8 as in EXIF.
    public var orientation: Int?
    /// The number of pictures.
    public var frameCount: Int?
    /// `true` when a pixel may be transparent.
    public var hasAlpha: Bool?
    /// The times of the frames of an animation, if all of its bytes were read.
    public var timing: FrameTiming?
    /// `true` for a gray AVIF or HEIC whose samples are of limited range: black is 16 and white 235 of 255 (ITU-T H.273,
    /// VideoFullRangeFlag).
    package var isLimitedGray = false
    /// The sample that is white, of a JPEG 2000 or PNM; nil where that is the largest of their bits.
    package var mostSample: Int?
    /// The place of the picture in a file that holds several as they are, an ICNS; nil if none can be decoded.
    package var part: Range<Int>?

    /// The bytes tell too little; more of them may tell enough.
    package struct TooFew: Error, Equatable {}

    init(_ format: ImageFormat) { self.format = format }

    /// Reads a whole picture in memory.
    package init(whole bytes: UnsafeRawBufferPointer) throws(ImageHeader.Failure) {
        try self.init(whole: MemoryBytes(bytes))
    }

    /// Reads a whole picture in an open file of `count` bytes.
    package init(descriptor: Int32, count: Int) throws(ImageHeader.Failure) {
        try self.init(whole: FileBytes(descriptor: descriptor, count: count))
    }

    init(whole bytes: consuming some ByteSource) throws(ImageHeader.Failure) {
        guard let format = ImageFormat.sniff(&bytes) else {
            throw bytes.failure.map { .unreadable($0) } ?? (bytes.count == 0 ? .empty : .unrecognised)
        }
        self.init(format)
        try inspect(bytes)
        guard width > 0, height > 0, frameCount ?? 1 > 0 else { throw .malformed(format) }
    }

    /// Reads the first bytes of a picture.
    ///
    /// - Parameter total: The size of the picture, in bytes.
    package init(start: UnsafeRawBufferPointer, of total: Int) throws(TooFew) {
        var bytes = MemoryBytes(start, of: total)
        // The end of a drawing may say what its names mean.
        guard let format = ImageFormat.sniff(&bytes), format != .svg else { throw TooFew() }
        self.init(format)
        // Facts found before the bytes end, or contradict themselves, count.
        try? inspect(bytes)
        guard width > 0, height > 0 else { throw TooFew() }
    }

    private mutating func inspect(_ bytes: consuming some ByteSource) throws(ImageHeader.Failure) {
        switch format {
        case .png: try run(PNGInspector(bytes: bytes, found: self))
        case .jpeg: try run(JPEGInspector(bytes: bytes, found: self))
        case .gif: try run(GIFInspector(bytes: bytes, found: self))
        case .webp: try run(WebPInspector(bytes: bytes, found: self))
        case .avif, .heic: try run(HEIFInspector(bytes: bytes, found: self))
        case .tiff: try run(TIFFInspector(bytes: bytes, found: self))
        case .bmp: try run(BMPInspector(bytes: bytes, found: self))
        case .ico: try run(ICOInspector(bytes: bytes, found: self))
        case .svg: try run(SVGInspector(bytes: bytes, found: self))
        case .jxl: try run(JXLInspector(bytes: bytes, found: self))
        case .jp2: try run(JP2Inspector(bytes: bytes, found: self))
        case .pnm: try run(PNMInspector(bytes: bytes, found: self))
        case .icns: try run(ICNSInspector(bytes: bytes, found: self))
        case .pdf: try run(PDFInspector(bytes: bytes, found: self))
        }
    }

    private mutating func run(_ inspector: consuming some ContainerInspector) throws(ImageHeader.Failure) {
        defer { self = inspector.found }
        do { try inspector.inspect() } catch {
            throw inspector.bytes.failure.map { .unreadable($0) } ?? error
        }
        if let code = inspector.bytes.failure { throw .unreadable(code) }
        guard !inspector.bytes.isExhausted else { throw .malformed(format) }
    }
}

/// One walk over the container of a format, from its start as far as the bytes go.
///
/// Reading is bounds-checked throughout: foreign bytes may be wrong or cut off, but cannot make it trap, loop or
/// allocate. A fact is noted once the bytes that tell it are there, so that it counts although the walk fails later.
protocol ContainerInspector {
    associatedtype Bytes: ByteSource
    var bytes: Bytes { get }
    var found: ImageProbe { get }
    /// Walks to the end of the container.
    ///
    /// - Throws: A failure if a block lies outside of the file, the end that the format marks is missing, or the structure
    ///   is impossible.
    mutating func inspect() throws(ImageHeader.Failure)
}
