internal import Platform

/// The tables of the index, and the upgrade of older ones.
enum IndexSchema {
    /// The version that this program writes; in the file it is SQLite's `user_version`. An older index is upgraded in its place.
    ///
    /// Of a folder whose index is newer, a program changes nothing, for it does not know what else has changed there: it neither
    /// reads nor writes entries, removes no file, and says so (``SQLiteDatabase/Failure/isNewer``). So none that is at work when
    /// another upgrades the index may go on: every transaction looks at the version, and so does a lookup after a change of the
    /// tables. What follows for a version to come:
    /// - It adds a table or a column. A number that is higher over the tables of this version comes from damage.
    /// - A record in the ``EntryLog`` grows at its end only, for one is read by older programs too, should the index be lost.
    static let version = 6

    /// The columns that a lookup reads.
    static let columns = """
        id, name, key, identifier, extension, format, width, height, frames, bytes, allocated, checksum, url, etag, \
        last_modified, stored_at, expires_at, lifetime, modified, content, http, preview, timing, source, exact, verdict, \
        orientation, alpha
        """

    /// The columns that only an inspection reads.
    static let details = "host, metadata, used_at, mark, life"

    /// Entries and their sums.
    ///
    /// `content` is one number for all entries that share one file by hard links, so that its bytes count once. `http` is
    /// the server's answer (``HTTPMetadata``); the five columns after it are ``ImageFacts``. `mark` is that of the
    /// ``EntryRecord``, `life` one of the time of expiry, which uses move (``IndexRow/lifeMark``). `unproven_from` and `unproven_to` are the times of storing of entries whose files may not have reached
    /// the disk before the machine went down.
    private static let tables = """
        CREATE TABLE IF NOT EXISTS entries(
            id INTEGER PRIMARY KEY, name BLOB NOT NULL, key TEXT NOT NULL, identifier TEXT NOT NULL, extension TEXT NOT NULL,
            format TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, frames INTEGER NOT NULL,
            bytes INTEGER NOT NULL, allocated INTEGER NOT NULL, checksum BLOB, url TEXT, etag TEXT, last_modified TEXT,
            stored_at INTEGER NOT NULL, expires_at INTEGER, lifetime INTEGER, modified INTEGER NOT NULL,
            used INTEGER NOT NULL, content INTEGER NOT NULL DEFAULT 0, host TEXT, metadata TEXT,
            used_at INTEGER NOT NULL DEFAULT 0, http TEXT, preview TEXT, timing TEXT, source TEXT, exact TEXT, verdict TEXT,
            mark INTEGER, life INTEGER, orientation INTEGER, alpha INTEGER);
        CREATE TABLE IF NOT EXISTS totals(
            count INTEGER NOT NULL, bytes INTEGER NOT NULL, allocated INTEGER NOT NULL, adopting INTEGER NOT NULL,
            lent INTEGER NOT NULL DEFAULT 0, unproven_from INTEGER NOT NULL DEFAULT 1,
            unproven_to INTEGER NOT NULL DEFAULT 0);
        \(oneTotal)
        """

    private static let oneTotal = """
        INSERT INTO totals(count, bytes, allocated, adopting) SELECT 0, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM totals);
        """

    /// Makes version 2 of version 1.
    private static let second = """
        ALTER TABLE entries ADD COLUMN content INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE entries ADD COLUMN host TEXT;
        ALTER TABLE entries ADD COLUMN metadata TEXT;
        ALTER TABLE entries ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
        UPDATE entries SET content = id, used_at = stored_at;
        ALTER TABLE totals ADD COLUMN lent INTEGER NOT NULL DEFAULT 0;
        DROP TRIGGER entry_added; DROP TRIGGER entry_removed; DROP TRIGGER entry_changed;
        """

    /// Makes version 3 of version 2. The freshness of older entries is not known.
    private static let third = "ALTER TABLE entries ADD COLUMN http TEXT;"

    /// Makes version 4 of version 3, which kept the facts as lines at the end of `http`, each with a letter before it.
    private static let fourth: String = {
        let facts = [("preview", "t"), ("timing", "f"), ("source", "m"), ("exact", "x"), ("verdict", "k")]
        func start(_ letter: String) -> String { "instr(char(10) || http, char(10) || '\(letter)')" }
        let values = facts.map { column, letter in
            let rest = "substr(http, \(start(letter)) + 1)"
            return """
                \(column) = CASE WHEN \(start(letter)) > 0
                    THEN substr(\(rest), 1, instr(\(rest) || char(10), char(10)) - 1) END
                """
        }
        let first = facts.map { "ifnull(nullif(\(start($0.1)), 0), length(http) + 2)" }.joined(separator: ", ")
        return facts.map { "ALTER TABLE entries ADD COLUMN \($0.0) TEXT;" }.joined() + """
            UPDATE entries SET \(values.joined(separator: ", ")), http = nullif(substr(http, 1, min(\(first)) - 2), '')
                WHERE http IS NOT NULL;
            """
    }()

    /// Makes version 5 of version 4. Older entries have no mark.
    private static let fifth = """
        ALTER TABLE entries ADD COLUMN mark INTEGER; ALTER TABLE entries ADD COLUMN life INTEGER;
        ALTER TABLE totals ADD COLUMN unproven_from INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE totals ADD COLUMN unproven_to INTEGER NOT NULL DEFAULT 0;
        """

