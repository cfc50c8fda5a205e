internal import Glibc
internal import Platform
internal import Synchronization

/// Where bodies that broke off are kept until somebody asks for the same again, also after a restart (C-16).
///
/// Each is a file called like the request's digest, with a note beside it. Who works on one keeps its file locked.
final class ResumeFolder: Sendable {
    /// How many are kept.
    static let countLimit = 32
    /// For how many seconds.
    static let ageLimit = 86_400
    /// How many bytes are kept in all where the disk tier has no limit; see ``bytesLimit(beside:)``.
    static let bytesLimit = 1 << 30
    /// A body that got less far is not worth keeping.
    static let smallest = 64 << 10

    /// A body that is there.
    private struct Kept {
        let path: String
        let modified: Int
        let count: Int
    }

    private let folder: StorageFolder
    private var path: String { folder.path + "/partial/" + StorageFolder.resumeName }

    init(_ folder: StorageFolder) { self.folder = folder }

    /// The body that was begun for a request, if there is one and nobody else goes on with it.
    func take(_ identity: @autoclosure () -> Digest) -> ResumePart? {
        // Most caches have never had any: of those who ask together one looks.
        if Afterwards.hasSeen(self) { return nil }
        guard StorageFolder.isFolder(path) else {
            Afterwards.noteSeen(self)
            return nil
        }
        let place = "\(path)/\(identity().hex)"
        let descriptor = open(place, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard Self.lock(descriptor, at: place), let stamp = FileStamp(descriptor: descriptor),
            stamp.size >= Self.smallest, !Self.isOld(stamp),
            let bytes = try? StorageFolder.read(place + ".note", followsLinks: false),
            let note = ResumeNote.read(String(decoding: bytes, as: UTF8.self), inode: stamp.inode),
            note.total.map({ stamp.size < $0 }) ?? true, lseek(descriptor, 0, SEEK_END) == off_t(stamp.size)
        else {
            close(descriptor)
            return nil
        }
        return ResumePart(descriptor: descriptor, path: place, note: note, count: stamp.size)
    }

    /// A new file for the body of a request, with its note; nil when somebody else works on the same, or there can be
    /// none.
    func begin(_ identity: Digest, _ note: ResumeNote) -> ResumePart? {
        let place = "\(path)/\(identity.hex)"
        guard (try? prepare()) != nil else { return nil }
        if !Self.clear(place) { return nil }
        guard let descriptor = try? StorageFolder.create(place) else { return nil }
        guard Self.lock(descriptor, at: place), let stamp = FileStamp(descriptor: descriptor),
            write(note.text(inode: stamp.inode), to: place + ".note")
        else {
            close(descriptor)
            return nil
        }
        return ResumePart(descriptor: descriptor, path: place, note: note, count: 0)
    }

    /// How many bytes are kept in all: a quarter of what the disk tier may hold.
    ///
    /// - Parameter limit: That of the disk tier; 0 for none.
    static func bytesLimit(beside limit: Int) -> Int { limit > 0 ? limit / 4 : bytesLimit }

    /// Keeps a body that broke off, as far as there is room: older ones give way.
    func keep(_ part: ResumePart) { clean(for: part) }

    /// Removes what is too old or too much.
    func clean() { clean(for: nil) }

    /// Removes what is too old or too much.
    ///
    /// - Parameter newest: The one that is kept from now on. Others that somebody works on are not kept yet: they neither
    ///   go nor take room.
    private func clean(for newest: ResumePart?) {
        var kept: [Kept] = []
        for name in StorageFolder.names(in: path) {
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
    func clear() {
        for name in StorageFolder.names(in: path) where !name.hasSuffix(".note") { _ = Self.clear("\(path)/\(name)") }
    }

    private func prepare() throws {
        if !StorageFolder.isFolder(path) {
            // Makes the folders above it.
            _ = try folder.partialPath()
            try StorageFolder.makeFolder(path)
        }
        clean()
    }

    private func write(_ text: String, to path: String) -> Bool {
        guard let draft = try? folder.partialPath("note"), let descriptor = try? StorageFolder.create(draft) else {
            return false
        }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard (try? bytes.withUnsafeBytes { try StorageFolder.writeAll($0, to: descriptor, draft) }) != nil,
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
final class ResumePart: Sendable {
    let descriptor: Int32
    let path: String
    let note: ResumeNote
    /// How many bytes were there when it was taken.
    let count: Int

    fileprivate init(descriptor: Int32, path: String, note: ResumeNote, count: Int) {
        (self.descriptor, self.path, self.note, self.count) = (descriptor, path, note, count)
    }

    deinit { close(descriptor) }

    /// Lets others go on with it, though somebody may still hold this. Nothing is done with it afterwards.
    func letGo() { flock(descriptor, LOCK_UN) }

    /// Removes it: it is of no use.
    func drop() {
        unlink(path + ".note")
        unlink(path)
    }

    /// Gives the file, which is whole now, another name.
    func handOver(to target: String) throws {
        unlink(path + ".note")
        guard rename(path, target) == 0 else { throw StorageFailure(errno, "name", target) }
    }
}

/// Where bodies are gathered.
struct SpoolPlace: Sendable {
    /// Gives a new path for a body too large for memory.
    let makePath: @Sendable () throws -> String
    /// Where those are kept that broke off.
    var resume: ResumeFolder?
    /// Make temporary files, one after the other, for those that have no place there.
    var spares = UnnamedFile.places
}

extension DownloadRequest {
    /// Whether the rest of a body may be asked for: not when the caller or the cache asks for something particular, nor
    /// when a delegate may have a say in what is sent, for then we do not know with which credentials it was fetched.
    var canResume: Bool {
        validators == nil && method == .get
            && delegates?.questions.isDisjoint(with: [.modifyRequest, .redirect, .challenge]) ?? true
            && !headers.contains { field in
                let name = field.name.lowercased()
                return name.hasPrefix("if-") || name == "range" || name == "accept-encoding"
                    || name == "cache-control" && CacheControl(field.value).noStore
            }
    }

    /// What two requests have in common that have the same body: everything that is sent.
    var resumeIdentity: Digest { flight(to: CacheKey("")) }
}
