internal import Glibc

/// A system call on a file or folder that failed.
package struct SystemError: Error, Equatable {
    /// The value of `errno`.
    package let code: Int32
    /// The attempted action, as a verb: "open", "make the folder".
    package let action: String
    package let path: String

    package init(_ code: Int32, _ action: String, _ path: String) {
        (self.code, self.action, self.path) = (code, action, path)
    }

    /// `true` when there is nothing at the path. Where something that is no folder stands in its way, nobody knows.
    package var isMissing: Bool { code == ENOENT }
}

/// Files and folders by path.
package enum Files {
    /// `true` when a call has only been interrupted, or has to wait because somebody who shares the descriptor has set
    /// `O_NONBLOCK`: then this waits, and the call is made again.
    private static func mayGoOn(_ descriptor: Int32, for events: Int32) -> Bool {
        if errno == EINTR { return true }
        guard errno == EAGAIN else { return false }
        var place = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        poll(&place, 1, -1)
        return true
    }

    /// Writes all bytes, also to a descriptor that others share.
    package static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: String
    ) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, mayGoOn(descriptor, for: POLLOUT) { continue }
            guard count >= 0 else { throw SystemError(errno, "write", path) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Calls `body` with the first `count` bytes of an open file, or with all that are left when it is `nil`, in pieces of up
    /// to 256 KiB.
    package static func forEachPiece(
        of descriptor: Int32, _ count: Int?, _ path: String, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        // One byte more than the file has: a read that comes back short shows its end.
        let size = min(max(count ?? FileStamp(descriptor: descriptor)?.size ?? 0, 4095), 1 << 18 - 1) + 1
        try withUnsafeTemporaryAllocation(byteCount: size, alignment: 64) { piece in
            var offset = 0
            while offset < count ?? .max {
                let most = min(size, (count ?? .max) - offset)
                let got =
                    count == nil
                    ? Glibc.read(descriptor, piece.baseAddress, most)
                    : pread(descriptor, piece.baseAddress, most, off_t(offset))
                if got < 0, mayGoOn(descriptor, for: POLLIN) { continue }
                if got == 0, count == nil { return }
                guard got > 0 else { throw SystemError(got < 0 ? errno : EIO, "read", path) }
                try body(UnsafeRawBufferPointer(rebasing: piece[..<got]))
                offset += got
            }
        }
    }

    /// The content of a regular file.
    package static func read(_ path: String, followsLinks: Bool) throws(SystemError) -> [UInt8] {
        let file = try Descriptor(reading: path, followsLinks: followsLinks)
        guard let stamp = file.stamp else { throw SystemError(EISDIR, "read", path) }
        return try file.bytes(stamp.size)
    }

    /// `true` when there is a folder at a path, and not a link to one.
    ///
    /// - Throws: When it cannot be told what there is.
    package static func isFolder(_ path: String) throws(SystemError) -> Bool {
        try kind(path) == .folder
    }

    package enum Kind: Sendable { case file, folder, other }

    /// The kind of what is at a path; a link is not followed. `nil` when there is nothing.
    ///
    /// - Throws: When it cannot be told what there is.
    package static func kind(_ path: String) throws(SystemError) -> Kind? {
        var status = stat()
        if path.withCString({ lstat($0, &status) }) == 0 {
            let kind = status.st_mode & S_IFMT
            return kind == S_IFREG ? .file : kind == S_IFDIR ? .folder : .other
        }
        let failure = SystemError(errno, "look at", path)
        if failure.isMissing { return nil }
        throw failure
    }

    /// Makes a folder, readable by its owner only, unless there is one.
    package static func makeFolder(_ path: String) throws(SystemError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw SystemError(errno, "make the folder", path) }
    }

    /// The names in a folder; none where there is nothing.
    ///
    /// - Throws: When the folder cannot be read, or something else is in its place, as a link that is not followed.
    package static func names(in path: String, followsLinks: Bool = false) throws(SystemError) -> [String] {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | (followsLinks ? 0 : O_NOFOLLOW) | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return [] }
        guard descriptor >= 0, let folder = fdopendir(descriptor) else {
            let failure = SystemError(errno, "read the folder", path)
            if descriptor >= 0 { close(descriptor) }
            throw failure
        }
        defer { closedir(folder) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        if errno != 0 { throw SystemError(errno, "read the folder", path) }
        return names
    }
}
