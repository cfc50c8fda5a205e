/// The value of ``Lending/changeMark(of:)`` at some time.
struct ChangeMark: RawRepresentable, Equatable, Sendable {
    /// The generation of the table in the upper half, and the count of the changes in the lower one.
    let rawValue: UInt64

    init(rawValue: UInt64 = 0) { self.rawValue = rawValue }

    init(generation: UInt64, count: UInt32) {
        rawValue = (generation ^ generation >> 32) << 32 | UInt64(count)
    }

    /// The mark after so many more changes.
    func after(_ changes: Int) -> ChangeMark {
        let count = UInt32(truncatingIfNeeded: rawValue) &+ UInt32(truncatingIfNeeded: changes)
        return ChangeMark(generation: rawValue >> 32, count: count)
    }
}
