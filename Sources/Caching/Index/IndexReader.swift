internal import CSQLite
internal import Platform

/// A connection for reading.
final class IndexReader: IndexReading {
    /// The inode of the index file.
    let inode: UInt64?
    /// `true` when the folder may hold images that the index does not know.
    let isAdopting: Bool
    /// See ``IndexConnection/unprovenTimes(_:since:)``.
    let unprovenTimes: ClosedRange<Int>?
    let connection: IndexConnection
    private let find: SQLiteStatement

    /// `true` when it keeps all others out: it is used once.
    var isAlone: Bool { connection.database.isAlone }

    /// See ``SQLiteDatabase/noteLog()``.
    func noteLog() -> Bool { connection.database.noteLog() }

    /// See ``SQLiteDatabase/isCurrent(_:)``.
    func isCurrent(_ path: String) -> Bool { connection.database.isCurrent(path) }

    init(path: String, clock: CacheClock) throws(Failure) {
        inode = try? IndexFiles.inode(path)
        let database = try SQLiteDatabase.reading(path)
        // An older one lacks tables: it is read once a writer has upgraded it.
        try IndexSchema.check(database)
        connection = IndexConnection(database)
        let anchor = try connection.anchor()
        if let anchor { clock.follow(anchor) }
        unprovenTimes = try connection.unprovenTimes(clock, since: anchor)
        isAdopting = try connection.folderState() == IndexSchema.Folder.adopting
        find = try connection.statement(.find)
        database.noteLog()
        // The tables that the statement was prepared for are those of this version.
        try IndexSchema.check(database)
    }

    /// Runs `body`, and throws if it may have read what is not so, whatever it found; see ``SQLiteDatabase/checkMemory()``.
    ///
    /// - Parameter thoroughly: See ``SQLiteDatabase/checkMemory(thoroughly:)``.
    func checked<Value>(thoroughly: Bool = false, _ body: (IndexReader) throws -> Value) throws -> Value {
        let value: Value
        do { value = try body(self) } catch {
            try connection.database.checkMemory()
            throw error
        }
        try connection.database.checkMemory(thoroughly: thoroughly)
        if find.wasPreparedAnew { try IndexSchema.check(connection.database) }
        return value
    }

    func row(_ number: Int64) throws(Failure) -> IndexRow? {
        find.bind(number)
        guard try find.step() else { return nil }
        defer { find.reset() }
        return IndexRow(find)
    }

    func totals() throws(Failure) -> CacheIndex.Totals? {
        guard let totals = try connection.first(.sums, read: CacheIndex.Totals.init) else { return nil }
        return totals.isSane ? totals : CacheIndex.Totals(count: max(0, min(totals.count, 1 << 60)))
    }

    /// Up to four entries with the content that `content` numbers.
    func twins(_ content: Int64) throws(Failure) -> [IndexRow] {
        try connection.all(.twins, content, read: IndexRow.init)
    }

    // MARK: Long work

    /// A part of the entries.
    struct Page: Sendable {
        /// The entries that can be read.
        var entries: [IndexDetails] = []
        /// The number of all entries, with those that no version of ours would have written.
        var count = 0
        /// The number of the last one.
        var last: Int64 = 0
    }

    /// The next page of entries, in the order of their numbers, which no use changes.
    ///
    /// - Parameter now: The cache's time, for entries that have not expired unless `query` says so, and by which ages count; `nil`
    ///   for entries of any.
    func entries(_ query: ListQuery, at now: Int? = nil) throws(Failure) -> Page {
        func moment(_ age: Double?, _ rule: FloatingPointRoundingRule) -> Int? {
            guard let now, let age else { return nil }
            return now - Int(min(age, 1e11).rounded(rule))
        }
        var page = Page()
        page.entries = try connection.all(
            .page, query.cursor, query.host, query.prefix, query.format?.rawValue, moment(query.maxAge, .towardZero),
            moment(query.minAge, .up), query.includesExpired ? nil : now, query.limit
        ) { statement in
            page.count += 1
            page.last = Int64(statement.integer(0))
            return IndexDetails(statement)
        }
        return page
    }

    /// Looks at the structure of the index: its pages, and that its tables and their indexes agree.
    ///
    /// - Throws: A failure of a damaged index.
    func checkStructure() throws(Failure) {
        let findings = try connection.database.texts("PRAGMA integrity_check(1)")
        if findings != ["ok"] { throw Failure(code: SQLITE_CORRUPT, message: findings.first ?? "no answer") }
    }

    /// `true` when the sums are what the entries add up to.
    func sumsAreRight() throws(Failure) -> Bool { try connection.first(.check) { $0.integer(0) } == 1 }

    /// The number of entries with the content that `content` numbers.
    func sharers(_ content: Int64) throws(Failure) -> Int {
        try connection.first(.sharers, content) { $0.integer(0) } ?? 0
    }

    /// See ``CacheIndex/checkpoint()``.
    func checkpoint() throws(Failure) { try connection.database.execute("PRAGMA wal_checkpoint(PASSIVE)") }
}
