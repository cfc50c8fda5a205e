internal import Platform

/// A connection to the index. Each statement is prepared when it is first needed: opening takes part in the first call of
/// every process.
final class IndexConnection {
    typealias Failure = SQLiteDatabase.Failure

    let database: SQLiteDatabase
    private var statements: [SQLiteStatement?] = Array(repeating: nil, count: IndexStatement.allCases.count)

    init(_ database: SQLiteDatabase) { self.database = database }

    func statement(_ name: IndexStatement) throws(Failure) -> SQLiteStatement {
        if let known = statements[name.rawValue] { return known }
        let made = try database.prepare(name.text)
        statements[name.rawValue] = made
        return made
    }

    /// Runs a statement for its effect.
    @inline(__always)
    func run<each Value: SQLiteValue>(_ name: IndexStatement, _ value: repeat each Value) throws(Failure) {
        let statement = try statement(name)
        statement.bind(repeat each value)
        try statement.run()
    }

    /// The first row of a query, read by `read`; `nil` when there is none.
    @inline(__always)
    func first<Row, each Value: SQLiteValue>(
        _ name: IndexStatement, _ value: repeat each Value, read: (SQLiteStatement) -> Row
    ) throws(Failure) -> Row? {
        let statement = try statement(name)
        statement.bind(repeat each value)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return read(statement)
    }

    /// All rows of a query, read by `read`, but for those that it returns `nil` for.
    func all<Row, each Value: SQLiteValue>(
        _ name: IndexStatement, _ value: repeat each Value, read: (SQLiteStatement) -> Row?
    ) throws(Failure) -> [Row] {
        let statement = try statement(name)
        statement.bind(repeat each value)
        var rows: [Row] = []
        while try statement.step() { if let row = read(statement) { rows.append(row) } }
        return rows
    }

    /// The moment that the cache's clock goes by.
    func anchor() throws(Failure) -> CacheClock.Anchor? {
        let values = try first(.anchor) { statement in (0..<4).map { statement.integer(Int32($0)) } }
        // Times are calculated with: nothing planted may make them overflow, nor lead beyond what a row may say.
        let moments = 0...CacheClock.times.upperBound / 2
        guard let values, values[1...].allSatisfy(moments.contains) else { return nil }
        return CacheClock.Anchor(bootNumber: values[0], boot: values[1], wall: values[2], time: values[3])
    }

    /// The times of storing of entries whose files may not have reached the disk when the machine went down; `nil` when there
    /// are none.
    ///
    /// - Parameter clock: Follows the index already.
    func unprovenTimes(_ clock: CacheClock, since anchor: CacheClock.Anchor?) throws(Failure) -> ClosedRange<Int>? {
        let known = try first(.unproven) { ($0.integer(0), $0.integer(1)) } ?? (1, 0)
        var times = known.0 <= known.1 ? known.0...known.1 : nil
        guard let anchor, anchor.bootNumber != clock.bootNumber else { return times }
        // The machine went down at the last sign of life, or later. An entry that was found again is the last in the order of
        // use, but bears an older time: then more entries count as unproven than need be, never fewer.
        let used = try first(.lastUse) { $0.integer(0) } ?? 0
        let start = max(anchor.time, CacheClock.times.contains(used) ? used : 0) - Self.writeBackTime
        times = min(times?.lowerBound ?? start, start)...max(start, clock.now)
        return times
    }

    /// The time in seconds after which a file that was written has reached the disk: the system begins after 30 seconds.
    private static let writeBackTime = 120

    /// The state of the folder; see ``IndexSchema/Folder``.
    func folderState() throws(Failure) -> Int { try database.number("SELECT adopting FROM totals") }
}

/// The statements of the index.
enum IndexStatement: Int, CaseIterable {
    case find, details, page, unreadable, twins, twin, sharers, variants, sums, check, anchor
    case begin, commit, schema, version, insert, upsert, correct, delete, setContent, leastRecentlyUsed, latest
    case expired, touch, prolong, demote
    case setAnchor, state, setUnproven, unproven, lastUse, retire, forgetFile, forgetLease, dueFiles, filesOf,
        lentCount, lentFiles,
        extensions

