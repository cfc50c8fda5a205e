internal import CSQLite
internal import Glibc
internal import ImageErrors
internal import Platform

/// One connection to an SQLite file; confined to whoever holds the lock around it.
final class SQLiteDatabase {
    /// What SQLite answered, by result code.
    struct Failure: Error, Equatable {
        let code: Int32
        let message: String
        /// Whether there are no locks to be had where the file is, by what the system said last.
        var lacksLocks = false

        /// The file is no database, or a damaged one. What we write breaks no constraint unless what it meets is damaged.
        var isCorruption: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT].contains(code & 0xFF) }

        /// The system could not read or write the file, or one beside it.
        var isFault: Bool { code & 0xFF == SQLITE_IOERR }

        /// The file, or one beside it, is shorter than it was.
        var isCutOff: Bool { code == SQLITE_IOERR | 2 << 8 }

        /// The connection is of no use any more.
        var isStuck: Bool { lacksLocks || [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_IOERR].contains(code & 0xFF) }

        /// The file, or one beside it, could only be opened for reading.
        var isReadOnly: Bool { code & 0xFF == SQLITE_READONLY }

        /// The file cannot be opened: it may not, or it has just gone.
        var isUnopened: Bool { code & 0xFF == SQLITE_CANTOPEN }

        /// The index is of a version that this program does not write.
        static func ofVersion(_ version: Int) -> Failure {
            // An older one is made new; a newer one is put aside like a damaged one.
            guard (0..<CacheIndex.version).contains(version) else {
                return Failure(code: SQLITE_NOTADB, message: "it is of version \(version), made by a newer halcyon")
            }
            let message = version == 0 ? "no such table yet" : "it is of version \(version)"
            return Failure(code: SQLITE_SCHEMA, message: message)
        }

        /// The index was made by an older halcyon.
        var isOlder: Bool { code == SQLITE_SCHEMA && message.hasPrefix("it is of version") }

        /// The file has not the tables or columns we know: another process is just making it, or was stopped while it
        /// did, or somebody else made it.
        var isForeign: Bool {
            guard [SQLITE_ERROR, SQLITE_SCHEMA].contains(code & 0xFF) else { return false }
            return ["no such", "duplicate column name"].contains { message.hasPrefix($0) }
                || message.contains(" has no column named ")
        }
    }

    /// Owned; closed when the object goes.
    private let handle: OpaquePointer

    /// Opens the file, making it when `creates`; a busy file is waited for, up to ten seconds.
    init(path: String, creates: Bool) throws(Failure) {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw Failure(code: SQLITE_NOTADB, message: "\(path) is no file")
        }
        // Some of what needs a lock is tried for ten seconds whatever the reason.
        if Self.lacksLocks(beside: path) {
            throw Failure(code: SQLITE_BUSY, message: String(cString: strerror(ENOLCK)), lacksLocks: true)
        }
        Self.prepareLibrary
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creates ? SQLITE_OPEN_CREATE : 0)
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw Failure(code: code, message: message)
        }
        // Without permission to write, SQLite opens for reading and says nothing.
        if creates, sqlite3_db_readonly(opened, "main") == 1 {
            sqlite3_close_v2(opened)
            throw Failure(code: SQLITE_READONLY, message: "\(path) cannot be written")
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_handler(handle, waitForOtherProcess, nil)
    }

    private init(_ handle: OpaquePointer) { self.handle = handle }

    /// Counting its memory is of use to nobody here, and takes a lock that all connections share with every piece.
    private static let prepareLibrary: Void = { _ = hl_sqlite_leaves_memory_uncounted() }()

    /// Whether the system says that there are no locks where a file is. Another file is asked: closing one gives up all
    /// locks that the process has on it.
    private static func lacksLocks(beside path: String) -> Bool {
        let descriptor = open(path + ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        lock.l_len = 1
        return fcntl(descriptor, F_SETLK, &lock) < 0 && errno == ENOLCK
    }

    /// Whether the connection keeps all others out: to be closed at once.
    private(set) var isAlone = false

    /// A connection for reading; also where nothing can be written. A log of changes that is yet to be merged can then
    /// only be read while nobody else has the index open.
    static func reading(_ path: String) throws(Failure) -> SQLiteDatabase {
        do throws(Failure) {
            let database = try SQLiteDatabase(path: path, creates: false)
            _ = try database.number("PRAGMA user_version")
            return database
        } catch {
            guard [SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL].contains(error.code & 0xFF),
                FileStamp(path: path) != nil
            else { throw error }
            let hasLog = (FileStamp(path: path + "-wal")?.size ?? 0) > 0
            guard let database = hasLog ? alone(path) : immutable(path) else { throw error }
            return database
        }
    }

    /// A connection that shares with nobody: it needs no memory in common with others, which takes a file of its own.
    private static func alone(_ path: String) -> SQLiteDatabase? {
        guard let database = try? SQLiteDatabase(path: path, creates: false) else { return nil }
        database.isAlone = true
        sqlite3_busy_timeout(database.handle, 100)
        let isRead: Int? = try? {
            try database.execute("PRAGMA locking_mode = EXCLUSIVE")
            return try database.number("PRAGMA user_version")
        }()
        return isRead == nil ? nil : database
    }

    /// A connection that takes the file for one that nobody changes: it needs no files beside it.
    private static func immutable(_ path: String) -> SQLiteDatabase? {
        let uri = FileURL.text(path) + "?immutable=1"
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
        guard sqlite3_open_v2(uri, &opened, flags, nil) == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            return nil
        }
        return SQLiteDatabase(opened)
    }

    deinit { sqlite3_close_v2(handle) }

    /// Runs statements that return nothing.
    func execute(_ sql: String) throws(Failure) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// Prepares a statement that is kept and used again.
    func prepare(_ sql: String) throws(Failure) -> SQLiteStatement {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { throw Failure(code: SQLITE_MISUSE, message: "empty statement") }
        return SQLiteStatement(statement)
    }

    /// The number that a statement returns in its first row; 0 if there is none.
    func number(_ sql: String) throws(Failure) -> Int {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    private func check(_ code: Int32) throws(Failure) {
        guard code != SQLITE_OK else { return }
        throw Failure(code, of: handle)
    }
}

