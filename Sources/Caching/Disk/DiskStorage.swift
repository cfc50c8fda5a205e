internal import Glibc
package import ImageErrors
internal import ImageFormats
internal import Logging
package import Platform
internal import Synchronization

/// The disk tier of one cache: whole files named by the hash of their key, and an index that all processes share.
///
/// A file is written beside, then named within the index's write transaction; so another process sees the old image or the
/// new one, never a part, and never an index that contradicts the folder for long. A file that was changed behind our back
/// is a miss.
///
/// Layout: `blobs/<2 hex>/<hash>.<ext>`, `partial/` for drafts, `leases/` for the leases and the marks of writing processes,
/// `index.sqlite`, `entries.log` (the second copy of what the index knows), `index.sound` (``IndexMark``), `CACHEDIR.TAG`;
/// in that of the default cache `names` (``SharedLines``), the host names that were resolved.
///
/// Its parts: ``StorageFolder`` names and writes files, ``CacheIndex`` keeps the entries, `StoreJob` stores, ``Evictor``
/// removes by age and size, ``Repairer`` mends the index, ``Verifier`` checks all, ``IndexWatch`` notices what others
/// did to the index, ``LeftoverCollector`` removes what dead writers left, and ``Lending`` keeps the leases.
///
/// Callable from any thread. ``lookUp(_:lease:)`` takes microseconds; everything else may wait for the disk.
public final class DiskStorage: Sendable {
    /// The bytes to be stored.
    package enum Content: Sendable {
        case bytes([UInt8])
        /// A downloaded body.
        case body(any StorableBody)
        /// A file of the user's, to be copied.
        ///
        /// `as` is its state when it was first looked at: what is copied must be of that state. `nil` for a file that nobody
        /// else writes.
        case file(String, as: FileState? = nil)

        /// `true` when its bytes are in memory already.
        package var isInMemory: Bool {
            switch self {
            case .bytes: true
            case .body(let body): body.isInMemory
            case .file: false
            }
        }
    }

    private let settings: Mutex<Configuration>
    package let folder: StorageFolder
    let index: CacheIndex
    package let clock: CacheClock
    let touches: TouchLog
    let lending: Lending
    /// The images that the index did not have when it was last asked; see ``isStillMissing(_:)``.
    let misses = Mutex<[Int64: ChangeMark]>([:])
    /// The files of a shared folder that this process has found to be what the index says.
    let verified = Mutex<[UInt64: FileStamp]>([:])
    let isPurging = Atomic(false)
    let wantsPurge = Atomic(false)
    let evictions = Atomic(0)
    /// The number of entries that evictions have looked at.
    let considerations = Atomic(0)
    let damages = Atomic(0)
    let hasCollected = Atomic(false)
    /// The moment from which on the log of entries may be written anew, as ``CacheClock/boot``: after a failure, not at once.
    /// `Int.max` while it is being written.
    let rewritesFrom = Atomic(0)
    private let isAdopting = Atomic(false)
    /// Held by the thread that takes the files of the folder into an index that was lost.
    private let adopting = Mutex(())
    let watch: IndexWatch
    /// The log of entries, as long as much is looked up in it.
    let openLog = Mutex<EntryLogContents?>(nil)
    /// The number of the last entry whose file was checked in passing.
    let checkedUpTo = Atomic<Int64>(0)
    let logger = Logger(label: "halcyon.cache")
    // Asked for every lookup, which therefore needs no lock.
    let usesMD5 = Atomic(false)
    let hasReadOnlyPaths = Atomic(false)
    private let syncs = Atomic(false)
    /// Half of the limit: the most bytes that are lent.
    let lentShare = Atomic(0)
    /// Its stores wait in it until their drafts may be written.
    let drafts = DraftQueue()
    /// Held by the thread that takes images out because the disk is full.
    let spaceMaking = Mutex(())
    /// See ``EvictionPosition``.
    let evictionPosition = Mutex(EvictionPosition())
    /// Runs work that nobody waits for; `false` when it cannot be done now, and waits for the next occasion.
    let background: @Sendable (@escaping @Sendable () -> Void) -> Bool
    let onClean: @Sendable ([Evictor.Cleaned], CleaningReport.Reason) -> Void
    /// The space on the disk.
    let freeSpace: @Sendable () -> StorageFolder.Space?

    var evictor: Evictor { Evictor(disk: self) }
    var repairer: Repairer { Repairer(disk: self) }

