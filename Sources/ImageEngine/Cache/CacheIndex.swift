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

    fileprivate static func inode(_ path: String) -> UInt64? {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }
}

extension CacheIndex {
    static let version = 1

    fileprivate static let columns = """
        id, name, key, identifier, extension, format, width, height, frames, bytes, allocated, checksum, url, etag, \
        last_modified, stored_at, expires_at, lifetime, modified
        """

    fileprivate static let schema = """
        CREATE TABLE IF NOT EXISTS entries(
            id INTEGER PRIMARY KEY, name BLOB NOT NULL, key TEXT NOT NULL, identifier TEXT NOT NULL, extension TEXT NOT NULL,
            format TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, frames INTEGER NOT NULL,
            bytes INTEGER NOT NULL, allocated INTEGER NOT NULL, checksum BLOB, url TEXT, etag TEXT, last_modified TEXT,
            stored_at INTEGER NOT NULL, expires_at INTEGER, lifetime INTEGER, modified INTEGER NOT NULL,
            used INTEGER NOT NULL);
        CREATE INDEX IF NOT EXISTS entries_used ON entries(used);
        CREATE INDEX IF NOT EXISTS entries_variants ON entries(key) WHERE identifier <> '';
        CREATE TABLE IF NOT EXISTS totals(
            count INTEGER NOT NULL, bytes INTEGER NOT NULL, allocated INTEGER NOT NULL, adopting INTEGER NOT NULL);
        INSERT INTO totals SELECT 0, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM totals);
        CREATE TRIGGER IF NOT EXISTS entry_added AFTER INSERT ON entries BEGIN
            UPDATE totals SET count = count + 1, bytes = bytes + new.bytes, allocated = allocated + new.allocated;
        END;
        CREATE TRIGGER IF NOT EXISTS entry_removed AFTER DELETE ON entries BEGIN
            UPDATE totals SET count = count - 1, bytes = bytes - old.bytes, allocated = allocated - old.allocated;
        END;
        CREATE TRIGGER IF NOT EXISTS entry_changed AFTER UPDATE OF bytes, allocated ON entries BEGIN
            UPDATE totals SET bytes = bytes - old.bytes + new.bytes, allocated = allocated - old.allocated + new.allocated;
        END;
        PRAGMA user_version = 1;
        """

    /// The reading connection with its statements.
    final class Reader {
        fileprivate let inode: UInt64?
        private let find: SQLiteStatement
        private let sum: SQLiteStatement
        private let database: SQLiteDatabase

        fileprivate init(path: String) throws(SQLiteDatabase.Failure) {
            inode = CacheIndex.inode(path)
            database = try SQLiteDatabase(path: path, creates: false)
            find = try database.prepare("SELECT \(CacheIndex.columns) FROM entries WHERE id = ?1")
            sum = try database.prepare("SELECT count, bytes, allocated FROM totals")
        }

        fileprivate func row(_ number: Int64) throws(SQLiteDatabase.Failure) -> Row? {
            find.bind(1, number)
            guard try find.step() else { return nil }
            defer { find.reset() }
            return Row(find)
        }

        fileprivate func totals() throws(SQLiteDatabase.Failure) -> Totals? {
            guard try sum.step() else { return nil }
            defer { sum.reset() }
            return Totals(count: sum.integer(0), bytes: sum.integer(1), allocated: sum.integer(2))
        }
    }

    /// The writing connection with its statements; its methods are called within ``CacheIndex/write(_:)``.
    final class Writer {
        fileprivate let inode: UInt64?
        /// Whether the folder may hold images that the index does not know.
        let isAdopting: Bool
        private let begin: SQLiteStatement
        private let commit: SQLiteStatement
        private let find: SQLiteStatement
        private let upsert: SQLiteStatement
        private let delete: SQLiteStatement
        private let sum: SQLiteStatement
        private let oldest: SQLiteStatement
        private let variants: SQLiteStatement
        private let touch: SQLiteStatement
        private let settle: SQLiteStatement
        private let database: SQLiteDatabase

        fileprivate init(path: String, hasImages: Bool) throws(SQLiteDatabase.Failure) {
            database = try SQLiteDatabase(path: path, creates: true)
            chmod(path, 0o600)
            try database.execute(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 8388608;"
                    + "PRAGMA wal_autocheckpoint = 2000;")
            let version = try database.prepare("PRAGMA user_version")
            _ = try version.step()
            let found = version.integer(0)
            version.reset()
            guard found <= CacheIndex.version else {
                // Put aside like a damaged one: the images are adopted, and nothing fails for ever.
                throw SQLiteDatabase.Failure(code: 26, message: "it is of version \(found), made by a newer halcyon")
            }
            if found < CacheIndex.version {
                let adopts = hasImages ? "UPDATE totals SET adopting = 1;" : ""
                try database.execute("BEGIN IMMEDIATE; \(CacheIndex.schema) \(adopts) COMMIT;")
            }
            inode = CacheIndex.inode(path)
            let adopting = try database.prepare("SELECT adopting FROM totals")
            isAdopting = try adopting.step() && adopting.integer(0) != 0
            adopting.reset()
            begin = try database.prepare("BEGIN IMMEDIATE")
            commit = try database.prepare("COMMIT")
            find = try database.prepare("SELECT \(CacheIndex.columns) FROM entries WHERE id = ?1")
            let next = "(SELECT coalesce(max(used), 0) + 1 FROM entries)"
            let changes = CacheIndex.columns.split(separator: ", ").dropFirst().map { "\($0) = excluded.\($0)" }
            upsert = try database.prepare(
                """
                INSERT INTO entries(\(CacheIndex.columns), used)
                VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \(next))
                ON CONFLICT(id) DO UPDATE SET \(changes.joined(separator: ", ")), used = excluded.used
                """)
            delete = try database.prepare("DELETE FROM entries WHERE id = ?1")
            sum = try database.prepare("SELECT count, bytes, allocated FROM totals")
            oldest = try database.prepare("SELECT \(CacheIndex.columns) FROM entries ORDER BY used LIMIT ?1")
            variants = try database.prepare(
                "SELECT \(CacheIndex.columns) FROM entries WHERE key = ?1 AND identifier <> ''")
            touch = try database.prepare(
                "UPDATE entries SET used = \(next), expires_at = ?2 WHERE id = ?1 AND modified = ?3")
            settle = try database.prepare("UPDATE entries SET modified = ?2 WHERE id = ?1")
        }

