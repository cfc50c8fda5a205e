internal import Glibc
internal import Platform
internal import Synchronization

/// The disk tier of one cache: whole files named by the hash of their key, and an index that all processes share.
///
/// A file is written beside, then renamed into place within the index's write transaction; so another process sees
/// the old image or the new one, never a part, and never an index that contradicts the folder for long. A file that
/// was changed behind our back is a miss.
///
/// Layout: `blobs/<2 hex>/<64 hex>.<ext>`, `partial/` for what is being written, `index.sqlite`, `CACHEDIR.TAG`.
///
/// Callable from any thread. ``record(for:)`` takes microseconds; everything else may wait for the disk.
public final class DiskStorage: Sendable {
    /// The settings of a storage.
    public struct Configuration: Sendable {
        /// The folder; made with mode 0700 at the first store.
        public var folder: String
        /// The most the files may take, in bytes; 2 GiB by default, 0 for no limit. A purge goes down to half.
        public var bytesLimit = 2 << 30
        /// How long an entry lives after its last use; 7 days by default.
        public var expiration = StorageExpiration.days(7)
        /// Whether a store waits until the bytes have reached the disk and not only the system's memory.
        public var syncsToDisk = false

        /// The default settings for a folder.
        public init(folder: String) { self.folder = folder }
    }

    /// The bytes to be stored.
    enum Content: Sendable {
        case bytes([UInt8])
        case body(DownloadedBody)
    }

    /// What `remove` and `clear` took away.
    public struct Removal: Equatable, Sendable {
        /// Entries.
        public var count = 0
        /// Bytes of their files.
        public var bytes = 0

        /// So many entries of so many bytes.
        public init(count: Int = 0, bytes: Int = 0) {
            self.count = count
            self.bytes = bytes
        }
    }

    /// An image handed out this long ago or less, in seconds, is not evicted.
    static let handOutGrace = 60

    /// The settings.
    public let configuration: Configuration
    let folder: StorageFolder
    let index: CacheIndex
    private let now: @Sendable () -> Int
    private let touches: TouchLog
    private let isPurging = Atomic(false)
    private let evictions = Atomic(0)

    /// A storage; nothing is read or made yet.
    ///
    /// - Parameter now: Seconds since 1970.
    init(_ configuration: Configuration, now: @escaping @Sendable () -> Int) {
        self.configuration = configuration
        self.now = now
        folder = StorageFolder(path: configuration.folder)
        index = CacheIndex(path: configuration.folder + "/index.sqlite")
        touches = TouchLog(index: index)
    }

    // MARK: Looking up

    /// The record of a stored image, if it is there, whole and not expired.
    ///
    /// - Complexity: One index lookup and one `lstat`; the file is read only if its time of change is not the recorded.
    func record(for key: CacheKey) throws(ImageError) -> ImageRecord? {
        let digest = Digest(of: key.computed)
        do {
            guard let row = try index.row(digest.rowNumber), row.name == digest
            else { return nil }
            if let expiry = row.expiresAt, expiry <= now() { return nil }
            let path = folder.blob(digest.hex, row.fileExtension)
            guard let stamp = FileStamp(path: path) else { return try missing(path) }
            if stamp.modified != row.modified || stamp.size != row.byteCount {
                // Touched or replaced behind our back: the content decides.
                guard stamp.size == row.byteCount, let checksum = row.checksum,
                    try folder.checksum(of: path) == checksum
                else {
                    try index.write { try $0.remove(row.number) }
                    return nil
                }
            }
            return ImageRecord(
                key: key, header: row.header, byteCount: row.byteCount, path: path, origin: row.origin,
                storedAt: row.storedAt, lifetime: row.lifetime, expiresAt: row.expiresAt, stamp: stamp,
                checksum: row.checksum)
        } catch {
            throw StorageFailure.error(error, folder: configuration.folder)
        }
    }

    /// A file that is not there is a miss; one that cannot be looked at is an error, and no reason to forget it.
    private func missing(_ path: String) throws -> ImageRecord? {
        var status = stat()
        if lstat(path, &status) != 0, ![ENOENT, ENOTDIR].contains(errno) {
            throw StorageFailure(errno, "look at", path)
        }
        return nil
    }

    /// Where the image for `key` is, or would be: a function of the key, and of the extension its name foretells.
    func path(for key: CacheKey, fileExtension: String? = nil) -> String {
        folder.blob(Digest(of: key.computed).hex, fileExtension ?? key.foretoldExtension)
    }

    /// The bytes of a stored image.
    ///
    /// - Throws: ``ImageError/notCached(key:)`` if the file is gone or was changed.
    func data(of record: ImageRecord) throws(ImageError) -> [UInt8] {
        guard let path = record.path else { throw .notCached(key: record.key.key) }
        do {
            let bytes = try folder.read(path)
            guard bytes.count == record.byteCount else { throw ImageError.notCached(key: record.key.key) }
            return bytes
        } catch let error as ImageError {
            throw error
        } catch let failure as StorageFailure where failure.code == ENOENT {
            throw .notCached(key: record.key.key)
        } catch {
            throw StorageFailure.error(error, folder: configuration.folder)
        }
    }

    // MARK: Storing

