public import ImageRecipes
internal import Platform

/// The encoding of a processed image: its format and the encoder's parameters.
public struct CacheSerializer: Hashable, Sendable {
    /// The format; `nil` to choose it by the result.
    public var format: EncodedFormat?
    /// The parameters of the encoder.
    public var encoding: Encoding

    /// A serializer.
    public init(format: EncodedFormat? = nil, encoding: Encoding = Encoding()) {
        self.format = format
        self.encoding = encoding
    }

    /// The serializer's part of a recipe's identifier.
    var identifier: String {
        var fields: [String] = []
        if let format { fields.append("format=\(format.rawValue)") }
        if let quality = encoding.quality { fields.append("quality=\(quality)") }
        if encoding.lossless { fields.append("lossless") }
        if encoding.progressive { fields.append("progressive") }
        if let color = encoding.background { fields.append("background=\(color.text)") }
        if let count = encoding.maxBytes { fields.append("maxBytes=\(count)") }
        switch encoding.metadata {
        case .withoutPosition: break
        case .all: fields.append("allMetadata")
        case .none: fields.append("stripMetadata")
        }
        if encoding.profile != .keep { fields.append("profile=\(encoding.profile.rawValue)") }
        return fields.isEmpty ? "" : "serialize.1(\(fields.joined(separator: ",")))"
    }
}

/// All inputs, besides the original, that determine the bytes of a made image.
public struct ImageRecipe: Hashable, Sendable {
    /// The processing steps, in order.
    public var processors: [ImageProcessor] = []
    /// The choice of frames of an animation.
    public var frames = RenderOutput.Frames.all
    /// The encoding of the result; `nil` for the automatic one.
    public var serializer: CacheSerializer?
    /// `true` when an original of more than ``largePixels`` is scaled down first.
    public var scalesDown = false

    /// The number of pixels to which a large image is scaled down: SDWebImage's 60 MB of four bytes each.
    public static let largePixels = 15_728_640

    /// The recipe that leaves the original as it is.
    public init() {}

    /// `true` when the recipe leaves the original as it is.
    public var isEmpty: Bool {
        guard processors.isEmpty, frames == .all, !scalesDown else { return false }
        guard var serializer else { return true }
        // The original has all of it.
        if serializer.encoding.metadata == .all { serializer.encoding.metadata = .withoutPosition }
        return serializer == CacheSerializer()
    }

    /// The name of the recipe; two recipes have the same name exactly when they make the same bytes.
    public var identifier: String {
        if isEmpty { return "" }
        var parts: [String] = []
        if scalesDown { parts.append("scaleDown.1(pixels=\(Self.largePixels))") }
        if !processors.isEmpty { parts.append(processors.identifier) }
        switch frames {
        case .all: break
        case .first: parts.append("frame.1(number=0)")
        case .number(let number): parts.append("frame.1(number=\(number))")
        }
        if let text = serializer?.identifier, !text.isEmpty { parts.append(text) }
        return parts.joined(separator: "|>")
    }

    /// The key of the entry for the image that the recipe makes from the original with `key`.
    public func cacheKey(_ key: String) -> CacheKey {
        if isEmpty { return CacheKey(key) }
        var made = CacheKey(key, identifier: identifier)
        made.expectedExtension = foretoldExtension(of: key)
        return made
    }

    /// The key of the entry for the image that the recipe makes from the original of `key`, for the same user.
    public func cacheKey(_ key: CacheKey) -> CacheKey { isEmpty ? key : cacheKey(key.key).sameUser(as: key) }

    private var format: EncodedFormat? { serializer?.format ?? change?.format }

    private var change: FormatChange? {
        for case .format(let change) in processors.reversed() { return change }
        return nil
    }

