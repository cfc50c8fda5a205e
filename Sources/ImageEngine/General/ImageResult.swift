/// An image that was asked for, as it is handed out.
public struct ImageResult: Sendable {
    /// What is known of it.
    public let record: ImageRecord
    /// The name of its cache.
    public let cache: String
    /// Where the answer came from.
    public let cacheType: CacheType
    /// Its bytes, when they were asked for.
    public let bytes: [UInt8]?
    /// Whether it stands in for an image that could not be had.
    public var isPlaceholder = false
}
