internal import Glibc
internal import HTTPSemantics
internal import ImageFormats
internal import Platform
internal import Synchronization

/// Puts the index right where it disagrees with the folder. The files decide: they are whole, for they were renamed into
/// place.
struct Repairer: Sendable {
    let disk: DiskStorage

    /// Puts the entry of an image right, within a write transaction, so that no store of another process is half done
    /// meanwhile; returns the image if it is there and not expired.
    ///
    /// The cases: another process has just stored; the file was copied or touched, with its content unchanged; a store was
    /// killed between the two names, and the old file waits beside; the index was lost; the file was changed or removed
    /// behind our back, which is a miss.
    func repair(_ key: CacheKey, lease: Double) throws -> ImageRecord? {
        // A folder that is gone is an empty cache.
        guard disk.folder.exists else { return nil }
        let name = disk.name(of: key)
        if lease > 0 { disk.lending.lend(name.rowNumber, for: lease) }
        return try disk.index.write { writer in
            guard var row = try writer.row(name) else { return try adopt(key, name, writer) }
            if row.key.isEmpty {
                // Adopted by its file alone: now its key is known.
                try writer.setKey(key, of: row.number)
                (row.key, row.identifier) = (key.indexed, key.identifier)
            }
            let path = disk.folder.blob(row.fileName)
            var found = FileStamp(path: path)
            let isThere = found != nil
            if found?.modified != row.modified || found?.size != row.byteCount {
                if let stamp = found, stamp.size == row.byteCount, try disk.folder.checksum(of: path) == row.checksum {
                    try writer.setModified(stamp.modified, of: row.number)
                } else {
                    found = disk.folder.restore(name.hex, to: path, size: row.byteCount, modified: row.modified)
                }
            }
            if let found { return disk.isExpired(row) ? nil : disk.record(key, row, path, found) }
            // Removed by hand is nobody's damage; anything else in the image's place is.
            if isThere || unlink(path) == 0 { report(row) }
            unlink(path)
            try writer.remove(row.number)
            return nil
        }
    }

    /// Takes an image out whose content is not what was stored; unless it has been replaced meanwhile.
    func forget(_ record: ImageRecord) throws {
        guard disk.folder.exists else { return }
        let name = disk.name(of: record.key)
        try disk.index.write { writer in
            guard let row = try writer.row(name.rowNumber), row.modified == record.stamp?.modified else { return }
            report(row)
            unlink(disk.folder.blob(row.fileName))
            try writer.remove(row.number)
        }
    }

    /// Counts an image whose file is not what was stored, and logs it; by its hash, for URLs are private.
    func report(_ row: IndexRow) {
        disk.damages.add(1, ordering: .relaxed)
        disk.logger.warning(
            "a cached image was changed by another program and has been taken out",
            metadata: ["image": "\(row.name.hex)", "folder": "\(disk.folder.path)"])
    }

    // MARK: Adoption

    /// Enters the file of an image that the index does not know.
    func adopt(_ key: CacheKey, _ name: Digest, _ writer: IndexWriter) throws -> ImageRecord? {
        guard writer.isAdopting else { return nil }
        let folder = disk.folder
        let likely = [disk.fileExtension(for: key, nil), key.ownExtension, ""]
        // A file that was replaced under another extension may still be there for its lease: the latest counts.
        let found = (likely + ImageFormat.allCases.map(\.fileExtension)).compactMap { text in
            folder.placedAt(folder.blob(name.hex, text)).map { (text: text, at: $0) }
        }
        for (fileExtension, _) in found.sorted(by: { $0.at > $1.at }) {
            let path = folder.blob(name.hex, fileExtension)
            guard let (row, stamp) = try adoptedRow(name, key: key, path: path, fileExtension) else { continue }
            try enter(row, stamp, writer)
            return disk.record(key, row, path, stamp)
        }
        return nil
    }

    /// A row for a file of which only the name is known; its life begins now.
    ///
    /// - Returns: `nil` if there is no file, or it is no image.
    /// - Throws: ``SystemError`` if the file cannot be read now: that says nothing about it.
    func adoptedRow(
        _ name: Digest, key: CacheKey?, path: String, _ fileExtension: String
    ) throws -> (IndexRow, FileStamp)? {
        guard let stamp = FileStamp(path: path), let checksum = try disk.folder.existingChecksum(of: path) else {
            return nil
        }
        let file = try Descriptor(reading: path)
        guard let header = try? ImageHeader(descriptor: file.number, count: stamp.size) else { return nil }
        // With the index the credentials are lost that it was fetched with.
        var origin = StorageFolder.isPersonal(file) ? ImageOrigin(http: HTTPMetadata.nobodys) : ImageOrigin()
        origin.facts.timing = header.timing
        let storedAt = disk.clock.now
        let lifetime = disk.configuration.expiration.lifetime(at: disk.clock.wallNow)
        let row = IndexRow(
            name: name, key: key?.indexed ?? "", identifier: key?.identifier ?? "", fileExtension: fileExtension,
            header: header, byteCount: stamp.size, allocated: stamp.allocated, checksum: checksum,
            origin: origin, storedAt: storedAt, expiresAt: lifetime.map { storedAt + $0 }, lifetime: lifetime,
            modified: stamp.modified, content: checksum.rowNumber)
        return (row, stamp)
    }

    /// Enters a row for a file that is at its place already.
    func enter(_ row: IndexRow, _ stamp: FileStamp, _ writer: IndexWriter) throws {
        var row = row
        if let twin = try writer.twin(row.content, besides: row.number),
            FileStamp(path: disk.folder.blob(twin.fileName))?.inode != stamp.inode
        {
            row.content = row.number
        }
        try writer.put(row)
    }

    /// Takes every file of the folder into an index that was lost, a few at a time.
    func adoptAll() {
        for shard in disk.folder.shards {
            var names = disk.folder.blobNames(in: shard)[...]
            while !names.isEmpty {
                let batch = names.prefix(32)
                names = names.dropFirst(32)
                do {
                    try disk.index.write { writer in for name in batch { try adoptFile(name, writer) } }
                } catch { return }
            }
        }
        try? disk.index.endAdopting()
        disk.evictor.keepLimit()
    }

    private func adoptFile(_ fileName: String, _ writer: IndexWriter) throws {
        let parts = fileName.split(separator: ".", maxSplits: 1)
        guard let hex = parts.first, let name = Digest(hex: hex) else { return }
        let fileExtension = parts.count > 1 ? String(parts[1]) : ""
        let path = disk.folder.blob(String(hex), fileExtension)
        let other = try writer.row(name)
        if let other {
            // Of two files for one image, as after a change of its format, the latest counts.
            guard other.fileName != fileName, other.key.isEmpty, let placed = disk.folder.placedAt(path),
                let others = disk.folder.placedAt(disk.folder.blob(other.fileName)), placed > others
            else { return }
        }
        guard let (row, stamp) = try adoptedRow(name, key: nil, path: path, fileExtension) else { return }
        if let other { try disk.evictor.leave(other, writer) }
        try enter(row, stamp, writer)
        // Its last use is not known: it comes after what has been stored or asked for since.
        try writer.demote(row.number)
    }
}
