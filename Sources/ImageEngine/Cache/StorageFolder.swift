internal import CLinux
internal import Glibc
internal import Synchronization

/// The folder of one cache: names, whole-file writes, and the leftovers of writers that died.
///
/// Nothing outside it is written or removed, and no link in it is followed.
final class StorageFolder: Sendable {
    /// A finished file that has no name in the cache yet.
    struct Draft: Sendable {
        let path: String
        let stamp: FileStamp
        let checksum: Digest
    }

    /// A leftover of a writer is removed when it is this old, in seconds.
    static let leftoverAge = 3600

    let path: String
    private let serial = Atomic<UInt64>(0)
    private let isPrepared = Atomic(false)

    init(path: String) { self.path = path }

    /// Whether the folder is there.
    var exists: Bool { access(path, F_OK) == 0 }

    /// The path of a blob.
    func blob(_ hex: String, _ fileExtension: String) -> String {
        fileExtension.isEmpty
            ? "\(path)/blobs/\(hex.prefix(2))/\(hex)" : "\(path)/blobs/\(hex.prefix(2))/\(hex).\(fileExtension)"
    }

    /// Whether any image was ever stored here.
    var hasBlobs: Bool { access(path + "/blobs", F_OK) == 0 }

    /// Whether `text` can be the extension of a blob: nothing that leads elsewhere.
    static func isExtension(_ text: String) -> Bool {
        text.utf8.count <= 32 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
    }

    /// A new path for a file that is being written.
    ///
    /// - Parameter hex: The name the file will get, which the path begins with.
    func partialPath(_ hex: String = "body") throws -> String {
        if !isPrepared.load(ordering: .relaxed) || access(path + "/partial", F_OK) != 0 { try prepare() }
        let number = serial.add(1, ordering: .relaxed).newValue
        return "\(path)/partial/\(hex)-\(getpid())-\(number)-\(String(UInt32.random(in: .min ... .max), radix: 36))"
    }

    /// Writes the content to a new file beside the blobs and returns it complete, hashed and on its way to the disk.
    ///
    /// - Parameter syncs: Waits until the bytes are on the disk; otherwise writing is only begun.
    func write(_ content: DiskStorage.Content, for hex: String, syncs: Bool) throws -> Draft {
        switch content {
        case .bytes(let bytes): return try write(bytes, hex, syncs: syncs)
        case .file(let source): return try copy(source, hex, syncs: syncs)
        case .body(let body):
            switch body.storage {
            case .memory(let bytes): return try write(bytes, hex, syncs: syncs)
            case .file(let source, _):
                let target = try partialPath(hex)
                // The body may have other takers and keeps its own name. Not every file system has links.
                guard link(source, target) == 0 else { return try copy(source, hex, syncs: syncs) }
                return try draft(target, syncs: syncs)
            }
        }
    }

