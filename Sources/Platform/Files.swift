internal import Glibc

/// Files and folders by system calls, with EINTR handled in one place.
package enum Files {
    /// A new file that nobody else has, readable by nobody else.
    package static func create(_ path: String) throws -> Int32 {
        let descriptor = path.withCString { open($0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { throw SystemError(errno, "create", path) }
        return descriptor
    }

    package static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: String) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw SystemError(errno, "write", path)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    package static func read(_ path: String, followsLinks: Bool) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { throw SystemError(errno, "open", path) }
        defer { close(descriptor) }
        guard let stamp = FileStamp(descriptor: descriptor) else { throw SystemError(EISDIR, "read", path) }
        return try read(descriptor, count: stamp.size, path)
    }

    /// The next `size` bytes of an open file, or as many as there are.
    package static func read(_ descriptor: Int32, count size: Int, _ path: String) throws -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let got = Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, size - count)
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { break }
                count += got
            }
        }
        if failure != 0 { throw SystemError(failure, "read", path) }
        return bytes
    }

    /// `true` when there is a folder at a path that is no link.
    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return path.withCString { lstat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Makes a folder, readable by its owner only, unless there is one.
    package static func makeFolder(_ path: String) throws {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw SystemError(errno, "make the folder", path) }
    }

    /// What is in a folder that is no link; nothing if it cannot be read.
    package static func names(in path: String) -> [String] {
        var names: [String] = []
        forEachName(in: path) { name in
            names.append(name)
            return true
        }
        return names
    }

    /// Hands out the names in a folder that is no link, one by one, as long as `take` wants more.
    package static func forEachName(in path: String, _ take: (String) -> Bool) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0, let folder = fdopendir(descriptor) else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", !take(name) { return }
        }
    }
}