    /// A storage; nothing is read or made yet.
    ///
    /// - Parameters:
    ///   - folder: The folder, if the process uses it already for something else; it must be the configured one.
    ///   - watchesIndex: `true` to check the folder when somebody has changed the index; see ``IndexWatch``.
    ///   - freeSpace: Returns the space on the disk; as the file system says when `nil`.
    ///   - background: Runs work that nobody waits for, on a thread that may wait for the disk; `false` when there is none.
    ///   - onClean: Called with entries that were removed for their age or for the size of the cache; must not wait.
    init(
        _ configuration: Configuration, clock: EngineClock, folder: StorageFolder? = nil, watchesIndex: Bool = false,
        freeSpace: (@Sendable () -> StorageFolder.Space?)? = nil,
        background: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { startOptionalThread($0) },
        onClean: @escaping @Sendable ([Evictor.Cleaned], CleaningReport.Reason) -> Void = { _, _ in }
    ) {
        let folder = folder ?? StorageFolder(path: configuration.folder)
        settings = Mutex(configuration)
        self.folder = folder
        self.freeSpace = freeSpace ?? { folder.freeSpace }
        (self.background, self.onClean) = (background, onClean)
        self.clock = CacheClock(clock)
        lending = Lending(folder: folder, clock: self.clock)
        index = CacheIndex(folder: folder, clock: self.clock, lending: lending)
        touches = TouchLog(index: index)
        watch = IndexWatch(index: index, folder: folder, clock: clock)
        apply(configuration)
        index.onOpening.set { [weak self] in
            guard let self, self.watch.noteOpening(), watchesIndex else { return }
            self.beginWatching()
        }
        index.onAdopting.set { [weak self] in self?.startAdoption() }
        // Without a thread, the watch looks two seconds later.
        if watchesIndex {
            index.onDamage.set { [weak self] in if let self { _ = self.background { self.checkIndex() } } }
        }
    }

    /// Adopts the files of the folder on a thread of its own, unless one does. Without a thread, each is adopted when it is
    /// asked for.
    private func startAdoption() {
        guard !isAdopting.exchange(true, ordering: .sequentiallyConsistent) else { return }
        let hasThread = startOptionalThread { [self] in
            var isDone = true
            // The index may be lost once more before it is said that nobody adopts.
            repeat {
                isDone = adoptAll()
                isAdopting.store(false, ordering: .sequentiallyConsistent)
            } while isDone && index.isAdopting && !isAdopting.exchange(true, ordering: .sequentiallyConsistent)
        }
        if !hasThread { isAdopting.store(false, ordering: .sequentiallyConsistent) }
    }

    /// Waits until an index that was lost knows every file of the folder again. What cannot be read now stays unknown.
    ///
    /// - Complexity: A load from memory as a rule; otherwise O(n) in the files, which are read.
    /// - Returns: `false` when some files could not be read.
    @discardableResult
    func adoptAll() -> Bool {
        guard index.isAdopting else { return true }
        return adopting.withLock { _ in !index.isAdopting || repairer.adoptAll() }
    }

    /// `true` when the folder may hold images that the index does not know: it is begun anew, or somebody has changed it and no
    /// check has been made since.
    func mayLackEntries(_ writer: IndexWriter) -> Bool { writer.isAdopting || watch.isDoubted }

    /// Runs `body` and turns its failure into an error for users.
    func reporting<Value>(_ body: () throws -> Value) throws(ImageError) -> Value {
        do { return try body() } catch { throw ImageError.storage(error, folder: folder.path) }
    }

    // MARK: Settings

    /// The settings.
    public var configuration: Configuration { settings.withLock { $0 } }

    /// Changes the settings at once; a lower limit removes what is too much before long. The folder stays.
    public func configure(_ configuration: Configuration) {
        apply(
            settings.withLock { settings in
                let folder = settings.folder
                settings = configuration
                settings.folder = folder
                return settings
            })
        if configuration.bytesLimit > 0, (try? index.exists) == true {
            _ = background { [self] in evictor.keepLimit() }
        }
    }

    private func apply(_ configuration: Configuration) {
        usesMD5.store(configuration.fileNames == .md5, ordering: .relaxed)
        hasReadOnlyPaths.store(!configuration.readOnlyPaths.isEmpty, ordering: .relaxed)
        syncs.store(configuration.syncsToDisk, ordering: .relaxed)
        limitLending(to: .max)
    }

