public import HTTPSemantics
package import Platform
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

        package init(record: ImageRecord, bytes: [UInt8]?) {
            self.record = record
            self.bytes = bytes
        }

        /// What the entry costs: its bytes, or about so much for the record alone; and long keys, which stand in it
        /// three times.
        package var cost: Int {
            let key = record.key.key.utf8.count
            return (bytes?.count ?? 1536) + (key > 256 ? 3 * key : 0)
        }
    }

    /// An image found in a cache.
    public struct Hit: Sendable {
        package let entry: MemoryEntry
        /// The tier that answered.
        public let cacheType: CacheType

        /// An image that the disk tier holds.
        package init(record: ImageRecord) {
            (entry, cacheType) = (MemoryEntry(record: record, bytes: nil), .disk)
        }

        /// An image that the tier `cacheType` holds.
        package init(entry: MemoryEntry, cacheType: CacheType) {
            self.entry = entry
            self.cacheType = cacheType
        }
        /// What is known of it.
        public var record: ImageRecord { entry.record }
        /// Its bytes, if memory held them.
        public var bytes: [UInt8]? { entry.bytes }
    }

    /// An image that memory was to keep.
    package struct Kept {
        /// What memory holds of it, or would hold.
        package let entry: MemoryEntry
        /// What became of it: of its bytes, when those were to be kept.
        package let admission: MemoryAdmission
    }

    /// For how many seconds a path that is handed out stays valid, unless the caller says otherwise.
    package static let lease = 60.0

    /// The name, unique among the caches of a process.
    public let name: String
    package let memory: MemoryStorage<CacheKey, MemoryEntry>
    package let disk: DiskStorage
    package let flights: DownloadLock
    /// Hears what cleaning takes out of the disk tier, from any thread.
    package let onClean: @Sendable (CleaningReport) -> Void
    /// Hears of the key of each image that somebody removes, and of nil when a tier is emptied. Must not wait.
    package let onRemove: @Sendable (CacheKey?) -> Void
    /// Where a store goes on that nobody's thread waits for.
    package let queue: WorkQueue
    private let settings: Mutex<Configuration>
    private let hasKeyRules: Atomic<Bool>
    private let decodes: Atomic<Bool>

    /// - Parameters:
    ///   - folder: The folder of the disk tier, if the process uses it already for something else.
    ///   - queue: Where a store goes on that nobody's thread waits for.
    ///   - onClean: Hears what cleaning takes out of the disk tier, from any thread; must not wait.
    ///   - onRemove: Hears of the key of each image that somebody removes, and of nil when a tier is emptied; must not wait.
    package init(
        name: String, configuration: Configuration, clock: EngineClock, folder: StorageFolder? = nil,
        queue: WorkQueue = WorkQueue(submit: startDetached),
        onClean: @escaping @Sendable (CleaningReport) -> Void = { _ in },
        onRemove: @escaping @Sendable (CacheKey?) -> Void = { _ in }
    ) {
        self.name = name
        self.onRemove = onRemove
        self.onClean = onClean
        self.queue = queue
        settings = Mutex(configuration)
        hasKeyRules = Atomic(!configuration.keyRules.isEmpty)
        decodes = Atomic(configuration.verifyDecode)
        memory = MemoryStorage(configuration.memory, now: clock.monotonic)
        disk = DiskStorage(
            configuration.disk, clock: clock, folder: folder,
            onClean: { removed, reason in
                onClean(Self.report(removed, reason, name))
            })
        flights = DownloadLock(folder: disk.folder)
    }

    /// The settings in force.
    public var configuration: Configuration { settings.withLock { $0 } }

    /// Whether and when a stored image is revalidated, unless a request says otherwise.
    package var revalidation: Revalidation { settings.withLock { $0.revalidate } }

    /// The number of seconds for which failures are remembered, unless a request says otherwise.
    package var negativeCache: Int { settings.withLock { $0.negativeCache } }

    /// Whether images are decoded completely before they are answered or stored, unless a request says otherwise.
    package var verifiesDecode: Bool { decodes.load(ordering: .relaxed) }

    /// The key under which an image is kept that is asked for as `text`: the text itself, unless the cache's rules make
    /// another of it. It is its own key in turn.
    public func key(of text: String) -> String {
        // Asked for every hit, and hardly anybody has rules.
        guard hasKeyRules.load(ordering: .relaxed) else { return text }
        return KeyRule.key(of: text, settings.withLock { $0.keyRules })
    }

    /// Changes the settings from now on: what is over a new limit goes soon. The folder stays the one it was.
    public func configure(_ configuration: Configuration) {
        settings.withLock { settings in
            let folder = settings.disk.folder
            settings = configuration
            settings.disk.folder = folder
            hasKeyRules.store(!settings.keyRules.isEmpty, ordering: .relaxed)
            decodes.store(settings.verifyDecode, ordering: .relaxed)
            memory.configure(settings.memory)
            disk.configure(settings.disk)
        }
    }
}
