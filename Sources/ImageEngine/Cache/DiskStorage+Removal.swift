internal import Synchronization

/// How single images leave the folder.
extension DiskStorage {
    /// Files that a removal has taken away. A transaction that fails is done again, and does not find them any more.
    private final class Gone: Sendable {
        private let names = Mutex<Set<String>>([])

        /// Notes whether a file was taken away now; returns whether it was, now or before.
        func note(_ fileName: String, _ isNow: Bool) -> Bool {
            names.withLock { names in
                if isNow { names.insert(fileName) }
                return names.contains(fileName)
            }
        }
    }

    /// Removes an image, lent out or not. Waits for the disk.
    ///
    /// - Returns: What was there.
    func remove(_ key: CacheKey, allVariants: Bool = false) throws(ImageError) -> Removal {
        try Attendance.wait { queue, then in remove(key, allVariants: allVariants, in: queue, then: then) }.get()
    }

    /// Removes an image, lent out or not, together with what others do to the index at that time.
    ///
    /// - Parameters:
    ///   - queue: Where it goes on when there is more to do than others should wait for.
    ///   - then: Is told what was there, once; it must not wait, for others do.
    func remove(
        _ key: CacheKey, allVariants: Bool = false, in queue: WorkQueue,
        then: @escaping @Sendable (Result<Removal, ImageError>) -> Void
    ) {
        guard folder.exists else { return then(.success(Removal())) }
        let gone = Gone()
        index.writeTogether(servesOthers: queue.servesOthers) { [self] writer in
            try remove(key, allVariants: allVariants, writer, gone)
        } then: { [folder] result in
            then(result.mapError { StorageFailure.error($0, folder: folder.path) })
        }
    }

    private func remove(
        _ key: CacheKey, allVariants: Bool, _ writer: CacheIndex.Writer, _ gone: Gone
    ) throws -> Removal {
        let digest = name(of: key)
        // While an index is begun anew the image may be there without an entry.
        if writer.isAdopting, try writer.row(digest.rowNumber) == nil { _ = try adopt(key, digest, writer) }
        // Under either name, for the way of naming may have been changed.
        let names = [Digest(of: key.computed), Digest(md5Of: key.computed)]
        var rows = try names.compactMap { try writer.row($0.rowNumber) }.filter { names.contains($0.name) }
        if allVariants { rows += try writer.variants(of: key.indexed).filter { !names.contains($0.name) } }
        var removal = Removal()
        for row in rows {
            if lending.isLent(row.number) { removal.leased += 1 }
            if gone.note(row.fileName, try folder.remove(blob: row.fileName)) {
                removal.count += 1
                removal.bytes += row.byteCount
            }
            try writer.remove(row.number)
        }
        for name in names + rows.map(\.name).filter({ !names.contains($0) }) {
            for file in try writer.left(of: name.hex) {
                if gone.note(file, try folder.remove(blob: file)) { removal.leased += 1 }
                try writer.settle(file)
            }
        }
        return removal
    }
}
