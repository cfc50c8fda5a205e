internal import ImageErrors
internal import Platform
internal import Synchronization

/// Cleaning, measuring and listing the whole tier.
extension DiskStorage {
    /// Removes every entry whose time is over, and the leftovers of dead writers; lent files stay until their leases end.
    ///
    /// - Parameter isCancelled: Asked between two slices.
    /// - Returns: The removed entries.
    func removeExpired(isCancelled: () -> Bool = { false }) throws(ImageError) -> [Evictor.Cleaned] {
        try reporting {
            // Also where there is no index: what is made of local files alone needs none.
            defer { if !index.isNewer { _ = try? LeftoverCollector(disk: self).run() } }
            return try index.exists ? evictor.removeExpired(isCancelled: isCancelled) : []
        }
    }

    /// Runs one round of cleaning: expired entries, entries over the limit, ended leases, leftovers of dead writers, a sample
    /// of checksums, and the index's own log.
    func clean(isCancelled: () -> Bool = { false }) {
        _ = try? removeExpired(isCancelled: isCancelled)
        guard (try? index.exists) == true, !index.isNewer else { return }
        evictor.keepLimit()
        try? evictor.removeDueFiles()
        if !isCancelled() { try? checkSample() }
        // So that the cache's time goes on from here should the machine be started anew.
        try? index.write { try $0.setAnchor(self.clock.anchor) }
        index.checkpoint()
        IndexReserve(folder: folder).keep()
    }

    /// Reads the next few images and takes out those that are not what was stored.
    private func checkSample() throws {
        var query = ListQuery(limit: 16, cursor: checkedUpTo.load(ordering: .relaxed))
        var verifier = Verifier(disk: self, repairs: true)
        let count = try verifier.check(&query)
        checkedUpTo.store(count < query.limit ? 0 : query.cursor, ordering: .relaxed)
    }

    /// The result of a full check; with repair, what was wrong is put right.
    public struct Verification: Sendable, Equatable {
        /// Entries that were looked at.
        public var checked = 0
        /// Bytes that were read.
        public var bytes = 0
        /// Files that are not what was stored; their entries are taken out.
        public var damaged = 0
        /// Entries without files; they are taken out.
        public var missing = 0
        /// Images without entries; they are taken in.
        public var adopted = 0
        /// Files that dead writers left, or that no entry names and that are no images; they are removed.
        public var leftovers = 0
        /// Sums and notes of the index that were wrong.
        public var corrected = 0
        /// Files that could not be read now, for want of a permission or of descriptors; they are left alone.
        public var unreadable = 0

        /// `true` when nothing was wrong.
        public var isClean: Bool { damaged + missing + adopted + leftovers + corrected + unreadable == 0 }
    }

    /// Checks every entry and every file; see ``Verifier/run(report:isCancelled:)``.
    func verify(
        repairs: Bool, report: (_ done: Int, _ total: Int) -> Void = { _, _ in }, isCancelled: () -> Bool = { false }
    ) throws(ImageError) -> Verification {
        var verifier = Verifier(disk: self, repairs: repairs)
        try reporting { try verifier.run(report: report, isCancelled: isCancelled) }
        return verifier.found
    }

    /// Counts and sizes, in O(1).
    ///
    /// - Parameter mayWait: `true` when an index of an older version is upgraded first, and one that was lost takes in the files
    ///   of the folder. Otherwise the result is then `nil`.
    func totals(mayWait: Bool) throws(ImageError) -> CacheIndex.Totals? {
        try reporting {
            try folder.check("blobs")
            let totals: CacheIndex.Totals
            do {
                totals = try index.totals(patience: mayWait ? CacheIndex.patience : 0)
            } catch let failure as CacheIndex.Failure where failure.isBusy && !mayWait {
                return nil
            }
            let isBegun = try !index.isUnready && index.exists
            guard try index.isAdopting || !isBegun && folder.hasBlobs else { return totals }
            guard mayWait else { return nil }
            if !isBegun { try index.write { _ in } }
            adoptAll()
            return try index.totals()
        }
    }

    /// Counts and sizes, in O(1); an index of an older version is upgraded first, and one that was lost is made whole.
    func totals() throws(ImageError) -> CacheIndex.Totals { try totals(mayWait: true) ?? CacheIndex.Totals() }

    /// The number of entries that this process took out because their files had been changed behind its back.
    package var damageCount: Int { damages.load(ordering: .relaxed) }

    /// The number of entries that this process evicted for their size.
    package var evictionCount: Int { evictions.load(ordering: .relaxed) }

    // MARK: Watching

    /// Looks at the files of the index now and then, as long as the storage is there.
    func beginWatching() {
        Task.detached(priority: .background) { [weak self] in
            // By then, another process that has just written has noted that the index is sound.
            try? await Task.sleep(for: .seconds(3))
            while let self, !self.watch.isClosing {
                // A hit does not look where the folder of images is: an index that is opened anew does.
                if (try? self.folder.check("blobs")) == nil { self.index.closeAll() }
                if !self.watch.isQuiet { _ = self.background { self.checkIndex() } }
                try? await Task.sleep(for: .seconds(2))
            }
        }
    }

