/// The life of an entry.
public enum StorageExpiration: Hashable, Sendable {
    /// It does not expire.
    case never
    /// It is expired already.
    case expired
    /// It lives for so many seconds; a negative number means for ever.
    case seconds(Double)
    /// It lives until a moment, in seconds since 1970.
    case date(Int)

    /// It lives for so many days; a negative number means for ever.
    public static func days(_ days: Double) -> StorageExpiration { .seconds(days * 86_400) }

    /// The life of an entry stored at `now` (seconds since 1970), in seconds, at most a century; `nil` when for ever.
    public func lifetime(at now: Int) -> Int? {
        let century = 3_155_760_000
        switch self {
        case .never: return nil
        case .expired: return 0
        case .seconds(let seconds):
            return seconds < 0 || seconds.isNaN ? nil : Int(min(seconds, Double(century)).rounded(.up))
        case .date(let date):
            let (rest, overflow) = date.subtractingReportingOverflow(now)
            return overflow ? (date < now ? 0 : century) : min(max(rest, 0), century)
        }
    }
}

/// The effect of an access on the life of an entry.
public enum ExpirationExtension: Hashable, Sendable {
    /// None.
    case none
    /// The entry lives as long again as when it was stored.
    case cacheTime
    /// The entry lives this long from now.
    case expiration(StorageExpiration)
}

/// The ways in which one request reads and writes the two tiers of a cache.
public struct StorageOptions: Hashable, Sendable {
    /// Looks in memory only; the disk tier is not read.
    public var fromMemoryCacheOrRefresh = false
    /// Stores the image in memory only; its result has no path.
    public var cacheMemoryOnly = false
    /// `true` when memory keeps the image. Otherwise the image is only answered, and memory stays as it is.
    public var keepsInMemory = true
    /// Answers only when the image is stored. A result that has a path always waits.
    public var waitForCache = true
    /// The life of the image in memory. `nil`: the cache's own setting.
    public var memoryCacheExpiration: StorageExpiration?
    /// The life of the image on disk. `nil`: the cache's own setting.
    public var diskCacheExpiration: StorageExpiration?
    /// The effect of an access on the life in memory. `nil`: the cache's own setting.
    public var memoryCacheAccessExtendingExpiration: ExpirationExtension?
    /// The effect of an access on the life on disk. `nil`: as the cache's ``DiskStorage/Configuration/expireBy`` says; `access`
    /// extends it by the same time again, `modification` not at all.
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