    /// `true` when storing waits for nothing but the system's memory, as a rule.
    package var isBrief: Bool { !syncs.load(ordering: .relaxed) }

    /// The name of the file for a key.
    package func name(of key: CacheKey) -> Digest {
        usesMD5.load(ordering: .relaxed) ? Digest(md5Of: key.computed) : Digest(of: key.computed)
    }

    /// The entry of a key.
    ///
    /// - Parameter known: The entry's name, if it has been made already.
    func row(of key: CacheKey, named known: Digest? = nil, _ find: (Digest) throws -> IndexRow?) rethrows -> IndexRow? {
        let name = known ?? name(of: key)
        return try find(name).flatMap { $0.name == name && $0.isEntry(of: key) ? $0 : nil }
    }

    func record(
        _ key: CacheKey, _ row: IndexRow, _ path: String, _ stamp: FileStamp, _ mark: ChangeMark
    ) -> ImageRecord {
        let record = ImageRecord(
            key: key, header: row.header, byteCount: row.byteCount, path: path, origin: row.origin,
            storedAt: row.storedAt, life: row.life, expiresAt: row.expiresAt, stamp: stamp,
            checksum: row.checksum, name: row.name, fileNumber: row.fileNumber, clock: clock)
        record.knownMark = mark
        return record
    }

    /// The life of an entry that is stored or confirmed now; as the storage's own setting says when `nil`.
    func life(_ expiration: StorageExpiration?) -> EntryLife {
        EntryLife(expiration ?? configuration.expiration, now: clock.now, wall: clock.wallNow)
    }

    func isExpired(_ row: IndexRow) -> Bool { row.expiresAt.map { $0 <= clock.now } ?? false }

    /// The present or future path of the image for `key`: a function of the key, and of the extension its name foretells.
    package func path(for key: CacheKey) -> String {
        folder.blob(name(of: key).hex, fileExtension(for: key, nil))
    }

    /// The extension of the file for a key.
    ///
    /// - Parameter format: That of the bytes; `nil` as long as there are none.
    func fileExtension(for key: CacheKey, _ format: ImageFormat?) -> String {
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
        return try reporting {
            do {
                let bytes = try Files.read(path, followsLinks: false)
                let isWhole =
                    bytes.count == record.byteCount
                    && (record.checksum == nil || bytes.withUnsafeBytes { Digest(of: $0) } == record.checksum)
                if isWhole { return bytes }
                try repairer.forget(record)
            } catch let failure as SystemError where failure.code == ENOENT {}
            throw ImageError.notCached(key: record.key.key)
        }
    }

    // MARK: Use

    /// Notes that the image was handed out, to be written later, many at a time.
    func touch(_ record: ImageRecord) {
        guard let number = record.number, let stamp = record.stamp else { return }
        let use = record.use(at: clock.now)
        let touch = TouchLog.Touch(
            modified: stamp.modified, storedAt: record.storedAt, expiresAt: record.expiryTime,
            movesExpiry: use.movesExpiry)
        touches.add(number, touch, isUrgent: use.isUrgent)
    }

    /// Keeps the file of an image in place for so many seconds.
    func lend(_ record: ImageRecord, for seconds: Double) {
        if let file = record.lease, seconds > 0 {
            record.isLent = lend(file, for: seconds, bytes: record.byteCount)
        }
    }

    /// Lends no more than half of the limit, and of the bytes that the disk has for the tier.
    func limitLending(to room: Int) {
        let limit = configuration.bytesLimit
        let share = room == .max ? limit / 2 : max(1, (limit > 0 ? min(limit, room) : room) / 2)
        lentShare.store(share, ordering: .relaxed)
    }

    /// The most bytes of drafts that are written at the same time: an eighth of the limit, or of the bytes that the disk has for
    /// the tier; 0 for no bound.
    var draftShare: Int {
        let share = lentShare.load(ordering: .relaxed)
        return share > 0 ? max(1, share / 4) : 0
    }

    /// Lends a file of so many bytes, unless what is lent has used its half of the limit.
    func lend(_ file: LeaseNumber, for seconds: Double, bytes: Int) -> Bool {
        lending.lend(file, for: seconds, bytes: bytes, share: lentShare.load(ordering: .relaxed))
    }

    /// Writes the uses noted so far.
    func flushTouches() { touches.flush() }

    /// Takes back the mark of this process as a writer; called before it ends.
    package func close() {
        flushTouches()
        watch.close()
        folder.close()
    }
}
