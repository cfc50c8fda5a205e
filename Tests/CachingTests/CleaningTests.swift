import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// When a cache is cleaned, what goes, and who hears of it.
@Suite struct CleaningTests {
    /// Follows the schedule's advice for `end` seconds; work comes at the given moments.
    private func run(_ interval: Double, _ work: [Double], until end: Double = 2000) -> [Double] {
        var schedule = CleaningSchedule(interval: interval, now: 0)
        var now = 0.0
        var cleaned: [Double] = []
        var asked = 0
        while now < end, asked < 100_000 {
            asked += 1
            switch schedule.decide(at: now, work: work.count { $0 <= now }) {
            case .clean:
                cleaned.append(now)
                schedule.cleaned(at: now)
            case .wait(let seconds):
                #expect(seconds > 0)
                now += max(seconds, 0.05)
            case .sleep:
                #expect(interval <= 0)
                return cleaned
            }
        }
        #expect(asked < 100_000, "it asks again and again")
        return cleaned
    }

    @Test func anIntervalOfZeroIsNever() {
        #expect(run(0, [1, 2, 3]).isEmpty)
        #expect(run(-1, []).isEmpty)
    }

    @Test func withoutWorkItIsCleanedOncePerInterval() {
        #expect(run(100, [], until: 450) == [100, 200, 300, 400])
    }

