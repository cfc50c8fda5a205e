internal import Glibc
internal import ImageErrors
internal import Platform

/// Images that are placed without an entry, for the time of a lease.
extension StoreJob {
    /// Places an image that is too large for the cache where its file would be, for the time of its lease. An entry that the
    /// key has goes: it is older.
    func placeForLease() throws -> Stored {
        let files = try disk.folder.blobs(of: name).lazy.map { [self] in ($0, FileStamp(path: disk.folder.blob($0))) }
        let found = files.first { [self] file, stamp in
            stamp?.size == draft.stamp.size
                && (try? disk.folder.checksum(of: disk.folder.blob(file))) == draft.checksum
        }
        let path = try disk.index.write { writer in
            try disk.folder.makeWay(to: self.path)
            let same = found.flatMap { FileStamp(path: disk.folder.blob($0.0)) == $0.1 ? $0.0 : nil }
            // One at a time: otherwise the disk would not be bounded.
            if try same == nil && writer.totals().lent > lentShare {
                throw DiskStorage.tooLarge(draft.stamp.size, request.key)
            }
            let fileName = try same ?? StorageFolder.fileName(name.hex, freeExtension(writer, share: 0))
            let path = disk.folder.blob(fileName)
            let lease = LeaseNumber(fileName: fileName)
            if let lease { disk.lending.lend(lease, for: request.lease, bytes: draft.stamp.size, share: 0) }
            if let old = try writer.row(name) {
                if old.fileName != fileName { try disk.evictor.retireFile(of: old, writer) }
                try writer.remove(old.number)
            }
            if same == nil { _ = try place(at: path, replaces: FileStamp(path: path) != nil, writer) }
            let rest = lease.map(disk.lending.rest) ?? 0
            try writer.retire(fileName, bytes: draft.stamp.size, until: disk.clock.now + rest)
            return path
        }
        return transient(at: path, .tooLarge)
    }

    /// Places an image that cannot be entered now beside the entries, for the time of its lease. An entry that the key has
    /// stays.
    ///
    /// - Throws: `failure` when so much is lent already that the disk would not be bounded.
    func lendDraft(_ failure: SQLiteDatabase.Failure) throws -> Stored {
        let (size, share) = (draft.stamp.size, lentShare)
        guard
            let path = try disk.lending.lend(
                beside: draft.path, bytes: size, fileExtension, for: request.lease, share: share)
        else { throw failure }
        return transient(at: path, .busy)
    }

    private func transient(at path: String, _ reason: NotStoredReason) -> Stored {
        let record = ImageRecord(
            key: request.key, header: request.header, byteCount: draft.stamp.size, path: path, origin: request.origin,
            storedAt: disk.clock.now, stamp: FileStamp(path: path) ?? draft.stamp, checksum: draft.checksum,
            clock: disk.clock)
        return Stored(record: record, isNew: true, transience: reason)
    }
}
