/// A histogram of durations with bins that grow with the duration: a plain value of fixed size.
///
/// Each power of two of nanoseconds has eight bins, so that a quantile has a relative error of at most an eighth.
struct LatencyHistogram: Sendable {
    /// The number of bins for each power of two.
    private static let steps = 8
    /// The number of bins, up to 2^43 ns, a little over two hours; longer durations are in the last bin.
    private static let stepCount = 8 * 41

    private var counts = [Int](repeating: 0, count: stepCount)
    /// The number of recorded durations.
    private(set) var count = 0
    /// The longest duration, in nanoseconds.
    private(set) var longest = 0
    /// The sum of all durations, in nanoseconds.
    private(set) var sum = 0

    /// Records a duration in nanoseconds.
    ///
    /// - Complexity: O(1).
    mutating func record(_ nanoseconds: Int) {
        let time = max(nanoseconds, 0)
        counts[Self.step(of: time)] += 1
        count += 1
        longest = max(longest, time)
        sum &+= time
    }

    /// The duration that the given part of all durations does not exceed, in nanoseconds; 0 when none is recorded.
    ///
    /// - Parameter part: The quantile, 0…1: 0.5 for the median.
    func quantile(_ part: Double) -> Int {
        guard count > 0 else { return 0 }
        let rank = max(Int((part * Double(count)).rounded(.up)), 1)
        var seen = 0
        for (step, number) in counts.enumerated() {
            seen += number
            if seen >= rank { return min(Self.end(of: step), longest) }
        }
        return longest
    }

    /// The number of durations in bins that end within so many nanoseconds.
    func count(within nanoseconds: Int) -> Int {
        counts.enumerated().reduce(0) { Self.end(of: $1.offset) <= nanoseconds ? $0 + $1.element : $0 }
    }

    /// The bin of a duration. Below eight, each nanosecond has its own bin.
    static func step(of time: Int) -> Int {
        guard time >= steps else { return time }
        // The bin within the power of two is given by the three bits below the highest one.
        let power = Int.bitWidth - 1 - time.leadingZeroBitCount
        return min((power - 2) * steps + (time >> (power - 3)) - steps, stepCount - 1)
    }

    /// The longest duration of a bin.
    static func end(of step: Int) -> Int {
        guard step >= steps else { return step }
        let power = step / steps + 2
        return ((step % steps + steps + 1) << (power - 3)) - 1
    }
}
