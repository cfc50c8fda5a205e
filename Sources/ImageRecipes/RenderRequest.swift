/// What is to be made of one source: a request to the codec worker.
public struct RenderRequest: Hashable, Sendable {
    /// The file that holds the source.
    public var source: String
    /// The format that the source was recognised as, such as `png`; it alone chooses the loader.
    public var format: String
    /// The format of the picture that the source was made of without loss, when it is not the first: what is written of
    /// the source by itself is what would be written of that (``RenderOutput/Rule/automatic(_:)``). ``format`` when nil.
    public var originalFormat: String?
    /// What is made. The source is decoded as seldom as can be, and outputs whose steps begin alike share those.
    public var outputs: [RenderOutput]
    /// What may be spent.
    public var limits: RenderLimits
    /// Whether the reply is to hold a ``RenderPlaceholder`` of the source.
    public var wantsPlaceholder: Bool

    /// A request.
    public init(
        source: String, format: String, originalFormat: String? = nil, outputs: [RenderOutput],
        limits: RenderLimits = RenderLimits(), wantsPlaceholder: Bool = false
    ) {
        self.source = source
        self.format = format
        self.originalFormat = originalFormat
        self.outputs = outputs
        self.limits = limits
        self.wantsPlaceholder = wantsPlaceholder
    }
}

/// One file that is to be made.
public struct RenderOutput: Hashable, Sendable {
    /// Which frames of an animated source are taken.
    public enum Frames: Hashable, Sendable {
        /// All of them.
        case all
        /// The first one, as a still.
        case first
        /// The one of that number, from 0, as a still; a failure when there is none.
        case number(Int)
    }

    /// What the file is to hold.
    public enum Rule: Hashable, Sendable {
        /// An image, its format chosen by the result: with alpha PNG, opaque JPEG, animated what the source is if that can be written, else GIF (A-099, C-12).
        ///
        /// An opaque result of a source without loss, such as a PNG, stays PNG.
        case automatic(Encoding)
        /// An image of that format.
        case format(EncodedFormat, Encoding)
        /// Raw pixels: RGBA, eight bits each, sRGB, not premultiplied, without padding, the frames one below the other.
        case pixels
        /// No file: the source is decoded whole, every frame and page of it, and the outcome is whether that can be done. The
        /// steps, frames and path do not count.
        case nothing
    }

    /// The steps from the source on; the EXIF orientation is applied before the first. A ``ImageProcessor/format(_:)`` among
    /// them changes nothing here: the ``rule`` says what is written.
    public var steps: [ImageProcessor]
    /// Which frames are taken.
    public var frames: Frames
    /// What the file is to hold.
    public var rule: Rule
    /// The file, which does not exist yet; it is made with mode 0600, and removed again on failure.
    public var path: String

    /// A file to be made.
    public init(steps: [ImageProcessor], frames: Frames = .all, rule: Rule = .automatic(Encoding()), path: String) {
        self.steps = steps
        self.frames = frames
        self.rule = rule
        self.path = path
    }
}

/// How an image is written.
public struct Encoding: Hashable, Sendable {
    /// What becomes of the colours.
    public enum Profile: String, Hashable, Sendable, CaseIterable {
        /// The ICC profile of the source is kept.
        case keep
        /// The pixels are brought to sRGB, and the profile is left out.
        case sRGB
    }

    /// 1…100; nil for the format's default.
    public var quality: Int?
    /// Without loss, where the format can.
    public var lossless: Bool
    /// Interlaced or progressive, where the format can.
    public var progressive: Bool
    /// What transparent pixels are laid upon when the format has no alpha, or whenever it is given; white when nil.
    public var background: RecipeColor?
    /// The largest file, in bytes: quality is lowered until it is kept, and the output fails as `limit` if it cannot be. No such limit when nil.
    public var maxBytes: Int?
    /// Whether EXIF, XMP, IPTC and comments are left out; the ICC profile goes by ``profile``.
    public var stripMetadata: Bool
    /// What becomes of the colours.
    public var profile: Profile

    /// The defaults.
    public init(
        quality: Int? = nil, lossless: Bool = false, progressive: Bool = false, background: RecipeColor? = nil,
        maxBytes: Int? = nil, stripMetadata: Bool = false, profile: Profile = .keep
    ) {
        self.quality = quality
        self.lossless = lossless
        self.progressive = progressive
        self.background = background
        self.maxBytes = maxBytes
        self.stripMetadata = stripMetadata
        self.profile = profile
    }
}

/// What the making of images may cost; judged from the header before anything is allocated (D-14).
public struct RenderLimits: Hashable, Sendable {
    /// The most pixels in one frame of the source, and of a result; 50 million.
    public var maxPixels: Int
    /// The most frames; 2,000.
    public var maxFrames: Int
    /// The most pixels in all frames together; 250 million.
    public var maxAnimationPixels: Int
    /// The most seconds of the processor's time; 20. Also a wait for the reply, with some grace.
    public var decodeSeconds: Double
    /// The largest file made, in bytes; 1 GiB.
    public var maxBytes: Int
    /// The most bytes that the entities of a drawing may add to it where they are used; a million.
    public var maxEntityBytes: Int

    /// The defaults.
    public init(
        maxPixels: Int = 50_000_000, maxFrames: Int = 2_000, maxAnimationPixels: Int = 250_000_000,
        decodeSeconds: Double = 20, maxBytes: Int = 1 << 30, maxEntityBytes: Int = 1_000_000
    ) {
        self.maxPixels = maxPixels
        self.maxFrames = maxFrames
        self.maxAnimationPixels = maxAnimationPixels
        self.decodeSeconds = decodeSeconds
        self.maxBytes = maxBytes
        self.maxEntityBytes = maxEntityBytes
    }
}
