internal import Platform

/// The sizes of a cache.
public struct CacheSizes: Sendable, Equatable {
    /// The size of one tier.
    public struct Tier: Sendable, Equatable {
        /// Entries.
        public let count: Int
        /// The sum of the images' sizes, in bytes.
        public let bytes: Int
        /// What they take on the disk, in bytes: whole blocks.
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
