/// Lengths as they were given, before they were rounded: a factor multiplies these. They make no difference between recipes.
struct AsGiven<Value: Sendable>: Hashable, Sendable {
    let value: Value

    static func == (one: AsGiven, other: AsGiven) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

/// A size in whole pixels, at least 1 × 1.
public struct PixelSize: Hashable, Sendable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    private let given: AsGiven<(width: Double, height: Double)>

    /// A size; fractions are rounded to the nearest pixel.
    ///
    /// - Throws: ``RecipeError`` for NaN, infinities, values that are not above 0, and values above 65,535.
    public init(width: Double, height: Double) throws(RecipeError) {
        self.width = try RecipeValue.length(width, "width")
        self.height = try RecipeValue.length(height, "height")
        given = AsGiven(value: (width, height))
    }

    func scaled(by factor: Double) throws(RecipeError) -> PixelSize {
        try PixelSize(width: given.value.width * factor, height: given.value.height * factor)
    }
}

/// A set of corners that a processor applies to.
public struct Corners: OptionSet, Hashable, Sendable {
    /// The bits of the corners.
    public let rawValue: UInt8

    /// The corners with the given bits; other bits are ignored.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 15 }

    /// The start of the first row.
    public static let topLeft = Corners(rawValue: 1)
    /// The end of the first row.
    public static let topRight = Corners(rawValue: 2)
    /// The start of the last row.
    public static let bottomLeft = Corners(rawValue: 4)
    /// The end of the last row.
    public static let bottomRight = Corners(rawValue: 8)
    /// All four corners.
    public static let all = Corners(rawValue: 15)

    /// The single corners with their names in the protocol, in the order of identifiers.
    public static let named: [(name: String, corner: Corners)] = [
        ("topLeft", .topLeft), ("topRight", .topRight), ("bottomLeft", .bottomLeft), ("bottomRight", .bottomRight),
    ]

    /// `all`, or the names joined by `+`.
    var text: String {
        self == .all
            ? "all" : Corners.named.filter { contains($0.corner) }.map(\.name).joined(separator: "+")
    }
}

/// The radius of a corner.
public enum CornerRadius: Hashable, Sendable {
    /// The radius in pixels, 0…65,535.
    case pixels(Double)
    /// The radius as a fraction of the shorter side, 0…0.5; 0.5 makes a circle of a square.
    case fraction(Double)

    func validated(_ parameter: String) throws(RecipeError) -> CornerRadius {
        switch self {
        case .pixels(let value): .pixels(try RecipeValue.number(value, 0...RecipeValue.longestSide, parameter))
        case .fraction(let value): .fraction(try RecipeValue.number(value, 0...0.5, "\(parameter).fraction"))
        }
    }

    /// The canonical text: the number of pixels, or `fraction:` and the fraction.
    var text: String {
        switch self {
        case .pixels(let value): RecipeValue.text(value)
        case .fraction(let value): "fraction:" + RecipeValue.text(value)
        }
    }
}

/// The treatment of the aspect ratio when an image is resized.
public enum ResizeMode: String, Hashable, Sendable, CaseIterable {
    /// The image is stretched to the size.
    case none
    /// The image keeps its aspect ratio and fits within the size.
    case aspectFit
    /// The image keeps its aspect ratio and covers the size; it may exceed it.
    case aspectFill
}

/// The weights by which the pixels of a resized image are made of those of the original, by their names in libvips. Where
/// an image becomes larger, `mitchell` and `lanczos2` are cubic.
public enum ResizeKernel: String, Hashable, Sendable, CaseIterable {
    /// Each pixel is the one of the original at its centre: sharp squares, for pixel art.
    case nearest
    case linear
    case cubic
    case mitchell
    case lanczos2
    /// The default.
    case lanczos3
}

/// A point of an image as fractions of its width and height.
public struct FocalPoint: Hashable, Sendable {
    /// 0 for the left edge, 1 for the right edge.
    public let x: Double
    /// 0 for the top, 1 for the bottom.
    public let y: Double

    /// A point. Default: the middle.
    public init(x: Double = 0.5, y: Double = 0.5) throws(RecipeError) {
        self.x = try RecipeValue.number(x, 0...1, "focus.x")
        self.y = try RecipeValue.number(y, 0...1, "focus.y")
    }
}

/// The ways to blend an image with a colour below it (W3C Compositing and Blending, section 9).
public enum BlendMode: String, Hashable, Sendable, CaseIterable {
    case normal, multiply, screen, overlay, darken, lighten, colorDodge, colorBurn, hardLight, softLight, difference
    case exclusion
}

/// The ways to composite an image with a colour (Porter and Duff; W3C Compositing and Blending, section 5).
public enum CompositingOperation: String, Hashable, Sendable, CaseIterable {
    case clear, copy, sourceOver, sourceIn, sourceOut, sourceAtop, destinationOver, destinationIn, destinationOut
    case destinationAtop, xor, plusLighter
}
