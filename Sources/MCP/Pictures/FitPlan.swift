internal import ImageEngine

/// The order in which a picture is made smaller until it fits into a result: its size shrinks to a half, then its quality
/// goes down, then its size shrinks further. A plain value.
struct FitPlan: Equatable, Sendable {
    /// One way to make the picture.
    struct Attempt: Equatable, Sendable {
        /// The largest side in pixels.
        var side: Int
        var format: EncodedFormat
        /// `nil` for a format without loss.
        var quality: Int?
    }

    /// The smallest side that still shows something, in pixels.
    static let smallestSide = 64
    /// The quality at first, and the lower ones.
    static let qualities = [85, 60, 40]
    /// The part of the wanted size down to which the quality stays.
    static let comfort = 0.5

    private let side: Int
    private let limit: Int
    /// `true` when JPEG may take the place of a format without loss.
    var mayLose: Bool
    private(set) var attempt: Attempt

    /// A plan for a picture of at most `limit` bytes.
    ///
    /// - Parameters:
    ///   - side: The largest side that is wanted, in pixels; at most that of the picture.
    ///   - mayLose: `true` when JPEG may take the place of a format without loss.
    init(side: Int, format: EncodedFormat, limit: Int, mayLose: Bool) {
        (self.side, self.limit, self.mayLose) = (side, limit, mayLose)
        attempt = Attempt(side: side, format: format, quality: format.isLossy ? Self.qualities[0] : nil)
    }

    /// Moves on to the next attempt.
    ///
    /// - Parameter bytes: The size of the file that the last attempt made.
    /// - Returns: `false` when there is none: then the picture is not shown.
    mutating func shrink(after bytes: Int) -> Bool {
        if attempt.quality == nil, mayLose {
            (attempt.format, attempt.quality) = (.jpeg, Self.qualities[0])
            return true
        }
        // A file shrinks about as its pixels do.
        let part = Double(limit) / Double(max(bytes, 1))
        let ideal = min(Int(Double(attempt.side) * part.squareRoot() * 0.95), attempt.side * 9 / 10)
        let least = attempt.quality == nil ? 0 : Int(Double(side) * Self.comfort)
        if attempt.side > least {
            attempt.side = max(ideal, least)
        } else if let lower = Self.qualities.first(where: { $0 < attempt.quality ?? 0 }) {
            attempt.quality = lower
        } else {
            attempt.side = ideal
        }
        return attempt.side >= Self.smallestSide
    }
}
