/// A value that a processor cannot take.
public struct RecipeError: Error, Hashable, Sendable {
    /// The name of the parameter, as on the wire.
    public let parameter: String
    /// What it may be, as in "a number from 0 to 1".
    public let expected: String
    /// What it was.
    public let received: String

    /// A value that cannot be taken.
    public init(parameter: String, expected: String, received: String) {
        self.parameter = parameter
        self.expected = expected
        self.received = received
    }
}

/// The checks and the canonical forms that all values of processors share.
///
/// A number is kept to four decimal places and a length to whole pixels, so that two numbers that mean the same have one text, whatever the machine (B-093).
enum RecipeValue {
    /// The longest side of anything that is made, in pixels: what a JPEG can hold.
    static let longestSide = 65_535.0

    /// A number of the range, to four decimal places; -0 is 0.
    static func number(_ value: Double, _ range: ClosedRange<Double>, _ parameter: String) throws(RecipeError) -> Double
    {
        guard value.isFinite, range.contains(value) else {
            throw RecipeError(
                parameter: parameter, expected: "a number from \(text(range.lowerBound)) to \(text(range.upperBound))",
                received: text(value))
        }
        return (value * 10_000).rounded() / 10_000 + 0
    }

    /// A length in whole pixels, at least one.
    static func length(_ value: Double, _ parameter: String) throws(RecipeError) -> Int {
        guard value.isFinite, value > 0, value <= longestSide else {
            throw RecipeError(
                parameter: parameter, expected: "a number of pixels above 0 and up to \(text(longestSide))",
                received: text(value))
        }
        return max(1, Int(value.rounded()))
    }

    /// The shortest text that names the number, without a fraction when it has none.
    static func text(_ value: Double) -> String {
        if value == 0 { return "0" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : value.description
    }
}
