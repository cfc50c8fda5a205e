/// The parameters of ``ImageProcessor/pad(_:)``.
public struct Pad: Hashable, Sendable {
    /// The size of the result.
    public let size: PixelSize
    /// The colour around the image and behind it; transparent when `nil`.
    public let background: RecipeColor?
    /// The place of the image on the ground.
    public let gravity: Gravity
    /// `true` when a smaller image is enlarged until it touches two sides.
    public let upscale: Bool

    /// A ground of that size. Default: a transparent one, with the image in its middle and not enlarged.
    public init(
        size: PixelSize, background: RecipeColor? = nil, gravity: Gravity = .center, upscale: Bool = false
    ) throws(RecipeError) {
        self.size = size
        // One text for what is the same.
        self.background = background?.alpha == 0 ? nil : background
        self.gravity = gravity
        self.upscale = upscale
    }
}

/// The place of an image on a larger one.
public enum Gravity: String, Hashable, Sendable, CaseIterable {
    case center, top, bottom, left, right, topLeft, topRight, bottomLeft, bottomRight

    /// The part of the room that is at the left of the image: 0, 0.5 or 1.
    public var horizontal: Double {
        switch self {
        case .left, .topLeft, .bottomLeft: 0
        case .center, .top, .bottom: 0.5
        case .right, .topRight, .bottomRight: 1
        }
    }

    /// The part of the room that is above the image: 0, 0.5 or 1.
    public var vertical: Double {
        switch self {
        case .top, .topLeft, .topRight: 0
        case .center, .left, .right: 0.5
        case .bottom, .bottomLeft, .bottomRight: 1
        }
    }
}

/// The parameters of ``ImageProcessor/circle(_:)``.
public struct Circle: Hashable, Sendable {
    /// The diameter that the image is resized to first; the shorter side of the image when `nil`.
    public let diameter: Int?
    /// The colour around the circle; transparent when `nil`.
    public let background: RecipeColor?
    private let given: AsGiven<Double?>

    /// A circle. Default: as large as the image allows, on a transparent ground.
    public init(diameter: Double? = nil, background: RecipeColor? = nil) throws(RecipeError) {
        if let diameter {
            self.diameter = try RecipeValue.length(diameter, "diameter")
        } else {
            self.diameter = nil
        }
        self.background = background?.alpha == 0 ? nil : background
        given = AsGiven(value: diameter)
    }

    func scaled(by factor: Double) throws(RecipeError) -> Circle {
        try Circle(diameter: given.value.map { $0 * factor }, background: background)
    }
}

/// The parameters of ``ImageProcessor/flip(_:)``.
public struct Flip: Hashable, Sendable {
    /// `true` when left and right are exchanged.
    public let horizontal: Bool
    /// `true` when top and bottom are exchanged.
    public let vertical: Bool

    /// A reflection in at least one direction.
    public init(horizontal: Bool = false, vertical: Bool = false) throws(RecipeError) {
        guard horizontal || vertical else {
            throw RecipeError(parameter: "horizontal", expected: "horizontal, vertical or both", received: "neither")
        }
        self.horizontal = horizontal
        self.vertical = vertical
    }
}

/// The parameters of ``ImageProcessor/trim(_:)``.
public struct Trim: Hashable, Sendable {
    /// The largest difference to the first pixel, in any channel of 255, that still counts as margin.
    public let tolerance: Double

    /// A removal of margins. Default: with a tolerance of 10, which the noise of a JPEG does not exceed.
    public init(tolerance: Double = 10) throws(RecipeError) {
        self.tolerance = try RecipeValue.number(tolerance, 0...255, "tolerance")
    }
}
