/// The parameters of ``ImageProcessor/crop(_:)``: the size of the part, and its place.
public struct Crop: Hashable, Sendable {
    /// The unit of the lengths.
    public enum Unit: String, Hashable, Sendable, CaseIterable {
        /// Whole pixels.
        case pixels
        /// Parts of the width and the height of the image, 0…1.
        case fraction
    }

    /// The property of the pixels by which a part is chosen.
    public enum Interest: String, Hashable, Sendable, CaseIterable {
        /// The part that draws the eye first: edges, saturated colours and skin.
        case smart
        /// The part with the largest entropy, that is with the most detail.
        case entropy
    }

    /// The choice of the part.
    public enum Place: Hashable, Sendable {
        /// By what is cut off: 0 for the part at the left or the top, 1 for the part at the right or the bottom.
        case anchor(x: Double, y: Double)
        /// By the top left corner of the part, in the unit of the size. The part must lie within the image.
        case corner(x: Double, y: Double)
        /// By the pixels. One part is taken for all frames of an animation, by the first one.
        case interest(Interest)
    }

    /// The width of the part: whole pixels from 1, or a fraction above 0.
    public let width: Double
    /// The height of the part: whole pixels from 1, or a fraction above 0.
    public let height: Double
    /// The unit of the size and of a corner.
    public let unit: Unit
    /// The choice of the part. A part that is placed otherwise than by its corner is limited to the size of the image.
    public let place: Place
    private let given: AsGiven<(width: Double, height: Double, place: Place)>

    /// A part of an image. Default: of whole pixels, from the middle.
    ///
    /// - Throws: ``RecipeError`` for sizes and places out of range, and for fractions that end outside of the image.
    public init(
        width: Double, height: Double, unit: Unit = .pixels, place: Place = .anchor(x: 0.5, y: 0.5)
    ) throws(RecipeError) {
        func length(_ value: Double, _ name: String) throws(RecipeError) -> Double {
            unit == .pixels ? Double(try RecipeValue.length(value, name)) : try RecipeValue.part(value, name)
        }
        func corner(_ value: Double, _ length: Double, _ name: String) throws(RecipeError) -> Double {
            if unit == .pixels { return try RecipeValue.number(value, 0...RecipeValue.longestSide, name).rounded() }
            // Without the error of the sum.
            let most = ((1 - length) * 10_000).rounded() / 10_000
            return try RecipeValue.number(value, 0...most, name)
        }
        self.unit = unit
        given = AsGiven(value: (width, height, place))
        self.width = try length(width, "width")
        self.height = try length(height, "height")
        switch place {
        case .anchor(let x, let y):
            self.place = .anchor(
                x: try RecipeValue.number(x, 0...1, "anchor.x"), y: try RecipeValue.number(y, 0...1, "anchor.y"))
        case .corner(let x, let y):
            self.place = .corner(x: try corner(x, self.width, "x"), y: try corner(y, self.height, "y"))
        case .interest: self.place = place
        }
    }

    /// A part of whole pixels, placed by what is cut off.
    public init(size: PixelSize, anchorX: Double = 0.5, anchorY: Double = 0.5) throws(RecipeError) {
        try self.init(
            width: Double(size.width), height: Double(size.height), place: .anchor(x: anchorX, y: anchorY))
    }

    /// The part with its lengths in pixels multiplied by a factor; fractions are unchanged.
    func scaled(by factor: Double) throws(RecipeError) -> Crop {
        guard unit == .pixels else { return self }
        var place = given.value.place
        if case .corner(let x, let y) = place { place = .corner(x: x * factor, y: y * factor) }
        return try Crop(width: given.value.width * factor, height: given.value.height * factor, place: place)
    }
}