extension SQLiteDatabase.Failure {
    /// What the connection says of a call that failed just now.
    fileprivate init(_ code: Int32, of connection: OpaquePointer?) {
        let lacksLocks = [SQLITE_BUSY, SQLITE_PROTOCOL].contains(code & 0xFF) && errno == ENOLCK
        self.init(code: code, message: String(cString: sqlite3_errmsg(connection)), lacksLocks: lacksLocks)
    }
}

/// A prepared statement; it must not outlive its connection, which closes when the last statement is gone.
final class SQLiteStatement {
    private let handle: OpaquePointer

    /// What is bound: SQLite would allocate each on its own.
    private var copies: UnsafeMutableRawPointer?
    private var used = 0
    /// An entry with its names, dates and sums.
    private static let room = 2048

    fileprivate init(_ handle: OpaquePointer) { self.handle = handle }

    deinit {
        sqlite3_finalize(handle)
        copies?.deallocate()
    }

    func bind(_ place: Int32, _ value: Int64) { sqlite3_bind_int64(handle, place, value) }

    func bind(_ place: Int32, _ value: Int) { sqlite3_bind_int64(handle, place, Int64(value)) }

    func bind(_ place: Int32, _ value: Int?) {
        if let value { bind(place, value) } else { sqlite3_bind_null(handle, place) }
    }

    func bind(_ place: Int32, _ value: String?) {
        guard var value else {
            sqlite3_bind_null(handle, place)
            return
        }
        // An empty string may have no address, which SQLite would take for NULL.
        if value.isEmpty {
            sqlite3_bind_text(handle, place, "", 0, transient)
            return
        }
        value.withUTF8 { text in
            let (copy, keeper) = keep(UnsafeRawBufferPointer(text))
            sqlite3_bind_text(handle, place, copy?.assumingMemoryBound(to: CChar.self), Int32(text.count), keeper)
        }
    }

    func bind(_ place: Int32, _ value: [UInt8]?) {
        guard let value else {
            sqlite3_bind_null(handle, place)
            return
        }
        value.withUnsafeBytes { bytes in
            let (copy, keeper) = keep(bytes)
            _ = sqlite3_bind_blob(handle, place, copy, Int32(bytes.count), keeper)
        }
    }

    /// Copies what is to be bound to where it stays until the statement has run; to memory of SQLite's own when there is no
    /// room left.
    private func keep(_ bytes: UnsafeRawBufferPointer) -> (UnsafeRawPointer?, sqlite3_destructor_type?) {
        guard let base = bytes.baseAddress, bytes.count <= Self.room - used else {
            return (bytes.baseAddress, transient)
        }
        let copy = copies ?? .allocate(byteCount: Self.room, alignment: 1)
        copies = copy
        let target = copy + used
        target.copyMemory(from: base, byteCount: bytes.count)
        used += bytes.count
        return (UnsafeRawPointer(target), nil)
    }

    /// Advances to the next row; false when there is none, after which the statement can be bound again.
    func step() throws(SQLiteDatabase.Failure) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        let failure =
            code == SQLITE_DONE ? nil : SQLiteDatabase.Failure(code, of: sqlite3_db_handle(handle))
        reset()
        if let failure { throw failure }
        return false
    }

    /// Gives up the rows that are left; what is bound next takes the place of what was.
    func reset() {
        sqlite3_reset(handle)
        used = 0
    }

    /// Runs a statement for its effect.
    func run() throws(SQLiteDatabase.Failure) {
        while try step() {}
    }

    func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

    func optionalInteger(_ column: Int32) -> Int? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : integer(column)
    }

    func text(_ column: Int32) -> String? {
        guard let text = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8]? {
        guard let bytes = sqlite3_column_blob(handle, column) else { return nil }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }
}

/// SQLITE_TRANSIENT, which C writes as a cast that Swift does not import.
private var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

/// Sleeps a moment, longer with each turn, and gives up after about ten seconds. SQLite's own handler sleeps up to a
/// tenth of a second at a time, which starves writers; and it takes a file system without locks for a busy file.
private func waitForOtherProcess(_: UnsafeMutableRawPointer?, turns: Int32) -> Int32 {
    // Nobody sets it but the attempt since the turn before.
    if turns > 0, errno == ENOLCK { return 0 }
    let microseconds = min(50 + 25 * turns, 2000)
    usleep(UInt32(microseconds))
    errno = 0
    return turns < 5200 ? 1 : 0
}

extension SQLiteDatabase.Failure: StorageProblem {
    package var reason: String { "the index says: \(message)." }

    /// The `errno` with the same cause as SQLite's result code: 8 READONLY, 10 IOERR, 13 FULL, 14 CANTOPEN, 5 BUSY, 15 PROTOCOL.
    package var systemCode: Int32 {
        switch code & 0xFF {
        case 13: ENOSPC
        case 8: EROFS
        case 14: EACCES
        case 10: EIO
        case 5, 15: lacksLocks ? ENOLCK : EBUSY
        default: 0
        }
    }
}
