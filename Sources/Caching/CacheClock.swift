internal import HTTPSemantics
internal import Platform
internal import Synchronization

/// The time of one cache: seconds that all processes on its folder share and that no change of the wall clock moves.
///
/// It looks like seconds since 1970 and is that as long as nobody sets the clock. While the machine runs it goes by the time
/// since its start; over a restart it goes on by the wall clock's difference, and never back. So an entry neither expires
/// nor lives for ever because a clock was wrong for a while.
package final class CacheClock: Sendable {
    /// A moment by all clocks, as the index keeps it.
    struct Anchor: Equatable, Sendable {
        /// The number of the start of the machine; 0 when it was not known.
        var bootNumber: Int
        /// Seconds since that start.
        var boot: Int
        /// Seconds since 1970, by the wall clock.
        var wall: Int
        /// The cache's time.
        var time: Int
    }

    /// The seconds that an index may speak of: up to the year 9999.
    static var times: ClosedRange<Int> { HTTPDate.years }

    private let clock: EngineClock
    /// The cache's time minus the time since the machine's start.
    private let offset: Atomic<Int>
    /// The wall clock minus the cache's time, at the last look.
    private let difference = Atomic(0)

    init(_ clock: EngineClock) {
        self.clock = clock
        offset = Atomic(clock.wall() - clock.boot() / 1_000_000_000)
    }

    /// The cache's time, in seconds.
    package var now: Int { boot + offset.load(ordering: .relaxed) }

    /// The number of the start of the machine; 0 as long as it is not known.
    var bootNumber: Int { clock.bootNumber() }

    /// Seconds since the start of the machine.
    var boot: Int { clock.boot() / 1_000_000_000 }

    var anchor: Anchor { Anchor(bootNumber: bootNumber, boot: boot, wall: clock.wall(), time: now) }

    /// Goes by the anchor of an index from now on.
    func follow(_ anchor: Anchor) {
        let boot = boot
        let time = Self.time(after: anchor, bootNumber: bootNumber, boot: boot, wall: clock.wall())
        offset.store(time - boot, ordering: .relaxed)
    }

    /// The cache's time at a moment, by an earlier anchor.
    static func time(after anchor: Anchor, bootNumber: Int, boot: Int, wall: Int) -> Int {
        if anchor.bootNumber == bootNumber, boot >= anchor.boot { return anchor.time + (boot - anchor.boot) }
        return anchor.time + max(0, wall - anchor.wall)
    }

    /// A moment of the cache's time as seconds since 1970 by the wall clock as it goes now.
    package func wall(_ time: Int) -> Int {
        let found = clock.wall() - now
        let kept = difference.load(ordering: .relaxed)
        // Seconds begin at another moment on each clock: a difference of one does not mean that one of them was set.
        if abs(found &- kept) <= 1 { return time + kept }
        difference.store(found, ordering: .relaxed)
        return time + found
    }

    /// Seconds since 1970 by the wall clock.
    package var wallNow: Int { wall(now) }
}
