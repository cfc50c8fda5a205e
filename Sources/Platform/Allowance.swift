internal import Synchronization

/// Bounds how many bytes are held at once by those that may wait, but need not.
package final class Allowance: Sendable {
    private let limit: Int
    private let held = Atomic(0)

    /// - Parameter limit: How many bytes there are in all.
    package init(bytes limit: Int) { self.limit = limit }

    /// Takes so many bytes, if they are left.
    package func take(_ count: Int) -> Bool {
        let (_, now) = held.add(count, ordering: .relaxed)
        if now <= limit { return true }
        giveBack(count)
        return false
    }

    /// Gives back what was taken.
    package func giveBack(_ count: Int) { held.subtract(count, ordering: .relaxed) }
}
