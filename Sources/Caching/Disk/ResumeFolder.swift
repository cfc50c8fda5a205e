internal import Glibc
package import Platform
internal import Synchronization

/// Where bodies that broke off are kept until somebody asks for the same again, also after a restart.
///
/// Each is a file called like the request's digest, with a note beside it. Who works on one keeps its file locked.
package final class ResumeFolder: Sendable {
    /// How many are kept.
    package static let countLimit = 32
    /// For how many seconds.
    static let ageLimit = 86_400
    /// How many bytes are kept in all where the disk tier has no limit; see ``bytesLimit(beside:)``.
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

    /// The body that was begun for a request, if there is one and nobody else goes on with it.
    package func take(_ identity: @autoclosure () -> Digest) -> PartialFile? {
        // Most caches have never had any: of those who ask together one looks.
        if Afterwards.hasSeen(self) { return nil }
        guard Files.isFolder(path) else {
            Afterwards.noteSeen(self)
            return nil
        }
        let place = "\(path)/\(identity().hex)"
        let descriptor = open(place, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard Self.lock(descriptor, at: place), let stamp = FileStamp(descriptor: descriptor),
            !Self.isOld(stamp),
            let note = try? Files.read(place + ".note", followsLinks: false),
            lseek(descriptor, 0, SEEK_END) == off_t(stamp.size)
        else {
            close(descriptor)
            return nil
        }
        return PartialFile(self, descriptor, place, stamp, note: String(decoding: note, as: UTF8.self))
    }

    /// A new file for the body of a request, with its note; nil when somebody else works on the same, or there can be
    /// none.
    package func begin(_ identity: Digest, note: (_ inode: UInt64) -> String) -> PartialFile? {
        let place = "\(path)/\(identity.hex)"
        guard (try? prepare()) != nil else { return nil }
        if !Self.clear(place) { return nil }
        guard let descriptor = try? Files.create(place) else { return nil }
        guard Self.lock(descriptor, at: place), let stamp = FileStamp(descriptor: descriptor) else {
            close(descriptor)
            return nil
        }
        let text = note(stamp.inode)
        guard write(text, to: place + ".note") else {
            close(descriptor)
            return nil
        }
        return PartialFile(self, descriptor, place, stamp, note: text)
    }

    /// How many bytes are kept in all: a quarter of what the disk tier may hold.
    ///
    /// - Parameter limit: That of the disk tier; 0 for none.
    package static func bytesLimit(beside limit: Int) -> Int { limit > 0 ? limit / 4 : bytesLimit }

    /// Keeps a body that broke off, as far as there is room: older ones give way.
    package func keep(_ part: PartialFile) { clean(for: part) }

    /// Removes what is too old or too much.
    package func clean() { clean(for: nil) }

    /// Removes what is too old or too much.
    ///
    /// - Parameter newest: The one that is kept from now on. Others that somebody works on are not kept yet: they neither
    ///   go nor take room.
    private func clean(for newest: PartialFile?) {
        var kept: [Kept] = []
        for name in Files.names(in: path) {
            let place = "\(path)/\(name)"
            if name.hasSuffix(".note") {
                // A note without its file.
                if access(String(place.dropLast(5)), F_OK) != 0 { unlink(place) }
                continue
            }
            guard let stamp = FileStamp(path: place) else { continue }
            if Self.isOld(stamp) {
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

    /// Removes everything that nobody works on.
    package func clear() {
        for name in Files.names(in: path) where !name.hasSuffix(".note") { _ = Self.clear("\(path)/\(name)") }
    }

    private func prepare() throws {
        if !Files.isFolder(path) {
            // Makes the folders above it.
            _ = try folder.partialPath()
            try Files.makeFolder(path)
        }
        clean()
    }

    private func write(_ text: String, to path: String) -> Bool {
        guard let draft = try? folder.partialPath("note"), let descriptor = try? Files.create(draft) else {
            return false
        }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard (try? bytes.withUnsafeBytes { try Files.writeAll($0, to: descriptor, draft) }) != nil,
            rename(draft, path) == 0
        else {
            unlink(draft)
            return false
        }
        return true
    }

    private static func isOld(_ stamp: FileStamp) -> Bool {
        wallSeconds() - stamp.modified / 1_000_000_000 >= ageLimit
    }

    /// Locks a file, unless another has it or it is no longer the one at its place.
    private static func lock(_ descriptor: Int32, at path: String) -> Bool {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, let stamp = FileStamp(descriptor: descriptor) else {
            return false
        }
        return FileStamp(path: path)?.inode == stamp.inode
    }

    /// Whether nobody works on a file.
    private static func isFree(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return lock(descriptor, at: path)
    }

    /// Removes a file and its note.
    ///
    /// - Returns: Whether nobody has it now: false if it is locked.
    private static func clear(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        guard lock(descriptor, at: path) else { return false }
        unlink(path + ".note")
        return unlink(path) == 0
    }
}

/// A body that was begun, in a file that stays locked as long as this lives.
package final class PartialFile: Sendable {
    package let descriptor: Int32
    package let path: String
    package let inode: UInt64
    /// The text beside the file.
    package let note: String
    /// The number of bytes that were there when it was taken.
    package let count: Int
    private let folder: ResumeFolder

    fileprivate init(_ folder: ResumeFolder, _ descriptor: Int32, _ path: String, _ stamp: FileStamp, note: String) {
        (self.folder, self.descriptor, self.path, self.note) = (folder, descriptor, path, note)
        (inode, count) = (stamp.inode, stamp.size)
    }

    /// Keeps it, as far as there is room: older ones give way.
    package func keep() { folder.keep(self) }

    deinit { close(descriptor) }

    /// Lets others go on with it, though somebody may still hold this. Nothing is done with it afterwards.
    package func letGo() { flock(descriptor, LOCK_UN) }

    /// Removes it: it is of no use.
    package func drop() {
        unlink(path + ".note")
        unlink(path)
    }

    /// Gives the file, which is whole now, another name.
    package func handOver(to target: String) throws {
        unlink(path + ".note")
        guard rename(path, target) == 0 else { throw SystemError(errno, "name", target) }
    }
}
