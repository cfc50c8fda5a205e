import Synchronization
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// The limit is one at every moment, whoever stores.
@Suite struct DiskLimitTests {
    @Test(arguments: 0..<3 as Range<UInt64>)
    func limitHoldsAtEveryMomentForStoragesThatStoreAtOnce(_ seed: UInt64) async throws {
        let limit = 20_000
        let first = try TestDisk { $0.bytesLimit = limit }
        try first.store(hollowPNG(width: 1), "first")
        let disks = [first] + (try (0..<3).map { _ in try first.reopened { $0.bytesLimit = limit } })
        let observer = try first.reopened()
        let watch = Watch()
        await withTaskGroup { group in
            group.addTask {
                while !watch.isOver {
                    watch.see((try? observer.disk.totals().bytes) ?? .max)
                    await Task.yield()
                }
            }
            await withTaskGroup { writers in
                for (number, disk) in disks.enumerated() {
                    writers.addTask {
                        var generator = SeededGenerator(seed: seed * 10 + UInt64(number))
                        for _ in 0..<40 {
                            let width = Int.random(in: 1...200, using: &generator)
                            // The same picture has the same size: some share their bytes.
                            _ = try? disk.store(
                                hollowPNG(width: width, count: 100 + width * 17 % 3000),
                                "\(Int.random(in: 0..<40, using: &generator))"
                            ) { $0.lease = Bool.random(using: &generator) ? 60 : 0 }
                            await Task.yield()
                        }
                    }
                }
            }
            watch.end()
        }
        #expect(watch.highest <= limit, "seed \(seed)")
        #expect(disks.map(\.disk.evictionCount).reduce(0, +) > 0, "seed \(seed)")
        let totals = try first.disk.totals()
        #expect(totals.bytes + totals.lent >= first.bytesInBlobs, "seed \(seed)")
        first.wait(100)
        first.disk.clean()
        #expect(try first.check() == .init(checked: totals.count, bytes: try first.check().bytes), "seed \(seed)")
        #expect(try first.disk.totals().bytes == first.bytesInBlobs, "seed \(seed)")
        #expect(first.partials.isEmpty, "seed \(seed)")
    }

    @Test(arguments: [(0.0, 1000), (0.25, 2000), (0.5, 5000), (1.0, 10_000), (7.5, 10_000), (-1, 1000)])
    func purgeLeavesTheConfiguredPart(_ ratio: Double, _ left: Int) throws {
        let disk = try TestDisk {
            $0.bytesLimit = 10_000
            $0.purgeRatio = ratio
        }
        for number in 1...11 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        #expect(try disk.disk.totals().bytes == left, "what has just come in stays")
        #expect(try disk.record("11") != nil)
        #expect(disk.reports.keys(.sizeLimit).count == 11 - left / 1000)
        #expect(disk.reports.keys(.expired).isEmpty)
        #expect(try disk.check().isClean)
    }

    /// A limit that was lowered while nobody was there, or that an adopted folder is over.
    @Test func cleaningBringsTheCacheUnderItsLimit() throws {
        let disk = try TestDisk { $0.bytesLimit = 0 }
        for number in 1...20 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        let other = try disk.reopened { $0.bytesLimit = 10_000 }
        other.disk.clean()
        #expect(try other.disk.totals().bytes == 5000)
        #expect(other.reports.keys(.sizeLimit).count == 15)
    }

    @Test func anAdoptedFolderIsBroughtUnderTheLimit() async throws {
        let disk = try TestDisk { $0.bytesLimit = 0 }
        for number in 1...20 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        disk.disk.close()
        for suffix in ["", "-wal", "-shm"] { unlink(disk.index + suffix) }
        let other = try disk.reopened { $0.bytesLimit = 10_000 }
        _ = try other.record("1")
        try other.store(hollowPNG(width: 30, count: 1000), "new")
        // How much is left depends on how far the adoption was when "new" was stored.
        try await eventually("all is adopted and the limit kept") {
            try !other.disk.index.isAdopting && other.disk.totals().bytes <= 10_000
        }
        #expect(try other.record("new") != nil)
    }