        fileprivate func transaction<Value>(_ body: (Writer) throws -> Value) throws -> Value {
            try begin.run()
            do {
                let value = try body(self)
                try commit.run()
                return value
            } catch {
                try? database.execute("ROLLBACK")
                throw error
            }
        }

        func row(_ number: Int64) throws(SQLiteDatabase.Failure) -> Row? {
            find.bind(1, number)
            guard try find.step() else { return nil }
            defer { find.reset() }
            return Row(find)
        }

        func put(_ row: Row) throws(SQLiteDatabase.Failure) {
            upsert.bind(1, row.number)
            upsert.bind(2, row.name.bytes)
            upsert.bind(3, row.key)
            upsert.bind(4, row.identifier)
            upsert.bind(5, row.fileExtension)
            upsert.bind(6, row.header.format.rawValue)
            upsert.bind(7, row.header.width)
            upsert.bind(8, row.header.height)
            upsert.bind(9, row.header.frameCount)
            upsert.bind(10, row.byteCount)
            upsert.bind(11, row.allocated)
            upsert.bind(12, row.checksum?.bytes)
            upsert.bind(13, row.origin.url)
            upsert.bind(14, row.origin.etag)
            upsert.bind(15, row.origin.lastModified)
            upsert.bind(16, row.storedAt)
            upsert.bind(17, row.expiresAt)
            upsert.bind(18, row.lifetime)
            upsert.bind(19, row.modified)
            try upsert.run()
        }

        func remove(_ number: Int64) throws(SQLiteDatabase.Failure) {
            delete.bind(1, number)
            try delete.run()
        }

        func totals() throws(SQLiteDatabase.Failure) -> Totals {
            guard try sum.step() else { return Totals() }
            defer { sum.reset() }
            return Totals(count: sum.integer(0), bytes: sum.integer(1), allocated: sum.integer(2))
        }

        /// Up to `limit` entries, the least recently used first.
        func leastRecentlyUsed(_ limit: Int) throws(SQLiteDatabase.Failure) -> [Row] {
            oldest.bind(1, limit)
            return try rows(oldest)
        }

        /// The entries made from `key` by processors.
        func variants(of key: String) throws(SQLiteDatabase.Failure) -> [Row] {
            variants.bind(1, key)
            return try rows(variants)
        }

        /// Makes the entry the most recently used, living until `expiresAt`; unless its file is another by now.
        func touch(_ number: Int64, modified: Int, expiresAt: Int?) throws(SQLiteDatabase.Failure) {
            touch.bind(1, number)
            touch.bind(2, expiresAt)
            touch.bind(3, modified)
            try touch.run()
        }

        /// Takes note of another time of change for the same content.
        func settle(_ number: Int64, modified: Int) throws(SQLiteDatabase.Failure) {
            settle.bind(1, number)
            settle.bind(2, modified)
            try settle.run()
        }

        /// Every image in the folder is known from now on.
        fileprivate func endAdopting() throws(SQLiteDatabase.Failure) {
            try database.execute("UPDATE totals SET adopting = 0")
        }

        func removeAll() throws(SQLiteDatabase.Failure) {
            // Without the trigger per row: the totals are known to become zero.
            try database.execute(
                "DROP TRIGGER entry_removed; DELETE FROM entries; UPDATE totals SET count = 0, bytes = 0, allocated = 0;"
                    + CacheIndex.schema)
        }

        private func rows(_ statement: SQLiteStatement) throws(SQLiteDatabase.Failure) -> [Row] {
            var rows: [Row] = []
            while try statement.step() {
                if let row = Row(statement) { rows.append(row) }
            }
            return rows
        }
    }
}

extension CacheIndex.Row {
    /// Seconds that a row may speak of: up to the year 9999.
    private static let times = 0...253_402_300_799

    /// Reads a row; nil if it says what no version of ours would write.
    fileprivate init?(_ statement: SQLiteStatement) {
        guard let format = statement.text(5).flatMap(ImageFormat.init(rawValue:)),
            let name = statement.blob(1), name.count == 32,
            let header = try? ImageHeader(
                format, statement.integer(6), statement.integer(7), frames: statement.integer(8))
        else { return nil }
        self.name = Digest(bytes: name)
        key = statement.text(2) ?? ""
        identifier = statement.text(3) ?? ""
        fileExtension = statement.text(4) ?? ""
        self.header = header
        byteCount = statement.integer(9)
        allocated = statement.integer(10)
        checksum = statement.blob(11).map(Digest.init(bytes:))
        origin = ImageOrigin(url: statement.text(12), etag: statement.text(13), lastModified: statement.text(14))
        storedAt = statement.integer(15)
        expiresAt = statement.optionalInteger(16)
        lifetime = statement.optionalInteger(17)
        modified = statement.integer(18)
        // The extension becomes part of a path, and the times are calculated with.
        guard StorageFolder.isExtension(fileExtension), byteCount >= 0,
            Self.times.contains(storedAt), Self.times.contains(lifetime ?? 0)
        else { return nil }
    }
}