    /// Stores an image and returns its record once the file is at its place and the index knows it.
    func store(
        _ content: Content, for key: CacheKey, header: ImageHeader, origin: ImageOrigin,
        expiration: StorageExpiration? = nil, fileExtension: String? = nil
    ) throws(ImageError) -> ImageRecord {
        let digest = Digest(of: key.computed)
        let fileExtension = fileExtension ?? header.format.fileExtension
        let storedAt = now()
        let lifetime = (expiration ?? configuration.expiration).lifetime(at: storedAt)
        do {
            let file = try folder.write(content, syncs: configuration.syncsToDisk)
            defer { unlink(file.path) }
            let row = CacheIndex.Row(
                name: digest, key: key.indexed, identifier: key.identifier,
                fileExtension: fileExtension, header: header, byteCount: file.stamp.size,
                allocated: file.stamp.allocated, checksum: file.checksum, origin: origin, storedAt: storedAt,
                expiresAt: lifetime.map { storedAt + $0 }, lifetime: lifetime, modified: file.stamp.modified)
            let path = folder.blob(digest.hex, fileExtension)
            let total = try index.write { writer in
                let old = try writer.row(row.number)
                try self.folder.move(file.path, to: path)
                try writer.put(row)
                // Last, so that a kill in between leaves the old image or the new one.
                if let old, old.fileExtension != fileExtension { _ = self.discard(old) }
                return try writer.totals().bytes
            }
            if configuration.bytesLimit > 0, total > configuration.bytesLimit { purge(sparing: row.number) }
            return ImageRecord(
                key: key, header: header, byteCount: row.byteCount, path: path, origin: origin, storedAt: storedAt,
                lifetime: lifetime, expiresAt: row.expiresAt, stamp: file.stamp, checksum: row.checksum)
        } catch {
            throw StorageFailure.error(error, folder: configuration.folder)
        }
    }

    // MARK: Removing

    /// Removes an image.
    ///
    /// - Returns: What was there.
    func remove(_ key: CacheKey, allVariants: Bool = false) throws(ImageError) -> Removal {
        let digest = Digest(of: key.computed)
        guard folder.exists else { return Removal() }
        do {
            return try index.write { writer in
                var rows = try writer.row(digest.rowNumber).map { [$0] } ?? []
                rows = rows.filter { $0.name == digest }
                if allVariants { rows += try writer.variants(of: key.indexed).filter { $0.name != digest } }
                var removal = Removal()
                for row in rows {
                    if self.discard(row) {
                        removal.count += 1
                        removal.bytes += row.byteCount
                    }
                    try writer.remove(row.number)
                }
                return removal
            }
        } catch {
            throw StorageFailure.error(error, folder: configuration.folder)
        }
    }

    /// Removes everything.
    ///
    /// - Returns: What was there, by the index.
    func removeAll() throws(ImageError) -> Removal {
        touches.forget()
        guard folder.exists else { return Removal() }
        do {
            defer { folder.removeLeftovers(olderThan: nil) }
            return try index.write { writer in
                let totals = try writer.totals()
                try writer.removeAll()
                try self.folder.setBlobsAside()
                return Removal(count: totals.count, bytes: totals.bytes)
            }
        } catch {
            throw StorageFailure.error(error, folder: configuration.folder)
        }
    }

    /// Counts and sizes, in O(1).
    func totals() throws(ImageError) -> (count: Int, bytes: Int, allocated: Int) {
        do {
            let totals = try index.totals()
            return (totals.count, totals.bytes, totals.allocated)
        } catch {
            throw StorageFailure.error(error, folder: configuration.folder)
        }
    }

    /// How many entries this process evicted for their size.
    var evictionCount: Int { evictions.load(ordering: .relaxed) }

    // MARK: Use

    /// Notes that the image was used; written down later, many at a time.
    func touch(_ record: ImageRecord) {
        guard !record.isLocalFile, record.path != nil else { return }
        touches.add(Digest(of: record.key.computed).rowNumber, expiresAt: record.expiresAt, at: now())
    }

    /// Writes down the uses noted so far.
    func flushTouches() { touches.flush() }

    /// Removes the least recently used images until half the limit is left, a few at a time, so that a store of
    /// another process never waits long. Images handed out a moment ago stay.
    private func purge(sparing number: Int64) {
        guard isPurging.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
        defer { isPurging.store(false, ordering: .relaxed) }
        touches.flush()
        let recent = touches.recent(since: now() - Self.handOutGrace).union([number])
        let goal = configuration.bytesLimit / 2
        var isDone = false
        while !isDone {
            do {
                isDone = try index.write { writer in
                    var bytes = try writer.totals().bytes
                    let victims = try writer.leastRecentlyUsed(32 + recent.count).filter { !recent.contains($0.number) }
                    for victim in victims.prefix(32) where bytes > goal {
                        _ = self.discard(victim)
                        try writer.remove(victim.number)
                        bytes -= victim.byteCount
                        self.evictions.add(1, ordering: .relaxed)
                    }
                    return victims.isEmpty || bytes <= goal
                }
            } catch { return }
        }
    }

    /// Removes the file of a row; false if there was none.
    private func discard(_ row: CacheIndex.Row) -> Bool {
        unlink(folder.blob(row.name.hex, row.fileExtension)) == 0
    }
}