    /// The likely file extension of the result: that of the requested format, otherwise by the key's extension, and PNG
    /// or WebP for steps that make corners transparent.
    private func foretoldExtension(of key: String) -> String {
        if let format { return ImageFormat(rawValue: format.rawValue)?.fileExtension ?? format.rawValue }
        let makesAlpha = processors.contains(where: \.makesAlpha)
        let original = ImageFormat(fileExtension: CacheKey(key).foretoldExtension)
        switch original {
        case .gif where frames == .all: return "gif"
        case .webp where makesAlpha: return "webp"
        case .jpeg, .webp, .avif, .heic, .jxl, .jp2: return makesAlpha ? "png" : "jpg"
        case nil: return makesAlpha ? "png" : ""
        default: return "png"
        }
    }

    /// `true` when the recipe has neither processors nor an encoding, so that the original itself may be the answer.
    var hasNoStep: Bool { processors.isEmpty && (serializer == nil || serializer == CacheSerializer()) }

    /// `true` when the recipe leaves an image with that header as it is: it has no step and drops no frame.
    func isNothing(for header: ImageHeader) -> Bool {
        guard hasNoStep else { return false }
        if scalesDown, isLarge(header) { return false }
        switch frames {
        case .all: return true
        case .first, .number(0): return header.frameCount == 1
        case .number: return false
        }
    }

    private func isLarge(_ header: ImageHeader) -> Bool {
        !header.format.isVector
            && header.width.multipliedReportingOverflow(by: header.height).partialValue > Self.largePixels
    }

    /// The output to request from the worker, for an original.
    func output(of header: ImageHeader, to path: String = "") -> RenderOutput {
        var steps = processors.filter { if case .format = $0 { false } else { true } }
        if scalesDown, isLarge(header) {
            let factor = (Double(Self.largePixels) / Double(header.width * header.height)).squareRoot()
            // A square, because EXIF may turn the image; rounded down, because it is a limit.
            let side = (Double(max(header.width, header.height)) * factor).rounded(.down)
            if let size = try? PixelSize(width: max(1, side), height: max(1, side)) {
                steps.insert(.downsample(size), at: 0)
            }
        }
        var encoding = serializer?.encoding ?? Encoding()
        if encoding.quality == nil, serializer?.format == nil { encoding.quality = change?.quality }
        let rule = format.map { RenderOutput.Rule.format($0, encoding) } ?? .automatic(encoding)
        return RenderOutput(steps: steps, frames: frames, rule: rule, path: path)
    }
}

extension RenderLimits {
    /// The estimated number of pixel bytes that the worker holds for an image.
    static func cost(of header: ImageHeader) -> Int {
        if header.format.isVector { return 32 << 20 }
        return header.width * header.height * 4 * max(1, min(header.frameCount, 100_000))
    }

    /// Throws when the header exceeds the limits, before anything is decoded. Of a JPEG that becomes smaller as it is decoded
    /// the worker judges the pixels that are.
    ///
    /// - Parameter isShrunk: `true` when the first step changes the size.
    func check(_ header: ImageHeader, source: String, isShrunk: Bool = false) throws(ImageError) {
        // A drawing has the size that it is drawn at.
        if header.format.isVector || header.format == .jpeg && isShrunk { return }
        func exceeded(_ limit: String, _ reason: String) -> ImageError {
            .limitExceeded(limit: limit, reason: reason, source: source)
        }
        let (pixels, isHuge) = header.width.multipliedReportingOverflow(by: header.height)
        guard !isHuge, pixels <= maxPixels else {
            throw exceeded("maxPixels", "it has \(header.width) × \(header.height) pixels, over \(maxPixels)")
        }
        guard header.frameCount <= maxFrames else {
            throw exceeded("maxFrames", "it has \(header.frameCount) frames, over \(maxFrames)")
        }
        let (all, isEndless) = pixels.multipliedReportingOverflow(by: header.frameCount)
        guard header.frameCount == 1 || !isEndless && all <= maxAnimationPixels else {
            throw exceeded("maxAnimationPixels", "its frames have \(all) pixels together, over \(maxAnimationPixels)")
        }
    }
}
