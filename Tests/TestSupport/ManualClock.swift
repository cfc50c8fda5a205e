import Synchronization

/// A clock that only moves when the test says so.
public final class ManualClock: Sendable {
    private let nanoseconds: Atomic<Int>

    /// A clock at `seconds`.
    public init(seconds: Int = 1_000_000) { nanoseconds = Atomic(seconds * 1_000_000_000) }

    /// The time, in nanoseconds.
    public var now: Int { nanoseconds.load(ordering: .relaxed) }

    /// The time, in whole seconds.
    public var seconds: Int { now / 1_000_000_000 }

    /// Moves the clock; a negative number moves it back.
    public func advance(seconds: Double) {
        nanoseconds.add(Int(seconds * 1e9), ordering: .relaxed)
    }
}
