internal import Platform

/// The tables of the index, and how older ones become them.
extension CacheIndex {
    /// The version that this program writes. A newer one is put aside and begun anew from the folder's files.
    package static let version = 3

    /// What a lookup reads.
    package static let columns = """
        id, name, key, identifier, extension, format, width, height, frames, bytes, allocated, checksum, url, etag, \
        last_modified, stored_at, expires_at, lifetime, modified, content, http
        """

    /// What is kept besides, for inspection.
    static let moreColumns = "host, metadata, used_at"

    /// Entries, their sums, files that are to go (at once, or when a lease ends), and the moment the clock goes by.
    ///
    /// `content` is one number for all entries that share one file by hard links, so that its bytes count once.
    private static let tables = """
        CREATE TABLE IF NOT EXISTS entries(
            id INTEGER PRIMARY KEY, name BLOB NOT NULL, key TEXT NOT NULL, identifier TEXT NOT NULL, extension TEXT NOT NULL,
            format TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, frames INTEGER NOT NULL,
            bytes INTEGER NOT NULL, allocated INTEGER NOT NULL, checksum BLOB, url TEXT, etag TEXT, last_modified TEXT,
            stored_at INTEGER NOT NULL, expires_at INTEGER, lifetime INTEGER, modified INTEGER NOT NULL,
            used INTEGER NOT NULL, content INTEGER NOT NULL DEFAULT 0, host TEXT, metadata TEXT,
            used_at INTEGER NOT NULL DEFAULT 0, http TEXT);
        CREATE TABLE IF NOT EXISTS totals(
            count INTEGER NOT NULL, bytes INTEGER NOT NULL, allocated INTEGER NOT NULL, adopting INTEGER NOT NULL,
            lent INTEGER NOT NULL DEFAULT 0);
        INSERT INTO totals(count, bytes, allocated, adopting) SELECT 0, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM totals);
        """

    /// What the first version lacks.
    private static let second = """
        ALTER TABLE entries ADD COLUMN content INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE entries ADD COLUMN host TEXT;
        ALTER TABLE entries ADD COLUMN metadata TEXT;
        ALTER TABLE entries ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
        UPDATE entries SET content = id, used_at = stored_at;
        ALTER TABLE totals ADD COLUMN lent INTEGER NOT NULL DEFAULT 0;
        DROP TRIGGER entry_added; DROP TRIGGER entry_removed; DROP TRIGGER entry_changed;
        """

    /// What the second version lacks: how fresh an answer is. Of older entries that is not known.
    private static let third = "ALTER TABLE entries ADD COLUMN http TEXT;"

    private static let other = "EXISTS (SELECT 1 FROM entries WHERE content"

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

    /// What makes an index of this version out of one of version `found`; 0 is an empty file.
    static func statements(from found: Int) -> String {
        switch found {
        case 0: tables + rest
        case 1: second + third + rest
        default: third + rest
        }
    }

    /// Removes every entry, without the trigger for each: the sums are known to become zero. The files go when the next
    /// transaction begins, see ``Folder/clearing``.
    static let emptying = """
        DROP TRIGGER entry_removed; DROP TRIGGER lent_removed; DELETE FROM entries; DELETE FROM lent; DELETE FROM totals;
        INSERT INTO totals(count, bytes, allocated, adopting) VALUES(0, 0, 0, 2);
        """ + rest

    /// What the index knows of the folder: the column `adopting`.
    enum Folder {
        /// Every image in it has an entry.
        static let known = 0
        /// It may hold images without entries.
        static let adopting = 1
        /// All entries have been removed, and the files are yet to go.
        static let clearing = 2
    }

    /// Makes the sums true again.
    static let summing = """
        INSERT INTO totals(count, bytes, allocated, adopting) SELECT 0, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM totals);
        UPDATE totals SET
            count = (SELECT count(*) FROM entries),
            bytes = (SELECT CAST(total(b) AS INTEGER) FROM (SELECT max(bytes) AS b FROM entries GROUP BY content)),
            allocated = (SELECT CAST(total(a) AS INTEGER) FROM (SELECT max(allocated) AS a FROM entries GROUP BY content)),
            lent = (SELECT CAST(total(bytes) AS INTEGER) FROM lent WHERE until > 0);
        """
}
