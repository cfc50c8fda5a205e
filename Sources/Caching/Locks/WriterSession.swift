internal import Glibc
internal import Platform
internal import Synchronization

/// The mark of a process that writes into a cache folder: a file that it keeps locked as long as it lives.
///
/// Drafts bear the session's name; so others can tell what a dead process left, also when its number is another's by now or
/// was given in another container.
package final class WriterSession: Sendable {
    private struct Mark: Sendable {
        let name: String
        let path: String
        let inode: UInt64
    }

    private struct State: ~Copyable {
        var mark: Mark?
        var file: Descriptor?
    }

    private let folder: String
    private let isShared: Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - folder: The folder with the locked files of all processes.
    ///   - isShared: `true` when those of other users can lock the file of one that is dead.
    init(folder: String, isShared: Bool) { (self.folder, self.isShared) = (folder, isShared) }

    deinit { end() }

    /// The name of a session that has begun, whatever has become of its file.
    var knownName: String? { state.withLock { $0.mark }?.name }

    /// The session's name, begun if need be; `nil` when its file is gone or cannot be made.
    func name(begins: Bool) throws -> String? {
        // With no lock held: every write asks, and threads that wait for one another here cost more than the look.
        if let mark = state.withLock({ $0.mark }), isIntact(mark) { return mark.name }
        return try state.withLock { state in
            if let mark = state.mark, isIntact(mark) { return mark.name }
            state = State()
            while begins, state.mark == nil {
                let name = "\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))"
                let file = try Descriptor(creating: path(name))
                if isShared { fchmod(file.number, 0o660) }
                // Another process may have taken it for a dead one's before it was locked, and removed it.
                // Where there are no locks, nobody can take the mark for a dead one's either.
                guard file.lock() || errno != EWOULDBLOCK, let stamp = file.stamp,
                    FileStamp(path: file.path)?.inode == stamp.inode
                else { continue }
                state.mark = Mark(name: name, path: file.path, inode: stamp.inode)
                state.file = consume file
            }
            return state.mark?.name
        }
    }

    /// `true` when the session's file is still the one it has locked.
    private func isIntact(_ mark: Mark) -> Bool { FileStamp(path: mark.path)?.inode == mark.inode }

    /// Ends the session, and removes its file.
    package func end() {
        state.withLock { state in
            if let mark = state.mark, isIntact(mark) { unlink(mark.path) }
            state = State()
        }
    }

    /// A session whose process is dead, with its file locked.
    final class Dead: Sendable {
        let name: String
        private let file: Descriptor

        fileprivate init?(_ name: String, _ path: String) {
            guard let file = try? Descriptor(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK), file.lock() else { return nil }
            self.name = name
            self.file = file
        }

        /// Removes the mark: no file of the session is left.
        func removeMark() { unlink(file.path) }
    }

    /// The sessions whose processes are dead.
    func dead() throws -> [Dead] {
        let own = knownName
        return try Files.names(in: folder).compactMap { entry in
            let name = String(entry.dropLast(Self.suffix.count))
            return entry.hasSuffix(Self.suffix) && name != own ? Dead(name, path(name)) : nil
        }
    }

    /// `true` when a session of that name is marked, living or dead; also when that cannot be told.
    func isMarked(_ name: String) -> Bool { access(path(name), F_OK) == 0 || errno != ENOENT }

    /// `true` when a session may be called so: one without a mark has ended.
    static func isName(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && Int32(parts[0]) != nil && UInt64(parts[1], radix: 36) != nil
    }

    private static let suffix = ".session"

    private func path(_ name: String) -> String { "\(folder)/\(name)\(Self.suffix)" }
}
