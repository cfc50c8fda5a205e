/// The parameters of ``ImageProcessor/resize(_:)``.
public struct Resize: Hashable, Sendable {
    /// The width in pixels; `nil` to follow the height.
    public let width: Int?
    /// The height in pixels; `nil` to follow the width.
    public let height: Int?
    /// The treatment of the aspect ratio when both sides are given.
    public let mode: ResizeMode
    /// `true` when a smaller image is enlarged. Otherwise no side grows: a stretched side keeps its length, and an
    /// image that keeps its aspect ratio keeps its size.
    public let upscale: Bool

    /// The weights by which pixels are made of others.
    public let kernel: ResizeKernel
    /// The point of the image that stays as near to the middle as possible when what exceeds the size is cut off; nothing
    /// is cut off when `nil`.
    public let focus: FocalPoint?
    private let given: AsGiven<(width: Double?, height: Double?)>

    /// A new size; at least one side must be given.
    ///
    /// - Throws: ``RecipeError`` also for a focal point without both sides and the mode `aspectFill`.
    public init(
        width: Double?, height: Double?, mode: ResizeMode = .none, upscale: Bool = false,
        kernel: ResizeKernel = .lanczos3, focus: FocalPoint? = nil
    ) throws(RecipeError) {
        guard width != nil || height != nil else {
            throw RecipeError(parameter: "width", expected: "a width, a height or both", received: "neither")
        }
        if let width { self.width = try RecipeValue.length(width, "width") } else { self.width = nil }
        if let height { self.height = try RecipeValue.length(height, "height") } else { self.height = nil }
        self.mode = self.width == nil || self.height == nil ? .aspectFit : mode
        self.upscale = upscale
        self.kernel = kernel
        self.focus = focus
        given = AsGiven(value: (width, height))
        guard focus == nil || self.mode == .aspectFill else {
            throw RecipeError(
                parameter: "focus", expected: "left out unless mode is \"aspectFill\" and both sides are given",
                received: mode == .aspectFill ? "one with a single side" : "one with the mode \"\(mode.rawValue)\"")
        }
    }

    func scaled(by factor: Double) throws(RecipeError) -> Resize {
        try Resize(
            width: given.value.width.map { $0 * factor }, height: given.value.height.map { $0 * factor }, mode: mode,
            upscale: upscale, kernel: kernel, focus: focus)
    }
}

/// The parameters of ``ImageProcessor/roundCorner(_:)``.
public struct RoundCorner: Hashable, Sendable {
    /// The radius of the corners; at most half of the shorter side takes effect.
    public let radius: CornerRadius
    /// The corners that are rounded.
    public let corners: Corners
    /// The size that the image is resized to first: it covers the size, and the rest is cut off around the middle. The
    /// image keeps its own size when `nil`.
    public let targetSize: PixelSize?
    /// The colour behind the corners; transparent when `nil`.
    public let background: RecipeColor?

    /// Rounded corners. Default: all four.
    public init(
        radius: CornerRadius, corners: Corners = .all, targetSize: PixelSize? = nil, background: RecipeColor? = nil
    ) throws(RecipeError) {
        guard !corners.isEmpty else {
            throw RecipeError(parameter: "corners", expected: "at least one corner", received: "none")
        }
        self.radius = try radius.validated("radius")
        self.corners = corners
        self.targetSize = targetSize
        self.background = background
    }
}

/// The parameters of ``ImageProcessor/border(_:)``.
public struct Border: Hashable, Sendable {
    /// The colour of the line.
    public let color: RecipeColor
    /// The width of the line in pixels, inside the image.
    public let width: Double
    /// The radius of the line's corners.
    public let radius: CornerRadius
    /// The corners of the line that are rounded.
    public let corners: Corners

    /// A line along the edges, inside the image.
    public init(
        color: RecipeColor, width: Double, radius: CornerRadius = .pixels(0), corners: Corners = .all
    ) throws(RecipeError) {
        self.color = color
        self.width = try RecipeValue.number(width, 0...RecipeValue.longestSide, "width")
        self.radius = try radius.validated("radius")
        self.corners = corners
    }
}

/// The parameters of ``ImageProcessor/colorControls(_:)``, in the terms of Core Image.
public struct ColorControls: Hashable, Sendable {
    /// The value added to every channel, -1…1; 0 changes nothing.
    public let brightness: Double
    /// The factor around middle grey, 0…4; 1 changes nothing.
    public let contrast: Double
    /// The saturation, 0…4; 0 gives greys, 1 changes nothing.
    public let saturation: Double
    /// The exposure in stops, -10…10; 0 changes nothing.
    public let inputEV: Double

    /// Controls with the given values. The defaults change nothing.
    public init(
        brightness: Double = 0, contrast: Double = 1, saturation: Double = 1, inputEV: Double = 0
    ) throws(RecipeError) {
        self.brightness = try RecipeValue.number(brightness, -1...1, "brightness")
        self.contrast = try RecipeValue.number(contrast, 0...4, "contrast")
        self.saturation = try RecipeValue.number(saturation, 0...4, "saturation")
        self.inputEV = try RecipeValue.number(inputEV, -10...10, "inputEV")
    }
}

