internal import Platform
internal import Synchronization

/// One named cache: a memory tier in front of a disk tier.
///
/// The memory tier always holds what is known of an image, so that a hit needs neither index nor file; it holds the
/// bytes only when somebody asked for them, or when there is no file. A memory entry that has a file counts only while
/// the file is the recorded one: what another process replaced or removed is not served.
public final class ImageCache: Sendable {
    /// The settings of a cache.
    public struct Configuration: Sendable, Equatable {
        /// The memory tier's limits.
        public var memory = MemoryStorage<CacheKey, MemoryEntry>.Configuration()
        /// The disk tier's settings.
        public var disk: DiskStorage.Configuration
        /// Whether and when a stored image is checked with its server, unless a request says otherwise.
        public var revalidate = Revalidation.never
        /// For how many seconds failures that would come again are remembered, unless a request says otherwise; 0 for not
        /// at all.
        public var negativeCache = 0
        /// Whether images are only answered and kept once all of them has been decoded, unless a request says otherwise.
        public var verifyDecode = false
        /// How keys that are URLs are made shorter; the first that names a host counts for it.
        public var keyRules: [KeyRule] = []

        /// The default settings for a folder.
        public init(folder: String) { disk = DiskStorage.Configuration(folder: folder) }
    }

    /// What the memory tier holds of one image; a purged one is found again as long as a result holds it.
    public final class MemoryEntry: Sendable {
        /// What is known of it.
        public let record: ImageRecord
        /// Its bytes, if held.
        public let bytes: [UInt8]?

        init(record: ImageRecord, bytes: [UInt8]?) {
            self.record = record
            self.bytes = bytes
        }

        /// What the entry costs: its bytes, or about so much for the record alone; and long keys, which stand in it
        /// three times.
        var cost: Int {
            let key = record.key.key.utf8.count
            return (bytes?.count ?? 1536) + (key > 256 ? 3 * key : 0)
        }
    }

    /// An image found in a cache.
    public struct Hit: Sendable {
        let entry: MemoryEntry
        /// The tier that answered.
        public let cacheType: CacheType
        /// What is known of it.
        public var record: ImageRecord { entry.record }
        /// Its bytes, if memory held them.
        public var bytes: [UInt8]? { entry.bytes }
    }

    /// An image that memory was to keep.
    struct Kept {
        /// What memory holds of it, or would hold.
        let entry: MemoryEntry
        /// What became of it: of its bytes, when those were to be kept.
        let admission: MemoryAdmission
    }

    /// The name, unique among the caches of a process.
    public let name: String
    let memory: MemoryStorage<CacheKey, MemoryEntry>
    let disk: DiskStorage
    let flights: FlightLock
    /// Hears what cleaning takes out of the disk tier, from any thread.
    let onClean: @Sendable (CleaningReport) -> Void
    /// Where a store goes on that nobody's thread waits for.
    let queue: WorkQueue
    /// Failures that would come again.
    let failures = Mutex(NegativeCache())
    private let settings: Mutex<Configuration>
    private let hasKeyRules: Atomic<Bool>
    private let verifiesDecode: Atomic<Bool>

    /// - Parameters:
    ///   - folder: The folder of the disk tier, if the process uses it already for something else.
    ///   - queue: Where a store goes on that nobody's thread waits for.
    ///   - onClean: Hears what cleaning takes out of the disk tier, from any thread; must not wait.
    init(
        name: String, configuration: Configuration, clock: EngineClock, folder: StorageFolder? = nil,
        queue: WorkQueue = WorkQueue(submit: startDetached),
        onClean: @escaping @Sendable (CleaningReport) -> Void = { _ in }
    ) {
        self.name = name
        self.onClean = onClean
        self.queue = queue
        settings = Mutex(configuration)
        hasKeyRules = Atomic(!configuration.keyRules.isEmpty)
        verifiesDecode = Atomic(configuration.verifyDecode)
        memory = MemoryStorage(configuration.memory, now: clock.monotonic)
        disk = DiskStorage(
            configuration.disk, clock: clock, folder: folder,
            onClean: { removed, reason in
                onClean(Self.report(removed, reason, name))
            })
        flights = FlightLock(folder: disk.folder)
    }

    /// The settings in force.
    public var configuration: Configuration { settings.withLock { $0 } }

