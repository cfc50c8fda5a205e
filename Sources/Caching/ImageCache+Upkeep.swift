public import ImageErrors
internal import Platform

/// What is done to the tiers as wholes: listing, cleaning, checking, measuring.
extension ImageCache {
    /// Everything that is known of a cached image; nil for a miss. Nothing is loaded or prolonged.
    public func inspect(_ key: CacheKey) throws(ImageError) -> EntryDetails? {
        if let entry = try disk.inspect(key) { return entry }
        guard let record = memory.peek(key)?.record, isCurrent(record, burst: 0) else { return nil }
        return EntryDetails(record: record)
    }

    /// A page of what the disk tier holds; see ``ListQuery``.
    public func list(_ query: ListQuery) throws(ImageError) -> (entries: [EntryDetails], next: Int64?) {
        try disk.list(query)
    }

    /// Removes every image whose time is over, from both tiers.
    ///
    /// - Parameter isCancelled: Asked now and then.
    public func removeExpired(isCancelled: () -> Bool = { false }) throws(ImageError) -> CleaningReport {
        memory.removeExpired()
        return Self.report(try disk.removeExpired(isCancelled: isCancelled), .expired, name)
    }

    /// Reads every image of the disk tier through and holds it against the index; see ``DiskStorage/Verification``.
    public func verify(
        repairs: Bool, report: (_ done: Int, _ total: Int) -> Void = { _, _ in }, isCancelled: () -> Bool = { false }
    ) throws(ImageError) -> DiskStorage.Verification {
        try disk.verify(repairs: repairs, report: report, isCancelled: isCancelled)
    }

    /// One round of cleaning of both tiers, a few entries at a time.
    package func clean(isCancelled: () -> Bool = { false }) {
        memory.removeExpired()
        disk.clean(isCancelled: isCancelled)
    }

    /// The sizes of both tiers, in O(1); an index of an older version is made a new one first.
    public func sizes() throws(ImageError) -> CacheSizes { sizes(try disk.totals()) }

    /// The sizes of both tiers, in O(1); nil when that takes waiting.
    public func sizesAtOnce() throws(ImageError) -> CacheSizes? { try disk.totals(mayWait: false).map(sizes) }

    private func sizes(_ disk: CacheIndex.Totals) -> CacheSizes {
        let memory = memory.totals
        return CacheSizes(
            disk: .init(
                count: disk.count, bytes: disk.bytes, allocatedBytes: disk.allocated,
                limitBytes: self.disk.configuration.bytesLimit, leasedBytes: disk.lent),
            memory: .init(
                count: memory.count, bytes: memory.cost, allocatedBytes: memory.cost,
                limitBytes: self.memory.costLimit, leasedBytes: 0))
    }

    static func report(
        _ removed: [DiskStorage.Cleaned], _ reason: CleaningReport.Reason, _ name: String
    ) -> CleaningReport {
        CleaningReport(
            cache: name, hashes: removed.map(\.hash), keys: removed.map(\.key),
            bytes: removed.reduce(0) { $0 &+ $1.bytes }, reason: reason)
    }
}
