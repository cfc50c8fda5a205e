internal import Glibc
internal import Platform
internal import Synchronization

/// The index of one cache folder, shared by all processes on it: what is there, how large, how long, when last used.
///
/// It is a cache of the folder's truth: a damaged one is put aside and begun anew. Two connections are kept, one for
/// reading and one for writing, so that a lookup never waits for a store. Totals are kept by triggers, hence O(1).
/// Order of use is a running number, not a time.
final class CacheIndex: Sendable {
    struct Totals: Equatable, Sendable {
        var count = 0
        var bytes = 0
        var allocated = 0
        /// Bytes of files that have no entry any more and are kept for a lease.
        var lent = 0
    }

    let path: String
    let clock: CacheClock
    private let reader = Mutex<Reader?>(nil)
    let writer = Mutex<Writer?>(nil)
    /// The writes that may share a transaction; as many as leave it short.
    let convoy = GroupCommit<SharedWrite>(limit: 32)
    private let survey = Mutex<Survey?>(nil)

    private let onAdopting: @Sendable () -> Void
    private let hasImages: @Sendable () -> Bool
    private let finishClearing: @Sendable () throws -> Void
    private let departure: @Sendable () -> Void
    private let unready = Atomic(false)
    private let adopting = Atomic(false)
    private let openings = Atomic(0)
    private let readable = Atomic(false)

    /// - Parameters:
    ///   - path: Of the index file, which is made at the first write.
    ///   - clock: Goes by what the index remembers as soon as it is opened.
    ///   - hasImages: Whether a new index begins in a folder that has images already.
    ///   - onAdopting: Called when the index was begun in a folder that had images already, until
    ///     ``Writer/endAdopting()``. Must not wait.
    ///   - finishClearing: Moves all files away, after all entries were removed.
    ///   - departure: Called after a transaction that left a file which stays only for its lease.
    init(
        path: String, clock: CacheClock, hasImages: @escaping @Sendable () -> Bool,
        onAdopting: @escaping @Sendable () -> Void, finishClearing: @escaping @Sendable () throws -> Void,
        departure: @escaping @Sendable () -> Void = {}
    ) {
        self.path = path
        self.clock = clock
        self.hasImages = hasImages
        self.onAdopting = onAdopting
        self.finishClearing = finishClearing
        self.departure = departure
    }

    /// Whether the folder may hold images that the index does not know.
    var isAdopting: Bool { adopting.load(ordering: .relaxed) }

    /// Every image in the folder is known from now on.
    func endAdopting() throws {
        try write { try $0.endAdopting() }
        adopting.store(false, ordering: .relaxed)
    }

    /// Whether the file is there, but no index yet, or one of an older version: opening it for writing changes that.
    var isUnready: Bool { unready.load(ordering: .relaxed) }

    /// Whether there is a connection for lookups, which the latest of them has found to be that of the file in its place.
    var isOpen: Bool { readable.load(ordering: .relaxed) }

    /// How often a connection was opened: as long as it stays, the folder has not been replaced.
    var generation: Int { openings.load(ordering: .relaxed) }

    /// Whether there is an index at all.
    var exists: Bool { Self.inode(path) != nil }

    // MARK: Reading

    /// The entry with `number`, or nil.
    ///
    /// - Complexity: One B-tree lookup, O(log *n*).
    func row(_ number: Int64) throws -> Row? {
        try reading(or: nil) { try $0.row(number) }
    }

    /// The entry with `number` and all that is known of it, or nil.
    func details(_ number: Int64) throws -> Details? {
        try reading(or: nil) { try $0.details(number) }
    }

    /// Up to four entries with the content that `content` numbers.
    func twins(_ content: Int64) throws -> [Row] {
        try reading(or: []) { try $0.twins(content) }
    }

    /// Sums over all entries, in O(1).
    func totals() throws -> Totals {
        try reading(or: Totals(), checksFile: true) { try $0.totals() }
    }

    /// Makes an index of this version if there is none yet; may take seconds with a large one of an older version.
    func makeReady() throws {
        if isUnready { try write { _ in } }
    }