    /// Puts index and folder right if somebody has changed the index since it was known to be sound.
    func checkIndex() {
        watch.look { [self] in
            defer {
                forgetLogContents()
                // What another index did not have.
                misses.withLock { $0.removeAll() }
            }
            // A file that was removed or replaced is still open.
            index.closeAll()
            var verifier = Verifier(disk: self, repairs: true, reads: .changed)
            try verifier.run(report: { _, _ in }, isCancelled: { watch.isClosing })
            guard !watch.isClosing else { throw CancellationError() }
            if verifier.found.unreadable == 0 { try index.endProving() }
        }
    }

    /// `true` when the caller is the one that is to write the log of entries anew: with ``rewriteLog()``.
    func beginsRewritingLog() -> Bool {
        let from = rewritesFrom.load(ordering: .relaxed)
        return clock.boot >= from
            && rewritesFrom.compareExchange(expected: from, desired: .max, ordering: .relaxed).exchanged
    }

    /// Writes the log of entries anew; what goes wrong is tried again at a store, after 10 seconds at the earliest.
    func rewriteLog() {
        let isDone = (try? EntryLogRewriting(disk: self).run()) ?? false
        rewritesFrom.store(isDone ? 0 : clock.boot + 10, ordering: .relaxed)
    }

    /// The log of entries; kept until ``forgetLogContents()`` while the index is begun anew or checked.
    func logContents() throws -> EntryLogContents {
        try openLog.withLock { log in
            if let log { return log }
            let contents = try EntryLogContents(of: folder)
            log = contents
            return contents
        }
    }

    /// The record that the log of entries has of an image, as it should be; also one that has been written since the log was read.
    func logged(_ name: Digest, where isRight: (EntryRecord) -> Bool) throws -> EntryRecord? {
        let known = try logContents()
        if let found = known.record(name), isRight(found) { return found }
        known.readOn()
        if let file = FileStamp(path: EntryLog.path(in: folder)), file.inode != known.inode { forgetLogContents() }
        return try logContents().record(name).flatMap { isRight($0) ? $0 : nil }
    }

    /// Gives up the memory of ``logContents()``; what has been written since is read with the next.
    func forgetLogContents() { openLog.withLock { $0 = nil } }

    // MARK: Listing

    /// The details of a stored image; `nil` for a miss. Its life is not prolonged.
    func inspect(_ key: CacheKey) throws(ImageError) -> EntryDetails? {
        guard let record = try record(for: key) else { return nil }
        return try reporting {
            guard let number = record.number, let details = try index.details(number) else {
                return EntryDetails(record: record)
            }
            let sharers = try index.surveying { try $0.sharers(details.row.content) } ?? 1
            return self.details(details, sharers: sharers)
        }
    }

    /// A page of the entries that are not expired, in an order that no use changes.
    ///
    /// - Returns: The entries, and the cursor of the next page; `nil` at the end.
    func list(_ query: ListQuery) throws(ImageError) -> (entries: [EntryDetails], next: Int64?) {
        // Opening the index may set the clock.
        _ = try totals()
        var wanted = query
        // One more tells whether there is another page.
        (wanted.host, wanted.limit) = (query.host?.lowercased(), query.limit + 1)
        return try reporting { [wanted, now = clock.now] in
            let found = try index.surveying { try $0.entries(wanted, at: now) } ?? IndexReader.Page()
            let page = found.entries.prefix(query.limit)
            // Where some cannot be read, the page is shorter, but not the last.
            let last = found.entries.count > query.limit ? page.last?.row.number ?? found.last : found.last
            return (page.map { details($0, sharers: nil) }, found.count > query.limit ? last : nil)
        }
    }

    private func details(_ details: IndexDetails, sharers: Int?) -> EntryDetails {
        var row = details.row
        if let touch = touches.touch(of: row), touch.movesExpiry { row.expiresAt = touch.expiresAt }
        let rest = lending.rest(of: row.lease)
        let key = CacheKey(row.key, indexedIdentifier: row.identifier)
        return EntryDetails(
            key: row.key.isEmpty ? nil : row.key, processorIdentifier: key.identifier, partition: key.partition,
            hash: row.name.hex, path: folder.blob(row.fileName), header: row.header, byteCount: row.byteCount,
            allocatedBytes: row.allocated, checksum: row.checksum?.hex, origin: row.origin, host: details.host,
            metadata: details.metadata, storedAt: clock.wall(row.storedAt), usedAt: clock.wall(details.usedAt),
            expiresAt: row.expiresAt.map(clock.wall), leasedUntil: rest > 0 ? clock.wallNow + rest : nil,
            sharers: sharers)
    }
}
