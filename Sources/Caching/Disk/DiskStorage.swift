internal import Glibc
package import ImageErrors
package import ImageFormats
internal import Logging
package import Platform
internal import Synchronization

/// The disk tier of one cache: whole files named by the hash of their key, and an index that all processes share.
///
/// A file is written beside, then named within the index's write transaction; so another process sees the old image
/// or the new one, never a part, and never an index that contradicts the folder for long. A file that was changed
/// behind our back is a miss.
///
/// Layout: `blobs/<2 hex>/<hash>.<ext>`, `partial/` for what is being written, `leases/` for what is lent out and by
/// whom is written, `index.sqlite`, `CACHEDIR.TAG`.
///
/// Callable from any thread. ``lookUp(_:)`` takes microseconds; everything else may wait for the disk.
public final class DiskStorage: Sendable {
    /// The bytes to be stored.
    package enum Content: Sendable {
        case bytes([UInt8])
        /// A downloaded body.
        case body(any StorableBody)
        /// A file of the user's, to be copied.
        case file(String)

        /// Whether its bytes are in memory already.
        package var isInMemory: Bool {
            switch self {
            case .bytes: true
            case .body(let body): body.isInMemory
            case .file: false
            }
        }
    }

    /// What a look into the index tells.
    package enum Lookup: Sendable {
        case found(ImageRecord)
        case missing
        /// The index and the folder do not agree, or other folders must be searched; ``DiskStorage/settle(_:)`` finds
        /// out, and may wait.
        case unsettled
    }

    /// What `remove` and `clear` took away.
    public struct Removal: Equatable, Sendable {
        /// Entries.
        public var count = 0
        /// Bytes of their files.
        public var bytes = 0
        /// How many of them were lent out.
        public var leased = 0

        /// So many entries of so many bytes.
        public init(count: Int = 0, bytes: Int = 0, leased: Int = 0) {
            self.count = count
            self.bytes = bytes
            self.leased = leased
        }
    }

    /// An entry that cleaning took out.
    struct Cleaned: Sendable, Equatable {
        let hash: String
        /// nil where the index does not know it.
        let key: String?
        let bytes: Int
    }

    private let settings: Mutex<Configuration>
    package let folder: StorageFolder
    let index: CacheIndex
    package let clock: CacheClock
    let touches: TouchLog
    let lending: Lending
    private let misses = KnownMisses()
    let isPurging = Atomic(false)
    let wantsPurge = Atomic(false)
    let evictions = Atomic(0)
    let damages = Atomic(0)
    let hasCollected = Atomic(false)
    let scrubbed = Atomic<Int64>(0)
    let logger = Logger(label: "halcyon.cache")
    private let usesMD5 = Atomic(false)
    private let hasReadOnlyPaths = Atomic(false)
    private let syncs = Atomic(false)
    /// Runs work that nobody waits for.
    package let background: @Sendable (@escaping @Sendable () -> Void) -> Void
    let onClean: @Sendable ([Cleaned], CleaningReport.Reason) -> Void
    /// The bytes of the file system that are free, and those of all of it.
    let freeSpace: @Sendable () -> (available: Int, total: Int)?

    /// A storage; nothing is read or made yet.
    ///
    /// - Parameters:
    ///   - folder: The folder, if the process uses it already for something else; it must be the configured one.
    ///   - freeSpace: Tells the space on the disk; as the file system says when nil.
    ///   - background: Runs work that nobody waits for, on a thread that may wait for the disk.
    ///   - onClean: Hears what was taken out for its age or for its size; must not wait.
    init(
        _ configuration: Configuration, clock: EngineClock, folder: StorageFolder? = nil,
        freeSpace: (@Sendable () -> (available: Int, total: Int)?)? = nil,
        background: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = startDetached,
        onClean: @escaping @Sendable ([Cleaned], CleaningReport.Reason) -> Void = { _, _ in }
    ) {
        settings = Mutex(configuration)
        self.background = background
        self.onClean = onClean
        let adopter = Adopter()
        let files = folder ?? StorageFolder(path: configuration.folder)
        self.folder = files
        self.freeSpace = freeSpace ?? { files.freeSpace }
        let clock = CacheClock(clock)
        self.clock = clock
        index = CacheIndex(
            path: configuration.folder + "/index.sqlite", clock: clock, hasImages: { !files.shards.isEmpty },
            onAdopting: { adopter.start() }, finishClearing: { try files.setBlobsAside() },
            departure: { adopter.noteDeparture() })
        touches = TouchLog(index: index)
        lending = Lending(folder: files, index: index, clock: clock)
        noteConfiguration(configuration)
        adopter.use(self)
    }

    // MARK: Settings

    /// The settings.
    public var configuration: Configuration { settings.withLock { $0 } }

