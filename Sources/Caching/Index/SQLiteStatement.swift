internal import CSQLite
internal import Platform

/// A value that a statement is given.
protocol SQLiteValue {
    func bind(to statement: SQLiteStatement, at place: Int32)
}

extension Int64: SQLiteValue {
    func bind(to statement: SQLiteStatement, at place: Int32) { sqlite3_bind_int64(statement.handle, place, self) }
}

extension Int: SQLiteValue {
    func bind(to statement: SQLiteStatement, at place: Int32) {
        sqlite3_bind_int64(statement.handle, place, Int64(self))
    }
}

extension String: SQLiteValue {
    func bind(to statement: SQLiteStatement, at place: Int32) { statement.bind(place, self) }
}

extension Digest: SQLiteValue {
    func bind(to statement: SQLiteStatement, at place: Int32) { withBytes { statement.bind(place, $0) } }
}

extension Optional: SQLiteValue where Wrapped: SQLiteValue {
    func bind(to statement: SQLiteStatement, at place: Int32) {
        if let self { self.bind(to: statement, at: place) } else { sqlite3_bind_null(statement.handle, place) }
    }
}

/// A prepared statement. Its connection closes after the last statement is gone.
final class SQLiteStatement {
    fileprivate let handle: OpaquePointer
    /// Copies of bound values, in one piece: SQLite would allocate each on its own.
    private var copies: UnsafeMutableRawPointer?
    private var used = 0
    private var boundCount: Int32 = 0
    /// The size of ``copies``: an entry with its names, dates and sums.
    private static let room = 2048

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit {
        sqlite3_finalize(handle)
        copies?.deallocate()
    }

    /// Binds the values to the places after those that are bound: at first to `?1`, `?2` and so on.
    @inline(__always)
    func bind<each Value: SQLiteValue>(_ value: repeat each Value) {
        for value in repeat each value { value.bind(to: self, at: nextPlace()) }
    }

    /// Binds a number to the next place, without the calls that values of several types take.
    func bindNext(_ number: Int?) {
        let place = nextPlace()
        if let number { number.bind(to: self, at: place) } else { sqlite3_bind_null(handle, place) }
    }

    /// Binds a text to the next place.
    func bindNext(_ text: String?) {
        let place = nextPlace()
        if let text { bind(place, text) } else { sqlite3_bind_null(handle, place) }
    }

    private func nextPlace() -> Int32 {
        boundCount += 1
        return boundCount
    }

    fileprivate func bind(_ place: Int32, _ value: String) {
        var value = value
        _ = value.withUTF8 { text in
            // An empty string may have no address, which SQLite would take for NULL.
            guard !text.isEmpty else { return sqlite3_bind_text(handle, place, "", 0, transient) }
            let (copy, keeper) = copy(UnsafeRawBufferPointer(text))
            let start = copy?.assumingMemoryBound(to: CChar.self)
            return sqlite3_bind_text(handle, place, start, Int32(text.count), keeper)
        }
    }

    fileprivate func bind(_ place: Int32, _ bytes: UnsafeRawBufferPointer) {
        let (copy, keeper) = copy(bytes)
        sqlite3_bind_blob(handle, place, copy, Int32(bytes.count), keeper)
    }

    /// Copies bytes to where they stay until the statement has run; SQLite copies them when there is no room left.
    private func copy(_ bytes: UnsafeRawBufferPointer) -> (UnsafeRawPointer?, sqlite3_destructor_type?) {
        guard let base = bytes.baseAddress, bytes.count <= Self.room - used else {
            return (bytes.baseAddress, transient)
        }
        let memory = copies ?? .allocate(byteCount: Self.room, alignment: 1)
        copies = memory
        let target = memory + used
        target.copyMemory(from: base, byteCount: bytes.count)
        used += bytes.count
        return (UnsafeRawPointer(target), nil)
    }

    /// Advances to the next row; `false` when there is none, after which the statement can be bound again.
    func step() throws(SQLiteDatabase.Failure) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        let failure = code == SQLITE_DONE ? nil : SQLiteDatabase.Failure(code, of: sqlite3_db_handle(handle))
        reset()
        if let failure { throw failure }
        return false
    }

    /// Gives up the rows that are left, so that the statement can be bound again.
    func reset() {
        sqlite3_reset(handle)
        (used, boundCount) = (0, 0)
    }

    /// `true` when somebody has changed the tables since it was last asked that: SQLite then prepares a statement anew.
    var wasPreparedAnew: Bool { sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 1) > 0 }

    /// Runs a statement for its effect.
    func run() throws(SQLiteDatabase.Failure) { while try step() {} }

    func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

    func optionalInteger(_ column: Int32) -> Int? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : integer(column)
    }

    func text(_ column: Int32) -> String? {
        guard let text = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// The digest in a column; `nil` for anything else.
    func digest(_ column: Int32) -> Digest? {
        guard let bytes = sqlite3_column_blob(handle, column) else { return nil }
        return Digest(bytes: UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }
}

/// SQLITE_TRANSIENT, which C writes as a cast that Swift does not import.
private var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
