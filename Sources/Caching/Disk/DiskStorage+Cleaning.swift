internal import Glibc
internal import ImageErrors
internal import Platform
internal import Synchronization

/// Taking out what is over, a few entries at a time.
extension DiskStorage {
    /// Removes every entry whose time is over; files that are lent out stay until their leases end.
    ///
    /// - Parameter isCancelled: Asked between two slices.
    /// - Returns: What was removed.
    func removeExpired(isCancelled: () -> Bool = { false }) throws(ImageError) -> [Cleaned] {
        guard index.exists else { return [] }
        var removed: [Cleaned] = []
        do {
            flushTouches()
            while !isCancelled() {
                let slice = try index.write { writer in
                    try writer.expired(at: self.clock.now, 64).map { ($0.row, try self.takeOut($0, writer)) }
                }
                let cleaned = slice.compactMap(\.1)
                if !cleaned.isEmpty { onClean(cleaned, .expired) }
                removed += cleaned
                if slice.count < 64 { break }
                usleep(200)
            }
            try removeLeft()
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
        return removed
    }

    /// One round of cleaning: expired entries, what is over the limit, ended leases, what dead writers left, a sample of checksums, and the
    /// index's own log.
    package func clean(isCancelled: () -> Bool = { false }) {
        guard index.exists else { return }
        _ = try? removeExpired(isCancelled: isCancelled)
        keepLimit()
        try? removeLeft()
        collectLeftovers()
        if !isCancelled() { try? scrub() }
        // So that the cache's time goes on from here should the machine be started anew.
        try? index.write { try $0.setAnchor(self.clock.anchor) }
        index.checkpoint()
    }

    /// Reads the next few images through and takes out those that are not what was stored.
    private func scrub() throws {
        var filter = CacheIndex.Filter()
        filter.after = scrubbed.load(ordering: .relaxed)
        filter.limit = 16
        let page = try index.surveying { [filter] in try $0.entries(filter) } ?? CacheIndex.Page()
        scrubbed.store(page.count < filter.limit ? 0 : page.last, ordering: .relaxed)
        var verification = Verification()
        for entry in page.entries { try check(entry.row, repairs: true, &verification) }
    }
}