    /// The options with the cache's own settings for what they leave open.
    func completed(_ options: ImageOptions) -> ImageOptions {
        if options.revalidate != nil, options.negativeCache != nil, options.verifyDecode != nil { return options }
        let (revalidate, negativeCache) = settings.withLock { ($0.revalidate, $0.negativeCache) }
        var options = options
        options.revalidate = options.revalidate ?? revalidate
        options.negativeCache = options.negativeCache ?? Double(negativeCache)
        options.verifyDecode = verifiesDecode(options)
        return options
    }

    /// Whether an image is only answered to a request once all of it has been decoded.
    public func verifiesDecode(_ options: ImageOptions) -> Bool {
        options.verifyDecode ?? verifiesDecode.load(ordering: .relaxed)
    }

    /// Whether and when a request checks a stored image with its server.
    func revalidation(_ options: ImageOptions) -> Revalidation {
        options.revalidate ?? settings.withLock { $0.revalidate }
    }

    /// The key under which an image is kept that is asked for as `text`: the text itself, unless the cache's rules make
    /// another of it (C-04). It is its own key in turn.
    public func key(of text: String) -> String {
        // Asked for every hit, and hardly anybody has rules.
        guard hasKeyRules.load(ordering: .relaxed) else { return text }
        return KeyRule.key(of: text, settings.withLock { $0.keyRules })
    }

    /// What is loaded from `url`, with the key that it has here unless `key` says otherwise.
    public func resource(_ url: String, key text: String? = nil) -> Resource {
        Resource(url: url, cacheKey: key(of: text ?? url))
    }

    /// Changes the settings from now on: what is over a new limit goes soon. The folder stays the one it was.
    public func configure(_ configuration: Configuration) {
        settings.withLock { settings in
            let folder = settings.disk.folder
            settings = configuration
            settings.disk.folder = folder
            hasKeyRules.store(!settings.keyRules.isEmpty, ordering: .relaxed)
            verifiesDecode.store(settings.verifyDecode, ordering: .relaxed)
            memory.configure(settings.memory)
            disk.configure(settings.disk)
        }
    }

    // MARK: Looking up

    /// The image for `key`: from memory, else from disk, whence it is promoted.
    ///
    /// - Parameters:
    ///   - burst: An observation of the file made under the same number is not repeated; 0 always looks.
    ///   - mayWait: Whether index and folder may be put right when they do not agree. Otherwise that is nil, as a miss.
    public func hit(
        for key: CacheKey, options: ImageOptions, burst: UInt64, mayWait: Bool
    ) throws(ImageError) -> Hit? {
        try look(for: key, options: options, burst: burst, mayWait: mayWait) ?? nil
    }

    /// The same: nil when the cache cannot tell at once, nil inside when it has no image.
    func look(
        for key: CacheKey, options: ImageOptions, burst: UInt64, mayWait: Bool
    ) throws(ImageError) -> Hit?? {
        let lease = options.lease ?? Self.lease
        if let entry = memory.value(for: key, extending: options.memoryCacheAccessExtendingExpiration) {
            // Before its file is looked at, so that no eviction comes between.
            disk.lend(entry.record, for: lease)
            if isCurrent(entry.record, burst: burst) {
                noteUse(of: entry.record, options)
                return Hit(entry: entry, cacheType: .memory)
            }
            memory.remove(key)
        }
        if options.fromMemoryCacheOrRefresh { return .some(nil) }
        guard let found = try diskRecord(key, lease: lease, mayWait: mayWait) else { return nil }
        guard let record = found else { return .some(nil) }
        noteUse(of: record, options)
        return Hit(entry: promote(record, bytes: nil, options).entry, cacheType: .disk)
    }

    /// Whether what memory knows of an image is still so.
    private func isCurrent(_ record: ImageRecord, burst: UInt64) -> Bool {
        record.isIntact(burst: burst) && disk.isCurrent(record)
    }

    /// The image on disk, if it was stored after one that is only in memory: by another process, then.
    func hit(for key: CacheKey, storedAfter record: ImageRecord, options: ImageOptions) throws(ImageError) -> Hit? {
        guard case .some(.some(let found)) = try diskRecord(key, lease: options.lease ?? Self.lease, mayWait: true),
            found.number != nil, found.stamp != record.beside
        else { return nil }
        noteUse(of: found, options)
        return Hit(entry: remember(found, bytes: nil, options).entry, cacheType: .disk)
    }

