internal import Glibc
internal import ImageServer
internal import Platform
internal import Synchronization

/// The counters of a server in a file beside its caches, for `halcyon stats`.
///
/// The file is locked as long as the server lives, so that others can tell however it ends. Each state is a new file that takes
/// the place of the one before: whoever reads finds a whole one.
final class CountersFile: Sendable {
    /// The time between two looks at the counters, in seconds.
    private static let interval = 2
    private static let suffix = ".json"

    private struct State: ~Copyable {
        /// The file in its place, open and locked.
        var file: Descriptor?
        var content: [UInt8] = []
        var hasEnded = false
    }

    private let root: String
    private let path: String
    private let server: ImageServer
    private let state = Mutex(State())

    /// - Parameter root: The folder of the caches.
    init(_ root: String, _ server: ImageServer) {
        // In containers several processes have one number.
        let name = "\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        (self.root, self.server, path) = (root, server, "\(Self.folder(in: root))/\(name)\(Self.suffix)")
    }

    /// No cache can be called so.
    private static func folder(in root: String) -> String { root + "/.servers" }

    /// Writes the counters when they have changed, as long as this object is there.
    func start() {
        Task.detached(priority: .background) { [weak self] in
            while true {
                try? await Task.sleep(for: .seconds(Self.interval))
                guard let self else { return }
                self.write()
            }
        }
    }

    private func write() {
        let content = server.counters
        state.withLock { state in
            let isWritten = content == state.content && Self.inode(path) == state.file?.stamp?.inode
            if state.hasEnded || isWritten || !Self.isOwn(root) { return }
            try? place(content, &state)
        }
    }

    private func place(_ content: [UInt8], _ state: inout State) throws {
        try Files.makeFolder(Self.folder(in: root))
        // Whether or not somebody ever reads what is there.
        if state.content.isEmpty { _ = try Self.living(in: root) }
        let draft = path + ".part"
        let file = try Descriptor(creating: draft)
        do {
            guard file.lock() else { throw SystemError(errno, "lock", draft) }
            try content.withUnsafeBytes { try Files.writeAll($0, to: file.number, draft) }
            guard rename(draft, path) == 0 else { throw SystemError(errno, "rename", draft) }
        } catch {
            unlink(draft)
            throw error
        }
        state.file = consume file
        state.content = content
    }

    /// Removes the file, for the server ends.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            if let inode = state.file?.stamp?.inode, inode == Self.inode(path) { unlink(path) }
        }
    }

    /// The number of a file; `nil` when there is none.
    private static func inode(_ path: String) -> UInt64? { FileStamp(path: path)?.inode }

    /// `true` for a folder of our own: in that of another user the names may lead anywhere.
    private static func isOwn(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }

    // MARK: Reading

    /// The counters of the servers that live, with the numbers of their processes. What dead ones have left is removed.
    static func living(in root: String) throws -> [(process: Int, content: [UInt8])] {
        let folder = folder(in: root)
        return try Files.names(in: folder).sorted().compactMap { name in
            guard let process = name.split(separator: "-").first.flatMap({ Int($0) }),
                let content = content(of: "\(folder)/\(name)"), name.hasSuffix(suffix)
            else { return nil }
            return (process, content)
        }
    }

    /// The content of the file of a server that lives; `nil` for a dead one's, which is removed.
    private static func content(of path: String) -> [UInt8]? {
        for _ in 1...5 {
            guard let file = try? Descriptor(reading: path) else { return nil }
            if !file.lock() { return file.stamp.flatMap { try? file.bytes($0.size) } }
            // Its server has ended, unless it has just put a new one in its place.
            if inode(path) == file.stamp?.inode {
                unlink(path)
                return nil
            }
        }
        return nil
    }
}
