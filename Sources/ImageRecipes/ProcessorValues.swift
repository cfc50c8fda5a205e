/// A size in whole pixels, at least 1 × 1.
public struct PixelSize: Hashable, Sendable {
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int

    /// A size; fractions are rounded to the nearest pixel.
    ///
    /// - Throws: ``RecipeError`` for NaN, infinities, what is not above 0, and more than 65,535.
    public init(width: Double, height: Double) throws(RecipeError) {
        self.width = try RecipeValue.length(width, "width")
        self.height = try RecipeValue.length(height, "height")
    }
}

/// Which corners something is done to.
public struct Corners: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Corners with the given bits; others are left out.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 15 }

    /// Where the picture begins.
    public static let topLeft = Corners(rawValue: 1)
    /// The end of its first row.
    public static let topRight = Corners(rawValue: 2)
    /// The start of its last row.
    public static let bottomLeft = Corners(rawValue: 4)
    /// Where it ends.
    public static let bottomRight = Corners(rawValue: 8)
    /// All four.
    public static let all = Corners(rawValue: 15)

    /// The single corners, by their names on the wire, in the order of identifiers.
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
    /// In pixels, 0…65,535.
    case pixels(Double)
    /// A part of the shorter side, 0…0.5; 0.5 makes a circle of a square.
    case fraction(Double)

    func validated(_ parameter: String) throws(RecipeError) -> CornerRadius {
        switch self {
        case .pixels(let value): .pixels(try RecipeValue.number(value, 0...RecipeValue.longestSide, parameter))
        case .fraction(let value): .fraction(try RecipeValue.number(value, 0...0.5, "\(parameter).fraction"))
        }
    }

    /// The number of pixels, or the fraction in percent of the shorter side.
    var text: String {
        switch self {
        case .pixels(let value): RecipeValue.text(value)
        case .fraction(let value): "fraction:" + RecipeValue.text(value)
        }
    }
}

/// How a picture takes a size that has another shape.
public enum ResizeMode: String, Hashable, Sendable, CaseIterable {
    /// It is stretched.
    case none
    /// It keeps its shape and lies within the size.
    case aspectFit
    /// It keeps its shape and covers the size, and may exceed it.
    case aspectFill
}

/// How a picture is mixed with a colour below it (W3C Compositing and Blending, section 9).
public enum BlendMode: String, Hashable, Sendable, CaseIterable {
    case normal, multiply, screen, overlay, darken, lighten, colorDodge, colorBurn, hardLight, softLight, difference
    case exclusion
}

/// How a picture is laid over a colour (Porter and Duff; W3C Compositing and Blending, section 5).
public enum CompositingOperation: String, Hashable, Sendable, CaseIterable {
    case clear, copy, sourceOver, sourceIn, sourceOut, sourceAtop, destinationOver, destinationIn, destinationOut
    case destinationAtop, xor, plusLighter
}

/// A format that pictures can be written in.
public enum EncodedFormat: String, Hashable, Sendable, CaseIterable {
    case png, jpeg, gif, webp, avif, heic, tiff, bmp, ico, jxl

    /// Whether the format keeps transparency.
    public var hasAlpha: Bool { self != .jpeg }
}
