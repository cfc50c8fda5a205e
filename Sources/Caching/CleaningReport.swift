/// The entries that one round of cleaning took out of the disk tier of a cache; never those that a caller removed.
public struct CleaningReport: Sendable, Equatable {
    /// The reason why entries were cleaned away.
    public enum Reason: String, Sendable, CaseIterable {
        /// Their time was over.
        case expired
        /// The cache was over its limit, or the disk too full.
        case sizeLimit
    }

    /// The name of the cache.
    public let cache: String
    /// The hashes of the entries: the names of their files without extension.
    public let hashes: [String]
    /// Their keys, at the same places; `nil` where the index does not know it.
    public let keys: [String?]
    /// The bytes of their files.
    public let bytes: Int
    /// The reason why they went.
    public let reason: Reason

    /// A report with the given parts.
    public init(cache: String, hashes: [String], keys: [String?], bytes: Int, reason: Reason) {
        (self.cache, self.hashes, self.keys, self.bytes, self.reason) = (cache, hashes, keys, bytes, reason)
    }

    init(_ cache: String, _ removed: [Evictor.Cleaned], _ reason: Reason) {
        self.init(
            cache: cache, hashes: removed.map(\.hash), keys: removed.map(\.key),
            bytes: removed.reduce(0) { $0 &+ $1.bytes }, reason: reason)
    }
}
