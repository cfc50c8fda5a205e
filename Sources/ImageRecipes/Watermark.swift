/// The parameters of ``ImageProcessor/watermark(_:)``.
public struct Watermark: Hashable, Sendable {
    /// The formats of pictures that can be laid over an image: those that every worker decodes.
    public static let formats = ["png", "jpeg", "webp", "gif"]
    /// The largest picture, in bytes: it is sent along with each request to a worker.
    public static let mostBytes = 256 << 10

    /// The file of the picture that is laid over the image.
    public let data: [UInt8]
    /// The format of that file, one of ``formats``.
    public let format: String
    /// The digest of that file in hexadecimal, which stands for it in identifiers.
    public let digest: String
    /// The place of the picture on the image.
    public let gravity: Gravity
    /// The opacity of the picture: 0 for nothing of it, 1 for the picture as it is.
    public let opacity: Double
    /// The pixels between the picture and the edges that it lies at.
    public let margin: Int
    /// The width of the picture as a part of that of the image; the picture's own width when `nil`.
    public let scale: Double?
    private let given: AsGiven<Double>

    /// A picture to lay over images. Default: as it is, at the bottom right.
    public init(
        data: [UInt8], format: String, digest: String, gravity: Gravity = .bottomRight, opacity: Double = 1,
        margin: Double = 0, scale: Double? = nil
    ) throws(RecipeError) {
        guard Self.formats.contains(format) else {
            throw RecipeError(parameter: "data", expected: "a PNG, JPEG, WebP or GIF", received: format)
        }
        guard data.count <= Self.mostBytes else {
            throw RecipeError(
                parameter: "data", expected: "a file of at most \(Self.mostBytes) bytes", received: "\(data.count)")
        }
        (self.data, self.format, self.digest, self.gravity) = (data, format, digest, gravity)
        self.opacity = try RecipeValue.number(opacity, 0...1, "opacity")
        self.margin = Int(try RecipeValue.number(margin, 0...RecipeValue.longestSide, "margin").rounded())
        given = AsGiven(value: margin)
        self.scale = if let scale { try RecipeValue.part(scale, "scale") } else { nil }
    }

    func scaled(by factor: Double) throws(RecipeError) -> Watermark {
        try Watermark(
            data: data, format: format, digest: digest, gravity: gravity, opacity: opacity,
            margin: given.value * factor, scale: scale)
    }

    /// The digest stands for the file.
    public static func == (one: Watermark, other: Watermark) -> Bool {
        one.digest == other.digest && one.gravity == other.gravity && one.opacity == other.opacity
            && one.margin == other.margin && one.scale == other.scale
    }

    /// The digest stands for the file.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
        hasher.combine(gravity)
    }
}
