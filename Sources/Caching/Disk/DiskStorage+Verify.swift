internal import Glibc
package import ImageErrors
internal import Platform

/// The full check of a cache: every file against the index, and the index against every file.
extension DiskStorage {
    /// What a check found; with repair, what it put right.
    public struct Verification: Sendable, Equatable {
        /// Entries that were looked at.
        public var checked = 0
        /// Bytes that were read.
        public var bytes = 0
        /// Files that are not what was stored; their entries are taken out.
        public var damaged = 0
        /// Entries without files; they are taken out.
        public var missing = 0
        /// Images without entries; they are taken in.
        public var adopted = 0
        /// Files that dead writers left, or that no entry names and that are no images; they are removed.
        public var leftovers = 0
        /// Sums and notes of the index that were wrong.
        public var corrected = 0
        /// Files that could not be read now, for want of a permission or of descriptors; they are left alone.
        public var unreadable = 0

        /// Whether nothing was wrong.
        public var isClean: Bool { damaged + missing + adopted + leftovers + corrected + unreadable == 0 }
    }

    /// Checks every entry and every file, a few at a time, so that nobody waits for it.
    ///
    /// - Parameters:
    ///   - repairs: Whether what is wrong is put right.
    ///   - report: Hears now and then how many bytes of how many have been read.
    ///   - isCancelled: Asked between two slices.
    package func verify(
        repairs: Bool, report: (_ done: Int, _ total: Int) -> Void = { _, _ in }, isCancelled: () -> Bool = { false }
    ) throws(ImageError) -> Verification {
        var found = Verification()
        guard folder.exists else { return found }
        do {
            flushTouches()
            if repairs { found.leftovers += collectLeftovers() }
            if repairs {
                if folder.hasBlobs { try index.write { _ in } }
                try removeLeft()
            }
            let total = try index.totals().bytes
            var filter = CacheIndex.Filter()
            filter.limit = 64
            while !isCancelled() {
                let page = try index.surveying { [filter] in try $0.entries(filter) } ?? CacheIndex.Page()
                for entry in page.entries { try check(entry.row, repairs: repairs, &found) }
                report(found.bytes, max(total, found.bytes))
                guard page.count == filter.limit else { break }
                filter.after = page.last
            }
            try removeUnreadable(repairs: repairs, &found)
            for shard in folder.shards where !isCancelled() { try check(shard: shard, repairs: repairs, &found) }
            if try index.surveying({ try $0.sumsAreRight() }) == false {
                found.corrected += 1
                if repairs { try index.write { try $0.sumUp() } }
            }
            if repairs, index.isAdopting, !isCancelled() { try index.endAdopting() }
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
        return found
    }

    /// Checks the file of one entry.
    func check(_ row: CacheIndex.Row, repairs: Bool, _ found: inout Verification) throws {
        found.checked += 1
        let path = folder.blob(row.fileName)
        if let stamp = FileStamp(path: path), stamp.size == row.byteCount {
            found.bytes += stamp.size
            if let checksum = try? folder.checksum(of: path), row.checksum == nil || checksum == row.checksum {
                return try checkNotes(row, stamp, repairs: repairs, &found)
            }
        }
        // Another process may have stored or removed it meanwhile: within a transaction nobody does.
        let verdict = try index.write { writer -> Verdict in
            guard let current = try writer.row(row.number), current.name == row.name else { return .fine }
            let path = self.folder.blob(current.fileName)
            do {
                let checksum = try self.folder.existingChecksum(of: path)
                let isSame = current.checksum == nil || checksum == current.checksum
                if FileStamp(path: path)?.size == current.byteCount, checksum != nil, isSame { return .fine }
            } catch {
                // What cannot be read now may be read again some day.
                return .unreadable
            }
            var status = stat()
            let isGone = lstat(path, &status) != 0
            if repairs {
                if !isGone {
                    self.report(current)
                    try self.folder.clearWay(for: path, kind: S_IFREG)
                    unlink(path)
                }
                try writer.remove(current.number)
            }
            return isGone ? .missing : .damaged
        }
        switch verdict {
        case .fine: break
        case .missing: found.missing += 1
        case .damaged: found.damaged += 1
        case .unreadable: found.unreadable += 1
        }
    }

    private enum Verdict { case fine, missing, damaged, unreadable }

    /// Checks what the index notes about a whole file: its time of change, and whose bytes it shares.
    private func checkNotes(
        _ row: CacheIndex.Row, _ stamp: FileStamp, repairs: Bool, _ found: inout Verification
    ) throws {
        let isShared = try index.twins(row.content).contains { twin in
            twin.name != row.name && FileStamp(path: folder.blob(twin.fileName))?.inode != stamp.inode
        }
        let isMoved = stamp.modified != row.modified
        guard isShared || isMoved else { return }
        let isWrong = try index.write { writer in
            guard let current = try writer.row(row.number), current.modified == row.modified,
                let stamp = FileStamp(path: self.folder.blob(current.fileName))
            else { return false }
            var isWrong = false
            if stamp.modified != current.modified {
                if repairs { try writer.settle(current.number, modified: stamp.modified) }
                isWrong = true
            }
            if let twin = try writer.twin(current.content, besides: current.number),
                let other = FileStamp(path: self.folder.blob(twin.fileName)), other.inode != stamp.inode
            {
                if repairs { try writer.setContent(current.number, of: current.number) }
                isWrong = true
            }
            return isWrong
        }
        if isWrong { found.corrected += 1 }
    }

    private func removeUnreadable(repairs: Bool, _ found: inout Verification) throws {
        let numbers = try index.surveying { try $0.unreadable() } ?? []
        found.damaged += numbers.count
        guard repairs, !numbers.isEmpty else { return }
        try index.write { writer in for number in numbers { try writer.remove(number) } }
    }

    /// Finds the files of a folder that no entry names.
    private func check(shard: String, repairs: Bool, _ found: inout Verification) throws {
        var names = folder.blobNames(in: shard)[...]
        while !names.isEmpty {
            let slice = names.prefix(64)
            names = names.dropFirst(64)
            // Looked at with the reading connection first: nearly all of them are known.
            let strangers = try slice.filter { name in
                guard let digest = Digest(hex: name.prefix { $0 != "." }) else { return true }
                return try index.row(digest.rowNumber).map { $0.name != digest || $0.fileName != name } ?? true
            }
            guard !strangers.isEmpty else { continue }
            // Without repair, no index is begun where there is none.
            let verdicts =
                try repairs || index.exists
                ? index.write { writer in
                    try strangers.map { try self.judge($0, in: shard, writer, repairs: repairs) }
                } : strangers.map { try judge($0, in: shard, nil, repairs: false) }
            for verdict in verdicts {
                switch verdict {
                case .fine: break
                case .missing: found.adopted += 1
                case .damaged: found.leftovers += 1
                case .unreadable: found.unreadable += 1
                }
            }
        }
    }

    /// Adopts a file without an entry, or removes it when it is no image of ours.
    private func judge(
        _ name: String, in shard: String, _ writer: CacheIndex.Writer?, repairs: Bool
    ) throws -> Verdict {
        let hex = name.prefix { $0 != "." }
        let path = "\(folder.path)/blobs/\(shard)/\(name)"
        if let digest = Digest(hex: hex), hex.hasPrefix(shard) {
            if try writer?.left(of: String(hex)).contains(name) ?? false { return .fine }
            if let row = try writer?.row(digest.rowNumber), row.name == digest {
                if row.fileName == name { return .fine }
            } else {
                let fileExtension = name.contains(".") ? String(name.dropFirst(hex.count + 1)) : ""
                do {
                    if let (row, stamp) = try adoptedRow(digest, key: nil, path: path, fileExtension) {
                        if repairs, let writer { try enter(row, stamp, writer) }
                        return .missing
                    }
                } catch {
                    return .unreadable
                }
            }
        }
        if repairs, unlink(path) != 0, errno != ENOENT { try folder.clearAway(path) }
        return .damaged
    }
}
