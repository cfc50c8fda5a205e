/// What the codec worker made of a ``RenderRequest``.
public struct RenderReply: Hashable, Sendable {
    /// One for each output, in their order.
    public var outcomes: [RenderOutcome]
    /// When it was asked for and the source could be decoded.
    public var placeholder: RenderPlaceholder?

    /// A reply.
    public init(outcomes: [RenderOutcome], placeholder: RenderPlaceholder? = nil) {
        self.outcomes = outcomes
        self.placeholder = placeholder
    }
}

/// What became of one output.
public enum RenderOutcome: Hashable, Sendable {
    /// The file is complete.
    case finished(RenderedImage)
    /// There is no file.
    case failed(RenderFailure)
}

/// A file that was made.
public struct RenderedImage: Hashable, Sendable {
    /// The format's name as in ``EncodedFormat``, or `rgba` for raw pixels.
    public var format: String
    /// In pixels.
    public var width: Int
    /// In pixels, of one frame.
    public var height: Int
    /// How many frames there are.
    public var frameCount: Int
    /// The size of the file.
    public var byteCount: Int
    /// Whether a pixel may be transparent.
    public var hasAlpha: Bool
    /// How long each frame is shown, in milliseconds; empty for a still.
    public var delays: [Int]
    /// How often the animation is played; 0 for ever.
    public var loopCount: Int
    /// Bytes from one row to the next, of raw pixels; 0 for other formats.
    public var stride: Int
    /// Whether the file holds just what the steps gave: every frame with every sample, its colours and its metadata. Then
    /// further steps make of it what they make of the source.
    public var isExact: Bool

    /// A file that was made.
    public init(
        format: String, width: Int, height: Int, frameCount: Int = 1, byteCount: Int, hasAlpha: Bool,
        delays: [Int] = [], loopCount: Int = 0, stride: Int = 0, isExact: Bool = false
    ) {
        self.format = format
        self.width = width
        self.height = height
        self.frameCount = frameCount
        self.byteCount = byteCount
        self.hasAlpha = hasAlpha
        self.delays = delays
        self.loopCount = loopCount
        self.stride = stride
        self.isExact = isExact
    }
}

/// Why a file could not be made.
public struct RenderFailure: Error, Hashable, Sendable {
    /// The kinds of failure.
    public enum Kind: Hashable, Sendable {
        /// The source is damaged, or not what it was taken for.
        case badData
        /// The source or the output has a format that cannot be done here.
        case unsupported
        /// A limit was passed: the name of the field of ``RenderLimits``, or `maxOutputBytes` for that of ``Encoding``.
        case limit(String)
        /// A step could not be done.
        case processingFailed
        /// There was not enough memory.
        case outOfMemory
        /// A file could not be read or written.
        case fileFailed
    }

    /// What kind of failure.
    public var kind: Kind
    /// A sentence that a user can act on, without the name of the source.
    public var reason: String

    /// A failure.
    public init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }
}

/// Something to show while the image is on its way (D-27).
public struct RenderPlaceholder: Hashable, Sendable {
    /// A ThumbHash: some 25 bytes that make a blurred picture (evanw.github.io/thumbhash).
    public var thumbHash: [UInt8]
    /// The colour that most of the picture has.
    public var dominantColor: RecipeColor

    /// A placeholder.
    public init(thumbHash: [UInt8], dominantColor: RecipeColor) {
        self.thumbHash = thumbHash
        self.dominantColor = dominantColor
    }
}

/// What a worker says of itself when it starts.
public struct CodecFacts: Hashable, Sendable {
    /// The version of the messages; see ``RenderMessage/version``.
    public var version: Int
    /// The formats that it reads, by their names, such as `webp`.
    public var decodes: [String]
    /// The formats that it writes.
    public var encodes: [String]

    /// What a worker says of itself.
    public init(version: Int = RenderMessage.version, decodes: [String], encodes: [String]) {
        self.version = version
        self.decodes = decodes
        self.encodes = encodes
    }
}
