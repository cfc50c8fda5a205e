internal import Glibc
internal import HTTPSemantics
internal import ImageFormats
internal import Platform
internal import Synchronization

/// Puts the index right where it disagrees with the folder. The files decide: they are whole, for they were renamed into
/// place, unless the checksum that is kept of them says otherwise.
struct Repairer: Sendable {
    let disk: DiskStorage

    /// Puts the entry of an image right, within a write transaction, so that no store of another process is half done
    /// meanwhile; returns the image if it is there and not expired.
    ///
    /// The cases: another process has just stored; the file was copied or touched, with its content unchanged; a store was
    /// killed between the two names, and the old file waits beside; the index was lost, or is older than the file; the
    /// machine went down before the file had reached the disk; the file was changed or removed behind our back, which is a
    /// miss.
    func repair(_ key: CacheKey, lease: Double, patience: Double) throws -> ImageRecord? {
        // A folder that is gone is an empty cache.
        guard try disk.folder.exists else { return nil }
        return try disk.index.write(patience: patience) { writer in
            let record = try repair(key, writer)
            // No eviction comes between within the transaction.
            if let record { disk.lend(record, for: lease) }
            return record
        }
    }

    private func repair(_ key: CacheKey, _ writer: IndexWriter) throws -> ImageRecord? {
        guard var row = try disk.row(of: key, writer.row) else { return try adopt(key, writer) }
        if row.key.isEmpty {
            // Adopted by its file alone: now its key is known.
            (row.key, row.identifier) = (key.indexed, key.indexedIdentifier)
            try writer.correct(row)
        }
        let path = disk.folder.blob(row.fileName)
        try disk.folder.checkPlace(of: row.fileName)
        var found = try FileStamp.existing(path)
        let isThere = found != nil
        let isKnown = found?.modified == row.modified && found?.size == row.byteCount
        if let stamp = found, !disk.folder.trusts(stamp) {
            found = nil
        } else if disk.folder.isShared || !isKnown || disk.index.unproven.contains(row) {
            if let stamp = found, stamp.size == row.byteCount, try disk.folder.checksum(of: path) == row.checksum {
                disk.index.unproven.noteProven(row)
                if stamp.modified != row.modified {
                    row.modified = stamp.modified
                    try writer.correct(row)
                }
            } else if found != nil, let newer = try replace(row, with: path, writer) {
                (row, found) = newer
            } else {
                found = try disk.folder.restore(row.name.hex, to: path, size: row.byteCount, modified: row.modified)
            }
        }
        if let found {
            disk.noteVerified(found)
            return disk.isExpired(row) ? nil : disk.record(key, row, path, found, writer.mark(of: row.number))
        }
        try writer.confirm()
        // Removed by hand is nobody's damage; anything else in the image's place is.
        let wasThere = (try? disk.folder.takeAway(path)) != nil
        if isThere || wasThere { report(row.name) }
        try writer.remove(row.number)
        // The index may be the older of the two, and the image have a file of another name.
        return try adopt(key, writer)
    }

    /// Puts an entry right; a miss where the disk is full and there is no file: nothing can be put right then, nor need be.
    func repairUnlessFull(_ key: CacheKey, lease: Double, patience: Double) throws -> ImageRecord? {
        do {
            return try repair(key, lease: lease, patience: patience)
        } catch let failure as CacheIndex.Failure where failure.isFull {
            guard let row = try disk.row(of: key, { try disk.index.row($0.rowNumber) }),
                try FileStamp.existing(disk.folder.blob(row.fileName)) == nil
            else { throw failure }
            return nil
        }
    }

    /// Enters a file that is another than its entry says, if its own checksum or the log of entries proves it: then the index
    /// is the older of the two.
    func replace(_ row: IndexRow, with path: String, _ writer: IndexWriter) throws -> (IndexRow, FileStamp)? {
        let finding = try examine(row.name, path, row.fileExtension)
        guard case .whole(var record, let stamp, isProven: true) = finding else { return nil }
        if record.row.key.isEmpty { (record.row.key, record.row.identifier) = (row.key, row.identifier) }
        return (try enter(record, stamp, writer), stamp)
    }

    /// Takes an image out whose content is not what was stored; unless it has been replaced meanwhile.
    func forget(_ record: ImageRecord) throws {
        guard try disk.folder.exists else { return }
        guard let number = record.number else { return }
        try disk.index.write { writer in
            guard let row = try writer.row(number), row.modified == record.stamp?.modified else { return }
            try disk.folder.checkPlace(of: row.fileName)
            // The index may be what is wrong.
            if try replace(row, with: disk.folder.blob(row.fileName), writer) != nil { return }
            try writer.confirm()
            report(row.name)
            _ = try? disk.folder.takeAway(disk.folder.blob(row.fileName))
            try writer.remove(row.number)
        }
    }