    /// Changes the settings at once; a lower limit removes what is too much before long. The folder stays.
    public func configure(_ configuration: Configuration) {
        var configuration = configuration
        settings.withLock { settings in
            configuration.folder = settings.folder
            settings = configuration
        }
        noteConfiguration(configuration)
        if configuration.bytesLimit > 0, index.exists { background { [self] in keepLimit() } }
    }

    /// Adds a folder to search after the others.
    public func addReadOnlyPath(_ path: String) {
        let configuration = settings.withLock { settings in
            if !settings.readOnlyPaths.contains(path) { settings.readOnlyPaths.append(path) }
            return settings
        }
        noteConfiguration(configuration)
    }

    private func noteConfiguration(_ configuration: Configuration) {
        usesMD5.store(configuration.fileNames == .md5, ordering: .relaxed)
        hasReadOnlyPaths.store(!configuration.readOnlyPaths.isEmpty, ordering: .relaxed)
        syncs.store(configuration.syncsToDisk, ordering: .relaxed)
    }

    /// Whether storing waits for nothing but the system's memory, as a rule.
    package var isBrief: Bool { !syncs.load(ordering: .relaxed) }

    /// The name of the file for a key.
    package func name(of key: CacheKey) -> Digest {
        usesMD5.load(ordering: .relaxed) ? Digest(md5Of: key.computed) : Digest(of: key.computed)
    }

    // MARK: Looking up

    /// The record of a stored image, if it is there, whole and not expired.
    ///
    /// - Complexity: One index lookup and one `lstat`; never waits.
    ///
    /// - Parameter lease: For how many seconds the path is lent out, from before it is known to be there: so no eviction
    ///   comes between.
    func lookUp(_ key: CacheKey, lease: Double = 0) throws(ImageError) -> Lookup {
        let found = try lookIntoIndex(key, lease: lease)
        if case .missing = found, hasReadOnlyPaths.load(ordering: .relaxed) { return .unsettled }
        return found
    }

    /// Whether nobody, in any process, has stored the image since the index was last asked for it, and did not have it.
    ///
    /// - Complexity: No system call.
    package func isStillMissing(_ key: CacheKey) -> Bool {
        let number = name(of: key).rowNumber
        guard let mark = lending.storeMark(at: number) else { return false }
        return misses.isKnown(number, mark)
    }