    /// Whether memory holds the bytes of the image for `key`; its order is not changed.
    func holdsBytes(_ key: CacheKey) -> Bool { memory.peek(key)?.bytes != nil }

    /// The disk's record: nil when that takes waiting, nil inside when there is none.
    private func diskRecord(_ key: CacheKey, lease: Double = 0, mayWait: Bool) throws(ImageError) -> ImageRecord?? {
        switch try disk.lookUp(key, lease: lease) {
        case .found(let record): .some(record)
        case .missing: .some(nil)
        case .unsettled: mayWait ? .some(try disk.settle(key, lease: lease)) : nil
        }
    }

    /// Which tier has the image for `key`; nothing is loaded, promoted or prolonged.
    ///
    /// - Returns: nil when that takes waiting and `mayWait` is false.
    public func cacheType(for key: CacheKey, burst: UInt64, mayWait: Bool) throws(ImageError) -> CacheType? {
        if let entry = memory.peek(key), isCurrent(entry.record, burst: burst) { return .memory }
        return try diskRecord(key, mayWait: mayWait).map { $0 == nil ? .none : .disk }
    }

    /// What is known of the image for `key`; nothing is loaded, promoted or prolonged. Waits.
    func knownRecord(for key: CacheKey) throws(ImageError) -> ImageRecord? {
        if let record = memory.peek(key)?.record, isCurrent(record, burst: 0) { return record }
        return try diskRecord(key, mayWait: true) ?? nil
    }

    /// Where the image for `key` is, or would be, and whether it is there.
    ///
    /// - Returns: nil when that takes waiting and `mayWait` is false.
    public func path(for key: CacheKey, burst: UInt64, mayWait: Bool) throws(ImageError) -> (
        path: String, exists: Bool
    )? {
        if let record = memory.peek(key)?.record, let path = record.path {
            disk.lend(record, for: Self.lease)
            if isCurrent(record, burst: burst) { return (path, true) }
        }
        guard let record = try diskRecord(key, lease: Self.lease, mayWait: mayWait) else { return nil }
        return record?.path.map { ($0, true) } ?? (disk.path(for: key), false)
    }

    /// The bytes of an image that was found, from memory or from its file; memory keeps them for the next reader.
    ///
    /// - Throws: ``ImageError/notCached(key:)`` if the file is gone or is not what was stored.
    func bytes(of record: ImageRecord, options: ImageOptions) throws(ImageError) -> [UInt8] {
        try loadBytes(of: record, options: options).bytes
    }

    /// The same, with what memory made of them.
    func loadBytes(of record: ImageRecord, options: ImageOptions) throws(ImageError) -> (bytes: [UInt8], kept: Kept) {
        if let entry = memory.peek(record.key), entry.record === record, let bytes = entry.bytes {
            return (bytes, Kept(entry: entry, admission: .kept))
        }
        do {
            let bytes = try disk.data(of: record)
            return (bytes, promote(record, bytes: bytes, options))
        } catch {
            memory.remove(record.key)
            throw error
        }
    }

    /// For how many seconds a path that is handed out stays valid, unless the caller says otherwise.
    static let lease = 60.0

    private func noteUse(of record: ImageRecord, _ options: ImageOptions) {
        let usual = disk.configuration.expireBy == .access ? ExpirationExtension.cacheTime : .none
        let extending = options.diskCacheAccessExtendingExpiration ?? usual
        record.extend(extending, at: disk.clock.now, wall: disk.clock.wallNow)
        disk.touch(record)
    }

    // MARK: Storing

    /// Stores an image in both tiers, or in memory only.
    ///
    /// - Returns: What memory made of it, once the file is at its place.
    func store(
        _ content: DiskStorage.Content, for key: CacheKey, header: ImageHeader, origin: ImageOrigin,
        options: ImageOptions, keepsBytes: Bool, overwrites: Bool = true, metadata: String? = nil,
        lease: Double = 0, maySurpass: Bool = false
    ) throws(ImageError) -> Kept {
        let order = DiskStorage.Order(
            key: key, header: header, origin: origin, expiration: options.diskCacheExpiration,
            fileExtension: options.forcedCacheFileExtension, overwrites: overwrites, metadata: metadata, lease: lease,
            maySurpass: maySurpass)
        return try Attendance.wait { queue, then in
            store(content, order, options, keepsBytes: keepsBytes, in: queue, then: then)
        }.get()
    }

