internal import Glibc
internal import Platform
internal import Synchronization

/// The mark of a process that writes into a cache folder: a file that it keeps locked as long as it lives.
///
/// What it is writing bears the session's name; so others can tell what a dead process left, also when its number is
/// another's by now or was given in another container.
package final class WriterSession: Sendable {
    private struct Mark: Sendable {
        let name: String
        let descriptor: Int32
        let inode: UInt64
    }

    private let folder: String
    private let mark = Mutex<Mark?>(nil)

    /// - Parameter folder: Where the locked files of all processes are.
    init(folder: String) { self.folder = folder }

    deinit { end() }

    /// The name of a session that has begun, whatever has become of its file.
    var knownName: String? { mark.withLock { $0?.name } }

    /// The session's name, begun if need be; nil when its file is gone or cannot be made.
    func name(begins: Bool) throws -> String? {
        // With no lock held: every write asks, and threads that wait for one another here cost more than the look.
        if let open = mark.withLock({ $0 }), isIntact(open) { return open.name }
        return try mark.withLock { mark in
            if let open = mark {
                if isIntact(open) { return open.name }
                close(open.descriptor)
                mark = nil
            }
            guard begins else { return nil }
            let fresh = try begin()
            mark = fresh
            return fresh.name
        }
    }

    /// Whether the session's file is still the one it has locked.
    private func isIntact(_ mark: Mark) -> Bool { FileStamp(path: path(mark.name))?.inode == mark.inode }

    private func begin() throws -> Mark {
        while true {
            let name = "\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))"
            let descriptor = try Files.create(path(name))
            // Somebody may have taken it for a dead one's before it was locked, and removed it.
            // Where there are no locks, nobody can take the mark for a dead one's either.
            let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
            guard isLocked, let stamp = FileStamp(descriptor: descriptor),
                FileStamp(path: path(name))?.inode == stamp.inode
            else {
                close(descriptor)
                continue
            }
            return Mark(name: name, descriptor: descriptor, inode: stamp.inode)
        }
    }

    /// Ends the session: its file goes.
    package func end() {
        mark.withLock { mark in
            guard let open = mark else { return }
            if isIntact(open) { unlink(path(open.name)) }
            close(open.descriptor)
            mark = nil
        }
    }

    /// The sessions whose processes are dead, each with its open and locked file; to be given to ``bury(_:)``.
    func dead() -> [Dead] {
        let own = mark.withLock { $0?.name }
        return Files.names(in: folder).compactMap { entry in
            guard entry.hasSuffix(Self.suffix) else { return nil }
            let name = String(entry.dropLast(Self.suffix.count))
            if name == own { return nil }
            let descriptor = open(path(name), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { return nil }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                return nil
            }
            return Dead(name: name, descriptor: descriptor)
        }
    }

    /// A session whose process is dead.
    struct Dead: Sendable {
        let name: String
        fileprivate let descriptor: Int32
    }

    /// Removes the mark of a dead session, whose files are gone.
    ///
    /// - Parameter keepsMark: Some are not: it is left for the next one to find.
    func bury(_ session: Dead, keepsMark: Bool) {
        if !keepsMark { unlink(path(session.name)) }
        close(session.descriptor)
    }

    /// Whether a session of that name is marked, living or dead.
    func isMarked(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

    /// Whether `text` is what a session may be called: a session without a mark has ended.
    static func isName(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && Int32(parts[0]) != nil && UInt64(parts[1], radix: 36) != nil
    }

    private static let suffix = ".session"

    private func path(_ name: String) -> String { "\(folder)/\(name)\(Self.suffix)" }
}