    private func reading<Value: Sendable>(
        or missing: Value, checksFile: Bool = false, _ body: @Sendable (Reader) throws -> Value?
    ) throws -> Value {
        // The file that was read last, should it turn out to be damaged.
        var damaged: UInt64?
        do {
            return try readingOnce(or: missing, checksFile: checksFile, &damaged, body)
        } catch let failure as SQLiteDatabase.Failure
            where failure.isCorruption || failure.isForeign || failure.isFault
        {
            closeReader()
            // A fault of the moment is over when it is opened anew, and is no reason to give up what is there.
            if !failure.isForeign, let value = try? readingOnce(or: missing, checksFile: checksFile, &damaged, body) {
                return value
            }
            closeReader()
            if !failure.isForeign { try putAside(damaged, after: failure) }
            noteUnready()
            return missing
        } catch let failure as SQLiteDatabase.Failure where failure.isOlder {
            // Making it one of this version may take seconds, which is nothing for those who look.
            noteUnready()
            return missing
        } catch let failure as SQLiteDatabase.Failure where failure.isUnopened {
            // Perhaps somebody is just putting a damaged index aside: looked at again when that is done.
            close(Self.lock(path))
            return try readingOnce(or: missing, checksFile: checksFile, &damaged, body)
        }
    }

    /// Notes that lookups find no index that can be read; another thread may have opened one since this one looked.
    private func noteUnready() {
        reader.withLock { slot in
            if slot == nil { unready.store(true, ordering: .relaxed) }
        }
    }

    private func readingOnce<Value: Sendable>(
        or missing: Value, checksFile: Bool, _ inode: inout UInt64?, _ body: @Sendable (Reader) throws -> Value?
    ) throws -> Value {
        try reader.withLock { slot in
            if checksFile, let open = slot, open.inode != Self.inode(path) { slot = nil }
            if let open = slot {
                inode = open.inode
                let value = try body(open)
                // A miss may mean that the folder was replaced under us; whoever replaced it wrote a new file.
                // Of those that are asked for together one tells that.
                if value != nil || Afterwards.hasSeen(open) { return value ?? missing }
                if open.inode == Self.inode(path) {
                    Afterwards.noteSeen(open)
                    return missing
                }
                slot = nil
            }
            readable.store(false, ordering: .relaxed)
            inode = Self.inode(path)
            guard inode != nil else { return missing }
            let fresh = try Reader(path: path, clock: clock)
            let value = try body(fresh)
            if fresh.isAlone { return value ?? missing }
            slot = fresh
            readable.store(true, ordering: .relaxed)
            unready.store(false, ordering: .relaxed)
            if fresh.isAdopting { beginAdopting() }
            openings.add(1, ordering: .relaxed)
            return value ?? missing
        }
    }

    // MARK: Writing

    /// Runs `body` in one transaction that excludes every other writer of every process.
    ///
    /// - Parameter syncs: Waits until the transaction has reached the disk.
    func write<Value: Sendable>(
        syncs: Bool = false, _ body: @Sendable (Writer) throws -> Value
    ) throws -> Value {
        let found = Self.inode(path)
        if found == nil { mendCutOff() }
        do {
            return try writeOnce(syncs, found, body)
        } catch let failure as SQLiteDatabase.Failure
            where failure.isCorruption || failure.isForeign || failure.isFault
        {
            closeAll()
            if !failure.isForeign {
                // A fault of the moment is over when it is opened anew.
                do { return try writeOnce(syncs, Self.inode(path), body) } catch let again as SQLiteDatabase.Failure
                    where again.isCorruption || again.isCutOff
                { closeAll() }
            }
            try putAside(found ?? Self.inode(path), after: failure)
            return try writeOnce(syncs, Self.inode(path), body)
        } catch let failure as SQLiteDatabase.Failure where failure.isReadOnly {
            // The connections of a process share what they have open beside the file: what one of them opened while
            // nothing could be written keeps the others from writing when it can.
            closeAll()
            return try writeOnce(syncs, Self.inode(path), body)
        }
    }

