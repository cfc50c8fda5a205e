internal import CLinux
internal import Glibc
package import Platform
package import Synchronization

/// The folder of one cache: names, whole-file writes, and the leftovers of writers that died.
///
/// Nothing outside it is written or removed, and no link in it is followed.
package final class StorageFolder: Sendable {
    /// A finished file that has no name in the cache yet.
    package struct Draft: Sendable {
        package let path: String
        let stamp: FileStamp
        package let checksum: Digest
    }

    /// A leftover that bears no session's name is removed when it is this old, in seconds.
    static let leftoverAge = 3600

    package let path: String
    package let session: WriterSession
    /// How many bytes of bodies that broke off are kept in it.
    package let resumeLimit = Atomic(ResumeFolder.bytesLimit)
    private let serial = Atomic<UInt64>(0)

    package init(path: String) {
        self.path = path
        session = WriterSession(folder: path + "/leases")
    }

    /// Whether the folder is there.
    package var exists: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The path of a blob.
    func blob(_ hex: String, _ fileExtension: String) -> String {
        blob(Self.fileName(hex, fileExtension))
    }

    /// The path of a blob by its file name.
    func blob(_ fileName: String) -> String {
        String.joining(path, "/blobs/", fileName.prefix(2), "/", fileName)
    }

    static func fileName(_ hex: String, _ fileExtension: String) -> String {
        fileExtension.isEmpty ? hex : String.joining(hex, ".", fileExtension)
    }

    /// Whether there are images, or were: the folder for them alone is made with the first thing that is written.
    var hasBlobs: Bool {
        var isEmpty = true
        Files.forEachName(in: path + "/blobs") { _ in
            isEmpty = false
            return false
        }
        return !isEmpty
    }

    /// Whether `text` can be the extension of a blob: nothing that leads elsewhere.
    static func isExtension(_ text: String) -> Bool {
        text.utf8.count <= 32 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
    }

    /// A new path for a file that is being written.
    ///
    /// - Parameters:
    ///   - fileName: The name the file will get, which the path begins with.
    ///   - looks: Whether the folder is looked at, though it may just have been for another file.
    package func partialPath(_ fileName: String = "body", looks: Bool = true) throws -> String {
        let number = serial.add(1, ordering: .relaxed).newValue
        return String.joining(path, "/partial/", fileName, "~", try sessionName(looks: looks), "~", String(number))
    }

    private func sessionName(looks: Bool) throws -> String {
        // Of files that are written together one tells whether the folder and the mark are at their places.
        if !looks, Afterwards.hasSeen(session), let name = session.knownName { return name }
        if let name = try session.name(begins: false), Files.isFolder(path + "/partial") {
            Afterwards.noteSeen(session)
            return name
        }
        try prepare()
        guard let name = try session.name(begins: true) else { throw SystemError(ENOENT, "use the folder", path) }
        return name
    }

    /// Writes the content to a new file beside the blobs and returns it complete, hashed and on its way to the disk.
    ///
    /// - Parameter syncs: Waits until the bytes are on the disk; otherwise writing is only begun.
    package func write(_ content: DiskStorage.Content, for fileName: String, syncs: Bool) throws -> Draft {
        switch content {
        case .bytes(let bytes): return try write(bytes, fileName, syncs: syncs)
        case .file(let source): return try copy(source, fileName, syncs: syncs)
        case .body(let body):
            switch body.place {
            case .memory(let bytes): return try write(bytes, fileName, syncs: syncs)
            case .file(let source):
                let target = try partialPath(fileName)
                // The body may have other takers and keeps its own name. Not every file system has links.
                guard link(source, target) == 0 else { return try copy(source, fileName, syncs: syncs) }
                return try draft(target, of: body, syncs: syncs)
            case .unnamed(let source): return try copy(source, fileName, syncs: syncs)
            }
        }
    }

    private func write(_ bytes: [UInt8], _ fileName: String, syncs: Bool) throws -> Draft {
        let checksum = bytes.withUnsafeBytes { Digest(of: $0) }
        let (path, descriptor) = try createPartial(fileName)
        defer { close(descriptor) }
        do {
            try bytes.withUnsafeBytes { try Files.writeAll($0, to: descriptor, path) }
            return try finish(descriptor, path, checksum, syncs: syncs)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Copies a file piece by piece, whatever its size.
    private func copy(_ source: String, _ fileName: String, syncs: Bool) throws -> Draft {
        let input = open(source, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard input >= 0 else { throw SystemError(errno, "open", source) }
        defer { close(input) }
        let (path, descriptor) = try createPartial(fileName)
        defer { close(descriptor) }
        do {
            let checksum = try Self.digest(of: input, source) { try Files.writeAll($0, to: descriptor, path) }
            return try finish(descriptor, path, checksum, syncs: syncs)
        } catch {
            unlink(path)
            throw error
        }
    }

    private func draft(_ path: String, of body: any StorableBody, syncs: Bool) throws -> Draft {
        do {
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { throw SystemError(errno, "open", path) }
            defer { close(descriptor) }
            let known = body.checksum(of: FileStamp(descriptor: descriptor))
            return try finish(descriptor, path, known ?? checksum(of: path), syncs: syncs)
        } catch {
            unlink(path)
            throw error
        }
    }

    private func finish(_ descriptor: Int32, _ path: String, _ checksum: Digest, syncs: Bool) throws -> Draft {
        if syncs {
            let code = BlockingPool.waiting { fdatasync(descriptor) == 0 ? 0 : errno }
            guard code == 0 else { throw SystemError(code, "sync", path) }
        } else {
            // Begun before the rename, this keeps a power cut from leaving an empty file under the final name.
            _ = hl_start_writeback(descriptor)
        }
        guard let stamp = FileStamp(descriptor: descriptor) else { throw SystemError(errno, "look at", path) }
        return Draft(path: path, stamp: stamp, checksum: checksum)
    }

    /// A new file that is to become the one of that name.
    private func createPartial(_ fileName: String) throws -> (path: String, descriptor: Int32) {
        do {
            let path = try partialPath(fileName, looks: false)
            return (path, try Files.create(path))
        } catch let failure as SystemError where [ENOENT, ENOTDIR].contains(failure.code) {
            // The folder has gone since it was looked at.
            let path = try partialPath(fileName)
            return (path, try Files.create(path))
        }
    }

    /// What comes before the last slash.
    private static func folder(of path: String) -> String {
        String(path[..<(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.endIndex)])
    }

    /// How a finished file came to its name.
    enum Placement: Sendable {
        /// It has the draft's name as well.
        case linked
        /// The draft's name is now that of the file that was there.
        case swapped
        /// It has left the draft's name. What was there is gone.
        case renamed
    }

    /// Gives a finished file its name, such that a kill at any moment leaves a trace under the draft's name by which
    /// ``DiskStorage/collectLeftovers()`` can tell what happened. Not every file system can.
    ///
    /// - Parameter replaces: Whether a file is expected to be there.
    func place(_ draft: String, at target: String, replaces: Bool) throws -> Placement {
        // Of files that are named together one tells whether the folder is at its place.
        if Afterwards.hasSeen(self), let placement = try? placeInShard(draft, at: target, replaces: replaces) {
            return placement
        }
        try clearWay(for: path + "/blobs", kind: S_IFDIR)
        Afterwards.noteSeen(self)
        return try placeInShard(draft, at: target, replaces: replaces)
    }

    private func placeInShard(_ draft: String, at target: String, replaces: Bool) throws -> Placement {
        let shard = Self.folder(of: target)
        try clearWay(for: shard, kind: S_IFDIR)
        // Most are new, and then nothing is in the way.
        if !replaces, Self.isLinked(draft, at: target) { return .linked }
        try clearWay(for: target, kind: S_IFREG)
        if let placement = Self.attempt(draft, target, replaces: replaces) { return placement }
        if errno == ENOENT {
            try Files.makeFolder(path + "/blobs")
            try Files.makeFolder(shard)
            if let placement = Self.attempt(draft, target, replaces: false) { return placement }
        }
        throw SystemError(errno, "name", target)
    }

    private static func isLinked(_ draft: String, at target: String) -> Bool {
        draft.withCString { draft in target.withCString { Glibc.link(draft, $0) } } == 0
    }

    private static func attempt(_ draft: String, _ target: String, replaces: Bool) -> Placement? {
        if replaces, hl_exchange(draft, target) == 0 { return .swapped }
        if isLinked(draft, at: target) { return .linked }
        if errno == EEXIST, hl_exchange(draft, target) == 0 { return .swapped }
        if errno == ENOENT { return nil }
        return rename(draft, target) == 0 ? .renamed : nil
    }

    /// Takes back what ``place(_:at:replaces:)`` did.
    func takeBack(_ placement: Placement, _ draft: Draft, from target: String) {
        guard FileStamp(path: target)?.inode == draft.stamp.inode else {
            // Taken away since, or somebody else's by now. What it replaced goes back to where nothing is.
            if placement == .swapped, link(draft.path, target) == 0 { unlink(draft.path) }
            return
        }
        switch placement {
        case .linked: unlink(target)
        case .swapped: _ = hl_exchange(draft.path, target)
        case .renamed: rename(target, draft.path)
        }
    }

    /// Removes the file of an image; never what a link in the place of one of our folders leads to.
    ///
    /// - Returns: Whether there was one. What is no file in its place goes too.
    package func remove(blob fileName: String) throws -> Bool {
        let isOurs = Files.isFolder(path + "/blobs") && Files.isFolder("\(path)/blobs/\(fileName.prefix(2))")
        return isOurs ? try remove(blob(fileName)) : false
    }

    /// When a file came to its place, in nanoseconds since 1970; nil if there is none.
    func placedAt(_ path: String) -> Int? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return status.st_ctim.tv_sec &* 1_000_000_000 &+ status.st_ctim.tv_nsec
    }

    /// Removes a file.
    ///
    /// - Returns: Whether there was one. What is no file in its place goes too.
    package func remove(_ path: String) throws -> Bool {
        if unlink(path) == 0 { return true }
        switch errno {
        case ENOENT, ENOTDIR: return false
        case EISDIR where Files.isFolder(path), EPERM where Files.isFolder(path):
            try clearAway(path)
            return false
        case let code: throw SystemError(code, "remove", path)
        }
    }

    /// How many bytes the content has.
    package static func count(of content: DiskStorage.Content) -> Int {
        if case .body(let body) = content { body.count } else { size(of: content) }
    }

    /// The bytes that storing will take on the disk, beyond what is there.
    package static func size(of content: DiskStorage.Content) -> Int {
        switch content {
        case .bytes(let bytes): return bytes.count
        case .body(let body):
            if case .file = body.place { return 0 }
            return body.count
        case .file(let path):
            var status = stat()
            return stat(path, &status) == 0 ? Int(status.st_size) : 0
        }
    }

    /// Another name for a file of ours, for a draft that is to have the same bytes; nil where that cannot be.
    func linkedDraft(of source: String, _ fileName: String) throws -> Draft? {
        let path = try partialPath(fileName)
        guard link(source, path) == 0 else { return nil }
        // A link to a link is not followed, so what is no regular file shows itself here.
        guard let stamp = FileStamp(path: path), let checksum = try? checksum(of: path) else {
            unlink(path)
            return nil
        }
        return Draft(path: path, stamp: stamp, checksum: checksum)
    }

    /// Waits until the names in the folder of `target` have reached the disk.
    func syncNames(of target: String) throws {
        let shard = Self.folder(of: target)
        let descriptor = open(shard, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno, "open", shard) }
        defer { close(descriptor) }
        let code = BlockingPool.waiting { fsync(descriptor) == 0 ? 0 : errno }
        guard code == 0 else { throw SystemError(code, "sync", shard) }
    }

    /// Gives the file back its name that a killed store had taken from it: the one of that size and time of change.
    func restore(_ hex: String, to target: String, size: Int, modified: Int) -> FileStamp? {
        for name in Files.names(in: path + "/partial") where name.hasPrefix(hex) {
            let source = "\(path)/partial/\(name)"
            guard let stamp = FileStamp(path: source), stamp.size == size, stamp.modified == modified else { continue }
            if rename(source, target) == 0 { return stamp }
        }
        return nil
    }

    /// The whole content of a regular file.
    package func read(_ path: String) throws -> [UInt8] { try Files.read(path, followsLinks: false) }

    /// The digest of a file's content, read piece by piece.
    func checksum(of path: String) throws -> Digest {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno, "open", path) }
        defer { close(descriptor) }
        return try Self.digest(of: descriptor, path) { _ in }
    }

    /// The digest of a regular file's content; nil if there is none at its place.
    ///
    /// - Throws: ``SystemError`` if it cannot be read now, which says nothing about its content.
    func existingChecksum(of path: String) throws -> Digest? {
        guard FileStamp(path: path) != nil else {
            var status = stat()
            if lstat(path, &status) != 0, ![ENOENT, ENOTDIR].contains(errno) {
                throw SystemError(errno, "look at", path)
            }
            return nil
        }
        do { return try checksum(of: path) } catch let failure as SystemError
            where [ENOENT, ENOTDIR, ELOOP].contains(failure.code)
        { return nil }
    }

    /// The digest of what is left to read, each piece of which is also given to `take`.
    private static func digest(
        of descriptor: Int32, _ path: String, _ take: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Digest {
        let digest = RunningDigest()
        // One more than the file has, so that its end shows itself.
        let size = min(max(FileStamp(descriptor: descriptor)?.size ?? 0, 4095), 1 << 18 - 1) + 1
        var buffer = [UInt8](unsafeUninitializedCapacity: size) { $1 = size }
        while true {
            let got = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if got < 0, errno == EINTR { continue }
            if got < 0 { throw SystemError(errno, "read", path) }
            if got == 0 { return digest.finish() }
            try buffer.withUnsafeBytes { bytes in
                let piece = UnsafeRawBufferPointer(rebasing: bytes[..<got])
                digest.update(piece)
                try take(piece)
            }
        }
    }
}
