package import ImageErrors
package import Platform
internal import Synchronization

/// How single images leave the folder.
extension DiskStorage {
    /// What a removal has taken away. A transaction that fails is done again, and does not find it any more: neither the
    /// files, nor the entries if somebody has put the index right meanwhile.
    private final class Gone: Sendable {
        private struct State {
            /// The bytes of the files of entries.
            var files: [String: Int] = [:]
            /// What was lent out.
            var leased: Set<String> = []
        }

        private let state = Mutex(State())

        func note(_ fileName: String, bytes: Int) { state.withLock { $0.files[fileName] = bytes } }

        func noteLeased(_ fileName: String) { state.withLock { _ = $0.leased.insert(fileName) } }

        var removal: Removal {
            state.withLock { state in
                Removal(
                    count: state.files.count, bytes: state.files.values.reduce(0, +), leased: state.leased.count)
            }
        }
    }

    /// Removes an image, lent out or not. Waits for the disk.
    ///
    /// - Returns: What was there.
    package func remove(_ key: CacheKey, allVariants: Bool = false) throws(ImageError) -> Removal {
        try BlockingWait.wait { queue, then in remove(key, allVariants: allVariants, in: queue, then: then) }.get()
    }

    /// Removes an image, lent out or not, together with what others do to the index at that time.
    ///
    /// - Parameters:
    ///   - queue: Where it goes on when there is more to do than others should wait for.
    ///   - then: Is told what was there, once; it must not wait, for others do.
    package func remove(
        _ key: CacheKey, allVariants: Bool = false, in queue: WorkQueue,
        then: @escaping @Sendable (Result<Removal, ImageError>) -> Void
    ) {
        guard folder.exists else { return then(.success(Removal())) }
        let gone = Gone()
        index.writeTogether(servesOthers: queue.servesOthers) { [self] writer in
            try remove(key, allVariants: allVariants, writer, gone)
        } then: { [folder] result in
            then(result.mapError { ImageError.storage($0, folder: folder.path) })
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
        for row in rows {
            if lending.isLent(row.number) { gone.noteLeased(row.fileName) }
            if try folder.remove(blob: row.fileName) { gone.note(row.fileName, bytes: row.byteCount) }
            try writer.remove(row.number)
        }
        for name in names + rows.map(\.name).filter({ !names.contains($0) }) {
            for file in try writer.left(of: name.hex) {
                if try folder.remove(blob: file) { gone.noteLeased(file) }
                try writer.settle(file)
            }
        }
        return gone.removal
    }
}
