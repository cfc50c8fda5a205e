internal import Glibc
internal import ImageErrors
internal import Platform

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

        mutating func add(_ other: Removal) {
            (count, bytes, leased) = (count + other.count, bytes + other.bytes, leased + other.leased)
        }
    }

    /// What a removal is to take.
    enum Selection: Sendable {
        case key(EntrySelection)
        /// Entries by the names of their files, and nothing else that those names may stand for.
        case names([Digest])
    }

    /// What a removal takes away.
    private struct Removed: Sendable {
        /// The files of images, with their bytes.
        var files: [String: Int] = [:]
        /// The files that were lent.
        var leased: Set<String> = []
        /// The bytes that the tier has less of, where entries have files in common; `nil`: those of all files.
        var freed: Int?

        var names: Set<String> { leased.union(files.keys) }

        var removal: Removal {
            Removal(count: files.count, bytes: freed ?? files.values.reduce(0, +), leased: leased.count)
        }
    }

    /// Removes images, lent or not, together with what others do to the index at that time.
    ///
    /// - Parameters:
    ///   - queue: Runs what others should not wait for.
    ///   - then: Called once with what was there; it must not wait, for others do.
    func remove(
        _ selection: Selection, in queue: WorkQueue,
        then: @escaping @Sendable (Result<Removal, ImageError>) -> Void
    ) {
        let end = { @Sendable [folder] (result: Result<Removal, any Error>) in
            then(result.mapError { ImageError.storage($0, folder: folder.path) })
        }
        do {
            guard try folder.exists else { return end(.success(Removal())) }
        } catch {
            return end(.failure(error))
        }
        let syncs = configuration.syncsToDisk
        index.writeTogether(syncs: syncs, servesOthers: queue.servesOthers) { [self] writer in
            try remove(selection, writer)
        } then: { [self] result in
            switch result {
            case .failure(let failure) where Evictor.isOfFullDisk(failure):
                // The files go first, and give the index room.
                queue.submit { [self] in end(Result { try removeFilesFirst(selection) }) }
            case .failure(let failure): end(.failure(failure))
            case .success(let removed):
                IndexReserve(folder: folder).keep()
                finish(removed, in: queue) { [folder] failure in
                    if let failure { return end(.failure(failure)) }
                    guard syncs else { return end(.success(removed.removal)) }
                    queue.submit {
                        // Otherwise a power cut might bring the file back.
                        let synced = Result {
                            for name in removed.names { try folder.syncNames(of: folder.blob(name)) }
                        }
                        end(synced.map { removed.removal })
                    }
                }
            }
        }
    }

    /// Removes the files of images that have been removed, and tells why one of them cannot be. It is tried again by whoever
    /// removes files next.
    private func finish(_ removed: Removed, in queue: WorkQueue, then: @escaping @Sendable (SystemError?) -> Void) {
        if removed.names.isEmpty { return then(nil) }
        forgetBytes(of: removed)
        evictor.removeDueFiles(in: queue) { [folder] failure in
            // Others may have left some too.
            let isOurs = failure != nil && removed.names.contains { FileStamp(path: folder.blob($0)) != nil }
            then(isOurs ? failure : nil)
        }
    }

    private func forgetBytes(of removed: Removed) {
        removed.names.compactMap(LeaseNumber.init(fileName:)).forEach(lending.forgetBytes)
    }

    private func removeFilesFirst(_ selection: Selection) throws -> Removal {
        var files: [String: Int] = [:]
        for row in try rows(of: selection, { try index.row($0.rowNumber) }, index.variants)
        where try folder.remove(blob: row.fileName) {
            files[row.fileName] = row.byteCount
        }
        do {
            var removed = try index.write { [self] writer in try remove(selection, writer) }
            removed.files.merge(files) { old, _ in old }
            forgetBytes(of: removed)
            try? evictor.removeDueFiles()
            return removed.removal
        } catch let failure where Evictor.isOfFullDisk(failure) && !files.isEmpty {
            // An entry without a file is a miss.
            return Removed(files: files).removal
        }
    }

    /// The entries that a removal takes, as `row` and `variants` find them in the index.
    private func rows(
        of selection: Selection, _ row: (Digest) throws -> IndexRow?, _ variants: (String) throws -> [IndexRow]
    ) throws -> [IndexRow] {
        func rows(_ names: [Digest]) throws -> [IndexRow] {
            try names.compactMap { name in try row(name).flatMap { $0.name == name ? $0 : nil } }
        }
        let entries: EntrySelection
        switch selection {
        case .names(let names): return try rows(names)
        case .key(let one): entries = one
        }
        let (key, names) = (entries.key, entries.key.names)
        let own = try rows(names).filter { $0.isEntry(of: key) }
        guard entries.allVariants || entries.allUsers else { return own }
        return try own
            + variants(key.indexed).filter { row in
                !names.contains(row.name)
                    && entries.contains(CacheKey(key.key, indexedIdentifier: row.identifier))
            }
    }

    /// Removes entries, and notes that their files go when that counts, lent or not: what fails before has changed nothing.
    private func remove(_ selection: Selection, _ writer: IndexWriter) throws -> Removed {
        var names: [Digest] = []
        if case .key(let entries) = selection {
            names = entries.key.names
            if mayLackEntries(writer), try row(of: entries.key, writer.row) == nil {
                _ = try repairer.adopt(entries.key, writer)
            }
        }
        let rows = try rows(of: selection, writer.row, writer.variants)
        let before = names.isEmpty ? try writer.totals().bytes : 0
        var (removed, known) = (Removed(), Set<Digest>())
        /// Notes that a file goes; returns its bytes, or `nil` when there is none.
        func retire(_ file: String) throws -> Int? {
            try folder.checkRemovable(file)
            guard let stamp = try FileStamp.existing(folder.blob(file)) else {
                // What is no file is nobody's image.
                try folder.takeAway(folder.blob(file))
                try writer.forget(file: file)
                return nil
            }
            try writer.retire(file, bytes: stamp.size, until: LentFile.atOnce)
            return stamp.size
        }
        for row in rows {
            if lending.isLent(row.lease) { removed.leased.insert(row.fileName) }
            if try retire(row.fileName) != nil {
                removed.files[row.fileName] = row.byteCount
                known.insert(row.name)
            }
            try writer.remove(row.number)
        }
        for name in names + rows.map(\.name).filter({ !names.contains($0) }) {
            for file in try writer.files(of: name.hex) where removed.files[file] == nil {
                if try retire(file) != nil { removed.leased.insert(file) }
            }
            // A check would take in the files that the index does not know.
            guard mayLackEntries(writer) || !known.contains(name) else { continue }
            for file in try folder.blobs(of: name) where !removed.names.contains(file) {
                guard let bytes = try retire(file) else { continue }
                if known.insert(name).inserted { removed.files[file] = bytes } else { removed.leased.insert(file) }
            }
        }
        if names.isEmpty { removed.freed = before - (try writer.totals().bytes) }
        return removed
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
            _ = try? lending.removeEnded()
            var removal = try emptying { writer in
                try self.folder.checkRemovable()
                let totals = try writer.totals()
                var leased = totals.lent > 0 ? try writer.lentCount(at: self.clock.now) : 0
                if self.lending.hasLeases { leased += try writer.count(where: self.lending.isLent) }
                try writer.removeAll()
                self.lending.forgetBytes()
                return Removal(count: totals.count, bytes: totals.bytes, leased: leased)
            }
            removal.leased += (try? folder.removeLent()) ?? 0
            // The files go as the next transaction begins, whichever process begins it.
            try index.write { _ in }
            // All is removed; what cannot be deleted now is deleted by the upkeep.
            _ = try? LeftoverCollector(disk: self).run()
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
                return self.record(record.key, row, path, found, writer.mark(of: row.number))
            }
        }
    }
}