    /// Counts an image whose file is not what was stored, and logs it; by its hash, for URLs are private.
    func report(_ name: Digest) {
        disk.damages.add(1, ordering: .relaxed)
        disk.logger.warning(
            "a cached image was changed by another program and has been removed",
            metadata: ["image": "\(name.hex)", "folder": "\(disk.folder.path)"])
    }

    // MARK: Adoption

    /// What is known of the file of an image without its entry.
    enum Finding {
        /// There is no file, or it is no image.
        case nothing
        /// It is not what was stored.
        case damaged
        /// It can be entered; `isProven` when the checksum that is kept of it is that of its bytes.
        case whole(EntryRecord, FileStamp, isProven: Bool)
    }

    /// Enters the file of an image that the index does not know.
    func adopt(_ key: CacheKey, _ writer: IndexWriter) throws -> ImageRecord? {
        let (name, folder) = (disk.name(of: key), disk.folder)
        guard disk.mayLackEntries(writer), try writer.row(name) == nil else { return nil }
        let retired = try writer.files(of: name.hex)
        // A file that was replaced may still be there for its lease: the latest counts.
        for file in try folder.placedBlobs(of: name) where !retired.contains(file) {
            let (path, fileExtension) = (folder.blob(file), String(file.dropFirst(name.hex.utf8.count + 1)))
            switch try examine(name, path, fileExtension) {
            case .nothing: continue
            case .damaged: try takeAway(path, name, writer)
            case .whole(var record, let stamp, _):
                if record.row.key.isEmpty {
                    (record.row.key, record.row.identifier) = (key.indexed, key.indexedIdentifier)
                }
                let row = try enter(record, stamp, writer)
                return row.isEntry(of: key) ? disk.record(key, row, path, stamp, writer.mark(of: row.number)) : nil
            }
        }
        return nil
    }

    /// Finds out what a file is of which only the name is known. Its life begins now; the rest is in the log of entries, if
    /// that has a record of it.
    ///
    /// - Throws: ``SystemError`` if the file cannot be read now: that says nothing about it.
    func examine(_ name: Digest, _ path: String, _ fileExtension: String) throws -> Finding {
        guard let stamp = try FileStamp.existing(path), disk.folder.trusts(stamp),
            let checksum = try disk.folder.existingChecksum(of: path)
        else {
            return .nothing
        }
        let file = try Descriptor(reading: path)
        let seal = FileSeal(file)
        let record =
            try disk.logged(name) { $0.row.fileExtension == fileExtension && $0.row.checksum == checksum }
            ?? disk.logged(name) { $0.row.fileExtension == fileExtension }
        // The file bears its own checksum where it can; the log may be older than the file.
        if let expected = seal?.checksum ?? record?.row.checksum, expected != checksum { return .damaged }
        let now = disk.clock.now
        if var record, record.row.checksum == checksum {
            (record.row.modified, record.row.allocated) = (stamp.modified, stamp.allocated)
            record.row.storedAt = min(record.row.storedAt, now)
            record.row.expiresAt = record.row.life.end(from: now)
            return .whole(record, stamp, isProven: true)
        }
        guard let header = try file.header(stamp) else { return .nothing }
        // With the index the credentials are lost that it was fetched with.
        var origin = StorageFolder.isPersonal(file) ? ImageOrigin(http: HTTPMetadata.nobodys) : ImageOrigin()
        origin.facts.timing = header.timing
        let life = disk.life(nil)
        let row = IndexRow(
            name: name, key: "", identifier: "", fileExtension: fileExtension, header: header, byteCount: stamp.size,
            allocated: stamp.allocated, checksum: checksum, origin: origin, storedAt: now,
            expiresAt: life.end(from: now), life: life, modified: stamp.modified, content: checksum.rowNumber)
        return .whole(EntryRecord(row: row, metadata: nil), stamp, isProven: seal?.bears(name) ?? false)
    }

    /// Enters a file that is at its place already.
    @discardableResult
    func enter(_ record: EntryRecord, _ stamp: FileStamp, _ writer: IndexWriter) throws -> IndexRow {
        var row = record.row
        if let twin = try writer.twin(row.content, besides: row.number),
            FileStamp(path: disk.folder.blob(twin.fileName))?.inode != stamp.inode
        {
            row.content = row.number
        }
        try writer.put(row, metadata: record.metadata)
        return row
    }

