internal import Glibc

/// Tells one state of a file from another without reading it.
package struct FileStamp: Hashable, Sendable {
    package let inode: UInt64
    package let size: Int
    /// The time of the last change of content, in nanoseconds since 1970.
    package let modified: Int
    /// The bytes on disk: blocks of 512.
    package let allocated: Int
    /// The number of its user.
    package let owner: UInt32

    /// The stamp of a regular file; `nil` for a link, for anything else, for nothing, and when it cannot be told: for a
    /// comparison in which that makes no difference. Otherwise, see ``existing(_:)``.
    package init?(path: String) {
        var status = stat()
        guard path.withCString({ lstat($0, &status) }) == 0 else { return nil }
        self.init(status)
    }

    /// The stamp of a regular file; `nil` when there is none.
    ///
    /// - Throws: When it cannot be told what there is.
    package static func existing(_ path: String) throws(SystemError) -> FileStamp? {
        if let stamp = FileStamp(path: path) { return stamp }
        _ = try Files.kind(path)
        return nil
    }

    /// The stamp of the regular file that a path or a link at it leads to; `nil` when there is none, or it cannot be told.
    package init?(following path: String) {
        guard let state = FileState(following: path) else { return nil }
        self = state.stamp
    }

    /// The stamp of an open regular file.
    package init?(descriptor: Int32) {
        guard let state = FileState(descriptor: descriptor) else { return nil }
        self = state.stamp
    }

    fileprivate init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        inode = UInt64(status.st_ino)
        size = Int(status.st_size)
        modified = status.st_mtim.tv_sec &* 1_000_000_000 &+ status.st_mtim.tv_nsec
        allocated = Int(status.st_blocks) * 512
        owner = status.st_uid
    }

    /// The seconds since the last change. Files bear the time of the system, whatever the engine's clocks say.
    package var age: Int { wallSeconds() - modified / 1_000_000_000 }

    /// `true` when it is the same file, not written since.
    package func matches(_ other: FileStamp) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified
    }
}

/// A state of a regular file, of which any write makes another: one too whose writer puts the time of change back.
package struct FileState: Sendable {
    package let stamp: FileStamp
    /// The time of the last change of content, or of anything else about the file, in nanoseconds since 1970: the system's,
    /// which no program sets.
    let changed: Int

    private init?(_ status: stat) {
        guard let stamp = FileStamp(status) else { return nil }
        self.stamp = stamp
        changed = status.st_ctim.tv_sec &* 1_000_000_000 &+ status.st_ctim.tv_nsec
    }

    /// The state of the regular file that a path or a link at it leads to; `nil` when there is none, or it cannot be told.
    package init?(following path: String) {
        var status = stat()
        guard path.withCString({ stat($0, &status) }) == 0 else { return nil }
        self.init(status)
    }

    /// The state of an open regular file.
    package init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Makes sure that what was read from a path since this state was told is one state of one file.
    ///
    /// - Throws: ``SystemError`` with `ETXTBSY` when the file has been written or replaced since.
    package func checkUnchanged(_ path: String) throws(SystemError) {
        guard let now = FileState(following: path), now.stamp.matches(stamp), now.changed == changed else {
            throw Self.changing(path)
        }
    }

    /// Makes sure that a file which somebody had open for writing when it was read is one state: its time of change is that of
    /// the beginning of a write, which may have gone on. Waits a fifth of a second, for a writer may have been kept from that.
    ///
    /// - Parameter isSame: Reads it again, and tells whether it is what was read before.
    package func checkUnchanged(_ path: String, isSame: () throws -> Bool) throws {
        for _ in 0..<20 {
            try checkUnchanged(path)
            usleep(10_000)
        }
        guard try isSame() else { throw Self.changing(path) }
        try checkUnchanged(path)
    }

    private static func changing(_ path: String) -> SystemError {
        SystemError(ETXTBSY, "read a file while another program writes it:", path)
    }
}
