/// An image that was asked for, as it is handed out.
public struct ImageResult: Sendable {
    /// What is known of it.
    public internal(set) var record: ImageRecord
    /// The name of its cache.
    public let cache: String
    /// Where the answer came from.
    public internal(set) var cacheType: CacheType
    /// Its bytes, when they were asked for.
    public internal(set) var bytes: [UInt8]?
    /// Whether it stands in for an image that could not be had.
    public var isPlaceholder = false
    /// Whether its time is over, or its server has not been asked although the request wanted that.
    public var isStale = false
    /// Whether its server was asked, and said that it has not changed.
    public var isRevalidated = false
    /// What became of the bytes in memory; nil when memory was not to keep them now.
    public internal(set) var admission: MemoryAdmission?
    /// The reason why no tier keeps the image that was loaded or given; `nil` when one keeps it, and for a hit.
    public internal(set) var notStored: NotStoredReason?
    /// Where its bytes are when no cache keeps them and they are too many to be held by all those that wait.
    var content: DiskStorage.Content?
    /// What memory holds of the image, so that a purge does not take it while the answer is on its way.
    var entry: ImageCache.MemoryEntry?
    /// Raw pixels, when they were asked for; the other members are those of the original, or of what was worked on.
    public internal(set) var pixels: PixelFile?
    /// What lets others find it that no cache keeps.
    var hold: JobTable<JobKey, JobValue>.Hold?

    /// The result as `store` answers it: from where the image is now.
    var stored: ImageResult {
        ImageResult(
            record: record, cache: cache, cacheType: record.path == nil ? .memory : .disk, bytes: nil,
            admission: admission, notStored: notStored, entry: entry)
    }

    /// Whether its file is there no longer, or is another one.
    var isGone: Bool {
        let known = record.path == nil ? entry?.record : record
        return known?.isIntact(burst: 0) == false
    }

    /// Whether memory held the bytes when the result was made.
    public var isHeldInMemory: Bool { entry?.bytes != nil }
}