    /// What the index says, without other folders.
    ///
    /// - Parameter evenExpired: Whether an entry whose time is over, but which has not been cleaned away, is found too.
    func lookIntoIndex(_ key: CacheKey, lease: Double, evenExpired: Bool = false) throws(ImageError) -> Lookup {
        let digest = name(of: key)
        // Before the index is looked at: what changes from here on is noticed at the next hit.
        let departures = lending.departures
        let mark = lending.storeMark(at: digest.rowNumber)
        do {
            guard var row = try index.row(digest.rowNumber), row.name == digest else {
                // What has been opened and is at its place still is known: each miss looks at that.
                let isUnknown = index.isUnready || !index.isOpen && !index.exists
                if index.isAdopting || isUnknown && folder.hasBlobs { return .unsettled }
                if let mark, !isUnknown { misses.note(digest.rowNumber, mark) }
                return .missing
            }
            // A use that has not been written down yet may have given it more time.
            if isExpired(row), let touch = touches.touch(of: row) { row.expiresAt = touch.expiresAt }
            if isExpired(row), !evenExpired { return .missing }
            if lease > 0 { lending.lend(row.number, for: lease) }
            let path = folder.blob(row.fileName)
            guard let stamp = FileStamp(path: path) else {
                var status = stat()
                // What cannot be looked at is an error, and no reason to forget it.
                if lstat(path, &status) != 0, ![ENOENT, ENOTDIR].contains(errno) {
                    throw SystemError(errno, "look at", path)
                }
                return .unsettled
            }
            guard stamp.modified == row.modified, stamp.size == row.byteCount, !row.key.isEmpty else {
                return .unsettled
            }
            return .found(record(key, row, path, stamp, departures))
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }

    /// The record of a stored image; where index and folder do not agree, one of them is put right first.
    package func record(for key: CacheKey) throws(ImageError) -> ImageRecord? {
        switch try lookUp(key) {
        case .found(let record): record
        case .missing: nil
        case .unsettled: try settle(key)
        }
    }

    /// Whether an image that was found before, and whose file is there, is still what the cache has for its key. A file
    /// may be there for its lease alone, and what a folder of others has may be in the cache by now.
    ///
    /// - Complexity: A load from memory as long as no file has stayed for its lease since; else an index lookup.
    package func isCurrent(_ record: ImageRecord) -> Bool {
        guard !record.isLocalFile, let path = record.path else { return true }
        guard record.number != nil else {
            let isKnown = configuration.readOnlyPaths.contains { path.hasPrefix($0 + "/") }
            if isKnown, case .missing? = try? lookIntoIndex(record.key, lease: 0) { return true }
            return false
        }
        let departures = lending.departures
        if departures == record.knownDepartures { return true }
        guard case .found(let found)? = try? lookIntoIndex(record.key, lease: 0), found.path == path,
            found.storedAt == record.storedAt, found.stamp == record.stamp
        else { return false }
        record.knownDepartures = departures
        return true
    }

    func record(
        _ key: CacheKey, _ row: CacheIndex.Row, _ path: String, _ stamp: FileStamp, _ departures: UInt32 = 0
    ) -> ImageRecord {
        ImageRecord(
            key: key, header: row.header, byteCount: row.byteCount, path: path, origin: row.origin,
            storedAt: row.storedAt, lifetime: row.lifetime, expiresAt: row.expiresAt, stamp: stamp,
            checksum: row.checksum, number: row.number, clock: clock, departures: departures)
    }

    func isExpired(_ row: CacheIndex.Row) -> Bool { row.expiresAt.map { $0 <= clock.now } ?? false }

    /// Where the image for `key` is, or would be: a function of the key, and of the extension its name foretells.
    package func path(for key: CacheKey) -> String {
        folder.blob(name(of: key).hex, fileExtension(for: key, nil))
    }

    /// The extension of the file for a key.
    ///
    /// - Parameter format: That of the bytes; nil as long as there are none.
    package func fileExtension(for key: CacheKey, _ format: ImageFormat?) -> String {
        switch configuration.pathExtension {
        case .sniffed: format?.fileExtension ?? key.foretoldExtension
        case .fromKey: key.ownExtension
        case .none: ""
        case .fixed(let text): text
        }
    }

    /// The bytes of a stored image.
    ///
    /// - Throws: ``ImageError/notCached(key:)`` if the file is gone or was changed.
    package func data(of record: ImageRecord) throws(ImageError) -> [UInt8] {
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
        } catch let failure as SystemError where failure.code == ENOENT {
            throw .notCached(key: record.key.key)
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }

    // MARK: Removing

    /// Removes everything, lent out or not.
    ///
    /// - Returns: What was there, by the index.
    package func removeAll() throws(ImageError) -> Removal {
        touches.forget()
        guard folder.exists else { return Removal() }
        do {
            defer { folder.removeTrash() }
            let removal = try index.write { writer in
                let totals = try writer.totals()
                var leased = totals.lent > 0 ? try writer.lentCount(at: self.clock.now) : 0
                if self.lending.hasLeases { leased += try writer.count(where: self.lending.isLent) }
                try writer.removeAll()
                return Removal(count: totals.count, bytes: totals.bytes, leased: leased)
            }
            // The files go as the next transaction begins, whoever begins it.
            try index.write { _ in }
            return removal
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }

    /// Counts and sizes, in O(1).
    ///
    /// - Parameter mayWait: Whether an index of an older version is made a new one first. Otherwise that is nil.
    func totals(mayWait: Bool) throws(ImageError) -> CacheIndex.Totals? {
        do {
            let totals = try index.totals()
            guard index.isUnready, folder.hasBlobs else { return totals }
            guard mayWait else { return nil }
            try index.makeReady()
            return try index.totals()
        } catch { throw ImageError.storage(error, folder: folder.path) }
    }

    /// Counts and sizes, in O(1); an index of an older version is made a new one first.
    func totals() throws(ImageError) -> CacheIndex.Totals { try totals(mayWait: true) ?? CacheIndex.Totals() }

    /// How many entries this process took out because their files had been changed behind its back.
    package var damageCount: Int { damages.load(ordering: .relaxed) }

    /// How many entries this process evicted for their size.
    package var evictionCount: Int { evictions.load(ordering: .relaxed) }

    // MARK: Use

    /// Notes that the image was handed out, to be written down later, many at a time.
    func touch(_ record: ImageRecord) {
        guard let number = record.number, let stamp = record.stamp else { return }
        let use = record.use(at: clock.now)
        touches.add(
            number,
            TouchLog.Touch(
                modified: stamp.modified, storedAt: record.storedAt, expiresAt: record.expiryTime,
                movesExpiry: use.movesExpiry), isUrgent: use.isUrgent)
    }

    /// Keeps the file of an image in place for so many seconds.
    func lend(_ record: ImageRecord, for seconds: Double) {
        if let number = record.number, seconds > 0 { lending.lend(number, for: seconds) }
    }

    /// Writes down the uses noted so far.
    func flushTouches() { touches.flush() }

    /// Takes back what marks this process as a writer; called before it ends.
    package func close() {
        flushTouches()
        folder.session.end()
    }
}
