import Glibc
import TestSupport

@testable import ImageEngine

/// A disk tier in a folder of its own, with a clock that the test moves.
final class TestDisk: Sendable {
    let folder: TemporaryFolder
    let clock: ManualClock
    let disk: DiskStorage

    var root: String { folder.path + "/cache" }

    init(
        folder: TemporaryFolder? = nil, clock: ManualClock = ManualClock(seconds: 1_800_000_000),
        _ configure: (inout DiskStorage.Configuration) -> Void = { _ in }
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        self.clock = clock
        var configuration = DiskStorage.Configuration(folder: folder.path + "/cache")
        configure(&configuration)
        // Work that nobody waits for is done at once, so that tests see its end.
        disk = DiskStorage(
            configuration, clock: EngineClock(monotonic: { clock.now }, wall: { clock.seconds }),
            background: { $0() })
    }

    /// Another storage on the same folder, as after a restart or in another process.
    func reopened(_ configure: (inout DiskStorage.Configuration) -> Void = { _ in }) throws -> TestDisk {
        try TestDisk(folder: folder, clock: clock, configure)
    }

    @discardableResult
    func store(
        _ bytes: [UInt8], _ key: String, identifier: String = "", expiration: StorageExpiration? = nil,
        fileExtension: String? = nil
    ) throws -> ImageRecord {
        let header = try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
        return try disk.store(
            .bytes(bytes),
            DiskStorage.Order(
                key: CacheKey(key, identifier: identifier), header: header, expiration: expiration,
                fileExtension: fileExtension)
        ).record
    }

    func record(_ key: String, identifier: String = "") throws -> ImageRecord? {
        try disk.record(for: CacheKey(key, identifier: identifier))
    }

    /// The bytes that a reader gets; nil for a miss.
    func bytes(_ key: String) throws -> [UInt8]? {
        guard let record = try record(key) else { return nil }
        return try disk.data(of: record)
    }

    func path(_ key: String) throws -> String {
        guard let path = try record(key)?.path else { throw StorageFailure(ENOENT, "find", key) }
        return path
    }

    /// The files of finished images, relative to the test's folder.
    var blobs: [String] { folder.files.filter { $0.contains("/blobs/") } }
    var partials: [String] { folder.files.filter { $0.contains("/partial/") } }

    /// The sizes of all finished images, by a walk.
    var bytesInBlobs: Int {
        blobs.reduce(0) { $0 + (FileStamp(path: folder.path + "/" + $1)?.size ?? 0) }
    }
}

/// Writes a whole file over what is there, in place.
func overwrite(_ path: String, _ bytes: [UInt8], at offset: Int = 0, truncates: Bool = true) {
    let descriptor = open(path, O_WRONLY | O_CREAT | (truncates ? O_TRUNC : 0), 0o644)
    _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    close(descriptor)
}

/// Sets the time of a file's last change, in seconds since 1970.
func setModified(_ path: String, _ seconds: Int) {
    let time = timespec(tv_sec: seconds, tv_nsec: 0)
    _ = [time, time].withUnsafeBufferPointer { utimensat(AT_FDCWD, path, $0.baseAddress, 0) }
}

/// The permission bits of a file or folder.
func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
}
