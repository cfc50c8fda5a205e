/// The parameters of ``ImageProcessor/resize(_:)``.
public struct Resize: Hashable, Sendable {
    /// In pixels; nil to follow the height.
    public let width: Int?
    /// In pixels; nil to follow the width.
    public let height: Int?
    /// What becomes of the shape when both sides are given.
    public let mode: ResizeMode
    /// Whether a smaller picture is enlarged. Without it no side grows: a stretched side keeps its length, and a picture that keeps its shape keeps its size.
    public let upscale: Bool

    /// A new size, of which at least one side is given.
    public init(width: Double?, height: Double?, mode: ResizeMode = .none, upscale: Bool = false) throws(RecipeError) {
        guard width != nil || height != nil else {
            throw RecipeError(parameter: "width", expected: "a width, a height or both", received: "neither")
        }
        if let width { self.width = try RecipeValue.length(width, "width") } else { self.width = nil }
        if let height { self.height = try RecipeValue.length(height, "height") } else { self.height = nil }
        self.mode = self.width == nil || self.height == nil ? .aspectFit : mode
        self.upscale = upscale
    }
}

/// The parameters of ``ImageProcessor/crop(_:)``.
public struct Crop: Hashable, Sendable {
    /// The size of the part; no more than the picture has is taken.
    public let size: PixelSize
    /// Where the part lies, 0 for the left edge, 1 for the right one.
    public let anchorX: Double
    /// Where the part lies, 0 for the top, 1 for the bottom.
    public let anchorY: Double

    /// A part of a picture; its middle by default.
    public init(size: PixelSize, anchorX: Double = 0.5, anchorY: Double = 0.5) throws(RecipeError) {
        self.size = size
        self.anchorX = try RecipeValue.number(anchorX, 0...1, "anchor.x")
        self.anchorY = try RecipeValue.number(anchorY, 0...1, "anchor.y")
    }
}

/// The parameters of ``ImageProcessor/roundCorner(_:)``.
public struct RoundCorner: Hashable, Sendable {
    /// Of the corners; at most half of the shorter side takes effect.
    public let radius: CornerRadius
    /// Which corners.
    public let corners: Corners
    /// The size that the picture is brought to first, covering it, the rest cut off around the middle; its own when nil.
    public let targetSize: PixelSize?
    /// What lies behind the corners; nothing when nil.
    public let background: RecipeColor?

    /// Rounded corners, all of them by default.
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
    /// Of the line.
    public let color: RecipeColor
    /// Of the line in pixels, within the picture.
    public let width: Double
    /// Of the line's corners.
    public let radius: CornerRadius
    /// Which corners of the line are round.
    public let corners: Corners

    /// A line along the edges, inside the picture.
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
    /// Added to every channel, -1…1; 0 changes nothing.
    public let brightness: Double
    /// Around the middle grey, 0…4; 1 changes nothing.
    public let contrast: Double
    /// 0…4; 0 for greys, 1 changes nothing.
    public let saturation: Double
    /// Exposure in stops, -10…10; 0 changes nothing.
    public let inputEV: Double

    /// Controls that change nothing by default.
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
    /// How the picture is mixed with what is below.
    public let mode: BlendMode
    /// Of the picture, 0…1.
    public let alpha: Double
    /// What is below; nothing when nil.
    public let background: RecipeColor?

    /// A picture mixed with a colour below it.
    public init(mode: BlendMode, alpha: Double = 1, background: RecipeColor? = nil) throws(RecipeError) {
        self.mode = mode
        self.alpha = try RecipeValue.number(alpha, 0...1, "alpha")
        self.background = background
    }
}

/// The parameters of ``ImageProcessor/compositing(_:)``.
public struct Compositing: Hashable, Sendable {
    /// How the picture is laid over what is below.
    public let operation: CompositingOperation
    /// Of the picture, 0…1.
    public let alpha: Double
    /// What is below; nothing when nil.
    public let background: RecipeColor?

    /// A picture laid over a colour.
    public init(operation: CompositingOperation, alpha: Double = 1, background: RecipeColor? = nil) throws(RecipeError)
    {
        self.operation = operation
        self.alpha = try RecipeValue.number(alpha, 0...1, "alpha")
        self.background = background
    }
}

/// The parameters of ``ImageProcessor/overlay(_:)``.
public struct Overlay: Hashable, Sendable {
    /// Laid over the picture where it is not transparent.
    public let color: RecipeColor
    /// How much of the picture shows through: 0 for the plain colour, 1 for the plain picture, as in Kingfisher.
    public let fraction: Double

    /// A colour over a picture.
    public init(color: RecipeColor, fraction: Double = 0.5) throws(RecipeError) {
        self.color = color
        self.fraction = try RecipeValue.number(fraction, 0...1, "fraction")
    }
}

/// The parameters of ``ImageProcessor/blur(_:)``.
public struct Blur: Hashable, Sendable {
    /// In pixels, 0…500; 0 changes nothing.
    public let radius: Double

    /// A Gaussian blur.
    public init(radius: Double) throws(RecipeError) {
        self.radius = try RecipeValue.number(radius, 0...500, "radius")
    }
}

/// The parameters of ``ImageProcessor/rotate(_:)``.
public enum Rotation: Hashable, Sendable {
    /// As the picture's EXIF orientation says, and no more; that is done to every picture that is processed.
    case auto
    /// Clockwise, 0..<360 to four decimal places; what is laid bare is transparent.
    case degrees(Double)

    /// A rotation by degrees, clockwise; whole turns are left out.
    ///
    /// - Throws: ``RecipeError`` beyond 36,000 either way.
    public static func byDegrees(_ degrees: Double) throws(RecipeError) -> Rotation {
        let degrees = try RecipeValue.number(degrees, -36_000...36_000, "degrees")
        let rest = degrees.truncatingRemainder(dividingBy: 360)
        let turned = try RecipeValue.number(rest < 0 ? rest + 360 : rest, 0...360, "degrees")
        return .degrees(turned == 360 ? 0 : turned)
    }
}

/// The parameters of ``ImageProcessor/format(_:)``.
public struct FormatChange: Hashable, Sendable {
    /// What the result is written in.
    public let format: EncodedFormat
    /// 1…100; the format's default when nil.
    public let quality: Int?

    /// Another format.
    public init(to format: EncodedFormat, quality: Double? = nil) throws(RecipeError) {
        self.format = format
        if let quality {
            self.quality = Int(try RecipeValue.number(quality, 1...100, "quality").rounded())
        } else {
            self.quality = nil
        }
    }
}
