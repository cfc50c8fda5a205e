/// The answer to a request for an image.
public struct ImageResult: Sendable {
    /// The facts about the image.
    public internal(set) var record: ImageRecord
    /// The name of its cache.
    public let cache: String
    /// The tier that answered.
    public internal(set) var cacheType: CacheType
    /// Its bytes, when they were asked for.
    public internal(set) var bytes: [UInt8]?
    /// `true` when it stands in for an image that could not be had.
    public var isPlaceholder = false
    /// `true` when it is expired, or its server has not been asked although the request wanted that.
    public var isStale = false
    /// `true` when its server was asked and said that it has not changed.
    public var isRevalidated = false
    /// The fate of the bytes in memory; `nil` when memory was not to keep them now.
    public internal(set) var admission: MemoryAdmission?
    /// The reason why no tier keeps the image that was loaded or given; `nil` when one keeps it, and for a hit.
    public internal(set) var notStored: NotStoredReason?
    /// The place of its bytes when no cache keeps them and they are too many to be held by all those that wait.
    var content: DiskStorage.Content?
    /// The entry of memory, held so that a purge does not take it while the answer is on its way.
    var entry: ImageCache.MemoryEntry?
    /// Raw pixels, when they were asked for; the other members are those of the original, or of what was worked on.
    public internal(set) var pixels: PixelFile?
    /// Lets others find a result that no cache keeps.
    var hold: JobTable<JobKey, JobValue>.Hold?

    /// The result for a hit.
    init(_ hit: ImageCache.Hit, in cache: ImageCache, _ options: ImageOptions) {
        let hidesFile = options.storage.cacheMemoryOnly && hit.record.path != nil
        record = hidesFile ? hit.record.withoutFile() : hit.record
        (self.cache, cacheType, bytes, entry) = (cache.name, hit.cacheType, hit.bytes, hit.entry)
    }

    /// A result that may get bytes, flags and reasons yet.
    init(record: ImageRecord, cache: String, cacheType: CacheType, bytes: [UInt8]? = nil) {
        (self.record, self.cache, self.cacheType, self.bytes) = (record, cache, cacheType, bytes)
    }

    /// The result as `store` answers it: from where the image is now.
    var stored: ImageResult {
        var stored = ImageResult(record: record, cache: cache, cacheType: record.path == nil ? .memory : .disk)
        (stored.admission, stored.notStored, stored.entry) = (admission, notStored, entry)
        return stored
    }

    /// `true` when its file is there no longer, or is another one.
    var isGone: Bool {
        let known = record.path == nil ? entry?.record : record
        return known?.isIntact(burst: 0) == false
    }

    /// `true` when memory held the bytes when the result was made.
    public var isHeldInMemory: Bool { entry?.bytes != nil }
}
