public import Downloading
internal import Platform

/// The answer to a request for an image.
public struct ImageResult: Sendable {
    /// The properties of the image.
    public internal(set) var record: ImageRecord
    /// The name of its cache.
    public let cache: String
    /// The tier that answered.
    public internal(set) var cacheType: CacheType
    /// The bytes of the image, when requested.
    public internal(set) var bytes: [UInt8]?
    /// `true` when it replaces an image that could not be loaded.
    public var isPlaceholder = false
    /// `true` when it is expired, or was not revalidated although the request wanted that.
    public var isStale = false
    /// `true` when its server has confirmed that it has not changed.
    public var isRevalidated = false
    /// The report of the download that brought it, or that its server confirmed it in; `nil` when there was none.
    public internal(set) var report: DownloadReport.Shared?
    /// The decision of the memory tier about the bytes; `nil` when it was not asked to keep them.
    public internal(set) var admission: MemoryAdmission?
    /// The reason why no tier keeps the loaded or given image; `nil` when one keeps it, and for a hit.
    public internal(set) var notStored: NotStoredReason?
    /// The content when no cache keeps it and it is too large for all waiting callers to hold its bytes.
    var content: DiskStorage.Content?
    /// The bytes out of memory, when the answer has to wait and no file of the cache has them.
    var aside: ByteSpool.Part?
    /// The memory entry, held so that a purge does not remove it before the answer is sent.
    var entry: ImageCache.MemoryEntry?
    /// The raw pixels, when requested; the other properties are those of the original or of the intermediate used.
    public internal(set) var pixels: PixelFile?
    /// The stores of the image, and of its original, that go on behind the answer.
    var storing: [Backlog] = []
    /// Lets equal requests find a result that no cache keeps, as long as it lives.
    var hold: (any AnyObject & Sendable)?

    init(_ hit: ImageCache.Hit, in cache: ImageCache, _ options: ImageOptions) {
        let hidesFile = options.storage.cacheMemoryOnly && hit.record.path != nil
        record = hidesFile ? hit.record.withoutFile() : hit.record
        (self.cache, cacheType, bytes, entry) = (cache.name, hit.cacheType, hit.bytes, hit.entry)
    }

    /// A result whose other properties are set later.
    init(record: ImageRecord, cache: String, cacheType: CacheType, bytes: [UInt8]? = nil) {
        (self.record, self.cache, self.cacheType, self.bytes) = (record, cache, cacheType, bytes)
    }

    /// The result for the answer to `store`, with the tier that now has the image.
    var stored: ImageResult {
        var stored = ImageResult(record: record, cache: cache, cacheType: record.path == nil ? .memory : .disk)
        (stored.admission, stored.notStored, stored.entry) = (admission, notStored, entry)
        return stored
    }

    /// Takes over what the load of an image means for a result that was made of it.
    mutating func noteLoad(of loaded: ImageResult) {
        (isStale, isRevalidated, report) = (loaded.isStale, loaded.isRevalidated, loaded.report)
    }

    /// Calls `then` when nothing of it is on its way into the cache any more: at once, or on the thread where it arrives.
    public func whenStored(_ then: @escaping @Sendable () -> Void) { Backlog.whenDone(storing[...], then) }

    /// `true` when its file has been removed or replaced.
    var isGone: Bool {
        let known = record.path == nil ? entry?.record : record
        return known?.isIntact(burst: 0) == false
    }

    /// `true` when the memory tier had the bytes when the result was created.
    public var isHeldInMemory: Bool { entry?.bytes != nil }
}
