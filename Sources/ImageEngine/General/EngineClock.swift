internal import Platform

/// The two clocks of the engine, so that tests can hold them.
public struct EngineClock: Sendable {
    /// Nanoseconds of a clock that never goes back; for waiting and for life in memory.
    public var monotonic: @Sendable () -> Int
    /// Seconds since 1970; for what outlives the process.
    public var wall: @Sendable () -> Int

    /// Clocks that read as the functions say.
    public init(monotonic: @escaping @Sendable () -> Int, wall: @escaping @Sendable () -> Int) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// The clocks of the system.
    public static let system = EngineClock(monotonic: { monotonicNanoseconds() }, wall: { wallSeconds() })
}
