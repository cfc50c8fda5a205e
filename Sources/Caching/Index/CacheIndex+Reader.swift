internal import HTTPSemantics
internal import Platform

/// The reading connection.
extension CacheIndex {
    /// The reading connection with its statements.
    package final class Reader {
        package let inode: UInt64?
        /// Whether the folder may hold images that the index does not know.
        let isAdopting: Bool
        private let find: SQLiteStatement
        private let sum: SQLiteStatement
        private let twins: SQLiteStatement
        private let details: SQLiteStatement
        private let database: SQLiteDatabase
        /// Whether it keeps all others out: to be used once.
        package var isAlone: Bool { database.isAlone }

        package init(path: String, clock: CacheClock) throws(SQLiteDatabase.Failure) {
            inode = CacheIndex.inode(path)
            database = try SQLiteDatabase.reading(path)
            let version = try database.number("PRAGMA user_version")
            // An older one has not these tables: it is read when a writer has made it a new one.
            guard version == CacheIndex.version else { throw SQLiteDatabase.Failure.ofVersion(version) }
            if let anchor = try CacheIndex.anchor(database) { clock.follow(anchor) }
            isAdopting = try database.number("SELECT adopting FROM totals") == Folder.adopting
            find = try database.prepare("SELECT \(CacheIndex.columns) FROM entries WHERE id = ?1")
            sum = try database.prepare("SELECT count, bytes, allocated, lent FROM totals")
            twins = try database.prepare("SELECT \(CacheIndex.columns) FROM entries WHERE content = ?1 LIMIT 4")
            details = try database.prepare(
                "SELECT \(CacheIndex.columns), \(CacheIndex.moreColumns) FROM entries WHERE id = ?1")
        }

        package func row(_ number: Int64) throws(SQLiteDatabase.Failure) -> Row? {
            find.bind(1, number)
            guard try find.step() else { return nil }
            defer { find.reset() }
            return Row(find)
        }

        func totals() throws(SQLiteDatabase.Failure) -> Totals? {
            guard try sum.step() else { return nil }
            defer { sum.reset() }
            let totals = Totals(sum)
            return totals.isSane ? totals : Totals(count: max(0, min(totals.count, 1 << 60)))
        }

        /// Entries with the content that `content` numbers.
        func twins(_ content: Int64) throws(SQLiteDatabase.Failure) -> [Row] {
            twins.bind(1, content)
            defer { twins.reset() }
            return try twins.rows()
        }

        package func details(_ number: Int64) throws(SQLiteDatabase.Failure) -> Details? {
            details.bind(1, number)
            guard try details.step() else { return nil }
            defer { details.reset() }
            return Details(details)
        }
    }

    /// The moment that the clock goes by.
    package static func anchor(_ database: SQLiteDatabase) throws(SQLiteDatabase.Failure) -> CacheClock.Anchor? {
        let statement = try database.prepare("SELECT boot_number, boot, wall, time FROM clock")
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        let values = (0..<4).map { statement.integer(Int32($0)) }
        // Times are calculated with: nothing planted may make them overflow, nor lead beyond what a row may say.
        let moments = 0...CacheIndex.times.upperBound / 2
        guard values[1...].allSatisfy(moments.contains) else { return nil }
        return CacheClock.Anchor(bootNumber: values[0], boot: values[1], wall: values[2], time: values[3])
    }

    /// Seconds that the index may speak of: up to the year 9999.
    package static var times: ClosedRange<Int> { HTTPDate.years }
}

extension CacheIndex.Totals {
    /// Whether the sums can be true; what is calculated with them does not overflow.
    var isSane: Bool { [count, bytes, allocated, lent].allSatisfy((0...(1 << 60)).contains) }

    init(_ statement: SQLiteStatement) {
        self.init(
            count: statement.integer(0), bytes: statement.integer(1), allocated: statement.integer(2),
            lent: statement.integer(3))
    }
}

extension SQLiteStatement {
    /// The rows that are left, but for those that no version of ours would write.
    package func rows() throws(SQLiteDatabase.Failure) -> [CacheIndex.Row] {
        var rows: [CacheIndex.Row] = []
        while try step() {
            if let row = CacheIndex.Row(self) { rows.append(row) }
        }
        return rows
    }
}
