internal import ImageErrors
internal import Platform
internal import Synchronization

/// Removing and changing entries.
extension DiskStorage {
    /// The images that `remove` and `clear` took away.
    public struct Removal: Equatable, Sendable {
        /// The number of entries.
        public var count = 0
        /// The bytes of their files.
        public var bytes = 0
        /// The number of entries that were lent.
        public var leased = 0

        /// A removal of so many entries of so many bytes.
        public init(count: Int = 0, bytes: Int = 0, leased: Int = 0) {
            (self.count, self.bytes, self.leased) = (count, bytes, leased)
        }
    }

    /// The files that a removal has taken away, with the bytes of those that had entries, and those that were lent. A
    /// transaction that fails is run again, and does not find them any more.
    private final class RemovalState: Sendable {
        let gone = Mutex<(files: [String: Int], leased: Set<String>)>(([:], []))

        var removal: Removal {
            gone.withLock { gone in
                Removal(count: gone.files.count, bytes: gone.files.values.reduce(0, +), leased: gone.leased.count)
            }
        }
    }

    /// Removes images, lent or not, together with what others do to the index at that time.
    ///
    /// - Parameters:
    ///   - queue: Runs what others should not wait for.
    ///   - then: Called once with what was there; it must not wait, for others do.
    func remove(
        _ entries: EntrySelection, in queue: WorkQueue, then: @escaping @Sendable (Result<Removal, ImageError>) -> Void
    ) {
        let end = { @Sendable [folder] (result: Result<Removal, any Error>) in
            then(result.mapError { ImageError.storage($0, folder: folder.path) })
        }
        do {
            guard try folder.exists else { return end(.success(Removal())) }
        } catch {
            return end(.failure(error))
        }
        let state = RemovalState()
        let syncs = configuration.syncsToDisk
        index.writeTogether(syncs: syncs, servesOthers: queue.servesOthers) { [self] writer in
            try remove(entries, writer, state)
        } then: { [self] result in
            if case .failure(let failure as CacheIndex.Failure) = result, failure.isFull {
                // The files go first, and give the index room.
                return queue.submit { [self] in end(Result { try removeFilesFirst(entries, state) }) }
            }
            IndexReserve(folder: folder).keep()
            guard syncs, case .success = result else { return end(result) }
            queue.submit { [folder] in
                // Otherwise a power cut might bring the file back.
                let names = state.gone.withLock { Set($0.files.keys).union($0.leased) }
                let synced = Result { for name in names { try folder.syncNames(of: folder.blob(name)) } }
                end(synced.flatMap { result })
            }
        }
    }

    private func removeFilesFirst(_ entries: EntrySelection, _ state: RemovalState) throws -> Removal {
        let key = entries.key
        for name in key.names {
            guard let row = try index.row(name.rowNumber), row.name == name, row.isEntry(of: key) else { continue }
            if try remove(blob: row.fileName) { state.gone.withLock { $0.files[row.fileName] = row.byteCount } }
        }
        do {
            return try index.write { [self] writer in try remove(entries, writer, state) }
        } catch let failure as CacheIndex.Failure where failure.isFull && state.removal.count > 0 {
            // An entry without a file is a miss.
            return state.removal
        }
    }

    private func remove(blob fileName: String) throws -> Bool {
        guard try folder.remove(blob: fileName) else { return false }
        LeaseNumber(fileName: fileName).map(lending.forgetBytes)
        return true
    }

    private func remove(_ entries: EntrySelection, _ writer: IndexWriter, _ state: RemovalState) throws -> Removal {
        let key = entries.key
        // While an index is begun anew the image may be there without an entry.
        if writer.isAdopting, try row(of: key, writer.row) == nil { _ = try repairer.adopt(key, writer) }
        let names = key.names
        var rows = try names.compactMap { try writer.row($0) }.filter { $0.isEntry(of: key) }
        if entries.allVariants || entries.allUsers {
            rows += try writer.variants(of: key.indexed).filter { row in
                !names.contains(row.name)
                    && entries.contains(CacheKey(key.key, indexedIdentifier: row.identifier))
            }
        }
        var known: Set<Digest> = []
        for row in rows {
            if lending.isLent(row.lease) { state.gone.withLock { _ = $0.leased.insert(row.fileName) } }
            if try remove(blob: row.fileName) {
                state.gone.withLock { $0.files[row.fileName] = row.byteCount }
                known.insert(row.name)
            }
            try writer.remove(row.number)
        }
        for name in names + rows.map(\.name).filter({ !names.contains($0) }) {
            for file in try writer.files(of: name.hex) {
                if try remove(blob: file) { state.gone.withLock { _ = $0.leased.insert(file) } }
                try writer.forget(file: file)
            }
            // An index that is begun anew, or has lost a part of its log, does not know all files; a check would take them in.
            guard writer.isAdopting || !known.contains(name) else { continue }
            for file in try folder.blobs(of: name) {
                let bytes = FileStamp(path: folder.blob(file))?.size ?? 0
                guard try remove(blob: file) else { continue }
                let isImage = known.insert(name).inserted
                state.gone.withLock { if isImage { $0.files[file] = bytes } else { $0.leased.insert(file) } }
            }
        }
        return state.removal
    }

