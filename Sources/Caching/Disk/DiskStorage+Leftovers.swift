internal import Glibc
internal import Platform
internal import Synchronization

/// What writers leave that died: drafts, and files that were given their names without the index knowing.
extension DiskStorage {
    /// Removes what dead writers left, and what is so old that it belongs to nobody; what living ones are writing
    /// stays.
    ///
    /// - Returns: How many files there were.
    @discardableResult
    func collectLeftovers() -> Int {
        guard folder.exists else { return 0 }
        let dead = folder.session.dead()
        var unfinished: Set<String> = []
        // A session whose drafts could not be judged now is looked at again.
        defer { for session in dead { folder.session.bury(session, keepsMark: unfinished.contains(session.name)) } }
        let deadNames = Set(dead.map(\.name))
        var count = 0
        for name in folder.partialNames where !name.hasSuffix(".cleared") {
            let path = "\(folder.path)/partial/\(name)"
            // <file name>~<session>~<number>
            let parts = name.split(separator: "~", omittingEmptySubsequences: false)
            let session = parts.count >= 3 ? String(parts[parts.count - 2]) : ""
            // One that ended may have left a store halfway too: it does not wait for what it has begun when it is stopped.
            let hasEnded = WriterSession.isName(session) && !folder.session.isMarked(session)
            if deadNames.contains(session) || hasEnded {
                let fileName = parts.dropLast(2).joined(separator: "~")
                do { try finish(path, fileName) } catch {
                    unfinished.insert(session)
                    continue
                }
            } else if folder.session.isMarked(session) || !isOld(path) {
                continue
            }
            if unlink(path) == 0 { count += 1 }
        }
        folder.removeTrash()
        ResumeFolder(folder).clean()
        return count
    }

    private func isOld(_ path: String) -> Bool {
        guard let stamp = FileStamp(path: path) else { return true }
        // Files bear the time of the system, whatever the engine's clocks say.
        return wallSeconds() - stamp.modified / 1_000_000_000 >= StorageFolder.leftoverAge
    }

    /// Brings a store to its end that was killed or left halfway: to where it was before, for nobody heard that it was done.
    private func finish(_ draft: String, _ fileName: String) throws {
        let hex = fileName.prefix { $0 != "." }
        guard let digest = Digest(hex: hex), let stamp = FileStamp(path: draft) else { return }
        try index.write { writer in
            let target = self.folder.blob(fileName)
            let isNamed = FileStamp(path: target)?.inode == stamp.inode
            guard let row = try writer.row(digest.rowNumber), row.name == digest else {
                // Named, but never entered. While an index is begun anew that is for the adopter to judge.
                if isNamed, !writer.isAdopting { unlink(target) }
                return
            }
            let path = self.folder.blob(row.fileName)
            let found = FileStamp(path: path)
            if found?.modified != row.modified || found?.size != row.byteCount,
                stamp.modified == row.modified, stamp.size == row.byteCount
            {
                // The old image waits under the draft's name.
                rename(draft, path)
            } else if isNamed, path != target {
                unlink(target)
            }
        }
    }
}
