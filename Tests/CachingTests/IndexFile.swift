import CSQLite
import Testing
@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Another program at the index of a cache.
enum IndexFile {
    /// Runs statements, and writes all of it into the one file.
    static func execute(_ sql: String, _ path: String, sourceLocation: SourceLocation = #_sourceLocation) {
        var database: OpaquePointer?
        sqlite3_open(path, &database)
        defer { sqlite3_close(database) }
        sqlite3_busy_timeout(database, 10_000)
        let result = sqlite3_exec(database, sql, nil, nil, nil)
        #expect(
            result == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(database)))", sourceLocation: sourceLocation)
        sqlite3_exec(database, "PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil)
    }

    /// Runs `body` while another program writes.
    static func held(_ path: String, _ body: () throws -> Void) rethrows {
        var database: OpaquePointer?
        sqlite3_open(path, &database)
        defer { sqlite3_close(database) }
        #expect(sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        try body()
    }

    /// The rows of a query, each as one text.
    static func rows(_ sql: String, _ path: String) -> [String] {
        var database: OpaquePointer?
        var statement: OpaquePointer?
        sqlite3_open(path, &database)
        defer { sqlite3_close(database) }
        sqlite3_busy_timeout(database, 10_000)
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            return [String(cString: sqlite3_errmsg(database))]
        }
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let values = (0..<sqlite3_column_count(statement)).map { column in
                sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "-"
            }
            rows.append(values.joined(separator: "|"))
        }
        return rows
    }

    /// Every row of every table of ours that speaks of images.
    static func dump(_ path: String) -> [String] {
        rows("SELECT * FROM entries ORDER BY id", path) + rows("SELECT * FROM totals", path)
            + rows("SELECT * FROM lent ORDER BY file", path)
    }
}
