internal import Glibc
internal import Synchronization

/// The index of one cache folder, shared by all processes on it: what is there, how large, how long, when last used.
///
/// It is a cache of the folder's truth: a damaged one is put aside and begun anew. Two connections are kept, one for
/// reading and one for writing, so that a lookup never waits for a store. Totals are kept by triggers, hence O(1).
/// Order of use is a running number, not a time.
final class CacheIndex: Sendable {
    /// One entry as the index knows it.
    struct Row: Sendable {
        /// The digest of the computed key, which names the file.
        var name: Digest
        var number: Int64 { name.rowNumber }
        var key: String
        var identifier: String
        var fileExtension: String
        var header: ImageHeader
        var byteCount: Int
        var allocated: Int
        var checksum: Digest?
        var origin: ImageOrigin
        var storedAt: Int
        var expiresAt: Int?
        var lifetime: Int?
        var modified: Int
    }

    struct Totals: Equatable, Sendable {
        var count = 0
        var bytes = 0
        var allocated = 0
    }

    private let path: String
    private let reader = Mutex<Reader?>(nil)
    private let writer = Mutex<Writer?>(nil)

    private let onAdopting: @Sendable () -> Void
    private let hasImages: @Sendable () -> Bool
    private let adopting = Atomic(false)

    /// - Parameters:
    ///   - path: Of the index file, which is made at the first write.
    ///   - hasImages: Whether a new index begins in a folder that has images already.
    ///   - onAdopting: Called when the index was begun in a folder that had images already, until
    ///     ``Writer/endAdopting()``. Must not wait.
    init(
        path: String, hasImages: @escaping @Sendable () -> Bool, onAdopting: @escaping @Sendable () -> Void
    ) {
        self.path = path
        self.hasImages = hasImages
        self.onAdopting = onAdopting
    }

    /// Whether the folder may hold images that the index does not know.
    var isAdopting: Bool { adopting.load(ordering: .relaxed) }

    /// Every image in the folder is known from now on.
    func endAdopting() throws {
        try write { try $0.endAdopting() }
        adopting.store(false, ordering: .relaxed)
    }

    /// Whether there is an index at all.
    var exists: Bool { Self.inode(path) != nil }

    // MARK: Reading

    /// The entry with `number`, or nil.
    ///
    /// - Complexity: One B-tree lookup, O(log *n*).
    func row(_ number: Int64) throws -> Row? {
        try reading(or: nil) { try $0.row(number) }
    }

    /// Sums over all entries, in O(1).
    func totals() throws -> Totals {
        try reading(or: Totals(), checksFile: true) { try $0.totals() }
    }

    private func reading<Value: Sendable>(
        or missing: Value, checksFile: Bool = false, _ body: @Sendable (Reader) throws -> Value?
    ) throws -> Value {
        let damaged = Self.inode(path)
        do {
            return try readingOnce(or: missing, checksFile: checksFile, body)
        } catch let failure as SQLiteDatabase.Failure where failure.isCorruption || failure.isForeign {
            reader.withLock { $0 = nil }
            if failure.isCorruption { putAside(damaged) }
            return missing
        } catch let failure as SQLiteDatabase.Failure where failure.isUnopened {
            // Perhaps somebody is just putting a damaged index aside: looked at again when that is done.
            close(Self.lock(path))
            return try readingOnce(or: missing, checksFile: checksFile, body)
        }
    }

    private func readingOnce<Value: Sendable>(
        or missing: Value, checksFile: Bool, _ body: @Sendable (Reader) throws -> Value?
    ) throws -> Value {
        try reader.withLock { slot in
            if checksFile, let open = slot, open.inode != Self.inode(path) { slot = nil }
            if let open = slot {
                let value = try body(open)
                // A miss may mean that the folder was replaced under us; whoever replaced it wrote a new file.
                if value != nil || open.inode == Self.inode(path) { return value ?? missing }
                slot = nil
            }
            guard Self.inode(path) != nil else { return missing }
            let fresh = try Reader(path: path)
            let value = try body(fresh)
            slot = fresh
            return value ?? missing
        }
    }

    // MARK: Writing

    /// Runs `body` in one transaction that excludes every other writer of every process.
    func write<Value: Sendable>(_ body: @Sendable (Writer) throws -> Value) throws -> Value {
        let damaged = Self.inode(path)
        do {
            return try writeOnce(body)
        } catch let failure as SQLiteDatabase.Failure where failure.isCorruption || failure.isForeign {
            writer.withLock { $0 = nil }
            reader.withLock { $0 = nil }
            putAside(damaged)
            return try writeOnce(body)
        }
    }

    private func writeOnce<Value: Sendable>(_ body: @Sendable (Writer) throws -> Value) throws -> Value {
        try writer.withLock { slot in
            if let open = slot, open.inode == Self.inode(path) { return try open.transaction(body) }
            slot = nil
            // One process at a time: changing the journal's mode, once in the life of an index, bears no company.
            let lock = Self.lock(path)
            defer { close(lock) }
            let fresh = try Writer(path: path, hasImages: hasImages())
            slot = fresh
            if fresh.isAdopting {
                adopting.store(true, ordering: .relaxed)
                onAdopting()
            }
            return try fresh.transaction(body)
        }
    }

    /// Moves a damaged index out of the way, so that a new one can be begun.
    ///
    /// Under a lock between processes, and only if the index is still the damaged one: another process may have
    /// begun a new one meanwhile.
    private func putAside(_ damaged: UInt64?) {
        let lock = Self.lock(path)
        defer { close(lock) }
        guard lock >= 0, let damaged, Self.inode(path) == damaged else { return }
        rename(path, path + ".damaged")
        unlink(path + "-wal")
        unlink(path + "-shm")
    }

    /// Takes the lock that processes share for opening and mending the index; it goes with the descriptor.
    private static func lock(_ path: String) -> Int32 {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        while lock >= 0, flock(lock, LOCK_EX) != 0, errno == EINTR {}
        return lock
    }

    static func inode(_ path: String) -> UInt64? {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }
}
