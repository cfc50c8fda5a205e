internal import Glibc
package import Platform
internal import Synchronization

/// Keeps interrupted bodies until the same is requested again, also after a restart.
///
/// Each is a file named by the request's digest, with a note beside it, and locked while a download works on it.
package final class ResumeFolder: Sendable {
    /// The most bodies that are kept.
    package static let countLimit = 32
    /// The time in seconds for which they are kept.
    static let ageLimit = 86_400
    /// The most bytes that are kept where the disk tier has no limit; see ``bytesLimit(beside:)``.
    package static let bytesLimit = 1 << 30

    /// A body that is there.
    private struct Kept {
        let path: String
        let modified: Int
        let count: Int
    }

    private let folder: StorageFolder
    private var path: String { folder.path + "/partial/" + StorageFolder.resumeName }

    package init(_ folder: StorageFolder) { self.folder = folder }

    /// The body that was begun for a request; `nil` when there is none, or another download goes on with it.
    package func take(_ identity: @autoclosure () -> Digest) -> PartialFile? {
        // Most caches have never had any: the first of several requests in a row looks.
        if Afterwards.hasSeen(self) { return nil }
        guard (try? Files.isFolder(path)) == true, (try? folder.check("partial")) != nil, (try? folder.claim()) != nil
        else {
            Afterwards.noteSeen(self)
            return nil
        }
        guard let file = try? Descriptor("\(path)/\(identity().hex)", O_RDWR | O_NOFOLLOW | O_NONBLOCK),
            Self.lock(file), let stamp = file.stamp, stamp.age < Self.ageLimit,
            let note = try? Files.read(file.path + ".note", followsLinks: false),
            lseek(file.number, 0, SEEK_END) == off_t(stamp.size)
        else { return nil }
        return PartialFile(self, file, stamp, note: String(decoding: note, as: UTF8.self))
    }

    /// A new file for the body of a request, with its note; `nil` when another download works on the same, or there can be
    /// none.
    package func begin(_ identity: Digest, note: (_ inode: UInt64) -> String) -> PartialFile? {
        let place = "\(path)/\(identity.hex)"
        guard (try? prepare()) != nil, Self.clear(place), let file = try? folder.create(place), Self.lock(file),
            let stamp = file.stamp
        else { return nil }
        let text = note(stamp.inode)
        let isNoted: Void? = try? folder.replace(place + ".note", with: Array(text.utf8), "note")
        return isNoted != nil ? PartialFile(self, file, stamp, note: text) : nil
    }

    /// The most bytes that are kept: a quarter of what the disk tier may hold.
    ///
    /// - Parameter limit: That of the disk tier; 0 for none.
    package static func bytesLimit(beside limit: Int) -> Int { limit > 0 ? limit / 4 : bytesLimit }

    /// Removes what is too old or too much.
    ///
    /// - Parameter newest: The body that is kept from now on. Others that downloads work on are not kept yet: they neither go
    ///   nor take room.
    package func clean(keeping newest: PartialFile? = nil) throws {
        var kept: [Kept] = []
        for name in try Files.names(in: path) {
            let place = "\(path)/\(name)"
            if name.hasSuffix(".note") {
                // A note without its file.
                if try Files.kind(String(place.dropLast(5))) == nil { unlink(place) }
                continue
            }
            guard let stamp = try FileStamp.existing(place) else { continue }
            if stamp.age >= Self.ageLimit {
                _ = Self.clear(place)
            } else {
                let modified = place == newest?.path ? .max : stamp.modified
                kept.append(Kept(path: place, modified: modified, count: stamp.size))
            }
        }
        kept.sort { $0.modified < $1.modified }
        while kept.count > Self.countLimit { _ = Self.clear(kept.removeFirst().path) }
        let limit = folder.resumeLimit.load(ordering: .relaxed)
        guard kept.reduce(0, { $0 + $1.count }) > limit else { return }
        var room = limit
        for part in kept.reversed() where part.path == newest?.path || Self.isFree(part.path) {
            // One that is too large for itself is no reason for others to go.
            let isTooLarge = part.count > limit
            if !isTooLarge { room -= part.count }
            if !isTooLarge, room >= 0 { continue }
            if let newest, part.path == newest.path { newest.drop() } else { _ = Self.clear(part.path) }
        }
    }

    /// Removes every body that no download works on.
    package func clear() throws {
        for name in try Files.names(in: path) where !name.hasSuffix(".note") { _ = Self.clear("\(path)/\(name)") }
    }

    private func prepare() throws {
        if try !Files.isFolder(path) {
            // Makes the folders above it.
            _ = try folder.partialPath()
        }
        try folder.makeInner("partial/" + StorageFolder.resumeName)
        try clean()
    }

    /// Locks a file, unless another process has it or it is no longer the one at its place.
    private static func lock(_ file: borrowing Descriptor) -> Bool {
        guard file.lock(), let stamp = file.stamp else { return false }
        return FileStamp(path: file.path)?.inode == stamp.inode
    }

    /// `true` when no download works on a file.
    private static func isFree(_ path: String) -> Bool {
        guard let file = try? Descriptor(reading: path) else { return false }
        return lock(file)
    }

    /// Removes a file and its note.
    ///
    /// - Returns: `true` when it is gone; `false` when it is locked.
    private static func clear(_ path: String) -> Bool {
        do throws(SystemError) {
            let file = try Descriptor(reading: path)
            guard lock(file) else { return false }
            unlink(path + ".note")
            return unlink(path) == 0
        } catch { return error.code == ENOENT }
    }
}

/// An interrupted body, in a file that stays locked as long as this object lives.
package final class PartialFile: Sendable {
    package let path: String
    package let inode: UInt64
    /// The text beside the file.
    package let note: String
    /// The number of bytes when it was opened.
    package let count: Int
    private let file: Descriptor
    private let folder: ResumeFolder

    package var descriptor: Int32 { file.number }

    fileprivate init(_ folder: ResumeFolder, _ file: consuming Descriptor, _ stamp: FileStamp, note: String) {
        (self.folder, self.note, path, inode, count) = (folder, note, file.path, stamp.inode, stamp.size)
        self.file = file
    }

    /// Keeps it, as far as there is room: older ones are removed.
    package func keep() { try? folder.clean(keeping: self) }

    /// Unlocks it for other downloads, though this object may still be referenced. It is not used afterwards.
    package func letGo() { file.unlock() }

    /// Removes it.
    package func drop() {
        unlink(path + ".note")
        unlink(path)
    }

    /// Renames the file, which is whole now.
    package func handOver(to target: String) throws {
        unlink(path + ".note")
        guard rename(path, target) == 0 else { throw SystemError(errno, "name", target) }
    }
}
