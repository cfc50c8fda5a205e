internal import Glibc
internal import ImageErrors
internal import Platform

/// Who may write into a cache folder: what others can plant in it must not be answered.
extension StorageFolder {
    /// Makes sure that the folder, if it is there, is this user's and closed to others; a shared one, that a group of this
    /// user's shares it and nobody else writes it. An index that is another user's is moved out of the way.
    ///
    /// - Throws: ``ImageError`` when it is not, else ``SystemError``.
    func claim() throws {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw SystemError(errno, "look at", path)
        }
        if status.st_mode & S_IFMT == S_IFLNK {
            // Who can make a link can have any folder of this user's used as a cache.
            guard isShared || [geteuid(), 0].contains(status.st_uid) else { throw foreign(status) }
            guard stat(path, &status) == 0 else { throw SystemError(errno, Self.follow, path) }
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(ENOTDIR, "use the folder", path) }
        if isShared {
            let isOurs = status.st_uid == geteuid() || Self.isOfGroup(status.st_gid)
            guard isOurs, status.st_mode & S_IWOTH == 0 else { throw foreign(status) }
            return
        }
        guard status.st_uid == geteuid() else { throw foreign(status) }
        if status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0, status.st_mode & 0o022 != 0 {
            throw foreign(status)
        }
        try setForeignIndexAside()
    }

    /// The error of a folder into which others may write.
    private func foreign(_ status: stat) -> ImageError {
        let mode = String(status.st_mode & 0o7777, radix: 8)
        return .storageFailed(
            reason:
                "\(path) belongs to user \(status.st_uid) and has mode \(mode), and this is user \(geteuid()): others can put images there.",
            hint: isShared
                ? "Give it to one of your groups (chgrp) and let nobody else write to it (chmod o-w), or choose another folder with --cache-dir."
                : "Make it yours (chown \(geteuid()), chmod 700), choose another folder with --cache-dir, or set --shared-folders if its users trust each other."
        )
    }

    /// `true` when a file that others could have planted may be answered: it is this user's, or the folder is shared.
    func trusts(_ stamp: FileStamp) -> Bool { isShared || stamp.owner == user }

    /// The mode of a file in the folder.
    var fileMode: mode_t { isShared ? 0o660 : 0o600 }

    /// Lets the users of a shared folder write a file or folder in it that is this user's.
    func share(_ entry: String) {
        guard isShared else { return }
        let isFolder = (try? Files.isFolder(entry)) == true
        // What is made in a folder is its group's then.
        chmod(entry, isFolder ? 0o2770 : 0o660)
    }

    /// Opens a file in the folder, made if need be, which the users of a shared folder can write.
    func open(_ path: String, _ flags: Int32) throws(SystemError) -> Descriptor {
        let file = try Descriptor(path, flags | O_CREAT | O_NOFOLLOW)
        share(path)
        return file
    }

    /// Creates a file in the folder, where there must be none, which the users of a shared folder can write.
    func create(_ path: String) throws(SystemError) -> Descriptor {
        let file = try Descriptor(creating: path)
        share(path)
        return file
    }

    private static func isOfGroup(_ group: gid_t) -> Bool {
        if group == getegid() { return true }
        var groups = [gid_t](repeating: 0, count: Int(max(getgroups(0, nil), 0)))
        let count = getgroups(Int32(groups.count), &groups)
        return groups.prefix(Int(max(count, 0))).contains(group)
    }

    private func setForeignIndexAside() throws {
        let index = IndexFiles(in: self)
        let files = [index.path, index.log, index.path + "-shm", index.mark, index.entryLog]
        guard try files.contains(where: { try FileStamp.existing($0).map { !trusts($0) } ?? false }) else { return }
        for file in files { try setForeignAside(file) }
    }

    /// Gives a file, or what else is in the place of one of the index's, another name.
    func setForeignAside(_ file: String) throws { try setAside(file, as: file + ".foreign") }
}
