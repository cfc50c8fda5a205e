public import ImageErrors
package import Platform
internal import Synchronization

/// Removing images, and the upkeep of the tiers as wholes.
extension ImageCache {
    /// The result of removing an image.
    public struct Removed: Equatable, Sendable {
        /// Something was in memory and is not any more.
        public var memory = false
        /// Something was on disk and is not any more.
        public var disk = false
        /// A path that was handed out and lent had to go before its time.
        public var leased = false
        /// The file of a folder that is never written, from which the image is still answered.
        public var readOnlyPath: String?
    }

    /// Removes an image from the tiers chosen; from memory first.
    ///
    /// When only the file goes, memory takes over the bytes, so that it still has the image. Waits for the disk.
    public func remove(
        _ key: CacheKey, fromMemory: Bool = true, fromDisk: Bool = true, allVariants: Bool = false,
        allUsers: Bool = true
    ) throws(ImageError) -> Removed {
        let entries = EntrySelection(key, allVariants: allVariants, allUsers: allUsers)
        return try BlockingWait.wait { queue, then in
            remove(entries, fromMemory: fromMemory, fromDisk: fromDisk, in: queue, then: then)
        }.get()
    }

    /// Removes images from the tiers chosen, without waiting for the index.
    ///
    /// - Parameters:
    ///   - queue: Runs what others should not wait for.
    ///   - then: Called once with the result; it must not wait, for others do.
    package func remove(
        _ entries: EntrySelection, fromMemory: Bool, fromDisk: Bool, in queue: WorkQueue,
        then: @escaping @Sendable (Result<Removed, ImageError>) -> Void
    ) {
        var removed = Removed()
        let key = entries.key
        onRemove(key)
        let hasUsers = entries.allUsers && isPartitioned.load(ordering: .relaxed)
        if fromMemory {
            removed.memory = memory.remove(key) != nil
            if entries.allVariants || hasUsers, memory.removeAll(where: { other, _ in entries.contains(other) }) > 0 {
                removed.memory = true
            }
        } else if fromDisk {
            for other in hasUsers ? memory.keys : [] where entries.contains(other) { detach(other) }
            detach(key)
        }
        guard fromDisk else { return then(.success(removed)) }
        disk.remove(.key(entries), in: queue) { [disk, removed] result in
            let end = { @Sendable in
                then(
                    result.map { removal in
                        Removed(
                            memory: removed.memory, disk: removal.count > 0, leased: removal.leased > 0,
                            readOnlyPath: (try? disk.readOnlyRecord(for: key))?.path)
                    })
            }
            // A look into other folders waits for the disk.
            disk.readsOtherFolders ? queue.submit(end) : end()
        }
    }

    /// Makes a memory entry independent of its file.
    private func detach(_ key: CacheKey) {
        guard let entry = memory.peek(key), entry.record.path != nil, !entry.record.isLocalFile,
            let bytes = entry.bytes ?? (try? disk.data(of: entry.record))
        else { return }
        keep(entry.record.withoutFile(), bytes: bytes, expiration: nil)
    }

    /// Takes an image out of both tiers; a path that is lent stays until its lease ends.
    package func discard(_ key: CacheKey) throws(ImageError) {
        memory.remove(key)
        try disk.discard(key)
    }

    /// Empties both tiers and forgets failures. An image in both of them is one image.
    public func clear() throws(ImageError) -> DiskStorage.Removal {
        let bytes = Atomic(0)
        let count = memory.removeAll { _, entry in
            if entry.record.path == nil { bytes.add(entry.bytes?.count ?? 0, ordering: .relaxed) }
            return entry.record.path == nil
        }
        _ = emptyMemory()
        onRemove(nil)
        var removal = try emptyDisk()
        removal.count += count
        removal.bytes += bytes.load(ordering: .relaxed)
        return removal
    }

    /// The images that a query names, in both tiers, expired ones too, whatever its page.
    package func keys(where query: ListQuery) throws(ImageError) -> [CacheKey] {
        var keys: [CacheKey] = []
        try forEachPage(of: query, size: 1000) { (entries) throws(ImageError) in
            keys += entries.compactMap(\.cacheKey)
        }
        let onDisk = Set(keys)
        return keys
            + memory.keys.filter { key in
                !onDisk.contains(key) && memory.peek(key).map { query.contains($0.record) } ?? false
            }
    }

    /// Removes the images that a query names from both tiers, expired ones too, whatever its page; in parts, so that other
    /// processes can write in between. An image in both tiers is one image.
    ///
    /// - Parameter isCancelled: Asked between two parts.
    package func clear(where query: ListQuery, isCancelled: () -> Bool) throws(ImageError) -> DiskStorage.Removal {
        var sum = DiskStorage.Removal()
        for key in memory.keys {
            guard let entry = memory.peek(key), entry.record.path == nil, query.contains(entry.record) else { continue }
            onRemove(key)
            guard memory.remove(key) != nil else { continue }
            sum.add(DiskStorage.Removal(count: 1, bytes: entry.bytes?.count ?? 0))
        }
        // The index does not have the whole of every key.
        var rest: Set<Digest> = []
        try forEachPage(of: query, size: 256, isCancelled: isCancelled) { (entries) throws(ImageError) in
            let names = entries.compactMap { entry in entry.hash.flatMap { Digest(fileName: $0) } }
            for (entry, name) in zip(entries, names) {
                guard let key = entry.cacheKey, disk.name(of: key) == name else {
                    rest.insert(name)
                    continue
                }
                onRemove(key)
                memory.remove(key)
            }
            sum.add(try BlockingWait.wait { queue, then in disk.remove(.names(names), in: queue, then: then) }.get())
        }
        for key in rest.isEmpty ? [] : memory.keys where rest.contains(disk.name(of: key)) {
            onRemove(key)
            memory.remove(key)
        }
        return sum
    }