    /// Begins anew where the file was cut to nothing under open connections: with their log, SQLite would wait for them
    /// in vain.
    private func mendCutOff() {
        guard FileStamp(path: path)?.size == 0, FileStamp(path: path + "-wal") != nil else { return }
        let lock = Self.lock(path)
        defer { close(lock) }
        guard lock >= 0, FileStamp(path: path)?.size == 0 else { return }
        for name in [path, path + "-wal", path + "-shm"] { unlink(name) }
        // Only now: the last one to close writes the log into the file.
        closeAll()
    }

    private func closeReader() {
        reader.withLock { slot in
            slot = nil
            readable.store(false, ordering: .relaxed)
        }
    }

    private func closeAll() {
        writer.withLock { $0 = nil }
        closeReader()
        survey.withLock { $0 = nil }
    }

    private func writeOnce<Value: Sendable>(
        _ syncs: Bool, _ found: UInt64?, _ body: @Sendable (Writer) throws -> Value
    ) throws -> Value {
        try writer.withLock { slot in
            // Another thread may have made it while this one waited.
            if let open = slot, open.inode == found || open.inode == Self.inode(path) {
                do {
                    return try open.transaction(syncs: syncs, body)
                } catch let failure as SQLiteDatabase.Failure where failure.isStuck {
                    // What kept this connection from writing may be over for the next one.
                    slot = nil
                    throw failure
                }
            }
            slot = nil
            // One process at a time: changing the journal's mode, once in the life of an index, bears no company.
            let lock = Self.lock(path)
            defer { close(lock) }
            let fresh = try Writer(
                path: path, clock: clock, hasImages: hasImages(), finishClearing: finishClearing,
                departure: departure)
            unready.store(false, ordering: .relaxed)
            slot = fresh
            openings.add(1, ordering: .relaxed)
            if fresh.isAdopting { beginAdopting() }
            return try fresh.transaction(syncs: syncs, body)
        }
    }

    // MARK: Surveys

    /// Reads with a connection of its own, so that long work keeps no lookup waiting; nil when there is no index.
    func surveying<Value: Sendable>(_ body: @Sendable (Survey) throws -> Value) throws -> Value? {
        let found = Self.inode(path)
        do {
            return try surveyingOnce(body)
        } catch let failure as SQLiteDatabase.Failure
            where failure.isCorruption || failure.isForeign || failure.isOlder
        {
            survey.withLock { $0 = nil }
            if failure.isCorruption { try putAside(found, after: failure) }
            // Opening it for writing makes a whole one of it.
            try write { _ in }
            return try surveyingOnce(body)
        }
    }

    private func surveyingOnce<Value: Sendable>(_ body: @Sendable (Survey) throws -> Value) throws -> Value? {
        try survey.withLock { slot in
            let inode = Self.inode(path)
            if let open = slot, open.inode == inode { return try body(open) }
            slot = nil
            guard inode != nil else { return nil }
            let fresh = try Survey(path: path)
            slot = fresh
            return try body(fresh)
        }
    }

    /// Copies the log of changes into the index, as far as nobody reads; readers and writers go on meanwhile.
    func checkpoint() { _ = try? surveying { try $0.checkpoint() } }

    private func beginAdopting() {
        adopting.store(true, ordering: .relaxed)
        onAdopting()
    }

    /// Moves a damaged index out of the way, so that a new one can be begun.
    ///
    /// Under a lock between processes, and only if the index is still the damaged one: another process may have
    /// begun a new one meanwhile.
    ///
    /// - Throws: `failure` if the file cannot be read at all: that says nothing about what is in it.
    private func putAside(_ damaged: UInt64?, after failure: SQLiteDatabase.Failure) throws {
        if failure.isFault, !failure.isCutOff { throw failure }
        for name in [path, path + "-wal"] where !Self.isReadable(name) { throw failure }
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

    /// Whether a file can be read to its end, or is not there.
    private static func isReadable(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return [ENOENT, ENOTDIR, ELOOP, ENXIO].contains(errno) }
        defer { close(descriptor) }
        guard FileStamp(descriptor: descriptor) != nil else { return true }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return count == 0 }
        }
    }

    /// What tells one index file from another; nil where there is none, or an empty one.
    static func inode(_ path: String) -> UInt64? {
        var status = stat()
        guard path.withCString({ lstat($0, &status) }) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFREG && status.st_size == 0 ? nil : UInt64(status.st_ino)
    }
}
