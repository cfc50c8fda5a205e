internal import Synchronization

/// Bounds the number of bytes that are held at once, for work that can also wait.
final class Allowance: Sendable {
    private let limit: Int
    private let held = Atomic(0)

    /// - Parameter limit: The number of bytes in all.
    init(bytes limit: Int) { self.limit = limit }

    /// Takes so many bytes, if they are left.
    func take(_ count: Int) -> Bool {
        if held.add(count, ordering: .relaxed).newValue <= limit { return true }
        giveBack(count)
        return false
    }

    func giveBack(_ count: Int) { held.subtract(count, ordering: .relaxed) }
}
