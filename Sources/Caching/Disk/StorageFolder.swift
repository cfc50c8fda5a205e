internal import CLinux
internal import Glibc
package import Platform
package import Synchronization

/// The folder of one cache: the names of its files, and how whole files are written, named and removed.
///
/// Nothing outside it is written or removed, and no link in it is followed.
package final class StorageFolder: Sendable {
    /// A finished file that has no name in the cache yet.
    package struct Draft: Sendable {
        package let path: String
        let stamp: FileStamp
        package let checksum: Digest
    }

    package let path: String
    package let session: WriterSession
    /// `true` when the folder may be another user's, or a group's; see ``claim()``.
    let isShared: Bool
    /// The number of the user that this process runs as.
    let user = geteuid()
    /// The most bytes of interrupted bodies that are kept in it.
    package let resumeLimit = Atomic(ResumeFolder.bytesLimit)
    private let serial = Atomic<UInt64>(0)
    /// The folder for files that are not finished.
    private let partial: String
    private let leases: String

    package init(path: String, isShared: Bool = false) {
        (self.path, self.isShared) = (path, isShared)
        (partial, leases) = (path + "/partial", path + "/leases")
        session = WriterSession(folder: leases, isShared: isShared)
    }

    /// `true` when the folder is there.
    ///
    /// - Throws: ``SystemError`` when that cannot be told, or something else is in its place.
    package var exists: Bool {
        get throws(SystemError) {
            var status = stat()
            guard stat(path, &status) == 0 else {
                guard errno == ENOENT else { throw SystemError(errno, "look at", path) }
                guard let kind = try Files.kind(path) else { return false }
                // Another thread or process has just made it.
                if kind == .folder { return true }
                throw SystemError(ENOENT, Self.follow, path)
            }
            guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(ENOTDIR, "use the folder", path) }
            return true
        }
    }

    /// What fails where the folder is a link that leads nowhere, as to a disk that is not there: no empty cache.
    static let follow = "follow the link"

    // MARK: Names

    /// The path of a blob.
    func blob(_ hex: String, _ fileExtension: String) -> String { blob(Self.fileName(hex, fileExtension)) }

    /// The path of a blob by its file name.
    func blob(_ fileName: String) -> String {
        String.joining(path, "/blobs/", String(decoding: fileName.utf8.prefix(2), as: UTF8.self), "/", fileName)
    }

    static func fileName(_ hex: String, _ fileExtension: String) -> String {
        fileExtension.isEmpty ? hex : String.joining(hex, ".", fileExtension)
    }

    /// `true` when `text` can be the extension of a blob: it leads nowhere else.
    static func isExtension(_ text: String) -> Bool {
        text.utf8.count <= 32 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
    }

    /// A new path for a file that is being written.
    ///
    /// - Parameters:
    ///   - fileName: The later name of the file, with which the path begins.
    ///   - looks: `false` when a look at the folder for another file in a row counts for this one too.
    package func partialPath(_ fileName: String = "body", looks: Bool = true) throws -> String {
        let number = serial.add(1, ordering: .relaxed).newValue
        return String.joining(partial, "/", fileName, "~", try sessionName(looks: looks), "~", String(number))
    }

    private func sessionName(looks: Bool) throws -> String {
        if !looks, Afterwards.hasSeen(session), let name = session.knownName { return name }
        if let name = try session.name(begins: false), try Files.isFolder(partial), try Files.isFolder(leases) {
            Afterwards.noteSeen(session)
            return name
        }
        try prepare()
        guard let name = try session.name(begins: true) else { throw SystemError(ENOENT, "use the folder", path) }
        return name
    }

    // MARK: Writing

    /// Writes the content to a new file beside the blobs and returns it complete, hashed and on its way to the disk.
    ///
    /// - Parameter syncs: `true` to wait until the bytes are on the disk; otherwise writing is only begun.
    package func write(_ content: DiskStorage.Content, for fileName: String, syncs: Bool) throws -> Draft {
        switch content {
        case .bytes(let bytes): return try write(bytes, fileName, syncs: syncs)
        case .file(let source, let state):
            guard let state else { return try copy(source, fileName, syncs: syncs) }
            let isSettled = try Descriptor(reading: source, followsLinks: true).settled()?.mayBeWriting == false
            let draft = try copy(source, fileName, syncs: syncs)
            return try unlinkingOnFailure(draft.path) {
                if isSettled {
                    try state.checkUnchanged(source)
                } else {
                    try state.checkUnchanged(source) { try checksum(of: source, followsLinks: true) == draft.checksum }
                }
                return draft
            }
        case .body(let body):
            switch body.place {
            case .memory(let bytes): return try write(bytes, fileName, syncs: syncs)
            case .file(let source):
                let target = try partialPath(fileName)
                // Others may use the body: it keeps its own name. Not every file system has links.
                guard Self.link(source, target) else { return try copy(source, fileName, syncs: syncs) }
                return try unlinkingOnFailure(target) {
                    let file = try Descriptor(target, O_RDONLY | O_NOFOLLOW)
                    let known = body.checksum(of: file.stamp)
                    return try finish(file, fileName, known ?? checksum(of: target), isNew: false, syncs: syncs)
                }
            case .unnamed(let source): return try copy(source, fileName, syncs: syncs)
            }
        }
    }

    private func write(_ bytes: [UInt8], _ fileName: String, syncs: Bool) throws -> Draft {
        let checksum = bytes.withUnsafeBytes { Digest(of: $0) }
        let file = try createPartial(fileName)
        return try unlinkingOnFailure(file.path) {
            try file.write(bytes)
            return try finish(file, fileName, checksum, syncs: syncs)
        }
    }

    /// Copies a file piece by piece, whatever its size.
    private func copy(_ source: String, _ fileName: String, syncs: Bool) throws -> Draft {
        let input = try Descriptor(reading: source, followsLinks: true)
        let file = try createPartial(fileName)
        return try unlinkingOnFailure(file.path) {
            let digest = RunningDigest()
            try input.forEachPiece { piece in
                digest.update(piece)
                try file.write(piece)
            }
            return try finish(file, fileName, digest.finish(), syncs: syncs)
        }
    }

    private func unlinkingOnFailure(_ path: String, _ body: () throws -> Draft) throws -> Draft {
        do { return try body() } catch {
            unlink(path)
            throw error
        }
    }

    private func finish(
        _ file: borrowing Descriptor, _ fileName: String, _ checksum: Digest, isNew: Bool = true, syncs: Bool
    ) throws -> Draft {
        // Begun before the rename, this keeps a power cut from leaving an empty file under the final name.
        share(file.path)
        if syncs { try file.sync() } else { _ = hl_start_writeback(file.number) }
        FileSeal.add(fileName, checksum, to: file, isNew: isNew)
        guard let stamp = file.stamp else { throw SystemError(errno, "look at", file.path) }
        return Draft(path: file.path, stamp: stamp, checksum: checksum)
    }

    /// Creates the file that is to become the one of that name.
    private func createPartial(_ fileName: String) throws -> Descriptor {
        do {
            return try Descriptor(creating: partialPath(fileName, looks: false))
        } catch let failure as SystemError where [ENOENT, ENOTDIR].contains(failure.code) {
            // The folder has gone since it was looked at.
            return try Descriptor(creating: partialPath(fileName))
        }
    }

    /// Writes a file beside those of images as a whole, in place of one that is there.
    ///
    /// - Parameter kind: The beginning of the name of its draft.
    func replace(_ path: String, with bytes: [UInt8], _ kind: String) throws {
        let draft = try create(partialPath(kind))
        do {
            try draft.write(bytes)
            guard rename(draft.path, path) == 0 else { throw SystemError(errno, "name", path) }
        } catch {
            unlink(draft.path)
            throw error
        }
    }

    /// Another name for a file of ours, for a draft that is to have the same bytes; `nil` where that cannot be.
    func linkedDraft(of source: String, _ fileName: String) throws -> Draft? {
        let path = try partialPath(fileName)
        guard Self.link(source, path) else { return nil }
        // A link to a link is not followed, so what is not a regular file shows itself here.
        guard let stamp = FileStamp(path: path), let checksum = try? checksum(of: path) else {
            unlink(path)
            return nil
        }
        if let file = try? Descriptor(reading: path) { FileSeal.add(fileName, checksum, to: file) }
        return Draft(path: path, stamp: stamp, checksum: checksum)
    }

    // MARK: Naming

    /// Gives a finished file one more name; where there can be no link, that of a copy.
    func name(_ source: String, _ target: String) throws {
        if Self.link(source, target) { return }
        let draft = try copy(source, "copy", syncs: false).path
        guard rename(draft, target) != 0 else { return }
        let failure = SystemError(errno, "name", target)
        unlink(draft)
        throw failure
    }

    /// The folder that a path is in.
    private static func folder(of path: String) -> String {
        var path = path
        return path.withUTF8 { path in
            String(decoding: path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? path.endIndex)], as: UTF8.self)
        }
    }

    /// The way in which a finished file came to its name.
    enum Placement: Sendable {
        /// It has the draft's name as well.
        case linked
        /// The draft's name is now that of the file that was there.
        case swapped
        /// It has left the draft's name. The file that was there is gone.
        case renamed
    }

    /// Gives a finished file its name, such that a kill at any moment leaves a trace under the draft's name by which
    /// ``LeftoverCollector`` can tell what happened. Not every file system can.
    ///
    /// - Parameter replaces: `true` when a file is expected to be there.
    func place(_ draft: String, at target: String, replaces: Bool) throws -> Placement {
        if let placement = try? placeInShard(draft, at: target, replaces: replaces) { return placement }
        // Something has come into the way since.
        try clearWay(for: path + "/blobs", kind: .folder)
        try clearWay(for: Self.folder(of: target), kind: .folder)
        return try placeInShard(draft, at: target, replaces: replaces)
    }

    /// Clears what is no folder from the places of those that a file is named in.
    func makeWay(to target: String) throws {
        let shard = Self.folder(of: target)
        // The first of several files that are named in a row tells whether the folder is at its place.
        if Afterwards.hasSeen(self), (try? clearWay(for: shard, kind: .folder)) != nil { return }
        try clearWay(for: path + "/blobs", kind: .folder)
        Afterwards.noteSeen(self)
        try clearWay(for: shard, kind: .folder)
    }

    private func placeInShard(_ draft: String, at target: String, replaces: Bool) throws -> Placement {
        let shard = Self.folder(of: target)
        // Most are new, and then nothing is in the way.
        if !replaces, Self.link(draft, target) { return .linked }
        try clearWay(for: target, kind: .file)
        if let placement = Self.attempt(draft, target, replaces: replaces) { return placement }
        if errno == ENOENT {
            for folder in [path + "/blobs", shard] {
                try Files.makeFolder(folder)
                share(folder)
            }
            if let placement = Self.attempt(draft, target, replaces: false) { return placement }
        }
        throw SystemError(errno, "name", target)
    }

    private static func link(_ draft: String, _ target: String) -> Bool {
        draft.withCString { draft in target.withCString { Glibc.link(draft, $0) } } == 0
    }

    private static func attempt(_ draft: String, _ target: String, replaces: Bool) -> Placement? {
        if replaces, hl_exchange(draft, target) == 0 { return .swapped }
        if link(draft, target) { return .linked }
        if errno == EEXIST, hl_exchange(draft, target) == 0 { return .swapped }
        if errno == ENOENT { return nil }
        return rename(draft, target) == 0 ? .renamed : nil
    }

    /// Takes back a placement.
    func takeBack(_ placement: Placement, _ draft: Draft, from target: String) {
        guard FileStamp(path: target)?.inode == draft.stamp.inode else {
            // Removed since, or replaced by another process. What it replaced goes back to where nothing is.
            if placement == .swapped, Self.link(draft.path, target) { unlink(draft.path) }
            return
        }
        switch placement {
        case .linked: unlink(target)
        case .swapped: _ = hl_exchange(draft.path, target)
        case .renamed: rename(target, draft.path)
        }
    }

    /// Waits until the names in the folder of `target` have reached the disk.
    func syncNames(of target: String) throws {
        try Descriptor(Self.folder(of: target), O_RDONLY | O_DIRECTORY).sync(isFolder: true)
    }

    /// Gives a file the name back that a killed store had taken from it: the one of that size and time of change.
    func restore(_ hex: String, to target: String, size: Int, modified: Int) throws -> FileStamp? {
        for name in try Files.names(in: path + "/partial") where name.hasPrefix(hex) {
            let source = "\(path)/partial/\(name)"
            guard let stamp = try FileStamp.existing(source), stamp.size == size, stamp.modified == modified else {
                continue
            }
            if rename(source, target) == 0 { return stamp }
        }
        return nil
    }

    /// The time when a file came to its place, in nanoseconds since 1970; `nil` if there is none.
    func placedAt(_ path: String) throws -> Int? {
        guard try FileStamp.existing(path) != nil else { return nil }
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return status.st_ctim.tv_sec &* 1_000_000_000 &+ status.st_ctim.tv_nsec
    }

    // MARK: Removing

    /// Removes the file of an image; never what a link in the place of one of our folders leads to.
    ///
    /// - Returns: `true` when there was one. What is no file in its place is set aside.
    package func remove(blob fileName: String) throws -> Bool {
        try checkPlace(of: fileName)
        return try takeAway(blob(fileName)) == .file
    }

    // MARK: Reading

    /// The number of bytes of the content.
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
        case .file(let path, _): return FileStamp(following: path)?.size ?? 0
        }
    }

    /// The digest of a file's content, read piece by piece.
    func checksum(of path: String, followsLinks: Bool = false) throws -> Digest {
        let digest = RunningDigest()
        try Descriptor(reading: path, followsLinks: followsLinks).forEachPiece { digest.update($0) }
        return digest.finish()
    }

    /// The digest of a regular file's content; `nil` if there is none at its place.
    ///
    /// - Throws: ``SystemError`` if it cannot be read now, which says nothing about its content.
    func existingChecksum(of path: String) throws -> Digest? {
        guard try FileStamp.existing(path) != nil else { return nil }
        do { return try checksum(of: path) } catch let failure as SystemError
            where failure.isMissing || failure.code == ELOOP
        { return nil }
    }

    // MARK: Personal images

    /// An extended attribute of the files of images that were fetched with credentials: should the index be lost, they are not
    /// taken for everybody's. Not every file system keeps it.
    private static let personalMark = "user.halcyon.personal"

    /// Marks a file as personal. Its time of change stays.
    static func markPersonal(_ path: String) { _ = hl_mark(path, personalMark) }

    /// `true` when an open file is marked as personal.
    static func isPersonal(_ file: borrowing Descriptor) -> Bool { hl_is_marked(file.number, personalMark) == 1 }
}
