import Glibc
import Synchronization
import TestSupport

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A disk tier in a folder of its own, with clocks that the test moves.
///
/// With a `size`, it is as if nothing but its images were on a disk of so many bytes, which has room for so many `files`. While
/// `threads` is 0, nothing is done in the background.
final class TestDisk: Sendable {
    let folder: TemporaryFolder
    /// The clock of the machine: it goes on evenly as long as the machine runs.
    let clock: ManualClock
    /// The clock on the wall; ``clock`` unless the test has one of its own.
    let wall: ManualClock
    let bootNumber: Int
    let disk: DiskStorage
    let reports: CleaningLog

    var root: String { folder.path + "/cache" }
    var index: String { root + "/index.sqlite" }

    init(
        folder: TemporaryFolder? = nil, clock: ManualClock = ManualClock(seconds: 1_800_000_000),
        wall: ManualClock? = nil, bootNumber: Int = 1,
        size: Int? = nil, files: Int = .max, isShared: Bool = false,
        threads: Counter? = nil,
        _ configure: (inout DiskStorage.Configuration) -> Void = { _ in }
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        let wall = wall ?? clock
        let reports = CleaningLog()
        self.folder = folder
        self.clock = clock
        self.wall = wall
        self.bootNumber = bootNumber
        self.reports = reports
        var configuration = DiskStorage.Configuration(folder: folder.path + "/cache")
        configure(&configuration)
        var freeSpace: (@Sendable () -> StorageFolder.Space?)?
        if let size {
            freeSpace = {
                StorageFolder.Space(
                    available: size - Self.bytesInBlobs(folder), total: size,
                    files: files - folder.files.count { $0.contains("/blobs/") })
            }
        }
        // Work that nobody waits for is done at once, so that tests see its end.
        disk = DiskStorage(
            configuration,
            clock: EngineClock(monotonic: { clock.now }, wall: { wall.seconds }, bootNumber: { bootNumber }),
            folder: StorageFolder(path: configuration.folder, isShared: isShared), freeSpace: freeSpace,
            background: { work in
                if threads?.value == 0 { return false }
                work()
                return true
            }, onClean: { reports.add($0, $1) })
    }

    /// Another storage on the same folder, as after a restart or in another process.
    func reopened(_ configure: (inout DiskStorage.Configuration) -> Void = { _ in }) throws -> TestDisk {
        try TestDisk(folder: folder, clock: clock, wall: wall, bootNumber: bootNumber, configure)
    }

    /// Another storage on the same folder after a start of the machine.
    func restarted(_ configure: (inout DiskStorage.Configuration) -> Void = { _ in }) throws -> TestDisk {
        try TestDisk(
            folder: folder, clock: ManualClock(seconds: 3), wall: wall, bootNumber: bootNumber + 1, configure)
    }

    /// Lets time go by on all clocks.
    func wait(_ seconds: Double) {
        clock.advance(seconds: seconds)
        if wall !== clock { wall.advance(seconds: seconds) }
    }

    @discardableResult
    func store(
        _ bytes: [UInt8], _ key: String, identifier: String = "", expiration: StorageExpiration? = nil,
        fileExtension: String? = nil, _ change: (inout StoreRequest) -> Void = { _ in }
    ) throws -> ImageRecord {
        try put(
            bytes, key, identifier: identifier, expiration: expiration, fileExtension: fileExtension, change
        ).record
    }

    /// Stores and tells whether that was new.
    @discardableResult
    func put(
        _ bytes: [UInt8], _ key: String, identifier: String = "", expiration: StorageExpiration? = nil,
        fileExtension: String? = nil, _ change: (inout StoreRequest) -> Void = { _ in }
    ) throws -> DiskStorage.Stored {
        let header = try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
        var request = StoreRequest(key: CacheKey(key, identifier: identifier), header: header)
        (request.expiration, request.fileExtension) = (expiration, fileExtension)
        change(&request)
        return try disk.store(.bytes(bytes), request)
    }

    func record(_ key: String, identifier: String = "") throws -> ImageRecord? {
        try disk.record(for: CacheKey(key, identifier: identifier))
    }

    /// The bytes that a reader gets; nil for a miss.
    func bytes(_ key: String, identifier: String = "") throws -> [UInt8]? {
        guard let record = try record(key, identifier: identifier) else { return nil }
        return try disk.data(of: record)
    }

    func path(_ key: String) throws -> String {
        guard let path = try record(key)?.path else { throw SystemError(ENOENT, "find", key) }
        return path
    }

    /// Hands the path of an image out for so many seconds, however much is lent: as a process without a limit does.
    @discardableResult
    func lend(_ key: String, for seconds: Double) throws -> String {
        guard let record = try record(key), let path = record.path else { throw SystemError(ENOENT, "find", key) }
        disk.lendWithoutBound(record, for: seconds)
        return path
    }

    /// What a check without repair finds.
    func check() throws -> DiskStorage.Verification { try disk.verify(repairs: false) }

    /// The files of finished images, relative to the test's folder.
    var blobs: [String] { folder.files.filter { $0.contains("/blobs/") } }
    var partials: [String] { folder.files.filter { $0.contains("/partial/") } }

    /// The sizes of all finished images, by a walk; files with several names count once.
    var bytesInBlobs: Int { Self.bytesInBlobs(folder) }

    private static func bytesInBlobs(_ folder: TemporaryFolder) -> Int {
        let blobs = folder.files.filter { $0.contains("/blobs/") }
        let stamps = blobs.compactMap { FileStamp(path: folder.path + "/" + $0) }
        return Dictionary(stamps.map { ($0.inode, $0.size) }) { size, _ in size }.values.reduce(0, +)
    }
}

/// What cleaning took out, as it was told.
final class CleaningLog: Sendable {
    typealias Report = (keys: [String?], reason: CleaningReport.Reason)

    private let reports = Mutex<[Report]>([])

    func add(_ cleaned: [Evictor.Cleaned], _ reason: CleaningReport.Reason) {
        reports.withLock { $0.append((cleaned.map(\.key), reason)) }
    }

    var all: [Report] { reports.withLock { $0 } }
    /// The keys that went for the reason, sorted.
    func keys(_ reason: CleaningReport.Reason) -> [String] {
        all.filter { $0.reason == reason }.flatMap(\.keys).compactMap(\.self).sorted()
    }
}

extension DiskStorage {
    /// Stores an image, and waits until the file is at its place and the index knows it.
    func store(_ content: Content, _ request: StoreRequest) throws(ImageError) -> Stored {
        try BlockingWait.wait { queue, then in store(content, request, in: queue, then: then) }.get()
    }

    /// Removes an image of all users, and waits for the disk.
    func remove(_ key: CacheKey, allVariants: Bool = false) throws(ImageError) -> Removal {
        try BlockingWait.wait { queue, then in
            remove(.key(EntrySelection(key, allVariants: allVariants)), in: queue, then: then)
        }.get()
    }

    /// A use of an image whose path is lent out.
    func touch(_ record: ImageRecord, lease: Double) {
        lendWithoutBound(record, for: lease)
        touch(record)
    }

    func lendWithoutBound(_ record: ImageRecord, for seconds: Double) {
        guard let file = record.lease else { return }
        lending.lend(file, for: seconds, bytes: record.byteCount, share: 0)
    }
}

/// The settings of a tier with room for two images of 1000 bytes.
func small(_ configuration: inout DiskStorage.Configuration) {
    configuration.bytesLimit = 2000
    configuration.purgeRatio = 1
}
