internal import Glibc
internal import Platform

/// Removes what dead writers left: drafts, and files that were given their names without the index knowing. What living
/// writers are writing stays.
struct LeftoverCollector {
    let disk: DiskStorage
    private var session: WriterSession { disk.folder.session }

    /// The age in seconds at which a leftover that bears no session's name is removed.
    static let ageLimit = 3600

    /// Returns the number of files that were removed.
    @discardableResult
    func run() throws -> Int {
        let folder = disk.folder
        guard try folder.exists else { return 0 }
        try folder.claim()
        let dead = try session.dead()
        var unfinished: Set<String> = []
        // A session whose drafts could not be judged now is looked at again.
        defer { for session in dead where !unfinished.contains(session.name) { session.removeMark() } }
        let deadNames = Set(dead.map(\.name))
        var count = try disk.lending.removeEnded()
        for name in try folder.partialNames
        where !name.hasSuffix(".cleared") && StorageFolder.leaseEnd(of: name) == nil {
            let path = "\(folder.path)/partial/\(name)"
            // <file name>~<session>~<number>
            let parts = name.split(separator: "~", omittingEmptySubsequences: false)
            let owner = parts.count >= 3 ? String(parts[parts.count - 2]) : ""
            // One that ended may have left a store halfway too: it does not wait for what it has begun when it is stopped.
            let hasEnded = WriterSession.isName(owner) && !session.isMarked(owner)
            if deadNames.contains(owner) || hasEnded {
                do { try undo(path, parts.dropLast(2).joined(separator: "~")) } catch {
                    unfinished.insert(owner)
                    continue
                }
            } else if session.isMarked(owner) || !isOld(path) {
                continue
            }
            if unlink(path) == 0 { count += 1 }
        }
        try folder.removeTrash()
        try ResumeFolder(folder).clean()
        return count
    }

    private func isOld(_ path: String) -> Bool {
        guard let stamp = try? FileStamp.existing(path) else { return (try? Files.kind(path)) != nil }
        return stamp.age >= Self.ageLimit
    }

    /// Undoes a store that was killed or left halfway: nobody heard that it was done.
    private func undo(_ draft: String, _ fileName: String) throws {
        guard let name = Digest(fileName: fileName), let stamp = try FileStamp.existing(draft) else {
            return
        }
        try disk.index.write { writer in
            let retired = try writer.files(of: name.hex)
            let named = try disk.folder.blobs(of: name).filter {
                try !retired.contains($0) && FileStamp.existing(disk.folder.blob($0))?.inode == stamp.inode
            }
            let row = try writer.row(name)
            try writer.confirm()
            guard let row else {
                // Named, but never entered; or its entry is lost, which is for the adoption to judge, or for a check.
                if !disk.mayLackEntries(writer) { for file in named { unlink(disk.folder.blob(file)) } }
                return
            }
            let path = disk.folder.blob(row.fileName)
            let found = try FileStamp.existing(path)
            if found?.modified != row.modified || found?.size != row.byteCount,
                stamp.modified == row.modified, stamp.size == row.byteCount
            {
                // The old image waits under the draft's name.
                rename(draft, path)
            } else {
                for file in named where file != row.fileName { unlink(disk.folder.blob(file)) }
            }
        }
    }
}