    /// Stores an image in both tiers, or in memory only, and does not wait for the index.
    ///
    /// - Parameters:
    ///   - queue: Where it goes on when there is more to do than others should wait for.
    ///   - then: Is told what memory made of it, once, when the file is at its place. It must not wait, for other
    ///     stores do.
    func store(
        _ content: DiskStorage.Content, _ order: DiskStorage.Order, _ options: ImageOptions, keepsBytes: Bool,
        in queue: WorkQueue, then: @escaping @Sendable (Result<Kept, ImageError>) -> Void
    ) {
        do throws(ImageError) {
            if let kept = try keptAtOnce(content, order, options) { return then(.success(kept)) }
        } catch {
            return then(.failure(error))
        }
        let keepsBytes = keepsBytes && options.keepsInMemory
        disk.store(content, order, in: queue) { [self] result in
            let remember = { @Sendable [self] in
                then(
                    result.flatMap { stored in
                        Result { () throws(ImageError) in
                            try kept(stored, content, options, keepsBytes: keepsBytes)
                        }
                    })
            }
            // Nobody waits until a file has been read.
            if keepsBytes, !content.isInMemory { queue.submit(remember) } else { remember() }
        }
    }

    /// What becomes of an image that the disk tier has nothing to do with; nil when it has.
    private func keptAtOnce(
        _ content: DiskStorage.Content, _ order: DiskStorage.Order, _ options: ImageOptions
    ) throws(ImageError) -> Kept? {
        let key = order.key
        if !order.overwrites, let found = try occupant(of: key, memoryOnly: options.cacheMemoryOnly) {
            return Kept(entry: found, admission: .occupied)
        }
        guard options.cacheMemoryOnly else { return nil }
        let bytes = try Self.bytes(of: content)
        // A file that comes later is newer than the image in memory.
        let beside = (try? diskRecord(key, mayWait: false))??.flatMap(\.stamp)
        let record = ImageRecord(
            key: key, header: order.header, byteCount: bytes.count, path: nil, origin: order.origin,
            storedAt: disk.clock.now, lifetime: nil, expiresAt: nil, stamp: nil, checksum: nil, beside: beside)
        return remember(record, bytes: bytes, options)
    }

    /// What memory makes of an image that is on the disk now.
    private func kept(
        _ stored: DiskStorage.Stored, _ content: DiskStorage.Content, _ options: ImageOptions, keepsBytes: Bool
    ) throws(ImageError) -> Kept {
        let record = stored.record
        guard stored.isNew else {
            let entry = memory.peek(record.key).flatMap { $0.record.path == record.path ? $0 : nil }
            return Kept(entry: entry ?? MemoryEntry(record: record, bytes: nil), admission: .occupied)
        }
        if stored.isPassing {
            memory.remove(record.key)
            return Kept(entry: MemoryEntry(record: record, bytes: nil), admission: .unwanted)
        }
        return remember(record, bytes: keepsBytes ? try Self.bytes(of: content) : nil, options)
    }

    /// The image that is not to be replaced, as far as memory knows it, or the disk when it is to be in memory only. The
    /// rest is found out when it is stored on the disk, where another process cannot come between.
    private func occupant(of key: CacheKey, memoryOnly: Bool) throws(ImageError) -> MemoryEntry? {
        if let entry = memory.peek(key), isCurrent(entry.record, burst: 0), memoryOnly || entry.record.path == nil {
            return entry
        }
        guard memoryOnly, case .some(.some(let record)) = try diskRecord(key, mayWait: true) else { return nil }
        return MemoryEntry(record: record, bytes: nil)
    }

    /// Remembers an image that has just come, as far as its options want that; what memory had under its key is old.
    @discardableResult
    func remember(_ record: ImageRecord, bytes: [UInt8]?, _ options: ImageOptions) -> Kept {
        if !options.keepsInMemory { memory.remove(record.key) }
        return promote(record, bytes: bytes, options)
    }

