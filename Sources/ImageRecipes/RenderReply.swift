/// The result of a ``RenderRequest``.
public struct RenderReply: Hashable, Sendable {
    /// The outcomes, one for each output, in the order of the outputs.
    public var outcomes: [RenderOutcome]
    /// The placeholder, when the request asks for it and the source could be decoded.
    public var placeholder: RenderPlaceholder?
    /// `true` when the worker ends after this reply and answers no other request.
    public var isLast: Bool

    /// A reply with the given outcomes.
    public init(outcomes: [RenderOutcome], placeholder: RenderPlaceholder? = nil, isLast: Bool = false) {
        self.outcomes = outcomes
        self.placeholder = placeholder
        self.isLast = isLast
    }
}

/// The outcome of one output.
public enum RenderOutcome: Hashable, Sendable {
    /// The file is complete.
    case finished(RenderedImage)
    /// There is no file.
    case failed(RenderFailure)
}

/// A file that was written.
public struct RenderedImage: Hashable, Sendable {
    /// The format's name as in ``EncodedFormat``, or `rgba` for raw pixels.
    public var format: String
    /// The width in pixels.
    public var width: Int
    /// The height of one frame in pixels.
    public var height: Int
    /// The number of frames.
    public var frameCount: Int
    /// The size of the file, in bytes.
    public var byteCount: Int
    /// `true` when a pixel may be transparent.
    public var hasAlpha: Bool
    /// The display time of each frame in milliseconds; empty for a still image.
    public var delays: [Int]
    /// The number of times that the animation is played; 0 means forever.
    public var loopCount: Int
    /// The number of bytes from one row of raw pixels to the next; 0 for other formats.
    public var stride: Int
    /// `true` when the file holds the exact result of the steps: every frame with every sample, its colours and its
    /// metadata. Further steps then give the same result from it as from the source.
    public var isExact: Bool
    /// The number of frames or pages of the source that the file lacks, although all were asked for.
    public var framesDropped: Int

    /// A file with the given properties.
    public init(
        format: String, width: Int, height: Int, frameCount: Int = 1, byteCount: Int, hasAlpha: Bool,
        delays: [Int] = [], loopCount: Int = 0, stride: Int = 0, isExact: Bool = false, framesDropped: Int = 0
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
        self.framesDropped = framesDropped
    }
}

/// The reason why a file could not be written.
public struct RenderFailure: Error, Hashable, Sendable {
    /// The kinds of failure.
    public enum Kind: Hashable, Sendable {
        /// The source is damaged, or not of the format that its signature indicates.
        case badData
        /// The source or the output has a format that this machine does not support.
        case unsupported
        /// A limit was exceeded: the name of the option, which is that of the field of ``RenderLimits``, or
        /// `cacheSerializer.maxBytes`.
        case limit(String)
        /// A step failed.
        case processingFailed
        /// There was not enough memory.
        case outOfMemory
        /// The result could not be written.
        case resultFailed
        /// The source could not be read, or was written to while it was read.
        case sourceFailed
    }

    /// The kind of the failure.
    public var kind: Kind
    /// A sentence that a user can act on, without the name of the source.
    public var reason: String

    /// A failure of a kind, with its reason.
    public init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }
}

/// A preview to show until the image is loaded.
public struct RenderPlaceholder: Hashable, Sendable {
    /// A ThumbHash: about 25 bytes that encode a blurred image (evanw.github.io/thumbhash).
    public var thumbHash: [UInt8]
    /// A BlurHash: 28 letters that encode a blurred image without alpha (blurha.sh).
    public var blurHash: String
    /// The most frequent colour of the image.
    public var dominantColor: RecipeColor

    /// A placeholder with the given parts.
    public init(thumbHash: [UInt8], blurHash: String, dominantColor: RecipeColor) {
        self.thumbHash = thumbHash
        self.blurHash = blurHash
        self.dominantColor = dominantColor
    }
}

/// The properties that a worker reports when it starts.
public struct CodecFacts: Hashable, Sendable {
    /// The version of the messages; see ``RenderMessage/version``.
    public var version: Int
    /// The formats that the worker decodes, by their names, such as `webp`.
    public var decodes: [String]
    /// The formats that the worker encodes.
    public var encodes: [String]

    /// The properties of a worker.
    public init(version: Int = RenderMessage.version, decodes: [String], encodes: [String]) {
        self.version = version
        self.decodes = decodes
        self.encodes = encodes
    }
}
