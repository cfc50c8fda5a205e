internal import Glibc
internal import Logging
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
    /// The bytes to be stored.
    enum Content: Sendable {
        case bytes([UInt8])
        /// A download.
        case body(DownloadedBody)
        /// A file of the user's, to be copied.
        case file(String)
    }

    /// What a look into the index tells.
    enum Lookup: Sendable {
        case found(ImageRecord)
        case missing
        /// The index and the folder do not agree; ``DiskStorage/settle(_:)`` finds out, and may wait.
        case unsettled
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

    /// An image handed out this long ago or less, in seconds, is not evicted. A minute is promised; notes are up to
    /// ten seconds old.
    static let handOutGrace = 70

    private let settings: Mutex<Configuration>
    let folder: StorageFolder
    let index: CacheIndex
    let now: @Sendable () -> Int
    let touches: TouchLog
    let isPurging = Atomic(false)
    let evictions = Atomic(0)
    let damages = Atomic(0)
    let logger = Logger(label: "halcyon.cache")

    /// A storage; nothing is read or made yet.
    ///
    /// - Parameter now: Seconds since 1970.
    init(_ configuration: Configuration, now: @escaping @Sendable () -> Int) {
        settings = Mutex(configuration)
        self.now = now
        let adopter = Adopter()
        folder = StorageFolder(path: configuration.folder)
        let files = folder
        index = CacheIndex(
            path: configuration.folder + "/index.sqlite", hasImages: { !files.shards.isEmpty },
            onAdopting: { adopter.start() })
        touches = TouchLog(index: index)
        adopter.use(self)
    }

    /// The settings in force.
    public var configuration: Configuration { settings.withLock { $0 } }

    /// Changes the settings from now on; the folder stays.
    func configure(_ configuration: Configuration) {
        settings.withLock { settings in
            let folder = settings.folder
            settings = configuration
            settings.folder = folder
        }
    }

    // MARK: Looking up

    /// The record of a stored image, if it is there, whole and not expired.
    ///
    /// - Complexity: One index lookup and one `lstat`; never waits.
    func lookUp(_ key: CacheKey) throws(ImageError) -> Lookup {
        let digest = Digest(of: key.computed)
        do {
            guard let row = try index.row(digest.rowNumber), row.name == digest else {
                return index.isAdopting || !index.exists && folder.hasBlobs ? .unsettled : .missing
            }
            if let expiry = row.expiresAt, expiry <= now() { return .missing }
            let path = folder.blob(digest.hex, row.fileExtension)
            guard let stamp = FileStamp(path: path) else {
                var status = stat()
                // What cannot be looked at is an error, and no reason to forget it.
                if lstat(path, &status) != 0, ![ENOENT, ENOTDIR].contains(errno) {
                    throw StorageFailure(errno, "look at", path)
                }
                return .unsettled
            }
            guard stamp.modified == row.modified, stamp.size == row.byteCount else { return .unsettled }
            return .found(record(key, row, path, stamp))
        } catch {
            throw StorageFailure.error(error, folder: configuration.folder)
        }
    }

    /// The record of a stored image; where index and folder do not agree, one of them is put right first.
    func record(for key: CacheKey) throws(ImageError) -> ImageRecord? {
        switch try lookUp(key) {
        case .found(let record): record
        case .missing: nil
        case .unsettled: try settle(key)
        }
    }

    func record(_ key: CacheKey, _ row: CacheIndex.Row, _ path: String, _ stamp: FileStamp) -> ImageRecord {
        ImageRecord(
            key: key, header: row.header, byteCount: row.byteCount, path: path, origin: row.origin,
            storedAt: row.storedAt, lifetime: row.lifetime, expiresAt: row.expiresAt, stamp: stamp,
            checksum: row.checksum, number: row.number)
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
            let isWhole =
                bytes.count == record.byteCount
                && (record.checksum == nil || bytes.withUnsafeBytes { Digest(of: $0) } == record.checksum)
            guard isWhole else {
                try forget(record)
                throw ImageError.notCached(key: record.key.key)
            }
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
        guard StorageFolder.isExtension(fileExtension) else {
            throw .storageFailed(
                reason: "\"\(fileExtension.excerpt)\" cannot be the extension of a file.",
                hint: "Use letters and digits.")
        }
        let storedAt = now()
        let lifetime = (expiration ?? configuration.expiration).lifetime(at: storedAt)
        do {
            let file = try folder.write(content, for: digest.hex, syncs: configuration.syncsToDisk)
            // What is left under the draft's name: the old file, or what could not be stored.
            var isDraftLeft = true
            defer { if isDraftLeft { unlink(file.path) } }
            if configuration.bytesLimit > 0, file.stamp.size > configuration.bytesLimit {
                throw ImageError.limitExceeded(
                    limit: "disk-limit",
                    reason: "its \(file.stamp.size) bytes are more than the disk tier may hold in all", source: key.key)
            }
            let row = CacheIndex.Row(
                name: digest, key: key.indexed, identifier: key.identifier,
                fileExtension: fileExtension, header: header, byteCount: file.stamp.size,
                allocated: file.stamp.allocated, checksum: file.checksum, origin: origin, storedAt: storedAt,
                expiresAt: lifetime.map { storedAt + $0 }, lifetime: lifetime, modified: file.stamp.modified)
            let path = folder.blob(digest.hex, fileExtension)
            let (total, isSwapped) = try index.write { writer in
                let old = try writer.row(row.number)
                let swapped = try self.folder.move(file.path, to: path, keepsOld: old != nil)
                do {
                    try writer.put(row)
                } catch {
                    // Back to where it was, also because this may be run once more with a new index.
                    if swapped {
                        _ = try? self.folder.move(file.path, to: path, keepsOld: true)
                    } else {
                        rename(path, file.path)
                    }
                    throw error
                }
                // Last, so that a kill in between leaves the old image or the new one.
                if let old, old.fileExtension != fileExtension { _ = self.discard(old) }
                return (try writer.totals().bytes, swapped)
            }
            isDraftLeft = isSwapped
            touches.note(row.number, at: storedAt)
            if configuration.bytesLimit > 0, total > configuration.bytesLimit { purge(sparing: row.number) }
            return ImageRecord(
                key: key, header: header, byteCount: row.byteCount, path: path, origin: origin, storedAt: storedAt,
                lifetime: lifetime, expiresAt: row.expiresAt, stamp: file.stamp, checksum: row.checksum,
                number: row.number)
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

    /// How many entries this process took out because their files had been changed behind its back.
    var damageCount: Int { damages.load(ordering: .relaxed) }

    /// How many entries this process evicted for their size.
    var evictionCount: Int { evictions.load(ordering: .relaxed) }

    // MARK: Use

    /// Notes that the image was handed out, and writes its use down later, many at a time.
    func touch(_ record: ImageRecord) {
        guard let number = record.number, let stamp = record.stamp else { return }
        let now = now()
        let isNoted = record.needsNote(at: now)
        let isWritten = record.needsTouch(at: now)
        guard isNoted || isWritten else { return }
        if isNoted { touches.note(number, at: now) }
        if isWritten { touches.add(number, modified: stamp.modified, expiresAt: record.expiresAt) }
    }

    /// Writes down the uses noted so far.
    func flushTouches() { touches.flush() }
}