    private func write(_ bytes: [UInt8], _ hex: String, syncs: Bool) throws -> Draft {
        let checksum = bytes.withUnsafeBytes { Digest(of: $0) }
        let path = try partialPath(hex)
        let descriptor = try Self.create(path)
        defer { close(descriptor) }
        do {
            try bytes.withUnsafeBytes { try Self.writeAll($0, to: descriptor, path) }
            return try finish(descriptor, path, checksum, syncs: syncs)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Copies a file piece by piece, whatever its size.
    private func copy(_ source: String, _ hex: String, syncs: Bool) throws -> Draft {
        let input = open(source, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard input >= 0 else { throw StorageFailure(errno, "open", source) }
        defer { close(input) }
        let path = try partialPath(hex)
        let descriptor = try Self.create(path)
        defer { close(descriptor) }
        do {
            let checksum = try Self.digest(of: input, source) { try Self.writeAll($0, to: descriptor, path) }
            return try finish(descriptor, path, checksum, syncs: syncs)
        } catch {
            unlink(path)
            throw error
        }
    }

    private func draft(_ path: String, syncs: Bool) throws -> Draft {
        do {
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { throw StorageFailure(errno, "open", path) }
            defer { close(descriptor) }
            return try finish(descriptor, path, checksum(of: path), syncs: syncs)
        } catch {
            unlink(path)
            throw error
        }
    }

    private func finish(_ descriptor: Int32, _ path: String, _ checksum: Digest, syncs: Bool) throws -> Draft {
        if syncs {
            guard fdatasync(descriptor) == 0 else { throw StorageFailure(errno, "sync", path) }
        } else {
            // Begun before the rename, this keeps a power cut from leaving an empty file under the final name.
            _ = hl_start_writeback(descriptor)
        }
        guard let stamp = FileStamp(descriptor: descriptor) else { throw StorageFailure(errno, "look at", path) }
        return Draft(path: path, stamp: stamp, checksum: checksum)
    }

    /// A new file that nobody else has, readable by nobody else.
    static func create(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StorageFailure(errno, "create", path) }
        return descriptor
    }

    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: String) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw StorageFailure(errno, "write", path)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Gives a finished file its name.
    ///
    /// - Parameter keepsOld: Leaves what had the name under `source`, so that it can be brought back by
    ///   ``restore(_:to:size:modified:)`` until it is removed. Not every file system can; then it is replaced.
    /// - Returns: Whether `source` now is the old file.
    @discardableResult
    func move(_ source: String, to target: String, keepsOld: Bool) throws -> Bool {
        let shard = String(target.prefix(upTo: target.lastIndex(of: "/") ?? target.endIndex))
        try clearWay(for: path + "/blobs", kind: S_IFDIR)
        try clearWay(for: shard, kind: S_IFDIR)
        try clearWay(for: target, kind: S_IFREG)
        if keepsOld, hl_exchange(source, target) == 0 { return true }
        if rename(source, target) == 0 { return false }
        if errno == ENOENT {
            try Self.makeFolder(path + "/blobs")
            try Self.makeFolder(shard)
            if rename(source, target) == 0 { return false }
        }
        throw StorageFailure(errno, "name", target)
    }

    /// Moves out of the way what is not of the expected kind: a link would lead out of the cache.
    private func clearWay(for entry: String, kind: mode_t) throws {
        var status = stat()
        guard lstat(entry, &status) == 0, status.st_mode & S_IFMT != kind else { return }
        let target = try partialPath() + ".cleared"
        guard rename(entry, target) == 0 || errno == ENOENT else { throw StorageFailure(errno, "move", entry) }
        removeLeftovers(olderThan: nil)
    }

    /// Gives the file back its name that a killed store had taken from it: the one of that size and time of change.
    func restore(_ hex: String, to target: String, size: Int, modified: Int) -> FileStamp? {
        for name in Self.names(in: path + "/partial") where name.hasPrefix(hex) {
            let source = "\(path)/partial/\(name)"
            guard let stamp = FileStamp(path: source), stamp.size == size, stamp.modified == modified else { continue }
            if rename(source, target) == 0 { return stamp }
        }
        return nil
    }

    /// The whole content of a regular file.
    func read(_ path: String) throws -> [UInt8] { try Self.read(path, followsLinks: false) }

    static func read(_ path: String, followsLinks: Bool) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { throw StorageFailure(errno, "open", path) }
        defer { close(descriptor) }
        guard let stamp = FileStamp(descriptor: descriptor) else { throw StorageFailure(EISDIR, "read", path) }
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: stamp.size) { buffer, count in
            while count < stamp.size {
                let got = Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, stamp.size - count)
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { break }
                count += got
            }
        }
        if failure != 0 { throw StorageFailure(failure, "read", path) }
        return bytes
    }

    /// The digest of a file's content, read piece by piece.
    func checksum(of path: String) throws -> Digest {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw StorageFailure(errno, "open", path) }
        defer { close(descriptor) }
        return try Self.digest(of: descriptor, path) { _ in }
    }

    /// The digest of what is left to read, each piece of which is also given to `take`.
    private static func digest(
        of descriptor: Int32, _ path: String, _ take: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Digest {
        let digest = RunningDigest()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let got = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if got < 0, errno == EINTR { continue }
            if got < 0 { throw StorageFailure(errno, "read", path) }
            if got == 0 { return digest.finish() }
            try buffer.withUnsafeBytes { bytes in
                let piece = UnsafeRawBufferPointer(rebasing: bytes[..<got])
                digest.update(piece)
                try take(piece)
            }
        }
    }

    // MARK: Folders

    private func prepare() throws {
        var parent = ""
        for part in path.split(separator: "/").dropLast() {
            parent += "/" + part
            // Only what is missing is made; what is there stays as its owner made it.
            if mkdir(parent, 0o700) != 0, errno != EEXIST, access(parent, F_OK) != 0 {
                throw StorageFailure(errno, "make the folder", parent)
            }
        }
        try Self.makeFolder(path)
        try Self.makeFolder(path + "/partial")
        try Self.makeFolder(path + "/blobs")
        writeTag()
        if !isPrepared.exchange(true, ordering: .relaxed) { removeLeftovers(olderThan: Self.leftoverAge) }
    }

    private static func makeFolder(_ path: String) throws {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw StorageFailure(errno, "make the folder", path) }
    }

    /// Tells backup programs to pass the folder by (bford.info/cachedir).
    private func writeTag() {
        guard let descriptor = try? Self.create(path + "/CACHEDIR.TAG") else { return }
        let text =
            "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds a cache of images made by halcyon.\n"
        _ = text.utf8.withContiguousStorageIfAvailable { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }

    /// Moves all blobs out of sight at once; ``removeLeftovers(olderThan:)`` deletes them.
    func setBlobsAside() throws {
        let target = try partialPath() + ".cleared"
        guard rename(path + "/blobs", target) == 0 || errno == ENOENT else {
            throw StorageFailure(errno, "move", path + "/blobs")
        }
    }

    /// Removes what dead writers left in `partial/`: files of `age` seconds or more, and folders set aside.
    ///
    /// - Parameter age: nil to remove only folders set aside.
    func removeLeftovers(olderThan age: Int?) {
        for name in Self.names(in: path + "/partial") {
            let entry = "\(path)/partial/\(name)"
            if name.hasSuffix(".cleared") {
                if unlink(entry) != 0 { Self.removeTree(entry) }
            } else if let age, let stamp = FileStamp(path: entry) {
                var time = timespec()
                clock_gettime(CLOCK_REALTIME, &time)
                if time.tv_sec - stamp.modified / 1_000_000_000 >= age { unlink(entry) }
            }
        }
    }

    private static func removeTree(_ path: String) {
        for name in names(in: path) {
            let entry = "\(path)/\(name)"
            if unlink(entry) != 0 { removeTree(entry) }
        }
        rmdir(path)
    }

    /// The folders that blobs are spread over.
    var shards: [String] { Self.names(in: path + "/blobs") }

    /// The names of the blobs in a shard.
    func blobNames(in shard: String) -> [String] { Self.names(in: "\(path)/blobs/\(shard)") }

    private static func names(in path: String) -> [String] {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0, let folder = fdopendir(descriptor) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
