internal import Platform

/// The connection for long work.
extension CacheIndex {
    /// What ``Survey/entries(_:)`` looks for.
    struct Filter: Sendable, Equatable {
        /// The number of the last entry of the page before.
        var after: Int64 = 0
        /// The host that the image came from.
        var host: String?
        /// How the key begins.
        var prefix: String?
        /// The format's name.
        var format: String?
        /// Stored at this moment or later.
        var storedFrom: Int?
        /// Stored at this moment or earlier.
        var storedTo: Int?
        /// Not expired at this moment.
        var aliveAt: Int?
        var limit = 100
    }

    /// A part of the entries.
    package struct Page: Sendable {
        /// Those that can be read.
        package var entries: [Details] = []
        /// How many there are, with those that no version of ours would have written.
        package var count = 0
        /// The number of the last one.
        package var last: Int64 = 0
    }

    /// A reading connection whose statements may take their time.
    package final class Survey {
        package let inode: UInt64?
        private let database: SQLiteDatabase

        package init(path: String) throws(SQLiteDatabase.Failure) {
            inode = CacheIndex.inode(path)
            database = try SQLiteDatabase.reading(path)
        }

        /// The next page of entries, in the order of their numbers, which no use changes.
        package func entries(_ filter: Filter) throws(SQLiteDatabase.Failure) -> Page {
            let statement = try database.prepare(
                """
                SELECT \(CacheIndex.columns), \(CacheIndex.moreColumns) FROM entries WHERE id > ?1
                    AND (?2 IS NULL OR host = ?2) AND (?3 IS NULL OR substr(key, 1, length(?3)) = ?3)
                    AND (?4 IS NULL OR format = ?4) AND (?5 IS NULL OR stored_at >= ?5)
                    AND (?6 IS NULL OR stored_at <= ?6) AND (?7 IS NULL OR expires_at IS NULL OR expires_at > ?7)
                ORDER BY id LIMIT ?8
                """)
            statement.bind(1, filter.after)
            statement.bind(2, filter.host)
            statement.bind(3, filter.prefix)
            statement.bind(4, filter.format)
            statement.bind(5, filter.storedFrom)
            statement.bind(6, filter.storedTo)
            statement.bind(7, filter.aliveAt)
            statement.bind(8, filter.limit)
            var page = Page()
            while try statement.step() {
                page.count += 1
                page.last = Int64(statement.integer(0))
                if let entry = Details(statement) { page.entries.append(entry) }
            }
            return page
        }

        /// The numbers of entries that no version of ours would have written.
        package func unreadable() throws(SQLiteDatabase.Failure) -> [Int64] {
            let statement = try database.prepare("SELECT \(CacheIndex.columns) FROM entries")
            var numbers: [Int64] = []
            while try statement.step() {
                if Row(statement).map({ $0.number != Int64(statement.integer(0)) }) ?? true {
                    numbers.append(Int64(statement.integer(0)))
                }
            }
            return numbers
        }

        /// Whether the sums are what the entries add up to.
        func sumsAreRight() throws(SQLiteDatabase.Failure) -> Bool {
            try database.number(
                """
                SELECT (SELECT count(*) FROM totals) = 1
                    AND count = (SELECT count(*) FROM entries)
                    AND bytes = (SELECT CAST(total(b) AS INTEGER) FROM (SELECT max(bytes) AS b FROM entries GROUP BY content))
                    AND allocated =
                        (SELECT CAST(total(a) AS INTEGER) FROM (SELECT max(allocated) AS a FROM entries GROUP BY content))
                    AND lent = (SELECT CAST(total(bytes) AS INTEGER) FROM lent WHERE until > 0) FROM totals
                """) == 1
        }

        /// How many entries have the content that `content` numbers.
        package func sharers(_ content: Int64) throws(SQLiteDatabase.Failure) -> Int {
            let statement = try database.prepare("SELECT count(*) FROM entries WHERE content = ?1")
            statement.bind(1, content)
            return try statement.step() ? statement.integer(0) : 0
        }

        /// See ``CacheIndex/checkpoint()``.
        func checkpoint() throws(SQLiteDatabase.Failure) { try database.execute("PRAGMA wal_checkpoint(PASSIVE)") }
    }
}