    /// Calls `body` with every page of the entries on disk that a query names, expired ones too.
    private func forEachPage(
        of query: ListQuery, size: Int, isCancelled: () -> Bool = { false },
        _ body: ([EntryDetails]) throws(ImageError) -> Void
    ) throws(ImageError) {
        var query = query
        (query.limit, query.cursor, query.includesExpired) = (size, 0, true)
        while !isCancelled() {
            let page = try list(query)
            try body(page.entries)
            guard let next = page.next else { return }
            query.cursor = next
        }
    }

    /// Empties the memory tier and forgets failures; returns entries and bytes.
    public func clearMemory() -> DiskStorage.Removal {
        let gone = emptyMemory()
        onRemove(nil)
        return DiskStorage.Removal(count: gone.count, bytes: gone.cost)
    }

    /// Empties the memory tier; what it held goes back to the system soon.
    private func emptyMemory() -> (count: Int, cost: Int) {
        let gone = memory.removeAll()
        if gone.count >= AllocatorTrimmer.many || gone.cost >= 4 << 20 { queue.submit(AllocatorTrimmer.giveBack) }
        return gone
    }

    /// Empties the disk tier; the memory tier keeps its images, the most recently used first, as far as its limit goes.
    public func clearDisk() throws(ImageError) -> DiskStorage.Removal {
        let limits = memory.configuration
        var room = memory.costLimit
        for key in memory.keys {
            guard let entry = memory.peek(key), room >= entry.record.byteCount else { break }
            guard limits.admission(cost: entry.record.byteCount, isLight: false) == .kept else { continue }
            room -= entry.record.byteCount
            detach(key)
        }
        memory.removeAll { _, entry in entry.record.path != nil && !entry.record.isLocalFile }
        return try emptyDisk()
    }

    /// Removes every entry, and interrupted bodies.
    private func emptyDisk() throws(ImageError) -> DiskStorage.Removal {
        let removal = try disk.removeAll()
        try disk.reporting { try ResumeFolder(disk.folder).clear() }
        return removal
    }

    // MARK: Upkeep

    /// The details of a cached image; `nil` for a miss. Nothing is loaded or prolonged.
    public func inspect(_ key: CacheKey) throws(ImageError) -> EntryDetails? {
        if let entry = try disk.inspect(key) { return entry }
        guard let record = memory.peek(key)?.record, isCurrent(record, burst: 0, mayWait: true) == true else {
            return nil
        }
        return EntryDetails(record: record)
    }

    /// A page of the entries of the disk tier; see ``ListQuery``.
    public func list(_ query: ListQuery) throws(ImageError) -> (entries: [EntryDetails], next: Int64?) {
        try disk.list(query)
    }

    /// Removes every image whose time is over, from both tiers.
    ///
    /// - Parameter isCancelled: Asked now and then.
    public func removeExpired(isCancelled: () -> Bool = { false }) throws(ImageError) -> CleaningReport {
        memory.removeExpired()
        return CleaningReport(name, try disk.removeExpired(isCancelled: isCancelled), .expired)
    }

    /// Reads every image of the disk tier and checks it against the index; see ``DiskStorage/Verification``.
    public func verify(
        repairs: Bool, report: (_ done: Int, _ total: Int) -> Void = { _, _ in }, isCancelled: () -> Bool = { false }
    ) throws(ImageError) -> DiskStorage.Verification {
        try disk.verify(repairs: repairs, report: report, isCancelled: isCancelled)
    }

    /// Runs one round of cleaning of both tiers, a few entries at a time.
    package func clean(isCancelled: () -> Bool = { false }) {
        memory.removeExpired()
        disk.clean(isCancelled: isCancelled)
    }

    /// The sizes of both tiers, in O(1); an index of an older version is upgraded first, and one that was lost is made whole.
    public func sizes() throws(ImageError) -> CacheSizes { sizes(try disk.totals()) }

    /// The sizes of both tiers, in O(1); `nil` when that takes waiting.
    public func sizesAtOnce() throws(ImageError) -> CacheSizes? { try disk.totals(mayWait: false).map(sizes) }

    private func sizes(_ disk: CacheIndex.Totals) -> CacheSizes {
        let memory = memory.totals
        return CacheSizes(
            disk: .init(
                count: disk.count, bytes: disk.bytes, allocatedBytes: disk.allocated,
                limitBytes: self.disk.configuration.bytesLimit,
                leasedBytes: disk.lent + self.disk.folder.bytesLentBeside),
            memory: .init(
                count: memory.count, bytes: memory.cost, allocatedBytes: memory.cost,
                limitBytes: self.memory.costLimit, leasedBytes: 0))
    }
}
