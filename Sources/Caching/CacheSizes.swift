/// The place where an image was found.
public enum CacheType: String, Sendable, CaseIterable {
    /// In no cache: it was downloaded or read now.
    case none
    /// In the memory tier.
    case memory
    /// In the disk tier.
    case disk
    /// In the tier that several machines share.
    case remote

    /// `true` for an image that this machine did not have before.
    package var isNew: Bool { self == .none || self == .remote }
}

/// The sizes of a cache.
public struct CacheSizes: Sendable, Equatable {
    /// The size of one tier.
    public struct Tier: Sendable, Equatable {
        /// Entries.
        public let count: Int
        /// The sum of the images' sizes, in bytes.
        public let bytes: Int
        /// The bytes that they take on the disk: whole blocks.
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