/// The parameters of ``ImageProcessor/blend(_:)``.
public struct Blend: Hashable, Sendable {
    /// The blend mode.
    public let mode: BlendMode
    /// The opacity of the image, 0…1.
    public let alpha: Double
    /// The colour below the image; transparent when `nil`.
    public let background: RecipeColor?

    /// A blend of an image with a colour below it.
    public init(mode: BlendMode, alpha: Double = 1, background: RecipeColor? = nil) throws(RecipeError) {
        self.mode = mode
        self.alpha = try RecipeValue.number(alpha, 0...1, "alpha")
        self.background = background
    }
}

/// The parameters of ``ImageProcessor/compositing(_:)``.
public struct Compositing: Hashable, Sendable {
    /// The compositing operation.
    public let operation: CompositingOperation
    /// The opacity of the image, 0…1.
    public let alpha: Double
    /// The colour below the image; transparent when `nil`.
    public let background: RecipeColor?

    /// A composition of an image and a colour.
    public init(operation: CompositingOperation, alpha: Double = 1, background: RecipeColor? = nil) throws(RecipeError)
    {
        self.operation = operation
        self.alpha = try RecipeValue.number(alpha, 0...1, "alpha")
        self.background = background
    }
}

/// The parameters of ``ImageProcessor/overlay(_:)``.
public struct Overlay: Hashable, Sendable {
    /// The colour drawn over the image where the image is not transparent.
    public let color: RecipeColor
    /// The fraction of the image that shows through: 0 gives the plain colour, 1 the plain image, as in Kingfisher.
    public let fraction: Double

    /// A colour over an image.
    public init(color: RecipeColor, fraction: Double = 0.5) throws(RecipeError) {
        self.color = color
        self.fraction = try RecipeValue.number(fraction, 0...1, "fraction")
    }
}

/// The parameters of ``ImageProcessor/blur(_:)``.
public struct Blur: Hashable, Sendable {
    /// The radius in pixels, 0…500; 0 changes nothing.
    public let radius: Double

    /// A Gaussian blur.
    public init(radius: Double) throws(RecipeError) {
        self.radius = try RecipeValue.number(radius, 0...500, "radius")
    }
}

/// The parameters of ``ImageProcessor/sharpen(_:)``.
public struct Sharpen: Hashable, Sendable {
    /// The standard deviation of the blur that the image is compared with, in pixels, 0…500; 0 changes nothing.
    public let radius: Double
    /// The factor of the difference to the blurred image that is added, 0…10; 0 changes nothing.
    public let amount: Double

    /// An unsharp mask. Default: of one pixel, with the whole difference.
    public init(radius: Double = 1, amount: Double = 1) throws(RecipeError) {
        self.radius = try RecipeValue.number(radius, 0...500, "radius")
        self.amount = try RecipeValue.number(amount, 0...10, "amount")
    }
}

/// The parameters of ``ImageProcessor/pixelate(_:)``.
public struct Pixelate: Hashable, Sendable {
    /// The side of a square in pixels; 1 changes nothing.
    public let size: Int
    private let given: AsGiven<Double>

    /// Squares of that side.
    public init(size: Double) throws(RecipeError) {
        self.size = try RecipeValue.length(size, "size")
        given = AsGiven(value: size)
    }

    func scaled(by factor: Double) throws(RecipeError) -> Pixelate { try Pixelate(size: given.value * factor) }
}

/// The parameters of ``ImageProcessor/gamma(_:)``.
public struct Gamma: Hashable, Sendable {
    /// The exponent, 0.01…10: above 1 the middle becomes lighter, below darker; 1 changes nothing.
    public let gamma: Double

    /// A change of the middle tones.
    public init(gamma: Double) throws(RecipeError) { self.gamma = try RecipeValue.number(gamma, 0.01...10, "gamma") }
}

/// The parameters of ``ImageProcessor/rotate(_:)``.
public enum Rotation: Hashable, Sendable {
    /// The rotation of the image's EXIF orientation only, which is applied to every processed image anyway.
    case auto
    /// Degrees clockwise, 0..<360 to four decimal places; uncovered areas are transparent.
    case degrees(Double)

    /// A rotation by degrees, clockwise; full rotations are removed.
    ///
    /// - Throws: ``RecipeError`` below -36,000 and above 36,000.
    public static func byDegrees(_ degrees: Double) throws(RecipeError) -> Rotation {
        let degrees = try RecipeValue.number(degrees, -36_000...36_000, "degrees")
        let rest = degrees.truncatingRemainder(dividingBy: 360)
        let turned = try RecipeValue.number(rest < 0 ? rest + 360 : rest, 0...360, "degrees")
        return .degrees(turned == 360 ? 0 : turned)
    }
}

/// The parameters of ``ImageProcessor/format(_:)``.
public struct FormatChange: Hashable, Sendable {
    /// The format of the result.
    public let format: EncodedFormat
    /// The quality, 1…100; the format's default when `nil`.
    public let quality: Int?

    /// A conversion to another format.
    public init(to format: EncodedFormat, quality: Double? = nil) throws(RecipeError) {
        self.format = format
        if let quality {
            self.quality = Int(try RecipeValue.number(quality, 1...100, "quality").rounded())
        } else {
            self.quality = nil
        }
    }
}
