package import ImageErrors
internal import Platform

/// What is over may live again, when its server says that it has not changed.
extension DiskStorage {
    /// The image for `key` in our own folder, also when its time is over and it has not been cleaned away. Waits.
    package func recordEvenExpired(_ key: CacheKey, lease: Double = 0) throws(ImageError) -> ImageRecord? {
        let found = try lookIntoIndex(key, lease: lease, evenExpired: true)
        if case .found(let record) = found { return record }
        guard case .unsettled = found else { return nil }
        _ = try repair(key, lease: lease)
        guard case .found(let record) = try lookIntoIndex(key, lease: lease, evenExpired: true) else { return nil }
        return record
    }

    /// Begins the life of an entry anew, with what its server has said about it.
    ///
    /// - Parameter expiration: How long it lives; the storage's own setting when nil.
    /// - Returns: The entry as it is now; nil if it has been removed or replaced meanwhile.
    package func revive(
        _ record: ImageRecord, _ origin: ImageOrigin, expiration: StorageExpiration?, lease: Double
    ) throws(ImageError) -> ImageRecord? {
        guard let number = record.number, let stamp = record.stamp, folder.exists else { return nil }
        if lease > 0 { lending.lend(number, for: lease) }
        let digest = name(of: record.key)
        do {
            let revived: ImageRecord? = try index.write { writer in
                guard var row = try writer.row(number), row.name == digest, row.modified == stamp.modified,
                    row.storedAt == record.storedAt
                else { return nil }
                let path = self.folder.blob(row.fileName)
                guard let found = FileStamp(path: path), found.matches(stamp) else { return nil }
                let now = self.clock.now
                row.origin = origin
                row.lifetime = (expiration ?? self.configuration.expiration).lifetime(at: self.clock.wallNow)
                row.expiresAt = row.lifetime.map { now + $0 }
                try writer.revive(row, at: now)
                return self.record(record.key, row, path, found)
            }
            // A use noted before would give it its old life back.
            if revived != nil { touches.forget(number) }
            return revived
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }

    /// Takes an image out that is not to be kept any more; a path that is lent out stays until its lease ends.
    package func discard(_ key: CacheKey) throws(ImageError) {
        let digest = name(of: key)
        guard folder.exists else { return }
        do {
            try index.write { writer in
                guard let row = try writer.row(digest.rowNumber), row.name == digest else { return }
                _ = try self.takeOut(CacheIndex.Writer.Used(number: row.number, row: row, use: 0), writer)
            }
            try removeLeft()
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }
}