    var text: String {
        let select = "SELECT \(IndexSchema.columns)"
        // A very large number comes from damage or an attack; the next one would overflow.
        let latest = "SELECT coalesce(max(used), 0) FROM entries WHERE used < 0x4000000000000000"
        let unchanged = "id = ?1 AND modified = ?2 AND stored_at = ?3"
        return switch self {
        case .find: "\(select) FROM entries WHERE id = ?1"
        case .details: "\(select), \(IndexSchema.details) FROM entries WHERE id = ?1"
        // As bytes: the length of a text ends at a NUL character.
        case .page:
            """
            \(select), \(IndexSchema.details) FROM entries WHERE id > ?1
                AND (?2 IS NULL OR host = ?2)
                AND (?3 IS NULL OR substr(CAST(key AS BLOB), 1, length(CAST(?3 AS BLOB))) = CAST(?3 AS BLOB))
                AND (?4 IS NULL OR format = ?4) AND (?5 IS NULL OR stored_at >= ?5)
                AND (?6 IS NULL OR stored_at <= ?6) AND (?7 IS NULL OR expires_at IS NULL OR expires_at > ?7)
            ORDER BY id LIMIT ?8
            """
        case .unreadable: "\(select) FROM entries"
        case .twins: "\(select) FROM entries WHERE content = ?1 LIMIT 4"
        case .twin: "\(select) FROM entries WHERE content = ?1 AND id <> ?2 LIMIT 1"
        case .sharers: "SELECT count(*) FROM entries WHERE content = ?1"
        case .variants: "\(select) FROM entries WHERE key = ?1 AND identifier <> ''"
        case .sums: "SELECT count, bytes, allocated, lent FROM totals"
        case .check: IndexSchema.checking
        case .anchor: "SELECT boot_number, boot, wall, time FROM clock"
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .schema: "PRAGMA user_version"
        case .version: "PRAGMA data_version"
        case .insert: "INSERT OR ROLLBACK INTO entries\(Self.values(latest))"
        case .upsert:
            """
            INSERT INTO entries\(Self.values(latest)) ON CONFLICT(id) DO UPDATE SET
                \(Self.changes), used = excluded.used
            """
        case .correct: "INSERT INTO entries\(Self.values(latest)) ON CONFLICT(id) DO UPDATE SET \(Self.changes)"
        case .delete: "DELETE FROM entries WHERE id = ?1"
        case .setContent: "UPDATE entries SET content = ?2 WHERE id = ?1"
        case .leastRecentlyUsed: "\(select), used FROM entries WHERE used > ?2 ORDER BY used LIMIT ?1"
        case .latest: latest
        case .expired: "\(select), used FROM entries WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2"
        case .touch: "UPDATE entries SET used = ?4, used_at = ?5 WHERE \(unchanged)"
        case .prolong:
            "UPDATE entries SET used = ?4, used_at = ?5, expires_at = ?6, life = \(IndexRow.lifeMark("?6")) WHERE \(unchanged)"
        case .demote:
            "UPDATE entries SET used = (SELECT max(min(used), -0x4000000000000000) FROM entries) - 1 WHERE id = ?1"
        case .setAnchor: "INSERT OR REPLACE INTO clock(id, boot_number, boot, wall, time) VALUES(1, ?1, ?2, ?3, ?4)"
        case .state: "SELECT adopting, EXISTS (SELECT 1 FROM lent) FROM totals"
        case .setUnproven: "UPDATE totals SET unproven_from = ?1, unproven_to = ?2"
        // By the order of use, taken for that of time: the times have no index, and there may be a million.
        case .lastUse: "SELECT used_at FROM entries ORDER BY used DESC LIMIT 1"
        case .unproven: "SELECT unproven_from, unproven_to FROM totals"
        case .forgetLease: "DELETE FROM lent WHERE file = ?1 AND until <> ?2"
        case .retire: "INSERT OR IGNORE INTO lent(file, bytes, until) VALUES(?1, ?2, ?3)"
        case .forgetFile: "DELETE FROM lent WHERE file = ?1"
        case .filesOf: "SELECT file FROM lent WHERE file >= ?1 AND file < ?2"
        case .dueFiles: "SELECT file, bytes, until FROM lent WHERE until <= ?1 OR until > ?3 LIMIT ?2"
        case .lentFiles: "SELECT file, bytes, until FROM lent WHERE until > 0"
        case .lentCount: "SELECT count(*) FROM lent WHERE until > ?1"
        case .extensions: "SELECT id, extension FROM entries"
        }
    }

    /// The columns that are bound when an entry is written.
    private static let written = "\(IndexSchema.columns), \(IndexSchema.details)".split(separator: ", ")

    private static let changes = written.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")

    private static func values(_ latest: String) -> String {
        let places = (1...written.count).map { "?\($0)" }.joined(separator: ", ")
        return "(\(written.joined(separator: ", ")), used) VALUES(\(places), (\(latest)) + 1)"
    }
}
