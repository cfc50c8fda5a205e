/// A request to the codec worker to render files from one source.
public struct RenderRequest: Hashable, Sendable {
    /// The path of the source file, which the server opens for the worker.
    public var source: String
    /// The recognised format of the source, such as `png`; it alone selects the loader.
    public var format: String
    /// The format of the original image, when the source is a lossless intermediate result of it. It decides the format
    /// of automatic outputs (``RenderOutput/Rule/automatic(_:)``). ``format`` when `nil`.
    public var originalFormat: String?
    /// The files to write. The source is decoded as few times as possible, and outputs whose steps begin alike share
    /// those steps.
    public var outputs: [RenderOutput]
    /// The limits on memory, time and sizes.
    public var limits: RenderLimits
    /// `true` when the reply includes a ``RenderPlaceholder`` of the source.
    public var wantsPlaceholder: Bool

    /// A request with the given parts.
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

/// One file to write.
public struct RenderOutput: Hashable, Sendable {
    /// The choice of frames of an animated source.
    public enum Frames: Hashable, Sendable {
        /// All frames.
        case all
        /// The first frame, as a still image.
        case first
        /// The frame of that number, from 0, as a still image; a failure when there is none.
        case number(Int)
    }

    /// The content of the file.
    public enum Rule: Hashable, Sendable {
        /// An image whose format depends on the result: PNG with alpha, JPEG when opaque; an animation keeps the
        /// source's format if that can be written, otherwise WebP.
        ///
        /// An opaque result of a lossless source, such as a PNG, stays PNG.
        case automatic(Encoding)
        /// An image of the given format.
        case format(EncodedFormat, Encoding)
        /// Raw pixels: RGBA, eight bits each, sRGB, not premultiplied, without padding, the frames one below the other.
        case pixels
        /// No file: the source is decoded completely, with every frame and page, and the outcome says whether that
        /// succeeded. The steps, frames and path are ignored.
        case nothing
    }

    /// The steps from the source to the result; the EXIF orientation is applied before the first. A
    /// ``ImageProcessor/format(_:)`` among them has no effect here: the ``rule`` decides the format.
    public var steps: [ImageProcessor]
    /// The choice of frames.
    public var frames: Frames
    /// The content of the file.
    public var rule: Rule
    /// The path of the file, which must not exist yet. The server creates it for the worker, with mode 0600, and removes
    /// it on failure.
    public var path: String

    /// An output with the given parts.
    public init(steps: [ImageProcessor], frames: Frames = .all, rule: Rule = .automatic(Encoding()), path: String) {
        self.steps = steps
        self.frames = frames
        self.rule = rule
        self.path = path
    }
}

/// The parameters of an encoder.
public struct Encoding: Hashable, Sendable {
    /// The metadata that is written beside the pixels; ``Encoding/profile`` decides on the ICC profile.
    public enum Metadata: Hashable, Sendable {
        /// All but the place where the picture was taken and the notes of the camera's maker, which may tell it too.
        case withoutPosition
        /// EXIF, XMP, IPTC and comments.
        case all
        /// None.
        case none
    }

    /// The treatment of the colour profile.
    public enum Profile: String, Hashable, Sendable, CaseIterable {
        /// The ICC profile of the source is kept.
        case keep
        /// The pixels are converted to sRGB, and the profile is left out.
        case sRGB
    }

    /// The quality, 1…100; the format's default when `nil`.
    public var quality: Int?
    /// `true` for lossless compression, if the format supports it.
    public var lossless: Bool
    /// `true` for an interlaced or progressive file, if the format supports it.
    public var progressive: Bool
    /// The colour behind transparent pixels. It applies when the format has no alpha or when it is given; white when
    /// `nil`.
    public var background: RecipeColor?
    /// The largest file size, in bytes. The quality is lowered until the file fits; the output fails as `limit` when
    /// none does. No such limit when `nil`.
    public var maxBytes: Int?
    /// The metadata that is written.
    public var metadata: Metadata
    /// The treatment of the colour profile.
    public var profile: Profile

    /// An encoding with the given parameters.
    public init(
        quality: Int? = nil, lossless: Bool = false, progressive: Bool = false, background: RecipeColor? = nil,
        maxBytes: Int? = nil, metadata: Metadata = .withoutPosition, profile: Profile = .keep
    ) {
        self.quality = quality
        self.lossless = lossless
        self.progressive = progressive
        self.background = background
        self.maxBytes = maxBytes
        self.metadata = metadata
        self.profile = profile
    }
}

/// The limits for one request; checked against the header before anything is allocated.
public struct RenderLimits: Hashable, Sendable {
    /// The largest number of pixels in one frame of the source or of a result. Default: 50 million.
    public var maxPixels: Int
    /// The largest number of frames. Default: 2,000.
    public var maxFrames: Int
    /// The largest number of pixels in all frames together. Default: 250 million.
    public var maxAnimationPixels: Int
    /// The largest processor time, in seconds. Default: 20. It also limits the wait for the reply, with a margin.
    public var decodeSeconds: Double
    /// The largest file written, in bytes. Default: 1 GiB.
    public var maxBytes: Int
    /// The largest number of bytes that the entities of an SVG may expand to, in total. Default: 1,000,000.
    public var maxEntityBytes: Int

    /// Limits with the given values.
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