    /// Remembers an image that was found, as far as its options want that; otherwise memory stays as it is.
    func promote(_ record: ImageRecord, bytes: [UInt8]?, _ options: ImageOptions) -> Kept {
        if options.keepsInMemory { return keep(record, bytes: bytes, expiration: options.memoryCacheExpiration) }
        return Kept(entry: MemoryEntry(record: record, bytes: bytes), admission: .unwanted)
    }

    /// Remembers an image; of one whose bytes are too large for memory, the record alone.
    @discardableResult
    func keep(_ record: ImageRecord, bytes: [UInt8]?, expiration: StorageExpiration?) -> Kept {
        let entry = MemoryEntry(record: record, bytes: bytes)
        let admission = memory.store(
            entry, for: record.key, cost: entry.cost, expiration: expiration, isExempt: bytes == nil)
        guard case .tooLarge = admission, bytes != nil, record.path != nil else {
            return Kept(entry: entry, admission: admission)
        }
        let small = MemoryEntry(record: record, bytes: nil)
        memory.store(small, for: record.key, cost: small.cost, expiration: expiration, isExempt: true)
        return Kept(entry: small, admission: admission)
    }

    static func bytes(of content: DiskStorage.Content) throws(ImageError) -> [UInt8] {
        do {
            switch content {
            case .bytes(let bytes): return bytes
            case .body(let body): return try body.bytes()
            case .file(let path): return try StorageFolder.read(path, followsLinks: true)
            }
        } catch { throw StorageFailure.error(error, folder: "the cache folder") }
    }

    // MARK: Removing

    /// What ``remove(_:fromMemory:fromDisk:allVariants:)`` took away.
    public struct Removed: Equatable, Sendable {
        /// Something was in memory and is not any more.
        public var memory = false
        /// Something was on disk and is not any more.
        public var disk = false
        /// A path that was handed out and lent had to go before its time.
        public var leased = false
    }

    /// Removes an image from the tiers chosen; from memory first.
    ///
    /// When only the file goes, memory takes over the bytes, so that it still has the image.
    public func remove(
        _ key: CacheKey, fromMemory: Bool = true, fromDisk: Bool = true, allVariants: Bool = false
    ) throws(ImageError) -> Removed {
        var removed = Removed()
        failures.withLock { if $0.isEmpty == false { _ = $0.remove(key.key, now: 0) } }
        if fromMemory {
            removed.memory = memory.remove(key) != nil
            if allVariants, memory.removeAll(where: { other, _ in ExactText(other.key) == ExactText(key.key) }) > 0 {
                removed.memory = true
            }
        } else if fromDisk {
            detach(key)
        }
        if fromDisk {
            let removal = try disk.remove(key, allVariants: allVariants)
            removed.disk = removal.count > 0
            removed.leased = removal.leased > 0
        }
        return removed
    }

    /// Makes a memory entry independent of its file.
    private func detach(_ key: CacheKey) {
        guard let entry = memory.peek(key), entry.record.path != nil, !entry.record.isLocalFile,
            let bytes = entry.bytes ?? (try? disk.data(of: entry.record))
        else { return }
        let old = entry.record
        let record = ImageRecord(
            key: key, header: old.header, byteCount: old.byteCount, path: nil,
            origin: old.origin, storedAt: old.storedAt, lifetime: nil, expiresAt: nil, stamp: nil,
            checksum: old.checksum)
        keep(record, bytes: bytes, expiration: nil)
    }

    /// Empties both tiers and forgets failures. An image in both of them is one image.
    public func clear() throws(ImageError) -> DiskStorage.Removal {
        let bytes = Atomic(0)
        let count = memory.removeAll { _, entry in
            if entry.record.path == nil { bytes.add(entry.bytes?.count ?? 0, ordering: .relaxed) }
            return entry.record.path == nil
        }
        memory.removeAll()
        failures.withLock { $0.removeAll() }
        var removal = try disk.removeAll()
        removal.count += count
        removal.bytes += bytes.load(ordering: .relaxed)
        return removal
    }

    /// Empties the memory tier and forgets failures; returns entries and bytes.
    public func clearMemory() -> DiskStorage.Removal {
        let gone = memory.removeAll()
        failures.withLock { $0.removeAll() }
        return DiskStorage.Removal(count: gone.count, bytes: gone.cost)
    }