    /// Removes everything, lent or not.
    ///
    /// - Returns: The entries that were there, by the index.
    func removeAll() throws(ImageError) -> Removal {
        touches.forget()
        return try reporting {
            guard try folder.exists else { return Removal() }
            try folder.claim()
            defer { IndexReserve(folder: folder).keep() }
            let removal = try emptying { writer in
                try self.folder.checkRemovable()
                let totals = try writer.totals()
                var leased = totals.lent > 0 ? try writer.lentCount(at: self.clock.now) : 0
                if self.lending.hasLeases { leased += try writer.count(where: self.lending.isLent) }
                try writer.removeAll()
                self.lending.forgetBytes()
                return Removal(count: totals.count, bytes: totals.bytes, leased: leased)
            }
            // The files go as the next transaction begins, whichever process begins it.
            try index.write { _ in }
            // All is removed; what cannot be deleted now is deleted by the upkeep.
            try? folder.removeTrash()
            return removal
        }
    }

    /// Runs a transaction that empties the index; on a full disk again when the files have gone, which gives it room.
    private func emptying(_ body: @Sendable (IndexWriter) throws -> Removal) throws -> Removal {
        do { return try index.write(body) } catch let failure as CacheIndex.Failure where failure.isFull {
            try folder.setBlobsAside()
            try folder.removeTrash()
            return try index.write(body)
        }
    }

    /// Takes an image out that is not to be kept any more; a path that is lent stays until its lease ends.
    func discard(_ key: CacheKey) throws(ImageError) {
        try reporting {
            guard try folder.exists else { return }
            try index.write { writer in
                guard let row = try self.row(of: key, writer.row) else { return }
                _ = try self.evictor.takeOut(IndexUse(number: row.number, row: row), writer)
            }
            try evictor.removeDueFiles()
        }
    }

    // MARK: Origin and life

    /// Begins the life of an entry anew, with the new answer of its server.
    ///
    /// - Parameter expiration: Its life; the storage's own setting when `nil`.
    /// - Returns: The entry as it is now; `nil` if it has been removed or replaced meanwhile.
    func revive(
        _ record: ImageRecord, _ origin: ImageOrigin, expiration: StorageExpiration?, lease: Double
    ) throws(ImageError) -> ImageRecord? {
        if (try? folder.exists) == true { lend(record, for: lease) }
        let revived = try update(record) { [self] row in
            row.origin = origin
            row.life = life(expiration)
            row.expiresAt = row.life.end(from: clock.now)
        }
        // A use noted before would give it its old life back.
        if let number = revived?.number { touches.forget(number) }
        return revived
    }

    /// Writes the origin of an entry, with the facts about it, anew; its life goes on as it was.
    ///
    /// - Returns: The entry as it is now; `nil` if it has been removed or replaced meanwhile.
    func note(_ origin: ImageOrigin, of record: ImageRecord) throws(ImageError) -> ImageRecord? {
        try update(record) { $0.origin = origin }
    }

    private func update(
        _ record: ImageRecord, _ change: @Sendable (inout IndexRow) -> Void
    ) throws(ImageError) -> ImageRecord? {
        guard let stamp = record.stamp else { return nil }
        return try reporting {
            guard try folder.exists else { return nil }
            return try index.write { writer in
                guard var row = try writer.row(of: record) else { return nil }
                let path = self.folder.blob(row.fileName)
                guard let found = try FileStamp.existing(path), found.matches(stamp) else { return nil }
                change(&row)
                try writer.revive(row, at: self.clock.now)
                return self.record(record.key, row, path, found)
            }
        }
    }
}
