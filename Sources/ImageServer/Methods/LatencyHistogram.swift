/// How long things took, counted in steps that grow with the time: a plain value of fixed size.
///
/// Each power of two of nanoseconds has eight steps, so that a quantile is right to an eighth of itself.
struct LatencyHistogram: Sendable {
    /// Steps for each power of two.
    private static let steps = 8
    /// Up to 2^43 ns, a little over two hours; what takes longer is in the last step.
    private static let stepCount = 8 * 41

    private var counts = [Int](repeating: 0, count: stepCount)
    /// How many times were noted.
    private(set) var count = 0
    /// The longest time, in nanoseconds.
    private(set) var longest = 0

    /// Notes a time in nanoseconds.
    ///
    /// - Complexity: O(1).
    mutating func note(_ nanoseconds: Int) {
        let time = max(nanoseconds, 0)
        counts[Self.step(of: time)] += 1
        count += 1
        longest = max(longest, time)
    }

    /// A time that so large a part of all times does not surpass, in nanoseconds; 0 when none was noted.
    ///
    /// - Parameter part: 0…1: 0.5 for the median.
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

    /// The step that a time is in. Below eight each nanosecond has one.
    static func step(of time: Int) -> Int {
        guard time >= steps else { return time }
        // The three bits below the highest one.
        let power = Int.bitWidth - 1 - time.leadingZeroBitCount
        return min((power - 2) * steps + (time >> (power - 3)) - steps, stepCount - 1)
    }

    /// The longest time of a step.
    static func end(of step: Int) -> Int {
        guard step >= steps else { return step }
        let power = step / steps + 2
        return ((step % steps + steps + 1) << (power - 3)) - 1
    }
}
