/// The clocks of the engine, so that tests can hold them.
public struct EngineClock: Sendable {
    /// Nanoseconds of a clock that never goes back; for waiting and for life in memory.
    public var monotonic: @Sendable () -> Int
    /// Seconds since 1970; for what clients read.
    public var wall: @Sendable () -> Int
    /// Nanoseconds since the machine was started, the same for all its processes; for life on disk and leases.
    public var boot: @Sendable () -> Int
    /// A number that is another one after every start of the machine.
    public var bootNumber: @Sendable () -> Int

    /// Clocks that read as the functions say; a machine that was started when `monotonic` was 0 unless told otherwise.
    public init(
        monotonic: @escaping @Sendable () -> Int, wall: @escaping @Sendable () -> Int,
        boot: (@Sendable () -> Int)? = nil, bootNumber: @escaping @Sendable () -> Int = { 1 }
    ) {
        self.monotonic = monotonic
        self.wall = wall
        self.boot = boot ?? monotonic
        self.bootNumber = bootNumber
    }

    /// The clocks of the system.
    public static let system = EngineClock(
        monotonic: { monotonicNanoseconds() }, wall: { wallSeconds() }, boot: { bootNanoseconds() },
        bootNumber: { Platform.bootNumber() })
}