    /// Empties the disk tier; the memory tier keeps its images, the most recently used first, as far as its limit goes.
    public func clearDisk() throws(ImageError) -> DiskStorage.Removal {
        let limits = memory.configuration
        var room = memory.costLimit
        for key in memory.keys {
            guard let entry = memory.peek(key), room >= entry.record.byteCount else { break }
            guard limits.admission(cost: entry.record.byteCount, isExempt: false) == .kept else { continue }
            room -= entry.record.byteCount
            detach(key)
        }
        memory.removeAll { _, entry in entry.record.path != nil && !entry.record.isLocalFile }
        ResumeFolder(disk.folder).clear()
        return try disk.removeAll()
    }

    // MARK: Looking after

    /// Everything that is known of a cached image; nil for a miss. Nothing is loaded or prolonged.
    public func inspect(_ key: CacheKey) throws(ImageError) -> EntryDetails? {
        if let entry = try disk.inspect(key) { return entry }
        guard let record = memory.peek(key)?.record, isCurrent(record, burst: 0) else { return nil }
        return EntryDetails(record: record)
    }

    /// A page of what the disk tier holds; see ``ListQuery``.
    public func list(_ query: ListQuery) throws(ImageError) -> (entries: [EntryDetails], next: Int64?) {
        try disk.list(query)
    }

    /// Removes every image whose time is over, from both tiers.
    ///
    /// - Parameter isCancelled: Asked now and then.
    public func removeExpired(isCancelled: () -> Bool = { false }) throws(ImageError) -> CleaningReport {
        memory.removeExpired()
        return Self.report(try disk.removeExpired(isCancelled: isCancelled), .expired, name)
    }

    /// Reads every image of the disk tier through and holds it against the index; see ``DiskStorage/Verification``.
    public func verify(
        repairs: Bool, report: (_ done: Int, _ total: Int) -> Void = { _, _ in }, isCancelled: () -> Bool = { false }
    ) throws(ImageError) -> DiskStorage.Verification {
        try disk.verify(repairs: repairs, report: report, isCancelled: isCancelled)
    }

    /// One round of cleaning of both tiers, a few entries at a time.
    func clean(isCancelled: () -> Bool = { false }) {
        memory.removeExpired()
        disk.clean(isCancelled: isCancelled)
    }

    private static func report(
        _ removed: [DiskStorage.Cleaned], _ reason: CleaningReport.Reason, _ name: String
    ) -> CleaningReport {
        CleaningReport(
            cache: name, hashes: removed.map(\.hash), keys: removed.map(\.key),
            bytes: removed.reduce(0) { $0 &+ $1.bytes }, reason: reason)
    }

    /// The sizes of both tiers, in O(1); an index of an older version is made a new one first.
    public func sizes() throws(ImageError) -> CacheSizes { sizes(try disk.totals()) }

    /// The sizes of both tiers, in O(1); nil when that takes waiting.
    public func sizesAtOnce() throws(ImageError) -> CacheSizes? { try disk.totals(mayWait: false).map(sizes) }

    private func sizes(_ disk: CacheIndex.Totals) -> CacheSizes {
        let memory = memory.totals
        return CacheSizes(
            disk: .init(
                count: disk.count, bytes: disk.bytes, allocatedBytes: disk.allocated,
                limitBytes: self.disk.configuration.bytesLimit, leasedBytes: disk.lent),
            memory: .init(
                count: memory.count, bytes: memory.cost, allocatedBytes: memory.cost,
                limitBytes: self.memory.costLimit, leasedBytes: 0))
    }
}

/// The sizes of a cache.
public struct CacheSizes: Sendable, Equatable {
    /// The size of one tier.
    public struct Tier: Sendable, Equatable {
        /// Entries.
        public let count: Int
        /// The sum of the images' sizes, in bytes.
        public let bytes: Int
        /// What they take on the disk, in bytes: whole blocks.
        public let allocatedBytes: Int
        /// The limit, in bytes; 0 for none.
        public let limitBytes: Int
        /// Bytes of files that are no longer in the cache and go when their leases end.
        public let leasedBytes: Int
    }

    /// The disk tier.
    public let disk: Tier
    /// The memory tier.
    public let memory: Tier
}
