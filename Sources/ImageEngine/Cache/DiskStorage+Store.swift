internal import Glibc
internal import Synchronization

extension DiskStorage {
    /// What is to be stored, and how.
    struct Order: Sendable {
        let key: CacheKey
        let header: ImageHeader
        var origin = ImageOrigin()
        /// How long it lives; the storage's own setting when nil.
        var expiration: StorageExpiration?
        /// The extension of the file; by the storage's setting when nil.
        var fileExtension: String?
        /// Whether an image that is there is replaced.
        var overwrites = true
        /// What the caller wants kept with the image: a JSON object.
        var metadata: String?
        /// For how many seconds its path is lent out.
        var lease = 0.0
    }

    /// What ``store(_:_:)`` did.
    struct Stored: Sendable {
        let record: ImageRecord
        /// false if an image was there that was not to be replaced: then it is that one.
        let isNew: Bool
    }

    /// What the transaction of a store ended in.
    private struct Commit: Sendable {
        let stored: Stored
        /// The file of the replaced image, where it has another name.
        var old: CacheIndex.Row?
        var evicted: [Cleaned] = []
    }

    /// Stores an image and returns its record once the file is at its place and the index knows it.
    func store(_ content: Content, _ order: Order) throws(ImageError) -> Stored {
        let digest = name(of: order.key)
        let fileExtension = order.fileExtension ?? fileExtension(for: order.key, order.header.format)
        guard StorageFolder.isExtension(fileExtension) else {
            throw .storageFailed(
                reason: "\"\(fileExtension.excerpt)\" cannot be the extension of a file.",
                hint: "Use letters and digits.")
        }
        let configuration = configuration
        do {
            try keepSpaceFree(for: content, configuration)
            let fileName = StorageFolder.fileName(digest.hex, fileExtension)
            let written = try folder.write(content, for: fileName, syncs: configuration.syncsToDisk)
            defer { unlink(written.path) }
            let size = written.stamp.size
            if configuration.bytesLimit > 0, size > configuration.bytesLimit {
                throw ImageError.limitExceeded(
                    limit: "bytesLimit", reason: "its \(size) bytes are more than the disk tier may hold in all",
                    source: order.key.key)
            }
            let shared = try sharedDraft(for: written, digest, fileName)
            defer { if let shared { unlink(shared.path) } }
            let draft = shared ?? written
            // Before others can see the entry, or they might take it out first.
            if order.lease > 0 { lending.lend(digest.rowNumber, for: order.lease) }
            let placement = Mutex<StorageFolder.Placement?>(nil)
            let commit: Commit
            do {
                commit = try index.write(syncs: configuration.syncsToDisk) { writer in
                    try self.commit(draft, order, digest, fileExtension, configuration, writer, placement)
                }
            } catch {
                // The index did not take it: back to where it was.
                let placed = placement.withLock { $0 }
                if let placed { folder.takeBack(placed, draft, from: folder.blob(fileName)) }
                throw error
            }
            if let old = commit.old { unlink(folder.blob(old.fileName)) }
            if configuration.syncsToDisk { try folder.syncNames(of: folder.blob(fileName)) }
            if !commit.evicted.isEmpty {
                onClean(commit.evicted, .sizeLimit)
                background { [self] in purge(sparing: digest.rowNumber) }
            }
            if !hasCollected.exchange(true, ordering: .relaxed) { background { [self] in collectLeftovers() } }
            return commit.stored
        } catch {
            throw StorageFailure.error(error, folder: folder.path)
        }
    }

