package import ImageErrors
internal import Platform

extension ImageCache {
    /// Keeps something new about an image with it; whoever has it replaced meanwhile is right.
    package func note(_ origin: ImageOrigin, of record: ImageRecord, _ options: StorageOptions) throws(ImageError)
        -> ImageRecord
    {
        let noted = try disk.note(origin, of: record) ?? record.replacing(origin)
        if let entry = memory.peek(record.key), entry.record === record {
            keep(noted, bytes: entry.bytes, expiration: options.memoryCacheExpiration)
        }
        return noted
    }
}

extension DiskStorage {
    /// Writes something new about an entry down; its life goes on as it was.
    ///
    /// - Returns: The entry as it is now; nil if it is none of ours any more.
    package func note(_ origin: ImageOrigin, of record: ImageRecord) throws(ImageError) -> ImageRecord? {
        guard let number = record.number, let stamp = record.stamp, folder.exists else { return nil }
        let digest = name(of: record.key)
        do {
            return try index.write { writer in
                guard var row = try writer.row(number), row.name == digest, row.modified == stamp.modified,
                    row.storedAt == record.storedAt
                else { return nil }
                let path = self.folder.blob(row.fileName)
                guard let found = FileStamp(path: path), found.matches(stamp) else { return nil }
                row.origin = origin
                try writer.revive(row, at: self.clock.now)
                return self.record(record.key, row, path, found)
            }
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }
}
