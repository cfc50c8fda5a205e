public import HTTPSemantics
package import ImageErrors
package import Platform
internal import Synchronization

/// One named cache: a memory tier in front of a disk tier.
///
/// The memory tier holds the records of its images, so that a hit needs neither index nor file; it holds the bytes only when
/// a caller asked for them, or when there is no file. Records without bytes are light: a few MiB of them are remembered, and
/// the others are read from the index again, as at the first hit of a process. A memory entry that has a file counts only while the file is
/// the recorded one: an image that another process replaced or removed is not served.
public final class ImageCache: Sendable {
    /// The settings of a cache.
    public struct Configuration: Sendable, Equatable {
        /// The memory tier's limits.
        public var memory = MemoryStorage<CacheKey, MemoryEntry>.Configuration()
        /// The disk tier's settings.
        public var disk: DiskStorage.Configuration
        /// The revalidation of stored images, unless a request says otherwise.
        public var revalidate = Revalidation.never
        /// The time in seconds for which failures that would come again are remembered, unless a request says otherwise; 0 for
        /// not at all.
        public var negativeCache = 0
        /// `true` when images are only answered and stored once all of them has been decoded, unless a request says otherwise.
        public var verifyDecode = false
        /// The rules that shorten keys that are URLs; the first that names a host counts for it.
        public var keyRules: [KeyRule] = []

        /// The default settings for a folder.
        public init(folder: String) { disk = DiskStorage.Configuration(folder: folder) }
    }

    /// One image in the memory tier; a purged one is found again as long as a result holds it.
    public final class MemoryEntry: Sendable {
        /// The record of the image.
        public let record: ImageRecord
        /// Its bytes, if held.
        public let bytes: [UInt8]?

        package init(record: ImageRecord, bytes: [UInt8]?) { (self.record, self.bytes) = (record, bytes) }

        /// The cost of the entry: its bytes, or about what the record alone takes with all that is derived from it; and long
        /// keys, which stand in it three times.
        package var cost: Int {
            let key = record.key.key.utf8.count
            let alone = record.origin.http == nil ? 1536 : 2560
            return (bytes?.count ?? alone) + (key > 256 ? 3 * key : 0)
        }
    }

    /// An image found in a cache.
    public struct Hit: Sendable {
        package let entry: MemoryEntry
        /// The tier that answered.
        public let cacheType: CacheType

        /// An image that the disk tier holds.
        package init(record: ImageRecord) {
            self.init(entry: MemoryEntry(record: record, bytes: nil), cacheType: .disk)
        }

        /// An image that the tier `cacheType` holds.
        package init(entry: MemoryEntry, cacheType: CacheType) { (self.entry, self.cacheType) = (entry, cacheType) }

        /// The record of the image.
        public var record: ImageRecord { entry.record }
        /// Its bytes, if memory held them.
        public var bytes: [UInt8]? { entry.bytes }

        /// `true` when only memory has the image, and a request with these options wants a file.
        package func lacksFile(for options: StorageOptions) -> Bool { record.path == nil && !options.cacheMemoryOnly }
    }

    /// An image that was offered to memory.
    package struct Kept {
        /// The entry that memory holds, or would hold.
        package let entry: MemoryEntry
        /// The admission of its bytes when those were offered, else of its record.
        package let admission: MemoryAdmission
        /// The reason why its file is there for its lease only; `nil` when it is an entry of the disk tier, or has no file.
        package var transience: NotStoredReason?
    }

    /// The time in seconds for which a returned path stays valid, unless the caller says otherwise.
    package static let lease = 60.0

    /// The name, unique among the caches of a process.
    public let name: String
    package let memory: MemoryStorage<CacheKey, MemoryEntry>
    package let disk: DiskStorage
    package let flights: DownloadLock
    /// Called with the entries that cleaning removes from the disk tier, on any thread; must not wait.
    package let onClean: @Sendable (CleaningReport) -> Void
    /// Called with the key of each image that a caller removes, and with `nil` when a tier is emptied. Must not wait.
    let onRemove: @Sendable (CacheKey?) -> Void
    /// Runs the rest of a store that no thread waits for.
    package let queue: WorkQueue
    private let settings: Mutex<Configuration>
    private let hasKeyRules: Atomic<Bool>
    /// `true` when memory has held the entry of a single user.
    let isPartitioned = Atomic(false)
    private let decodes: Atomic<Bool>

    /// - Parameter folder: The folder of the disk tier, if the process uses it already for something else.
    package init(
        name: String, configuration: Configuration, clock: EngineClock, folder: StorageFolder? = nil,
        queue: WorkQueue = WorkQueue(submit: { startThread($0) }),
        onClean: @escaping @Sendable (CleaningReport) -> Void = { _ in },
        onRemove: @escaping @Sendable (CacheKey?) -> Void = { _ in }
    ) {
        (self.name, self.onClean, self.onRemove, self.queue) = (name, onClean, onRemove, queue)
        settings = Mutex(configuration)
        hasKeyRules = Atomic(!configuration.keyRules.isEmpty)
        decodes = Atomic(configuration.verifyDecode)
        memory = MemoryStorage(configuration.memory, now: clock.monotonic)
        disk = DiskStorage(
            configuration.disk, clock: clock, folder: folder, watchesIndex: true,
            onClean: { removed, reason in onClean(CleaningReport(name, removed, reason)) })
        flights = DownloadLock(folder: disk.folder)
    }

    /// The settings in force.
    public var configuration: Configuration { settings.withLock { $0 } }

    package var revalidation: Revalidation { settings.withLock { $0.revalidate } }

    package var negativeCache: Int { settings.withLock { $0.negativeCache } }

    package var verifiesDecode: Bool { decodes.load(ordering: .relaxed) }

    /// The key of an image that is requested as `text`: the text itself, unless the cache's rules make another of it. It is
    /// its own key in turn.
    public func key(of text: String) -> String {
        // Asked for every hit, and hardly any cache has rules.
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
