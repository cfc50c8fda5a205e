internal import Glibc

/// What tells one state of a file from another without reading it.
package struct FileStamp: Equatable, Sendable {
    package let inode: UInt64
    package let size: Int
    /// Time of the last change of content, in nanoseconds since 1970.
    package let modified: Int
    /// Bytes on disk: blocks of 512.
    package let allocated: Int

    /// The stamp of a regular file, without following a link; nil for anything else, or nothing.
    package init?(path: String) {
        var status = stat()
        guard path.withCString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(status)
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

    /// Whether it is the same file, not written since.
    package func matches(_ other: FileStamp) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified
    }
}
