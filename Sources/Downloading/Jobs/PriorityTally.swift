internal import Platform

/// The priorities of all requests that wait for the same result. Knows the highest without visiting each of them.
///
/// Adding one, or removing one that is not the last of the highest, takes O(1). Removing the last of the highest takes
/// O(distinct priorities).
public struct PriorityTally: Sendable {
    private var counts = OneOrMany<Double, Int>()
    /// The highest priority. `nil`: nobody waits.
    public private(set) var most: Double?

    /// Creates an empty tally.
    public init() {}

    /// Adds a priority.
    public mutating func add(_ value: Double) {
        counts[value] = (counts[value] ?? 0) + 1
        most = max(most ?? value, value)
    }

    /// Removes a priority that was added.
    public mutating func remove(_ value: Double) {
        guard let count = counts[value] else { return }
        counts[value] = count > 1 ? count - 1 : nil
        if count == 1, value == most { most = counts.keys.max() }
    }
}
