internal import Glibc
internal import Platform

/// What is done when the disk turns out to be full, of bytes or of files.
extension Evictor {
    /// `true` when an error says that the disk, or the user's part of it, is full.
    static func isOfFullDisk(_ error: any Error) -> Bool {
        switch error {
        case let failure as SystemError: failure.code == ENOSPC || failure.code == EDQUOT
        case let failure as CacheIndex.Failure: failure.isFull
        default: false
        }
    }

    /// Takes images out for a store of so many bytes that has found the disk full, one thread at a time.
    ///
    /// - Returns: `false` when that would not help, and nothing else is going on that might.
    func makeSpace(for bytes: Int) -> Bool {
        disk.spaceMaking.withLock { _ in
            guard let totals = try? disk.index.totals(), totals.count > 0 else { return disk.drafts.isBusy }
            if let space = disk.freeSpace() {
                let missing = bytes + floor(of: space, disk.configuration.freeSpaceFloor) - space.available
                if missing > totals.bytes { return disk.drafts.isBusy }
            }
            let evictions = disk.evictions.load(ordering: .relaxed)
            try? evict(to: max(0, totals.bytes - max(2 * bytes, totals.bytes / 8)))
            disk.index.shrinkLog()
            try? disk.index.write { _ in disk.folder.removeEmptyShards() }
            return disk.evictions.load(ordering: .relaxed) > evictions || disk.drafts.isBusy
        }
    }
}

extension StorageFolder {
    /// Removes the folders of blobs that have become empty, within a write transaction: no file is on its way to one.
    fileprivate func removeEmptyShards() {
        guard let shards = try? shards else { return }
        for shard in shards { rmdir("\(path)/blobs/\(shard)") }
    }
}