    /// Removes a file that is not what was stored.
    func takeAway(_ path: String, _ name: Digest, _ writer: IndexWriter) throws {
        try writer.confirm()
        report(name)
        _ = try? disk.folder.takeAway(path)
    }

    /// Takes every file of the folder into an index that was lost, a few at a time; from the first one again when it is lost
    /// once more meanwhile.
    ///
    /// - Returns: `false` when that cannot be done now.
    @discardableResult
    func adoptAll() -> Bool {
        defer { disk.forgetLogContents() }
        do { while try !adoptEach() {} } catch { return false }
        disk.evictor.keepLimit()
        return true
    }

    /// Returns `false` when the index was opened anew meanwhile.
    private func adoptEach() throws -> Bool {
        let generation = try disk.index.write { _ in disk.lending.generation }
        for shard in try disk.folder.shards {
            var names = try disk.folder.blobNames(in: shard)[...]
            while !names.isEmpty {
                let batch = names.prefix(32)
                names = names.dropFirst(32)
                let isSame = try disk.index.write { writer in
                    guard disk.lending.generation == generation else { return false }
                    for name in batch { try adoptFile(name, writer) }
                    return true
                }
                guard isSame else { return false }
            }
        }
        return try disk.index.endAdopting(of: generation)
    }

    /// `true` when a file that the index does not know counts in place of that of an entry: of two files for one image, as
    /// after a change of its format, the latest does. The index may be the older of the two.
    func replaces(_ fileName: String, _ entry: IndexRow) throws -> Bool {
        let path = disk.folder.blob(fileName)
        guard let stamp = try FileStamp.existing(path), let placed = try disk.folder.placedAt(path) else {
            return false
        }
        guard let other = try disk.folder.placedAt(disk.folder.blob(entry.fileName)) else { return true }
        guard placed > other else { return false }
        // An old file that is brought back from a copy comes late to its place, with its time of writing; a stranger's bears
        // no seal.
        return try entry.key.isEmpty || disk.logged(entry.name, where: { $0.row.fileName == fileName }) != nil
            || stamp.modified > entry.modified && FileSeal(Descriptor(reading: path))?.bears(entry.name) == true
    }

    /// Enters a file, which ``replaces(_:_:)`` that of an entry if there is one.
    func enter(_ record: EntryRecord, _ stamp: FileStamp, inPlaceOf entry: IndexRow?, _ writer: IndexWriter) throws {
        var record = record
        if let entry {
            if record.row.key.isEmpty { (record.row.key, record.row.identifier) = (entry.key, entry.identifier) }
            try disk.evictor.retireFile(of: entry, writer)
        }
        try enter(record, stamp, writer)
    }

    /// Retires a file that was replaced by that of an entry, which an index that was lost does not know: it may be lent.
    func retire(_ fileName: String, besides entry: IndexRow, _ writer: IndexWriter) throws {
        guard entry.fileName != fileName, let stamp = try FileStamp.existing(disk.folder.blob(fileName)) else { return }
        try disk.evictor.retire(fileName, bytes: stamp.size, writer)
    }

    private func adoptFile(_ fileName: String, _ writer: IndexWriter) throws {
        let parts = fileName.split(separator: ".", maxSplits: 1)
        guard let hex = parts.first, let name = Digest(hex: hex) else { return }
        let fileExtension = parts.count > 1 ? String(parts[1]) : ""
        let path = disk.folder.blob(String(hex), fileExtension)
        if try writer.files(of: String(hex)).contains(fileName) { return }
        let other = try writer.row(name)
        if let other, try other.fileName == fileName || !replaces(fileName, other) {
            return try retire(fileName, besides: other, writer)
        }
        switch try examine(name, path, fileExtension) {
        case .nothing: return
        case .damaged: try takeAway(path, name, writer)
        case .whole(let record, let stamp, _):
            try enter(record, stamp, inPlaceOf: other, writer)
            // Its last use is not known: it comes after what has been stored or asked for since.
            try writer.demote(name.rowNumber)
        }
    }
}

extension Descriptor {
    /// The header of the image in the file; `nil` when it holds none.
    ///
    /// - Throws: ``SystemError`` if it cannot be read now: that says nothing about it.
    func header(_ stamp: FileStamp) throws(SystemError) -> ImageHeader? {
        do throws(ImageHeader.Failure) {
            return try ImageHeader(descriptor: number, count: stamp.size)
        } catch .unreadable(let code) {
            throw SystemError(code, "read", path)
        } catch {
            return nil
        }
    }
}