    @Test func itIsCleanedWhenTheEngineComesToRest() {
        let cleaned = run(100, [3, 5, 40], until: 140)
        guard cleaned.count == 2 else { return #expect(cleaned.count == 2) }
        #expect(cleaned[0] >= 15 && cleaned[0] <= 20, "soon after the work at 5")
        // It sleeps for the interval after that, and looks for work when it wakes.
        #expect(cleaned[1] >= 120 && cleaned[1] <= 131)
    }

    @Test func unendingWorkPutsCleaningOffToTwiceTheIntervalAndNoMore() {
        let cleaned = run(100, stride(from: 0, to: 2000, by: 1).map { $0 }, until: 1900)
        #expect(cleaned.count >= 9)
        for (one, next) in zip([0] + cleaned, cleaned) {
            #expect(next - one >= 200 && next - one <= 201, "\(one) to \(next)")
        }
    }

    /// Every pattern of work in twelve slices of five seconds.
    @Test func everyPatternOfWorkIsCleanedInTimeAndNeverInItsMidst() {
        let (interval, rest) = (20.0, 10.0)
        for pattern in 0..<(1 << 12) {
            let work = (0..<12).filter { pattern >> $0 & 1 == 1 }.map { Double($0) * 5 + 0.5 }
            let cleaned = run(interval, work, until: 140)
            for (one, next) in zip([0] + cleaned, cleaned) {
                #expect(next - one <= 2 * interval + 0.2, "pattern \(pattern): \(one) to \(next)")
                let last = work.last { $0 <= next } ?? 0
                let isAtRest = next - last >= rest
                #expect(isAtRest || next - one >= 2 * interval, "pattern \(pattern): at \(next)")
                let hasWorked = work.contains { $0 > one && $0 <= next }
                #expect(hasWorked || next - one >= interval, "pattern \(pattern): idle at \(next)")
            }
            #expect(cleaned.count >= 3, "pattern \(pattern)")
        }
    }

    @Test func workDuringACleaningIsCleanedAfter() {
        var schedule = CleaningSchedule(interval: 100, now: 0)
        _ = schedule.decide(at: 1, work: 1)
        #expect(schedule.decide(at: 11, work: 1) == .clean)
        schedule.cleaned(at: 12)
        #expect(schedule.decide(at: 12, work: 2) == .wait(10))
        #expect(schedule.decide(at: 22, work: 2) == .clean)
        schedule.cleaned(at: 22)
        #expect(schedule.decide(at: 23, work: 2) == .wait(99))
        #expect(schedule.decide(at: 122, work: 2) == .clean)
    }

    // MARK: What goes

    private func disk(_ count: Int, expiration: StorageExpiration = .seconds(10)) throws -> TestDisk {
        let disk = try TestDisk()
        for number in 1...count {
            try disk.store(hollowPNG(width: number), "\(number)", expiration: expiration)
        }
        try disk.store(hollowPNG(width: 500), "ever", expiration: .never)
        return disk
    }

    @Test func expiredImagesGoASliceAtATimeAndEachSliceIsTold() throws {
        let disk = try disk(150)
        #expect(try disk.disk.removeExpired().isEmpty)
        #expect(disk.reports.all.isEmpty, "nothing gone, nothing told")
        disk.wait(10)
        let removed = try disk.disk.removeExpired()
        #expect(Set(removed.compactMap(\.key)) == Set((1...150).map(String.init)))
        #expect(removed.allSatisfy { $0.bytes == 100 })
        #expect(removed.allSatisfy { Digest(of: $0.key ?? "").hex == $0.hash })
        #expect(disk.reports.all.map(\.keys.count) == [64, 64, 22])
        #expect(disk.reports.all.allSatisfy { $0.reason == .expired })
        #expect(disk.blobs.count == 1)
        #expect(try disk.disk.totals().count == 1)
        #expect(try disk.check().isClean)
    }

    @Test func cleaningStopsBetweenTwoSlices() throws {
        let disk = try disk(150)
        disk.wait(10)
        var asked = 0
        let removed = try disk.disk.removeExpired {
            asked += 1
            return asked > 1
        }
        #expect(removed.count == 64)
        #expect(disk.reports.all.count == 1)
        #expect(try disk.disk.totals().count == 87)
        #expect(try disk.check().isClean)
    }

    @Test func theLongestExpiredGoFirst() throws {
        let disk = try TestDisk()
        for number in 1...100 {
            try disk.store(hollowPNG(width: number), "\(number)", expiration: .seconds(Double(200 - number)))
        }
        disk.wait(1000)
        let removed = try disk.disk.removeExpired()
        #expect(removed.compactMap(\.key) == (1...100).reversed().map(String.init))
    }

    @Test func usesThatAreNotWrittenDownYetCount() throws {
        let disk = try disk(1)
        disk.wait(9)
        let record = try #require(try disk.record("1"))
        record.extend(.expiration(.seconds(100)), at: disk.clock.seconds)
        disk.disk.touch(record, lease: 0)
        disk.wait(9)
        #expect(try disk.disk.removeExpired().isEmpty)
        #expect(try disk.record("1") != nil)
    }

    @Test func whoRemovesOrClearsIsToldNothingMore() throws {
        let disk = try disk(5)
        _ = try disk.disk.remove(CacheKey("1"))
        _ = try disk.disk.remove(CacheKey("2"), allVariants: true)
        disk.wait(10)
        #expect(try disk.record("3") == nil)
        _ = try disk.disk.removeAll()
        disk.disk.clean()
        #expect(disk.reports.all.isEmpty)
    }

    @Test func imagesThatGoForTheirSizeAreToldAsSuch() throws {
        let disk = try TestDisk { $0.bytesLimit = 1000 }
        for number in 1...11 { try disk.store(hollowPNG(width: number), "\(number)") }
        #expect(disk.reports.all.allSatisfy { $0.reason == .sizeLimit })
        #expect(Set(disk.reports.keys(.sizeLimit)) == Set((1...6).map(String.init)))
    }

    @Test func cleaningAFolderThatIsNotThereMakesNone() throws {
        let disk = try TestDisk()
        disk.disk.clean()
        #expect(try disk.disk.removeExpired().isEmpty)
        #expect(disk.folder.files.isEmpty)
    }

    /// What is made of local files alone needs no index.
    @Test(arguments: 0..<3)
    func leftoversOfDeadWritersGoAlsoWhereThereIsNoIndex(_ way: Int) throws {
        let disk = try TestDisk()
        let other = try disk.reopened()
        let path = try other.disk.folder.partialPath("made")
        overwrite(path, [1, 2, 3])
        disk.disk.clean()
        #expect(content(path) == [1, 2, 3], "its writer lives")
        other.disk.close()
        switch way {
        case 0: disk.disk.clean()
        case 1: #expect(try disk.disk.removeExpired().isEmpty)
        default: #expect(try disk.disk.removeAll().count == 0)
        }
        #expect(content(path) == nil)
    }
}
