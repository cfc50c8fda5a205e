internal import Glibc
internal import Platform

/// The folders inside a cache's folder: made, moved out of the way and emptied.
extension StorageFolder {
    /// Makes the folders for writing.
    ///
    /// - Throws: ``SystemError``; also when the folder is another user's, whose files would mix with ours.
    func prepare() throws {
        var parent = ""
        for part in path.split(separator: "/").dropLast() {
            parent += "/" + part
            // Only missing ones are made; the others stay as their owners made them.
            if mkdir(parent, 0o700) != 0, errno != EEXIST, access(parent, F_OK) != 0 {
                throw SystemError(errno, "make the folder", parent)
            }
        }
        try Files.makeFolder(path)
        try claim()
        for name in ["partial", "blobs", "leases"] { try makeInner(name) }
        writeTag()
    }

    /// Makes a folder inside; what has its name and is no folder is moved aside, for a link would lead out of the cache.
    func makeInner(_ name: String) throws {
        let inner = "\(path)/\(name)"
        if mkdir(inner, 0o700) == 0 || Files.isFolder(inner) { return }
        try moveAside(inner, to: "\(inner).moved-\(getpid())")
        try Files.makeFolder(inner)
    }

    /// Makes sure that the folder is this user's, and closed to others.
    private func claim() throws {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        let user = geteuid()
        guard status.st_uid == user || user == 0 else {
            throw SystemError(EACCES, "use another user's folder", path)
        }
        if status.st_uid == user, status.st_mode & 0o077 != 0 { chmod(path, 0o700) }
    }

    private func moveAside(_ entry: String, to target: String) throws {
        guard rename(entry, target) == 0 || errno == ENOENT else { throw SystemError(errno, "move", entry) }
    }

    /// Moves an entry out of the way that is not of the expected kind: a link would lead out of the cache.
    func clearWay(for entry: String, kind: mode_t) throws {
        var status = stat()
        guard entry.withCString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT != kind else { return }
        try clearAway(entry)
    }

    /// Removes whatever is at a place inside the folder.
    func clearAway(_ entry: String) throws {
        try moveAside(entry, to: partialPath() + ".cleared")
        removeTrash()
    }

    /// Tells backup programs to skip the folder (bford.info/cachedir).
    private func writeTag() {
        let text =
            "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds a cache of images made by halcyon.\n"
        guard let file = try? Descriptor(creating: path + "/CACHEDIR.TAG") else { return }
        Array(text.utf8).withUnsafeBytes { try? file.write($0) }
    }

    /// Moves all blobs out of sight at once; ``removeTrash()`` deletes them.
    func setBlobsAside() throws { try moveAside(path + "/blobs", to: partialPath() + ".cleared") }

    /// Deletes what was moved out of sight, by whatever process.
    func removeTrash() {
        for name in partialNames where name.hasSuffix(".cleared") { Self.removeTree("\(path)/partial/\(name)") }
    }

    private static func removeTree(_ path: String) {
        if unlink(path) == 0 { return }
        for name in Files.names(in: path) { removeTree("\(path)/\(name)") }
        rmdir(path)
    }

    /// The folder in `partial` of interrupted downloads.
    static let resumeName = "resume"

    /// The names of drafts, finished or not.
    var partialNames: [String] { Files.names(in: path + "/partial").filter { $0 != Self.resumeName } }

    /// The folders that blobs are spread over.
    var shards: [String] { Files.names(in: path + "/blobs") }

    /// The names of the blobs in a shard.
    func blobNames(in shard: String) -> [String] { Files.names(in: "\(path)/blobs/\(shard)") }

    /// `true` when there are images, or were: the folder for them alone is made with the first thing that is written.
    var hasBlobs: Bool {
        var isEmpty = true
        Files.forEachName(in: path + "/blobs") { _ in
            isEmpty = false
            return false
        }
        return !isEmpty
    }

    /// The bytes that the file system of the folder can still take, and its size; `nil` if it does not tell.
    var freeSpace: (available: Int, total: Int)? {
        var status = statvfs()
        guard statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
        func bytes(_ blocks: fsblkcnt_t) -> Int {
            Int(clamping: blocks).multipliedReportingOverflow(by: Int(clamping: status.f_frsize)).partialValue
        }
        return (bytes(status.f_bavail), bytes(status.f_blocks))
    }
}
