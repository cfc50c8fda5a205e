internal import Glibc

/// Tells one state of a file from another without reading it.
package struct FileStamp: Equatable, Sendable {
    package let inode: UInt64
    package let size: Int
    /// The time of the last change of content, in nanoseconds since 1970.
    package let modified: Int
    /// The bytes on disk: blocks of 512.
    package let allocated: Int

    /// The stamp of a regular file; `nil` for a link, for anything else, or for nothing.
    package init?(path: String) {
        var status = stat()
        guard path.withCString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(status)
    }

    /// The stamp of a regular file; `nil` when there is none.
    ///
    /// - Throws: When it cannot be told what there is.
    package static func existing(_ path: String) throws(SystemError) -> FileStamp? {
        if let stamp = FileStamp(path: path) { return stamp }
        var status = stat()
        if path.withCString({ lstat($0, &status) }) != 0, ![ENOENT, ENOTDIR].contains(errno) {
            throw SystemError(errno, "look at", path)
        }
        return nil
    }

    /// The stamp of an open regular file.
    package init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        inode = UInt64(status.st_ino)
        size = Int(status.st_size)
        modified = status.st_mtim.tv_sec &* 1_000_000_000 &+ status.st_mtim.tv_nsec
        allocated = Int(status.st_blocks) * 512
    }

    /// `true` when it is the same file, not written since.
    package func matches(_ other: FileStamp) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified
    }
}
