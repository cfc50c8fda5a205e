internal import Glibc
internal import Synchronization

/// Nanoseconds since an arbitrary moment; never goes backwards and does not follow changes of the wall clock.
package func monotonicNanoseconds() -> Int { nanoseconds(CLOCK_MONOTONIC) }

/// Nanoseconds since the machine was started, asleep or not; the same for all processes.
package func bootNanoseconds() -> Int { nanoseconds(CLOCK_BOOTTIME) }

private func nanoseconds(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The time that a file gets which is written now, in nanoseconds since 1970: this clock goes in steps of a few milliseconds.
func fileNanoseconds() -> Int { nanoseconds(CLOCK_REALTIME_COARSE) }

/// Seconds since 1970 by the wall clock, which may jump.
package func wallSeconds() -> Int { nanoseconds(CLOCK_REALTIME) / 1_000_000_000 }

private let knownBootNumber = Atomic(0)

/// A number that differs after every start of the machine; 0 when the system does not tell, as to a process that may open no
/// file just now.
package func bootNumber() -> Int {
    let known = knownBootNumber.load(ordering: .relaxed)
    if known != 0 { return known }
    let text = (try? Descriptor(reading: "/proc/sys/kernel/random/boot_id").bytes(36)) ?? []
    // 15 hexadecimal digits of a random number.
    let digits = String(decoding: text, as: UTF8.self).filter { $0 != "-" }.prefix(15)
    let number = text.count == 36 ? Int(digits, radix: 16) ?? 0 : 0
    knownBootNumber.store(number, ordering: .relaxed)
    return number
}

/// The clocks of the engine, which tests replace.
public struct EngineClock: Sendable {
    /// Nanoseconds of a clock that never goes back; for waiting and for life in memory.
    public var monotonic: @Sendable () -> Int
    /// Seconds since 1970, as clients read them.
    public var wall: @Sendable () -> Int
    /// Nanoseconds since the machine was started, the same for all its processes; for life on disk and leases.
    public var boot: @Sendable () -> Int
    /// A number that differs after every start of the machine; 0 as long as it is not known.
    public var bootNumber: @Sendable () -> Int

    /// Clocks that read as the functions say. Unless `boot` is given, the machine was started when `monotonic` was 0.
    public init(
        monotonic: @escaping @Sendable () -> Int, wall: @escaping @Sendable () -> Int,
        boot: (@Sendable () -> Int)? = nil, bootNumber: @escaping @Sendable () -> Int = { 1 }
    ) {
        (self.monotonic, self.wall, self.boot, self.bootNumber) = (monotonic, wall, boot ?? monotonic, bootNumber)
    }

    /// The clocks of the system.
    public static let system = EngineClock(
        monotonic: monotonicNanoseconds, wall: wallSeconds, boot: bootNanoseconds, bootNumber: Platform.bootNumber)
}
