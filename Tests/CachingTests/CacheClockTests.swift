import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

private let day = 86_400.0
private let start = 1_800_000_000

/// The time of a cache goes on evenly, whatever becomes of the wall clock.
@Suite struct CacheClockTests {
    /// Where the wall clock is set to, in seconds.
    static let jumps = [start + 400 * 86_400, start - 400 * 86_400, 0, 4_300_000_000]

    private let wall = ManualClock(seconds: start)
    private let boot = ManualClock(seconds: 5000)

    private func clock(_ bootNumber: Int = 1) -> CacheClock {
        let (wall, boot) = (wall, boot)
        return CacheClock(
            EngineClock(
                monotonic: { 0 }, wall: { wall.seconds }, boot: { boot.now }, bootNumber: { bootNumber }))
    }

    private func set(_ clock: ManualClock, to seconds: Int) {
        clock.advance(seconds: Double(seconds - clock.seconds))
    }

    @Test func aNewCacheGoesByTheWallClock() {
        #expect(clock().now == start)
        #expect(clock().anchor == .init(bootNumber: 1, boot: 5000, wall: start, time: start))
    }

    @Test(arguments: jumps)
    func settingTheWallClockMovesNothingWhileTheMachineRuns(_ moment: Int) {
        let one = clock()
        let anchor = one.anchor
        set(wall, to: moment)
        #expect(one.now == start)
        boot.advance(seconds: 7)
        #expect(one.now == start + 7)
        let other = clock()
        other.follow(anchor)
        #expect(other.now == start + 7, "a process that begins now goes by the others' time")
        #expect(one.wall(one.now + 60) == moment + 60, "what is told follows the wall clock")
        #expect(one.wallNow == moment)
    }

    @Test(arguments: [0, 1, 40, 400 * 86_400])
    func aStartOfTheMachineTakesTheWallClocksDifference(_ pause: Int) {
        let anchor = clock().anchor
        set(wall, to: start + pause)
        set(boot, to: 3)
        let after = clock(2)
        after.follow(anchor)
        #expect(after.now == start + pause)
    }

    @Test(arguments: [-1, -400 * 86_400, -start])
    func aStartOfTheMachineNeverTakesTimeBack(_ difference: Int) {
        let anchor = clock().anchor
        set(wall, to: start + difference)
        set(boot, to: 3)
        let after = clock(2)
        after.follow(anchor)
        #expect(after.now == start)
        boot.advance(seconds: 9)
        #expect(after.now == start + 9)
    }

    /// The same number of a start and a lower count of seconds: an image of a machine was put back.
    @Test func aMachineThatWasPutBackGoesByTheWallClock() {
        let time = CacheClock.time(
            after: .init(bootNumber: 1, boot: 9000, wall: start, time: start), bootNumber: 1, boot: 5000,
            wall: start + 5)
        #expect(time == start + 5)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func noAnchorTrapsOrTakesTimeBack(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let extremes = [0, 1, start, CacheClock.times.upperBound]
        func any() -> Int {
            extremes.randomElement(using: &generator) ?? Int.random(in: CacheClock.times, using: &generator)
        }
        for _ in 0..<2000 {
            let anchor = CacheClock.Anchor(
                bootNumber: Int.random(in: .min ... .max, using: &generator), boot: any(), wall: any(), time: any())
            for number in [anchor.bootNumber, 1] {
                let time = CacheClock.time(after: anchor, bootNumber: number, boot: any(), wall: any())
                #expect(time >= anchor.time, "seed \(seed)")
            }
        }
    }

    // MARK: Through the storage

    private let picture = hollowPNG(width: 7)

    @Test(arguments: jumps)
    func settingTheWallClockNeitherExpiresNorKeepsAnything(_ moment: Int) throws {
        let disk = try TestDisk(clock: boot, wall: wall) { $0.expiration = .seconds(100) }
        try disk.store(picture, "before")
        set(wall, to: moment)
        for disk in [disk, try disk.reopened { $0.expiration = .seconds(100) }] {
            #expect(try disk.record("before")?.expiresAt == moment + 100, "told by the clock as it goes")
            #expect(try disk.disk.removeExpired().isEmpty)
            try disk.store(picture, "after")
        }
        disk.wait(99)
        #expect(try disk.record("before") != nil)
        #expect(try disk.record("after") != nil)
        disk.wait(1)
        #expect(try disk.record("before") == nil)
        #expect(try disk.record("after") == nil)
        #expect(try disk.reopened().disk.removeExpired().count == 2)
        #expect(try disk.check().isClean)
    }

    @Test func lifeGoesOnOverAStartOfTheMachine() throws {
        let before = try TestDisk(clock: boot, wall: wall)
        try before.store(picture, "a", expiration: .seconds(100))
        wall.advance(seconds: 40)
        let after = try before.restarted()
        #expect(try after.record("a")?.expiresAt == start + 100)
        after.wait(59)
        #expect(try after.record("a") != nil)
        after.wait(1)
        #expect(try after.record("a") == nil)
    }

    @Test func aStartOfTheMachineWithAWrongClockStopsTimeAndNoMore() throws {
        let before = try TestDisk(clock: boot, wall: wall)
        try before.store(picture, "a", expiration: .seconds(100))
        set(wall, to: 0)
        let lost = try before.restarted()
        #expect(try lost.record("a")?.expiresAt == 100)
        try lost.store(picture, "b", expiration: .seconds(100))
        lost.wait(50)
        lost.disk.clean()
        #expect(try lost.record("a") != nil)
        // The battery was changed.
        set(wall, to: start + 60)
        let right = try lost.restarted()
        #expect(try right.record("a") == nil, "what the wall clock gained is past")
        #expect(try right.record("b") == nil)
        try right.store(picture, "c", expiration: .seconds(100))
        #expect(try right.record("c")?.expiresAt == start + 160)
        set(wall, to: start)
        let again = try right.restarted()
        #expect(try again.record("c") != nil)
        again.wait(99)
        #expect(try again.record("c") != nil)
        again.wait(1)
        #expect(try again.record("c") == nil)
    }

    /// Whoever writes into the index of a user is the user: but nothing may trap or fail for ever.
    @Test(arguments: [
        "9, 9223372036854775807, 9223372036854775807, 9223372036854775807", "1, -1, -1, -1",
        "1, -9223372036854775808, -9223372036854775808, -9223372036854775808", "1, 0, 0, 253402300799",
        "2, 253402300799, 0, 253402300799", "1, 253402300799, 253402300799, 0", "'x', 'y', NULL, x'00'",
    ])
    func aPlantedAnchorFailsNothing(_ values: String) throws {
        let disk = try TestDisk(clock: boot, wall: wall)
        try disk.store(picture, "a")
        IndexFile.execute(
            """
            DROP TABLE clock; CREATE TABLE clock(id INTEGER PRIMARY KEY, boot_number, boot, wall, time);
            INSERT INTO clock VALUES(1, \(values));
            """, disk.index)
        let after = try disk.reopened()
        _ = try after.record("a")
        try after.store(picture, "b", expiration: .seconds(100))
        #expect(try after.bytes("b") == picture)
        #expect(try after.record("b")?.expiresAt == start + 100)
        _ = try after.disk.removeExpired()
        #expect(try after.bytes("b") == picture)
        after.wait(100)
        #expect(try after.record("b") == nil)
        #expect(try after.reopened().record("b") == nil)
    }
}
