internal import CLinux

/// Decides when memory is given back to the system: when many objects were held and all of them are gone. By itself the
/// allocator gives back only what lies at its end. A plain value.
package struct AllocatorTrimmer: Sendable {
    /// The number of objects that is worth it.
    package static let many = 1000

    private var most = 0

    package init() {}

    /// Records the number of objects now; returns `true` when there were many and now are none.
    package mutating func note(_ count: Int) -> Bool {
        most = max(most, count)
        guard count == 0, most >= Self.many else { return false }
        most = 0
        return true
    }

    /// Gives free memory back to the system. Takes milliseconds.
    package static func giveBack() { hl_trim_allocator() }
}
