/// The error for a value that a processor does not accept.
public struct RecipeError: Error, Hashable, Sendable {
    /// The name of the parameter in the protocol.
    public let parameter: String
    /// The accepted values, as in "a number from 0 to 1".
    public let expected: String
    /// The received value.
    public let received: String

    /// An error for the given parameter.
    public init(parameter: String, expected: String, received: String) {
        self.parameter = parameter
        self.expected = expected
        self.received = received
    }
}

/// The checks and the canonical forms that all values of processors share.
///
/// A number is rounded to four decimal places and a length to whole pixels, so that two numbers with the same meaning
/// have one text on every machine.
enum RecipeValue {
    /// The longest side of any result, in pixels: the limit of JPEG.
    static let longestSide = 65_535.0

    /// The number rounded to four decimal places, if it lies in the range; -0 becomes 0.
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

    /// A part of a whole, above 0 and up to 1, rounded to four decimal places and at least 0.0001.
    static func part(_ value: Double, _ parameter: String) throws(RecipeError) -> Double {
        guard value.isFinite, value > 0, value <= 1 else {
            throw RecipeError(
                parameter: parameter, expected: "a fraction above 0 and up to 1", received: text(value))
        }
        return max(1, (value * 10_000).rounded()) / 10_000
    }

    /// The shortest text of the number, without a fraction when it has none.
    static func text(_ value: Double) -> String {
        if value == 0 { return "0" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : value.description
    }
}
