internal import CLinux

/// Tells when many things that were held are gone, so that the memory which they leave free in pieces is given back: the
/// allocator does that only with what lies at its end. A plain value.
package struct AllocatorTrimmer: Sendable {
    /// How many are worth it.
    package static let many = 1000

    private var most = 0

    /// None has been held.
    package init() {}

    /// Notes how many there are now; returns whether there were many, and now are none.
    package mutating func note(_ count: Int) -> Bool {
        most = max(most, count)
        guard count == 0, most >= Self.many else { return false }
        most = 0
        return true
    }

    /// Gives back to the system what is free. Takes milliseconds.
    package static func giveBack() { hl_trim_allocator() }
}
