internal import Platform

/// How urgent those are who wait for the same: a plain value that knows the most urgent without asking each of them.
///
/// Adding one, and taking one out that is not the last of the most urgent, costs the same however many there are; else
/// it costs as much as there are different priorities.
public struct PriorityTally: Sendable {
    private var counts = OneOrMany<Double, Int>()
    /// The highest of all; nil when nobody waits.
    public private(set) var most: Double?

    /// Nobody waits.
    public init() {}

    /// Adds one who waits.
    public mutating func add(_ value: Double) {
        counts[value] = (counts[value] ?? 0) + 1
        most = max(most ?? value, value)
    }

    /// Takes one out that was added.
    public mutating func remove(_ value: Double) {
        guard let count = counts[value] else { return }
        counts[value] = count > 1 ? count - 1 : nil
        if count == 1, value == most { most = counts.keys.max() }
    }
}
