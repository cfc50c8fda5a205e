internal import Glibc
internal import HTTPSemantics
package import ImageErrors
internal import ImageFormats
internal import Platform
internal import Synchronization

/// Where index and folder disagree, the files decide: they are whole, for they were renamed into place.
extension DiskStorage {
    /// Finds out whether an image is there when the index and the folder do not agree, and puts the index right.
    ///
    /// Within a write transaction, so that no store of another process is half done meanwhile. The cases: another
    /// process has just stored; the file was copied or touched, with its content unchanged; a store was killed between
    /// the two names, and the old file waits beside; the index was lost; the file was changed or removed behind our
    /// back, which is a miss.
    package func settle(_ key: CacheKey, lease: Double = 0) throws(ImageError) -> ImageRecord? {
        switch try lookIntoIndex(key, lease: lease) {
        case .found(let record): record
        case .missing: readOnlyRecord(for: key)
        case .unsettled: try repair(key, lease: lease) ?? readOnlyRecord(for: key)
        }
    }

    /// Puts the index right; returns what is there and not expired.
    package func repair(_ key: CacheKey, lease: Double) throws(ImageError) -> ImageRecord? {
        // A folder that is gone is an empty cache.
        guard folder.exists else { return nil }
        let digest = name(of: key)
        if lease > 0 { lending.lend(digest.rowNumber, for: lease) }
        do {
            return try index.write { writer in
                guard var row = try writer.row(digest.rowNumber), row.name == digest else {
                    return try self.adopt(key, digest, writer)
                }
                if row.key.isEmpty {
                    // Adopted by its file alone: now somebody says what it is called.
                    try writer.name(row.number, key)
                    (row.key, row.identifier) = (key.indexed, key.identifier)
                }
                let path = self.folder.blob(row.fileName)
                let found = FileStamp(path: path)
                if let found, found.modified == row.modified, found.size == row.byteCount {
                    return self.isExpired(row) ? nil : self.record(key, row, path, found)
                }
                if let found, found.size == row.byteCount, try self.folder.checksum(of: path) == row.checksum {
                    try writer.settle(row.number, modified: found.modified)
                    return self.isExpired(row) ? nil : self.record(key, row, path, found)
                }
                if let restored = self.folder.restore(digest.hex, to: path, size: row.byteCount, modified: row.modified)
                {
                    return self.isExpired(row) ? nil : self.record(key, row, path, restored)
                }
                // Removed by hand is nobody's damage; anything else in the image's place is.
                if found != nil || unlink(path) == 0 { self.report(row) }
                unlink(path)
                try writer.remove(row.number)
                return nil
            }
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }

    /// Takes an image out whose content is not what was stored; unless it has been replaced meanwhile.
    package func forget(_ record: ImageRecord) throws {
        let digest = name(of: record.key)
        guard folder.exists else { return }
        try index.write { writer in
            guard let row = try writer.row(digest.rowNumber), row.modified == record.stamp?.modified else { return }
            self.report(row)
            unlink(self.folder.blob(row.fileName))
            try writer.remove(row.number)
        }
    }

    /// Counts an image whose file is not what was stored, and says so in the log; by its hash, for URLs are private.
    func report(_ row: CacheIndex.Row) {
        damages.add(1, ordering: .relaxed)
        logger.warning(
            "a cached image was changed by another program and has been taken out",
            metadata: ["image": "\(row.name.hex)", "folder": "\(folder.path)"])
    }

    /// Takes a file of the folder that the index does not know into the index.
    func adopt(_ key: CacheKey, _ digest: Digest, _ writer: CacheIndex.Writer) throws -> ImageRecord? {
        guard writer.isAdopting else { return nil }
        let likely = [fileExtension(for: key, nil), key.ownExtension, ""]
        // What an image has replaced under another extension may still be there for its lease: the latest counts.
        let found = (likely + ImageFormat.allCases.map(\.fileExtension)).compactMap { text in
            folder.placedAt(folder.blob(digest.hex, text)).map { (text: text, at: $0) }
        }
        for (fileExtension, _) in found.sorted(by: { $0.at > $1.at }) {
            let path = folder.blob(digest.hex, fileExtension)
            guard let (row, stamp) = try adoptedRow(digest, key: key, path: path, fileExtension) else { continue }
            try enter(row, stamp, writer)
            return record(key, row, path, stamp)
        }
        return nil
    }

    /// A row for a file of which only the name is known; its life begins now.
    ///
    /// - Returns: nil if there is no file, or it is no image.
    /// - Throws: ``SystemError`` if the file cannot be read now: that says nothing about it.
    func adoptedRow(
        _ digest: Digest, key: CacheKey?, path: String, _ fileExtension: String
    ) throws -> (CacheIndex.Row, FileStamp)? {
        guard let stamp = FileStamp(path: path), let checksum = try folder.existingChecksum(of: path) else {
            return nil
        }
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno, "open", path) }
        defer { Glibc.close(descriptor) }
        guard let header = try? ImageHeader(descriptor: descriptor, count: stamp.size) else { return nil }
        // With the index it is gone who may have it.
        let owned = StorageFolder.isPersonal(descriptor) ? ImageOrigin(http: HTTPMetadata.nobodys) : ImageOrigin()
        let origin = owned.noting(header.timing)
        let storedAt = clock.now
        let lifetime = configuration.expiration.lifetime(at: clock.wallNow)
        let row = CacheIndex.Row(
            name: digest, key: key?.indexed ?? "", identifier: key?.identifier ?? "", fileExtension: fileExtension,
            header: header, byteCount: stamp.size, allocated: stamp.allocated, checksum: checksum,
            origin: origin, storedAt: storedAt, expiresAt: lifetime.map { storedAt + $0 }, lifetime: lifetime,
            modified: stamp.modified, content: checksum.rowNumber)
        return (row, stamp)
    }

    /// Adds a row for a file that is at its place already.
    func enter(_ row: CacheIndex.Row, _ stamp: FileStamp, _ writer: CacheIndex.Writer) throws {
        var row = row
        if let twin = try writer.twin(row.content, besides: row.number),
            FileStamp(path: folder.blob(twin.fileName))?.inode != stamp.inode
        {
            row.content = row.number
        }
        try writer.put(row)
    }

    /// Takes every file of the folder into an index that was lost, a few at a time.
    func adoptAll() {
        for shard in folder.shards {
            var names = folder.blobNames(in: shard)[...]
            repeat {
                let batch = names.prefix(32)
                names = names.dropFirst(32)
                do {
                    try index.write { writer in
                        for name in batch { try self.adoptFile(name, in: shard, writer) }
                    }
                } catch { return }
            } while !names.isEmpty
        }
        try? index.endAdopting()
        keepLimit()
    }

    private func adoptFile(_ name: String, in shard: String, _ writer: CacheIndex.Writer) throws {
        let parts = name.split(separator: ".", maxSplits: 1)
        guard let hex = parts.first, let digest = Digest(hex: hex) else { return }
        let fileExtension = parts.count > 1 ? String(parts[1]) : ""
        let path = folder.blob(String(hex), fileExtension)
        let other = try writer.row(digest.rowNumber)
        if let other, other.name == digest {
            // Of two files for one image, as after a change of its format, the latest counts.
            guard other.fileName != name, other.key.isEmpty, let placed = folder.placedAt(path),
                let others = folder.placedAt(folder.blob(other.fileName)), placed > others
            else { return }
        }
        guard let (row, stamp) = try adoptedRow(digest, key: nil, path: path, fileExtension) else { return }
        if let other, other.name == digest { try leave(other, writer) }
        try enter(row, stamp, writer)
        // Nobody knows when it was used: after what has been stored or asked for since.
        try writer.demote(row.number)
    }
}

/// Starts the adoption of a folder's files once, in the background.
final class Adopter: Sendable {
    private struct Reference { weak var storage: DiskStorage? }
    private let reference = Mutex(Reference())
    private let hasStarted = Atomic(false)

    private func end() { hasStarted.store(false, ordering: .relaxed) }

    func use(_ storage: DiskStorage) {
        reference.withLock { $0.storage = storage }
    }

    func noteDeparture() { reference.withLock { $0.storage }?.lending.noteDeparture() }

    func start() {
        guard let storage = reference.withLock({ $0.storage }), !hasStarted.exchange(true, ordering: .relaxed) else {
            return
        }
        startThread { [self] in
            storage.adoptAll()
            // The index may be lost once more.
            end()
        }
    }
}
