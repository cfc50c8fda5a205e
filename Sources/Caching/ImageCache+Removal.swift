public import ImageErrors
package import Platform
internal import Synchronization

/// How images leave the tiers.
extension ImageCache {
    /// What ``remove(_:fromMemory:fromDisk:allVariants:)`` took away.
    public struct Removed: Equatable, Sendable {
        /// Something was in memory and is not any more.
        public var memory = false
        /// Something was on disk and is not any more.
        public var disk = false
        /// A path that was handed out and lent had to go before its time.
        public var leased = false
    }

    /// Removes an image from the tiers chosen; from memory first.
    ///
    /// When only the file goes, memory takes over the bytes, so that it still has the image. Waits for the disk.
    public func remove(
        _ key: CacheKey, fromMemory: Bool = true, fromDisk: Bool = true, allVariants: Bool = false
    ) throws(ImageError) -> Removed {
        try BlockingWait.wait { queue, then in
            remove(key, fromMemory, fromDisk, allVariants, in: queue, then: then)
        }.get()
    }

    /// The same, and does not wait for the index.
    ///
    /// - Parameters:
    ///   - queue: Where it goes on when there is more to do than others should wait for.
    ///   - then: Is told what went, once; it must not wait, for others do.
    package func remove(
        _ key: CacheKey, _ fromMemory: Bool, _ fromDisk: Bool, _ allVariants: Bool, in queue: WorkQueue,
        then: @escaping @Sendable (Result<Removed, ImageError>) -> Void
    ) {
        var removed = Removed()
        onRemove(key)
        if fromMemory {
            removed.memory = memory.remove(key) != nil
            if allVariants, memory.removeAll(where: { other, _ in ExactText(other.key) == ExactText(key.key) }) > 0 {
                removed.memory = true
            }
        } else if fromDisk {
            detach(key)
        }
        guard fromDisk else { return then(.success(removed)) }
        disk.remove(key, allVariants: allVariants, in: queue) { [removed] result in
            then(
                result.map { removal in
                    var removed = removed
                    removed.disk = removal.count > 0
                    removed.leased = removal.leased > 0
                    return removed
                })
        }
    }

    /// Makes a memory entry independent of its file.
    private func detach(_ key: CacheKey) {
        guard let entry = memory.peek(key), entry.record.path != nil, !entry.record.isLocalFile,
            let bytes = entry.bytes ?? (try? disk.data(of: entry.record))
        else { return }
        let old = entry.record
        let record = ImageRecord(
            key: key, header: old.header, byteCount: old.byteCount, path: nil,
            origin: old.origin, storedAt: old.storedAt, lifetime: nil, expiresAt: nil, stamp: nil,
            checksum: old.checksum)
        keep(record, bytes: bytes, expiration: nil)
    }

    /// Empties both tiers and forgets failures. An image in both of them is one image.
    public func clear() throws(ImageError) -> DiskStorage.Removal {
        let bytes = Atomic(0)
        let count = memory.removeAll { _, entry in
            if entry.record.path == nil { bytes.add(entry.bytes?.count ?? 0, ordering: .relaxed) }
            return entry.record.path == nil
        }
        memory.removeAll()
        onRemove(nil)
        var removal = try emptyDisk()
        removal.count += count
        removal.bytes += bytes.load(ordering: .relaxed)
        return removal
    }

    /// Empties the memory tier and forgets failures; returns entries and bytes.
    public func clearMemory() -> DiskStorage.Removal {
        let gone = memory.removeAll()
        onRemove(nil)
        return DiskStorage.Removal(count: gone.count, bytes: gone.cost)
    }

    /// Empties the disk tier; the memory tier keeps its images, the most recently used first, as far as its limit goes.
    public func clearDisk() throws(ImageError) -> DiskStorage.Removal {
        let limits = memory.configuration
        var room = memory.costLimit
        for key in memory.keys {
            guard let entry = memory.peek(key), room >= entry.record.byteCount else { break }
            guard limits.admission(cost: entry.record.byteCount, isExempt: false) == .kept else { continue }
            room -= entry.record.byteCount
            detach(key)
        }
        memory.removeAll { _, entry in entry.record.path != nil && !entry.record.isLocalFile }
        return try emptyDisk()
    }

    /// Removes every entry, and bodies that broke off.
    private func emptyDisk() throws(ImageError) -> DiskStorage.Removal {
        ResumeFolder(disk.folder).clear()
        return try disk.removeAll()
    }
}
