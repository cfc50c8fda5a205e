internal import Glibc
internal import Platform

/// The folders inside a cache's folder: made, moved out of the way and emptied.
extension StorageFolder {
    /// Makes the folders for writing.
    ///
    /// - Throws: ``SystemError``; also when the folder is another user's, whose files would mix with ours.
    func prepare() throws {
        var (parent, isNew) = ("", false)
        for part in path.split(separator: "/").dropLast() {
            parent += "/" + part
            // Only missing ones are made; the others stay as their owners made them.
            isNew = mkdir(parent, 0o700) == 0
            // The users of a shared folder pass.
            if isNew, isShared { chmod(parent, 0o710) }
            if isNew || errno == EEXIST { continue }
            let code = errno
            if access(parent, F_OK) != 0 { throw SystemError(code, "make the folder", parent) }
        }
        // The folder of all caches, where they make others.
        if isNew { share(parent) }
        if mkdir(path, 0o700) == 0 {
            share(path)
        } else if errno != EEXIST {
            throw SystemError(errno, "make the folder", path)
        }
        try claim()
        for name in Self.inner { try makeInner(name) }
        writeTag()
    }

    /// The folders that a cache has.
    private static let inner = ["partial", "blobs", "leases"]

    /// Makes sure that nothing that is no folder is in the place of one: an image in it would be taken for missing, or come
    /// from where a link leads.
    ///
    /// - Parameter names: Their names within the folder.
    func check(_ names: String...) throws(SystemError) {
        for name in names {
            let inner = String.joining(path, "/", name)
            if let kind = try Files.kind(inner), kind != .folder { throw SystemError(ENOTDIR, "use the folder", inner) }
        }
    }

    /// Makes sure that the places of an image of ours are folders; the outer one is looked at once in a batch that stores.
    func checkPlace(of fileName: String) throws(SystemError) {
        if !Afterwards.hasSeen(self) { try check("blobs") }
        try check("blobs/\(fileName.prefix(2))")
    }

    /// Finds what is in the place of folders.
    ///
    /// - Parameter movesAside: `true` when it is moved aside, and a folder made; otherwise it is an error.
    func checkAll(movesAside: Bool) throws {
        func find(_ names: [String]) throws {
            for name in names {
                if movesAside, let kind = try Files.kind("\(path)/\(name)"), kind != .folder { try makeInner(name) }
                try check(name)
            }
        }
        try find(Self.inner)
        try find(shards.map { "blobs/" + $0 })
    }

    /// Makes a folder inside; what has its name and is no folder is moved aside, for a link would lead out of the cache.
    func makeInner(_ name: String) throws {
        let inner = "\(path)/\(name)"
        if try mkdir(inner, 0o700) == 0 || Files.isFolder(inner) { return share(inner) }
        try setAside(inner)
        try Files.makeFolder(inner)
        share(inner)
    }

    /// Gives what is in the place of something of ours a name in the folder: not within one of those inside, where it would be
    /// taken for something of ours.
    func setAside(_ entry: String) throws {
        let place = entry.dropFirst(path.count).split(separator: "/").joined(separator: "-")
        try setAside(entry, as: "\(path)/\(place).moved-\(getpid())")
    }

    /// Gives what is in the place of something of ours another name, that of nothing else: it is not lost.
    func setAside(_ entry: String, as target: String) throws {
        var (free, number) = (target, 1)
        while try Files.kind(free) != nil { (free, number) = ("\(target)-\(number + 1)", number + 1) }
        try moveAside(entry, to: free)
    }

    private func moveAside(_ entry: String, to target: String) throws {
        guard rename(entry, target) == 0 || errno == ENOENT else { throw SystemError(errno, "move", entry) }
    }

    /// Sets an entry aside that is not of the expected kind: a link would lead out of the cache.
    func clearWay(for entry: String, kind: Files.Kind) throws {
        if let found = try Files.kind(entry), found != kind { try setAside(entry) }
    }

    /// Takes away what is in the place of an image: a file is removed, anything else is nobody's image and set aside.
    ///
    /// - Returns: What was there; `nil` for nothing.
    @discardableResult
    func takeAway(_ place: String) throws -> Files.Kind? {
        guard let kind = try Files.kind(place) else { return nil }
        if kind != .file {
            try setAside(place)
        } else if unlink(place) != 0, errno != ENOENT {
            throw SystemError(errno, "remove", place)
        }
        return kind
    }

    /// Tells backup programs to skip the folder (bford.info/cachedir).
    private func writeTag() {
        let text =
            "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds a cache of images made by halcyon.\n"
        try? create(path + "/CACHEDIR.TAG").write(Array(text.utf8))
    }

    /// A new path for an image that stays for its lease without the index knowing it. The lease is in the table, as any other.
    /// The end stands in the name too, for processes that have another table: a file stays as long as either says.
    ///
    /// - Parameter end: In seconds since 1970.
    func lentPath(_ fileExtension: String, until end: Int) throws -> String {
        StorageFolder.fileName(try partialPath("\(Self.lentPrefix)\(end)"), fileExtension)
    }

    private static let lentPrefix = "lent-"

    /// The bytes of all files of ``lentPath(_:until:)``.
    var bytesLentBeside: Int {
        let names = (try? partialNames) ?? []
        return names.filter { Self.leaseEnd(of: $0) != nil }.reduce(0) { sum, name in
            sum + (FileStamp(path: "\(path)/partial/\(name)")?.size ?? 0)
        }
    }

