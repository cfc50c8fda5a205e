internal import CLinux
internal import Glibc

/// An open file or folder, closed at the end of its life. A call that a signal interrupts is made again.
package struct Descriptor: ~Copyable, Sendable {
    /// The number that system calls take.
    package let number: Int32
    /// The path under which it was opened.
    package let path: String

    /// Opens `path` with the flags of `open(2)` and close-on-exec. A new file is readable by its owner only.
    package init(_ path: String, _ flags: Int32, action: String = "open") throws(SystemError) {
        number = path.withCString { open($0, flags | O_CLOEXEC, 0o600) }
        self.path = path
        guard number >= 0 else { throw SystemError(errno, action, path) }
    }

    /// Opens a file for reading. A pipe in its place does not block.
    package init(reading path: String, followsLinks: Bool = false) throws(SystemError) {
        try self.init(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
    }

    /// Creates a file for writing, where there must be none.
    package init(creating path: String) throws(SystemError) {
        try self.init(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, action: "create")
    }

    /// Takes over an open file, or the failure to open it, which `errno` tells.
    ///
    /// - Parameter name: Stands for the path.
    package init(adopting number: Int32, name: String) throws(SystemError) {
        (self.number, path) = (number, name)
        guard number >= 0 else { throw SystemError(errno, "create", name) }
    }

    deinit { if number >= 0 { close(number) } }

    /// The stamp of the file; `nil` when it is not a regular file.
    package var stamp: FileStamp? { FileStamp(descriptor: number) }

    /// A state of the file of which any write from now on makes another: two within one step of the file system's clock look
    /// alike, and the time of change is that of the beginning of a write. Waits a moment where the file has only just been
    /// written.
    ///
    /// - Returns: The state, and `true` when a write may still be going on; `nil` when it is not a regular file.
    package func settled() -> (state: FileState, mayBeWriting: Bool)? {
        for _ in 0..<50 {
            guard let state = FileState(descriptor: number) else { return nil }
            let now = fileNanoseconds()
            // A time that is yet to come is another clock's, and tells nothing.
            let latest = [state.stamp.modified, state.changed].filter { $0 <= now + 1_000_000_000 }.max()
            guard let age = latest.map({ now - $0 }) else { return (state, false) }
            if age > 0, age > 1_000_000_000 || hl_has_writer(number) == 0 { return (state, false) }
            usleep(1000)
        }
        return FileState(descriptor: number).map { ($0, true) }
    }

    /// Reads once, at `offset` or where the last read ended.
    ///
    /// - Returns: The number of bytes; 0 at the end.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int? = nil) throws(SystemError) -> Int {
        while true {
            let count =
                offset.map { pread(number, buffer.baseAddress, buffer.count, off_t($0)) }
                ?? Glibc.read(number, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw SystemError(errno, "read", path) }
        }
    }

    /// The next `size` bytes, or those at `offset`; as many as there are.
    package func bytes(_ size: Int, at offset: Int? = nil) throws(SystemError) -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: size) { (buffer, count) throws(SystemError) in
            while count < size {
                let rest = UnsafeMutableBufferPointer(rebasing: buffer[count...])
                let got = try read(into: UnsafeMutableRawBufferPointer(rest), at: offset.map { $0 + count })
                if got == 0 { break }
                count += got
            }
        }
    }

    /// Calls `body` with all bytes that are left; see ``Files/forEachPiece(of:_:_:_:)``.
    package func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try Files.forEachPiece(of: number, nil, path, body)
    }

    /// Writes all bytes where the last write ended.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        try Files.writeAll(bytes, to: number, path)
    }

    package func write(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try write($0) } }

    /// Waits until the content has reached the disk.
    ///
    /// - Parameter isFolder: `true` when the names in a folder are the content.
    package func sync(isFolder: Bool = false) throws(SystemError) {
        let code = BlockingPool.waiting { (isFolder ? fsync(number) : fdatasync(number)) == 0 ? 0 : errno }
        guard code == 0 else { throw SystemError(code, "sync", path) }
    }

    /// Locks the whole file for this opening, until it is closed.
    ///
    /// - Parameter patience: The longest wait for the lock of another opening, in seconds.
    /// - Returns: `false` when there is no lock; `errno` tells why.
    @discardableResult
    package func lock(waiting patience: Double = 0) -> Bool {
        let end = monotonicNanoseconds() + Int(patience * 1e9)
        var pause: UInt32 = 100
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR || errno == EWOULDBLOCK && monotonicNanoseconds() < end else { return false }
            usleep(pause)
            pause = min(2 * pause, 5000)
        }
        return true
    }

    package func unlock() { flock(number, LOCK_UN) }
}

/// A new file that is open as long as somebody holds it.
package final class CreatedFile: Sendable {
    package let descriptor: Descriptor

    /// Creates the file; that of an ``UnnamedFile`` is there already.
    package init(_ path: String) throws(SystemError) {
        descriptor = UnnamedFile.isPath(path) ? try Descriptor(path, O_RDWR | O_TRUNC) : try Descriptor(creating: path)
    }
}