    /// Names the draft and enters it, within the index's transaction.
    private func commit(
        _ draft: StorageFolder.Draft, _ order: Order, _ digest: Digest, _ fileExtension: String,
        _ configuration: Configuration, _ writer: CacheIndex.Writer,
        _ placement: borrowing Mutex<StorageFolder.Placement?>
    ) throws -> Commit {
        // A second run, with an index begun anew, finds the file where the first one left it.
        if let placed = placement.withLock({ $0 }) {
            folder.takeBack(placed, draft, from: folder.blob(digest.hex, fileExtension))
            placement.withLock { $0 = nil }
        }
        let now = clock.now
        let lifetime = (order.expiration ?? configuration.expiration).lifetime(at: clock.wallNow)
        var row = CacheIndex.Row(
            name: digest, key: order.key.indexed, identifier: order.key.identifier, fileExtension: fileExtension,
            header: order.header, byteCount: draft.stamp.size, allocated: draft.stamp.allocated,
            checksum: draft.checksum, origin: order.origin, storedAt: now, expiresAt: lifetime.map { now + $0 },
            lifetime: lifetime, modified: draft.stamp.modified, content: draft.checksum.rowNumber)
        let path = folder.blob(row.fileName)
        let old = try writer.row(row.number)
        if let old, old.name == digest {
            let oldPath = folder.blob(old.fileName)
            let stamp = FileStamp(path: oldPath)
            let isThere = stamp?.modified == old.modified && stamp?.size == old.byteCount
            if let stamp, isThere, !order.overwrites, !isExpired(old) {
                return Commit(stored: Stored(record: record(order.key, old, oldPath, stamp), isNew: false))
            }
            if let stamp, isThere, try isTheSame(row, as: old, at: oldPath) {
                // Nothing but its age is new: the file stays, and so do the bytes that others share with it.
                row.modified = old.modified
                row.allocated = old.allocated
                row.content = old.content
                try writer.put(row, metadata: order.metadata)
                return Commit(stored: Stored(record: record(order.key, row, path, stamp), isNew: true))
            }
        }
        let twin = try writer.twin(row.content, besides: row.number)
        let isShared = twin.map { FileStamp(path: folder.blob($0.fileName))?.inode == draft.stamp.inode } ?? false
        // Equal bytes in a file of their own count on their own.
        if twin != nil, !isShared { row.content = row.number }
        let evicted = try makeRoom(for: row, isShared: isShared, replacing: old, configuration, writer)
        let placed = try folder.place(draft.path, at: path, replaces: old?.fileName == row.fileName)
        placement.withLock { $0 = placed }
        try writer.put(row, metadata: order.metadata)
        var commit = Commit(stored: Stored(record: record(order.key, row, path, draft.stamp), isNew: true))
        commit.evicted = evicted
        if let old, old.fileName != row.fileName {
            if try !lendIfNeeded(old, writer) { commit.old = old }
        }
        return commit
    }

    /// Whether nothing of an entry but its age would change.
    private func isTheSame(_ row: CacheIndex.Row, as old: CacheIndex.Row, at path: String) throws -> Bool {
        row.checksum == old.checksum && row.fileExtension == old.fileExtension && row.origin == old.origin
            && row.lifetime == old.lifetime && (try? folder.checksum(of: path)) == row.checksum
    }

    /// Another name for a file of ours that has the same bytes; nil if there is none.
    ///
    /// Hard links cost readers nothing, and a file of ours is never written in place, so none of them can change
    /// with another (D-04).
    private func sharedDraft(
        for draft: StorageFolder.Draft, _ digest: Digest, _ fileName: String
    ) throws -> StorageFolder.Draft? {
        for twin in try index.twins(draft.checksum.rowNumber)
        where twin.checksum == draft.checksum && twin.name != digest && twin.byteCount == draft.stamp.size {
            // Its checksum is that of the file as it is now: what is damaged is not passed on.
            guard let linked = try folder.linkedDraft(of: folder.blob(twin.fileName), fileName) else { continue }
            if linked.checksum == draft.checksum { return linked }
            unlink(linked.path)
        }
        return nil
    }

    // MARK: Room

    /// Takes out so much that the limit holds when the entry comes in: the longest unused first; what is lent out
    /// last, and then its file stays until its lease ends.
    private func makeRoom(
        for row: CacheIndex.Row, isShared: Bool, replacing old: CacheIndex.Row?, _ configuration: Configuration,
        _ writer: CacheIndex.Writer
    ) throws -> [Cleaned] {
        guard configuration.bytesLimit > 0 else { return [] }
        var growth = isShared ? 0 : row.byteCount
        if let old, try writer.twin(old.content, besides: old.number) == nil { growth -= old.byteCount }
        var eviction = Eviction(goal: configuration.bytesLimit - growth, sparing: row.number)
        eviction.countsLent = true
        let totals = try writer.totals()
        if totals.bytes + totals.lent <= eviction.goal { return [] }
        // Who goes is judged by the uses up to now.
        try touches.flush(into: writer)
        if try !evict(&eviction, writer) {
            eviction.begin(lends: true)
            if try !evict(&eviction, writer) {
                throw ImageError.limitExceeded(
                    limit: "bytesLimit", reason: "the disk tier has no room for its \(row.byteCount) bytes",
                    source: row.key)
            }
        }
        return eviction.removed
    }

    /// Sees to it that the disk does not run full: takes images out first, if that is enough.
    ///
    /// - Throws: ``StorageFailure`` when there would be less space left than configured.
    private func keepSpaceFree(for content: Content, _ configuration: Configuration) throws {
        guard configuration.freeSpaceFloor != 0, let space = folder.freeSpace else { return }
        let floor = configuration.freeSpaceFloor ?? min(space.total / 100, 256 << 20)
        let missing = StorageFolder.size(of: content) + floor - space.available
        guard missing > 0 else { return }
        let totals = try index.totals()
        if totals.bytes >= missing {
            try evict(to: totals.bytes - missing)
            if let space = folder.freeSpace, space.available - floor >= StorageFolder.size(of: content) { return }
        }
        throw StorageFailure(ENOSPC, "leave \(floor) bytes free (freeSpaceFloor) on the disk of", folder.path)
    }
}
