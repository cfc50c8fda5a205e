internal import CSQLite
internal import Glibc
internal import Platform

/// The files of an index in its folder: which one is there, the lock for opening and mending it, and how a damaged one is moved
/// out of the way.
struct IndexFiles: Sendable {
    let folder: StorageFolder
    let path: String
    /// The path of SQLite's log of changes.
    let log: String
    /// The path of the ``EntryLog``.
    let entryLog: String
    /// The path of the saved ``IndexMark``.
    let mark: String

    init(in folder: StorageFolder) {
        self.folder = folder
        path = folder.path + "/index.sqlite"
        log = path + "-wal"
        entryLog = EntryLog.path(in: folder)
        mark = folder.path + "/index.sound"
    }

    /// The inode of the index, which tells one from another; `nil` where there is none, or an empty one.
    ///
    /// - Throws: ``SystemError`` when it cannot be told what there is.
    var inode: UInt64? { get throws { try Self.inode(path) } }

    /// See ``inode``.
    static func inode(_ path: String) throws -> UInt64? {
        var status = stat()
        guard path.withCString({ lstat($0, &status) }) == 0 else {
            if errno == ENOENT { return nil }
            throw SystemError(errno, "look at", path)
        }
        return status.st_mode & S_IFMT == S_IFREG && status.st_size == 0 ? nil : UInt64(status.st_ino)
    }

    /// The lock that processes share for opening and mending the index, given back with the descriptor; `nil` when it cannot
    /// be had, also where the file system has no locks: then nothing is mended, for others may be at it.
    ///
    /// - Parameter waits: `true` to throw a failure that is worth a wait when another process has it.
    func lock(waits: Bool) throws(SQLiteDatabase.Failure) -> Descriptor? {
        guard let file = try? folder.open(path + ".lock", O_RDWR) else { return nil }
        if file.lock() { return file }
        if waits, errno == EWOULDBLOCK { throw .locked }
        return nil
    }

    private enum Obstacle { case noFile, otherName }

    /// Gives another name to what lies in the place of one of the files beside the index and is none of them: what is no
    /// file, for SQLite could not open it, or would follow it; and a file that has a name elsewhere, for SQLite would write
    /// over it.
    ///
    /// - Parameter isLocked: `true` when ``lock(waits:)`` is held.
    func clearWay(isLocked: Bool) {
        let shared = ["-wal", "-shm"].map { path + $0 }
        // Nobody has a journal of this kind open, but for whoever makes the index.
        let sides = shared + [path + "-journal"]
        guard sides.contains(where: { Self.obstacle($0) != nil }) else { return }
        let lock = isLocked ? nil : (try? self.lock(waits: false)) ?? nil
        // What SQLite has open is SQLite's, whatever names somebody has given it.
        var alone: OpaquePointer?
        if shared.contains(where: { Self.obstacle($0) == .otherName }) { alone = hl_sqlite_alone(path) }
        defer { sqlite3_close_v2(alone) }
        let isUnused = alone != nil || (try? Files.kind(path)) == nil
        for side in sides {
            // Another process may have done it, and begun one of its own.
            guard let obstacle = Self.obstacle(side) else { continue }
            if obstacle == .otherName, !isUnused, shared.contains(side) { continue }
            try? folder.setForeignAside(side)
        }
        withExtendedLifetime(lock) {}
    }

    private static func obstacle(_ path: String) -> Obstacle? {
        var status = stat()
        guard path.withCString({ lstat($0, &status) }) == 0 else { return nil }
        if status.st_mode & S_IFMT != S_IFREG { return .noFile }
        return status.st_nlink > 1 ? .otherName : nil
    }

    /// Removes the files where the index was cut to nothing, or in its header, under open connections: SQLite would wait for
    /// them in vain.
    ///
    /// - Returns: `true` when they were.
    func removeIfCutOff() -> Bool {
        let sides = [log, path + "-shm"]
        guard let size = FileStamp(path: path)?.size, size < 100, sides.contains(where: { FileStamp(path: $0) != nil })
        else { return false }
        for name in [path] + sides { unlink(name) }
        return true
    }

    /// Gives a damaged index another name, and removes what belongs to it.
    func putAside() {
        rename(path, path + ".damaged")
        unlink(log)
        unlink(path + "-shm")
    }

    /// `true` when the index and its log can be read to their ends, or are not there.
    var areReadable: Bool { Self.isReadable(path) && Self.isReadable(log) }

    private static func isReadable(_ path: String) -> Bool {
        do {
            let file = try Descriptor(reading: path)
            if file.stamp != nil { try file.forEachPiece { _ in } }
            return true
        } catch {
            guard let failure = error as? SystemError, failure.action == "open" else { return false }
            return [ENOENT, ELOOP, ENXIO].contains(failure.code)
        }
    }
}