    /// Makes version 6 of version 5. How older images are turned, and whether they may be transparent, is not known.
    private static let sixth =
        "ALTER TABLE entries ADD COLUMN orientation INTEGER; ALTER TABLE entries ADD COLUMN alpha INTEGER;"

    private static let other = "EXISTS (SELECT 1 FROM entries WHERE content"

    /// Indexes; in `lent` the retired files (those that go at once too, `until` 0); the moment that the clock goes by; and the triggers that
    /// keep the sums.
    private static let rest = """
        CREATE INDEX IF NOT EXISTS entries_used ON entries(used);
        CREATE INDEX IF NOT EXISTS entries_variants ON entries(key) WHERE identifier <> '';
        CREATE INDEX IF NOT EXISTS entries_content ON entries(content);
        CREATE INDEX IF NOT EXISTS entries_expiry ON entries(expires_at) WHERE expires_at IS NOT NULL;
        CREATE TABLE IF NOT EXISTS lent(file TEXT PRIMARY KEY, bytes INTEGER NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS clock(
            id INTEGER PRIMARY KEY, boot_number INTEGER NOT NULL, boot INTEGER NOT NULL, wall INTEGER NOT NULL,
            time INTEGER NOT NULL);
        CREATE TRIGGER IF NOT EXISTS entry_added AFTER INSERT ON entries BEGIN
            UPDATE totals SET count = count + 1;
            UPDATE totals SET bytes = bytes + new.bytes, allocated = allocated + new.allocated
                WHERE NOT \(other) = new.content AND id <> new.id);
        END;
        CREATE TRIGGER IF NOT EXISTS entry_removed AFTER DELETE ON entries BEGIN
            UPDATE totals SET count = count - 1;
            UPDATE totals SET bytes = bytes - old.bytes, allocated = allocated - old.allocated
                WHERE NOT \(other) = old.content);
        END;
        CREATE TRIGGER IF NOT EXISTS entry_changed AFTER UPDATE OF bytes, allocated, content ON entries BEGIN
            UPDATE totals SET bytes = bytes - old.bytes, allocated = allocated - old.allocated
                WHERE NOT \(other) = old.content AND id <> old.id);
            UPDATE totals SET bytes = bytes + new.bytes, allocated = allocated + new.allocated
                WHERE NOT \(other) = new.content AND id <> new.id);
        END;
        CREATE TRIGGER IF NOT EXISTS lent_added AFTER INSERT ON lent BEGIN
            UPDATE totals SET lent = lent + new.bytes WHERE new.until > 0;
        END;
        CREATE TRIGGER IF NOT EXISTS lent_removed AFTER DELETE ON lent BEGIN
            UPDATE totals SET lent = lent - old.bytes WHERE old.until > 0;
        END;
        PRAGMA user_version = \(version);
        """

    /// The statements that make this version of an index of version `found`; 0 is an empty file.
    static func upgrade(from found: Int) -> String {
        found == 0 ? tables + rest : [second, third, fourth, fifth, sixth][(found - 1)...].joined() + rest
    }

    /// Throws unless the index is of this version.
    static func check(_ database: SQLiteDatabase) throws(SQLiteDatabase.Failure) {
        let found = try database.number("PRAGMA user_version")
        if found != version { throw .ofVersion(found, in: database) }
    }

    /// `true` when the database has a table or a column that this version does not have.
    static func isExceeded(by database: SQLiteDatabase) -> Bool {
        let query = "SELECT t.name || '.' || c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c"
        guard let own = try? SQLiteDatabase(path: ":memory:", creates: true),
            (try? own.execute(upgrade(from: 0))) != nil, let known = try? own.texts(query),
            let found = try? database.texts(query)
        else { return false }
        return !Set(found).isSubset(of: known)
    }

    /// Removes every entry, without the trigger for each: the sums are known to become zero. The files go when the next
    /// transaction begins, see ``Folder/clearing``.
    static let emptying = """
        DROP TRIGGER entry_removed; DROP TRIGGER lent_removed; DELETE FROM entries; DELETE FROM lent; DELETE FROM totals;
        INSERT INTO totals(count, bytes, allocated, adopting) VALUES(0, 0, 0, \(Folder.clearing));
        """ + rest

    /// The state of the folder, in the column `adopting`.
    enum Folder {
        /// Every image in it has an entry.
        static let known = 0
        /// It may hold images without entries.
        static let adopting = 1
        /// All entries have been removed, and the files have yet to go.
        static let clearing = 2
    }

    /// The columns of `totals`, and the values that the entries add up to.
    private static let sums = [
        ("count", "(SELECT count(*) FROM entries)"), ("bytes", shared("bytes")), ("allocated", shared("allocated")),
        ("lent", "(SELECT CAST(total(bytes) AS INTEGER) FROM lent WHERE until > 0)"),
    ]

    private static func shared(_ column: String) -> String {
        "(SELECT CAST(total(b) AS INTEGER) FROM (SELECT max(\(column)) AS b FROM entries GROUP BY content))"
    }

    /// Makes the sums true again.
    static let summing =
        oneTotal + "UPDATE totals SET \(sums.map { "\($0.0) = \($0.1)" }.joined(separator: ", "));"

    /// Returns 1 when the sums are true.
    static let checking = """
        SELECT (SELECT count(*) FROM totals) = 1 AND \(sums.map { "\($0.0) = \($0.1)" }.joined(separator: " AND "))
            FROM totals
        """
}
