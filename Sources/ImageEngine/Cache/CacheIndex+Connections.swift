internal import Glibc

/// The two connections to the index and the statements they keep.
extension CacheIndex {
    static let version = 1

    static let columns = """
        id, name, key, identifier, extension, format, width, height, frames, bytes, allocated, checksum, url, etag, \
        last_modified, stored_at, expires_at, lifetime, modified
        """

    static let schema = """
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
        let inode: UInt64?
        private let find: SQLiteStatement
        private let sum: SQLiteStatement
        private let database: SQLiteDatabase

        init(path: String) throws(SQLiteDatabase.Failure) {
            inode = CacheIndex.inode(path)
            database = try SQLiteDatabase(path: path, creates: false)
            find = try database.prepare("SELECT \(CacheIndex.columns) FROM entries WHERE id = ?1")
            sum = try database.prepare("SELECT count, bytes, allocated FROM totals")
        }

        func row(_ number: Int64) throws(SQLiteDatabase.Failure) -> Row? {
            find.bind(1, number)
            guard try find.step() else { return nil }
            defer { find.reset() }
            return Row(find)
        }

        func totals() throws(SQLiteDatabase.Failure) -> Totals? {
            guard try sum.step() else { return nil }
            defer { sum.reset() }
            return Totals(count: sum.integer(0), bytes: sum.integer(1), allocated: sum.integer(2))
        }
    }

    /// The writing connection with its statements; its methods are called within ``CacheIndex/write(_:)``.
    final class Writer {
        let inode: UInt64?
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

        init(path: String, hasImages: Bool) throws(SQLiteDatabase.Failure) {
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

        func transaction<Value>(_ body: (Writer) throws -> Value) throws -> Value {
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
        func endAdopting() throws(SQLiteDatabase.Failure) {
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
    init?(_ statement: SQLiteStatement) {
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