    /// Half of the limit is for images, however much stays for its lease.
    @Test func filesThatStayForTheirLeasesLeaveHalfOfTheLimit() throws {
        let disk = try TestDisk { $0.bytesLimit = 10_000 }
        for number in 1...10 {
            try disk.store(hollowPNG(width: number, count: 1000), "\(number)", expiration: .seconds(5)) {
                $0.lease = 60
            }
        }
        disk.wait(6)
        #expect(try disk.disk.removeExpired().count == 10)
        #expect(try disk.disk.totals().lent == 5000, "no more than half is lent")
        for number in 21...30 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        #expect(try disk.disk.totals().count == 5)
        #expect(try disk.record("30") != nil && disk.record("26") != nil)
    }

    /// Half of the limit is lent at most, so that there is room whatever comes, and the disk stays within the limit.
    @Test func storesBeyondTheLentHalfAreNotLentAndKeepTheDiskWithinTheLimit() throws {
        let disk = try TestDisk { $0.bytesLimit = 100_000 }
        var paths: [String] = []
        for number in 1...1000 {
            let record = try disk.store(hollowPNG(width: number, count: 1000), "\(number)") { $0.lease = 60 }
            if number <= 50 { #expect(record.isLent) }
            if record.isLent { paths.append(try #require(record.path)) }
            if number % 50 == 0 { #expect(disk.bytesInBlobs <= 100_000) }
        }
        // Now and then an image shares its place with one that is lent.
        #expect((50...55).contains(paths.count))
        #expect(paths.allSatisfy { content($0) != nil }, "what is lent stays")
        #expect(try disk.record("1000") != nil)
        let hit = try #require(try disk.record("999"))
        disk.disk.lend(hit, for: 60)
        #expect(!hit.isLent, "nor is a hit lent")
        disk.wait(62)
        disk.disk.lend(hit, for: 60)
        #expect(hit.isLent)
        for number in 2001...2100 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        #expect(paths.allSatisfy { content($0) == nil }, "and goes when its leases end")
        #expect(try disk.check().isClean)
    }

    /// What replaces a lent file is lent as long as the half lasts; then it is not, and goes at once when it is replaced.
    @Test(arguments: [1, 5], [60.0, 0])
    func rewritingKeysKeepsTheDiskWithinTheLimit(_ keys: Int, _ later: Double) throws {
        let disk = try TestDisk {
            $0.bytesLimit = 20_000
            $0.purgeRatio = 1
        }
        var lent: [(path: String, bytes: [UInt8])] = []
        for number in 1...200 {
            let bytes = hollowPNG(width: number, count: 1000)
            let record = try disk.store(bytes, "\(number % keys)") { $0.lease = number <= 20 ? 60 : later }
            if number <= 10 { #expect(record.isLent) }
            if number <= 20 || later > 0, record.isLent { lent.append((try #require(record.path), bytes)) }
            #expect(disk.bytesInBlobs <= 20_000, "\(number)")
            #expect(try disk.bytes("\(number % keys)") == bytes)
        }
        #expect(lent.count == 10)
        #expect(lent.allSatisfy { content($0.path) == $0.bytes }, "what is lent stays as it is")
        #expect(disk.blobs.count <= 10 + keys)
        disk.wait(62)
        let record = try disk.store(hollowPNG(width: 999, count: 1000), "new") { $0.lease = 60 }
        #expect(record.isLent)
        _ = try disk.disk.removeExpired()
        #expect(disk.blobs.count == keys + 1, "and goes when its leases end")
        #expect(try disk.check().isClean)
    }

    /// A removed file's lease runs on in the table, and is none of those that come after it.
    @Test func rewritingKeysThatAreRemovedInBetweenKeepsTheDiskWithinTheLimit() throws {
        let disk = try TestDisk {
            $0.bytesLimit = 20_000
            $0.purgeRatio = 1
        }
        var number = 0
        for round in 1...20 {
            for _ in 1...48 {
                number += 1
                try disk.store(hollowPNG(width: number, count: 1000), "\(number % 8)") { $0.lease = 60 }
            }
            #expect(disk.bytesInBlobs <= 20_000 && disk.disk.lending.lentBytes <= 10_240, "\(round)")
            _ = try disk.disk.remove(CacheKey("\(round % 8)"))
        }
        #expect(try disk.check().isClean)
    }

    /// Files of two formats share the number of a lease, which is that of the later one.
    @Test func rewritingKeysInSeveralFormatsKeepsTheDiskWithinTheLimit() throws {
        let disk = try TestDisk {
            $0.bytesLimit = 20_000
            $0.purgeRatio = 1
        }
        for number in 1...400 {
            let fileExtension = ["png", "jpg", "gif", "webp"][number * 7 % 4]
            try disk.store(hollowPNG(width: number, count: 1000), "\(number * 5 % 8)", fileExtension: fileExtension) {
                $0.lease = 2
            }
            #expect(disk.bytesInBlobs <= 20_000, "\(number)")
            if number % 3 == 0 { disk.wait(1) }
        }
        #expect(try disk.check().isClean)
    }

    /// A file that was stored without a lease, while that of the one before it runs, may be lent when there is room again.
    @Test(arguments: [60.0, 5]) func fileThatWasNotLentAtFirstStaysOnceItIsLent(_ lease: Double) throws {
        let disk = try TestDisk { $0.bytesLimit = 4_000 }
        for key in ["other", "a"] { try disk.store(hollowPNG(width: 1, count: 1000), key) { $0.lease = 60 } }
        let bytes = hollowPNG(width: 2, count: 1000)
        #expect(try !disk.store(bytes, "a") { $0.lease = 60 }.isLent)
        let record = try #require(try disk.record("a"))
        disk.disk.lend(record, for: lease)
        #expect(!record.isLent, "as too much is lent")
        _ = try disk.disk.remove(CacheKey("other"))
        disk.disk.lend(record, for: lease)
        #expect(record.isLent)
        try disk.store(hollowPNG(width: 3, count: 1000), "a") { $0.lease = 60 }
        try disk.store(hollowPNG(width: 4, count: 1000), "a") { $0.lease = 60 }
        #expect(content(try #require(record.path)) == bytes)
        disk.wait(62)
        try disk.store(hollowPNG(width: 5, count: 1000), "b")
        _ = try disk.disk.removeExpired()
        #expect(disk.blobs.count == 2)
    }

    /// Whatever is lent: what an eviction has passed by once it does not look at again.
    @Test(arguments: [100, 2000]) func aStoreAtTheLimitLooksAtFewEntriesHoweverManyAreLent(_ count: Int) throws {
        let disk = try TestDisk {
            $0.bytesLimit = 2 * count * 500
            $0.purgeRatio = 1
        }
        for number in 1...2 * count {
            try disk.store(hollowPNG(width: number, count: 500), "\(number)") { $0.lease = 60 }
        }
        let before = disk.disk.considerations.load(ordering: .relaxed)
        for number in 1...200 {
            try disk.store(hollowPNG(width: 5000 + number, count: 500), "new \(number)") { $0.lease = 60 }
        }
        #expect(disk.disk.considerations.load(ordering: .relaxed) - before <= count + 400)
        #expect(disk.disk.evictionCount == 200)
        disk.wait(62)
        for number in 1...10 { try disk.store(hollowPNG(width: 6000 + number, count: 500), "newer \(number)") }
        #expect(try disk.record("1") == nil, "what is lent no longer goes first again")
    }

    /// A file that somebody removed while it was lent does not count as one that stays for its lease.
    @Test func lentFileThatIsGoneCountsForNothingAfterItsEntry() throws {
        let disk = try TestDisk { $0.bytesLimit = 10_000 }
        let path = try #require(
            try disk.store(hollowPNG(width: 1, count: 1000), "a", expiration: .seconds(5)) { $0.lease = 60 }.path)
        unlink(path)
        disk.wait(6)
        #expect(try disk.disk.removeExpired().count == 1)
        #expect(try disk.disk.totals().lent == 0)
    }

    /// By the order of use, not by when it was last written down.
    @Test func everyUseCountsForTheOrder() throws {
        let disk = try TestDisk {
            $0.bytesLimit = 10_000
            $0.purgeRatio = 1
        }
        for number in 1...10 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        for key in ["3", "1", "1", "2"] { disk.disk.touch(try #require(try disk.record(key))) }
        for number in 11...17 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        #expect(try ["1", "2", "3"].allSatisfy { try disk.record($0) != nil })
        try disk.store(hollowPNG(width: 18, count: 1000), "18")
        #expect(try disk.record("3") == nil)
        #expect(try disk.record("1") != nil && disk.record("2") != nil)
    }

    @Test func aUseIsOlderThanTheStoresAfterIt() throws {
        let disk = try TestDisk { ($0.bytesLimit, $0.purgeRatio) = (3500, 1) }
        try disk.store(hollowPNG(width: 1, count: 1000), "used")
        disk.disk.touch(try #require(try disk.record("used")))
        for number in 1...3 { try disk.store(hollowPNG(width: 1 + number, count: 1000), "\(number)") }
        #expect(try disk.record("used") == nil)
        for number in 1...3 { #expect(try disk.record("\(number)") != nil) }
    }

    @Test func aLowerLimitHoldsAtOnce() throws {
        let disk = try TestDisk { $0.bytesLimit = 0 }
        for number in 1...100 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        var configuration = disk.disk.configuration
        configuration.bytesLimit = 10_000
        disk.disk.configure(configuration)
        #expect(try disk.disk.totals().bytes == 5000, "after purging, many slices long")
        #expect(disk.reports.keys(.sizeLimit).count == 95)
        #expect(try (96...100).allSatisfy { try disk.record("\($0)") != nil }, "the youngest stay")
        configuration.bytesLimit = 0
        disk.disk.configure(configuration)
        for number in 1...100 { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        #expect(try disk.disk.totals().bytes == 100_000)
    }

    @Test func aLowerLimitHoldsForWhatIsLentAndKeepsTheFiles() throws {
        let disk = try TestDisk { $0.bytesLimit = 0 }
        let paths = try (1...40).map { number in
            try #require(
                try disk.store(hollowPNG(width: number, count: 1000), "\(number)") { $0.lease = 60 }.path)
        }
        var configuration = disk.disk.configuration
        configuration.bytesLimit = 10_000
        disk.disk.configure(configuration)
        #expect(try disk.disk.totals().bytes == 10_000)
        #expect(try disk.disk.totals().lent == 30_000)
        #expect(paths.compactMap(content).count == 40)
        disk.wait(62)
        disk.disk.clean()
        #expect(paths.compactMap(content).count == 10)
        #expect(try disk.check().isClean)
    }

    @Test func imageLargerThanTheLimitIsRefusedByName() throws {
        let disk = try TestDisk { $0.bytesLimit = 1000 }
        try disk.store(hollowPNG(width: 1, count: 1000), "fits")
        do {
            try disk.store(hollowPNG(width: 2, count: 1001), "large")
            Issue.record("it was stored")
        } catch ImageError.limitExceeded(let limit, _, _) {
            #expect(limit == "bytesLimit")
        }
        #expect(try disk.record("fits") != nil)
        #expect(disk.blobs.count == 1 && disk.partials.isEmpty)
    }

    @Test func replacingALargeImageNeedsNoOtherRoom() throws {
        let disk = try TestDisk {
            $0.bytesLimit = 3000
            $0.purgeRatio = 1
        }
        try disk.store(hollowPNG(width: 1, count: 1000), "small")
        try disk.store(hollowPNG(width: 2, count: 2000), "large")
        try disk.store(hollowPNG(width: 3, count: 2000), "large")
        #expect(try disk.record("small") != nil)
        #expect(try disk.disk.totals().bytes == 3000)
    }

    /// Drafts are on the disk too, however many stores come at the same time.
    @Test func draftsThatAreTooManyWaitInTheirOrder() {
        let queue = DraftQueue()
        let begun = Mutex<[Int]>([])
        func admit(_ number: Int, _ bytes: Int) {
            queue.admit(bytes, most: 2500, in: WorkQueue { $0() }) { _ in begun.withLock { $0.append(number) } }
        }
        for number in 1...4 { admit(number, 1000) }
        admit(5, 5000)
        admit(6, 1000)
        #expect(begun.withLock { $0 } == [1, 2] && queue.waitingCount == 4)
        admit(7, 0)
        #expect(begun.withLock { $0 } == [1, 2, 7], "what writes nothing does not wait")
        for _ in 1...3 { queue.leave(1000) }
        #expect(begun.withLock { $0 } == [1, 2, 7, 3, 4])
        queue.leave(1000)
        admit(8, 0)
        #expect(begun.withLock { $0 } == [1, 2, 7, 3, 4, 5, 8], "one that is larger than the bound is alone")
        queue.leave(5000)
        #expect(begun.withLock { $0 }.last == 6 && queue.waitingCount == 0 && queue.isBusy)
        queue.leave(1000)
        #expect(!queue.isBusy)
    }

    @Test func storesWhoseDraftsHaveWaitedAreDone() async throws {
        let disk = try TestDisk { $0.bytesLimit = 20_000 }
        #expect(disk.disk.draftShare == 2500)
        let stored = Counter()
        for number in 1...20 {
            let bytes = hollowPNG(width: number, count: number == 20 ? 5000 : 1000)
            let header = try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
            let request = StoreRequest(key: CacheKey("\(number)"), header: header)
            startThread {
                disk.disk.store(.bytes(bytes), request, in: WorkQueue { work in startThread { work() } }) { result in
                    if case .success = result { stored.add() }
                }
            }
        }
        try await eventually("all are stored") { stored.value == 20 }
        try await eventually("no draft is left") { disk.partials.isEmpty && !disk.disk.drafts.isBusy }
    }

    // MARK: Free space

    /// Half of the files may be lent, and the others make room.
    @Test func imagesMakeRoomOnADiskThatHasNoRoomForMoreFiles() throws {
        let disk = try TestDisk(size: 1 << 30, files: 60) { $0.freeSpaceFloor = nil }
        var paths: [String] = []
        for number in 1...300 {
            let record = try disk.store(hollowPNG(width: number, count: 1000), "\(number)") { $0.lease = 60 }
            if record.isLent { paths.append(try #require(record.path)) }
        }
        #expect(try disk.record("300") != nil)
        #expect((10...30).contains(paths.count) && paths.allSatisfy { content($0) != nil }, "\(paths.count)")
        #expect(disk.blobs.count < 60)
        #expect(try disk.check().isClean)
    }

    @Test func nothingIsStoredWhenTheDiskWouldRunFull() throws {
        let disk = try TestDisk { $0.freeSpaceFloor = nil }
        try disk.store(hollowPNG(width: 1), "a")
        let space = try #require(disk.disk.folder.freeSpace)
        var configuration = disk.disk.configuration
        configuration.freeSpaceFloor = space.total
        disk.disk.configure(configuration)
        do {
            try disk.store(hollowPNG(width: 2), "b")
            Issue.record("it was stored")
        } catch ImageError.storageFailed(let reason, let hint, let cause) {
            #expect(cause == .full && "\(reason) \(hint)".contains("freeSpaceFloor"), "\(reason) \(hint)")
        }
        #expect(try disk.record("a") != nil, "evicting would not have been enough")
        #expect(disk.partials.isEmpty)
        configuration.freeSpaceFloor = 0
        disk.disk.configure(configuration)
        try disk.store(hollowPNG(width: 2), "b")
    }

    @Test(arguments: [true, false]) func imagesMakeRoomOnADiskThatIsNearlyFull(_ isInARow: Bool) throws {
        let disk = try TestDisk(size: 10_000) { $0.freeSpaceFloor = 0 }
        func store(_ numbers: ClosedRange<Int>) throws {
            for number in numbers { try disk.store(hollowPNG(width: number, count: 1000), "\(number)") }
        }
        try store(1...8)
        var configuration = disk.disk.configuration
        configuration.freeSpaceFloor = 3500
        disk.disk.configure(configuration)
        try disk.store(hollowPNG(width: 99, count: 1000), "new")
        #expect(disk.reports.keys(.sizeLimit) == ["1", "2", "3"], "the least recently used go first")
        #expect(try disk.record("4") != nil)
        #expect(try disk.check().isClean)
        configuration.freeSpaceFloor = nil
        disk.disk.configure(configuration)
        if isInARow { try together { try store(10...13) } } else { try store(10...13) }
        #expect(disk.reports.keys(.sizeLimit).count == 5, "an eighth of so small a disk stays free")
    }
}

/// The highest number that was seen while something else went on.
private final class Watch: Sendable {
    private let state = Mutex((highest: 0, isOver: false))

    var highest: Int { state.withLock { $0.highest } }
    var isOver: Bool { state.withLock { $0.isOver } }
    func see(_ number: Int) { state.withLock { $0.highest = max($0.highest, number) } }
    func end() { state.withLock { $0.isOver = true } }
}