    /// Removes those files of ``lentPath(_:until:)`` that are meant; returns their number.
    ///
    /// - Parameter isMeant: Asked with the name of a file and the end in it.
    func removeLent(where isMeant: (String, Int) -> Bool = { _, _ in true }) throws -> Int {
        try partialNames.count { name in
            guard let end = Self.leaseEnd(of: name), isMeant(name, end) else { return false }
            return unlink("\(path)/partial/\(name)") == 0
        }
    }

    /// The end of the lease of a file in `partial`, in seconds since 1970; `nil` when it is none of ``lentPath(_:until:)``,
    /// or says what none of ours would.
    static func leaseEnd(of name: String) -> Int? {
        guard name.hasPrefix(lentPrefix) else { return nil }
        let end = Int(name.dropFirst(lentPrefix.count).prefix { $0 != "~" })
        return end.flatMap { (0...CacheClock.times.upperBound).contains($0) ? $0 : nil }
    }

    /// Moves all blobs out of sight at once; ``removeTrash()`` deletes them.
    func setBlobsAside() throws { try moveAside(path + "/blobs", to: partialPath() + ".cleared") }

    /// Makes sure that all blobs can be moved and deleted, before the index forgets them.
    ///
    /// - Throws: ``SystemError`` for the first folder that cannot be read or changed.
    func checkRemovable() throws {
        let blobs = path + "/blobs"
        try check("blobs")
        let shards = try shards
        for shard in shards { try check("blobs/" + shard) }
        _ = try partialPath()
        for place in [path, path + "/partial", blobs] + shards.map({ "\(blobs)/\($0)" }) {
            if try Files.isFolder(place) { try checkChangeable(place) }
        }
    }

    /// Makes sure that a blob can be moved and deleted, before the index forgets it.
    func checkRemovable(_ fileName: String) throws {
        try checkPlace(of: fileName)
        _ = try partialPath()
        for place in ["partial", "blobs/\(fileName.prefix(2))"] { try checkChangeable("\(path)/\(place)") }
    }

    private func checkChangeable(_ place: String) throws(SystemError) {
        if faccessat(AT_FDCWD, place, R_OK | W_OK | X_OK, AT_EACCESS) != 0, errno != ENOENT {
            throw SystemError(errno, "change the folder", place)
        }
    }

    /// Deletes what was moved out of sight, by whatever process.
    func removeTrash() throws {
        for name in try partialNames where name.hasSuffix(".cleared") { try Self.removeTree("\(path)/partial/\(name)") }
    }

    private static func removeTree(_ path: String) throws {
        if unlink(path) == 0 { return }
        for name in try Files.names(in: path) { try removeTree("\(path)/\(name)") }
        // Another process may be removing it too.
        if rmdir(path) != 0, errno != ENOENT { throw SystemError(errno, "remove", path) }
    }

    /// The folder in `partial` of interrupted downloads.
    static let resumeName = "resume"

    /// The names of drafts, finished or not.
    var partialNames: [String] {
        get throws { try Files.names(in: path + "/partial").filter { $0 != Self.resumeName } }
    }

    /// The beginnings of the names of files that are never a draft of an image, and that only this process reads: collected
    /// bodies, originals for the codec worker, and what it rendered.
    private static let scratchNames: Set<Substring> = ["body", "original", "made"]

    /// Ends the session, before the process ends, and removes what threads that still run would have removed later.
    ///
    /// Drafts of images stay for ``LeftoverCollector``, which can tell what a store left halfway was about to do.
    package func close() {
        guard let owner = session.knownName else { return }
        session.end()
        for name in (try? partialNames) ?? [] {
            let parts = name.split(separator: "~", omittingEmptySubsequences: false)
            guard parts.count == 3, Self.scratchNames.contains(parts[0]), parts[1] == owner else { continue }
            unlink("\(path)/partial/\(name)")
        }
    }

    /// The folders that blobs are spread over, or what is in the place of one.
    var shards: [String] {
        get throws {
            let blobs = path + "/blobs"
            return try Files.names(in: blobs).filter { name in
                let isOurs = name.utf8.count == 2 && name.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
                return try isOurs || Files.isFolder("\(blobs)/\(name)")
            }
        }
    }

    /// The names of the blobs in a shard.
    func blobNames(in shard: String) throws -> [String] {
        try check("blobs")
        return try Files.names(in: "\(path)/blobs/\(shard)")
    }

    /// The names of the files that an image has or had, and that stay for their leases.
    func blobs(of name: Digest) throws -> [String] {
        let hex = name.hex
        return try blobNames(in: String(hex.prefix(2))).filter { $0 == hex || $0.hasPrefix(hex + ".") }
    }

    /// The names of the files that an image has or had, the latest first.
    func placedBlobs(of name: Digest) throws -> [String] {
        try blobs(of: name).compactMap { file in try placedAt(blob(file)).map { (file, at: $0) } }
            .sorted { $0.at > $1.at }.map(\.0)
    }

    /// `true` when there are images, or were: the folder for them alone is made with the first thing that is written.
    var hasBlobs: Bool { get throws { try !shards.isEmpty } }

    /// The bytes that the file system of the folder can still take, and its size; `nil` if it does not tell.
    var freeSpace: Space? {
        var status = statvfs()
        guard statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
        func bytes(_ blocks: fsblkcnt_t) -> Int {
            Int(clamping: blocks).multipliedReportingOverflow(by: Int(clamping: status.f_frsize)).partialValue
        }
        // Some file systems have no bound for files.
        let files = status.f_files > 0 ? Int(clamping: status.f_favail) : .max
        return Space(available: bytes(status.f_bavail), total: bytes(status.f_blocks), files: files)
    }

    /// The space of a file system.
    struct Space: Sendable {
        /// The bytes that are free, and all.
        let available, total: Int
        /// The number of files that can be made yet.
        var files = Int.max
    }
}
