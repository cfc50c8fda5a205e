/// How one request reads and writes the two tiers of a cache.
public struct StorageOptions: Hashable, Sendable {
    /// Looks in memory only; the disk tier is not read.
    public var fromMemoryCacheOrRefresh = false
    /// Stores the image in memory only; its result has no path.
    public var cacheMemoryOnly = false
    /// `true` when memory keeps the image. Otherwise the image is only answered, and memory stays as it is.
    public var keepsInMemory = true
    /// Answers only when the image is stored. A result that has a path always waits.
    public var waitForCache = true
    /// How long memory keeps the image. `nil`: the cache's own setting.
    public var memoryCacheExpiration: StorageExpiration?
    /// How long the disk keeps the image. `nil`: the cache's own setting.
    public var diskCacheExpiration: StorageExpiration?
    /// How an access extends the life in memory. `nil`: the cache's own setting.
    public var memoryCacheAccessExtendingExpiration: ExpirationExtension?
    /// How an access extends the life on disk. `nil`: as the cache's ``DiskStorage/Configuration/expireBy`` says; `access` extends
    /// it by the same time again, `modification` not at all.
    public var diskCacheAccessExtendingExpiration: ExpirationExtension?
    /// The extension of the cached file. `nil`: that of the detected format.
    public var forcedCacheFileExtension: String?
    /// Reads the bytes even when only the path was asked for, so that the next reader finds them in memory.
    public var queryDataWhenInMemory = false
    /// The number of seconds for which the returned path stays valid, whatever is evicted or expires. `nil`: 60.
    public var lease: Double?

    /// The defaults.
    public init() {}
}
