internal import CSQLite
internal import Glibc
internal import ImageErrors
internal import Platform

/// One connection to an SQLite file; used under a lock. What another process keeps from being done fails at once.
final class SQLiteDatabase {
    /// An error of SQLite, by result code.
    struct Failure: Error, Equatable {
        let code: Int32
        let message: String
        /// `true` when the file system has no locks, by what the system said last.
        var lacksLocks = false
        /// The `errno` of the system call that failed; 0 when none did.
        var system: Int32 = 0

        private var kind: Int32 { code & 0xFF }

        /// The file is no database, or a damaged one: what we write breaks no constraint of a sound one, and no limit.
        var isCorruption: Bool {
            [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH].contains(kind)
        }
        /// The system could not read or write the file, or one beside it.
        var isFault: Bool { kind == SQLITE_IOERR }
        /// The disk is full.
        var isFull: Bool { kind == SQLITE_FULL || isFault && system == ENOSPC }
        /// A file beside it went at that moment, as when the last connection of another process is closed.
        var isGone: Bool { isFault && system == ENOENT }
        /// The file, or one beside it, is shorter than it was.
        var isCutOff: Bool { code == SQLITE_IOERR | 2 << 8 }
        /// The file of the memory that connections share was shorter than that, or is not at its place any more.
        var isCutMemory: Bool { code == Self.cutMemory.code }
        static let cutMemory = Failure(
            code: SQLITE_IOERR | 21 << 8, message: "index.sqlite-shm was cut short by another program; try again")
        /// The connection is of no use any more.
        var isStuck: Bool { lacksLocks || [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_IOERR].contains(kind) }
        /// Another process holds what is needed.
        var isBusy: Bool { [SQLITE_BUSY, SQLITE_PROTOCOL].contains(kind) && !lacksLocks }
        /// A lock is held that a connection of this process may have left behind, where the system could not unlock.
        var isProtocol: Bool { kind == SQLITE_PROTOCOL && !lacksLocks }
        static let locked = Failure(code: SQLITE_BUSY, message: "another process has locked it")
        /// The file, or one beside it, could only be opened for reading.
        var isReadOnly: Bool { kind == SQLITE_READONLY }
        /// The file cannot be opened: permission is missing, or it has just gone.
        var isUnopened: Bool { kind == SQLITE_CANTOPEN }
        /// The file must not be written, or a file that must be beside it cannot be made.
        var isUnwritable: Bool { isUnopened || isReadOnly || isFault || kind == SQLITE_FULL }

        /// The index is of a version that this program does not write. An older one is upgraded, a newer one left alone; what
        /// is neither is put aside like a damaged one.
        static func ofVersion(_ version: Int, in database: SQLiteDatabase) -> Failure {
            // What was read from memory that lost something says nothing.
            do { try database.checkMemory() } catch { return error }
            if (0..<IndexSchema.version).contains(version) {
                let message = version == 0 ? "no such table yet" : "it is of version \(version)"
                return Failure(code: SQLITE_SCHEMA, message: message)
            }
            guard version > IndexSchema.version, IndexSchema.isExceeded(by: database) else {
                return Failure(code: SQLITE_NOTADB, message: "it says to be of version \(version), and is not")
            }
            let message =
                "it is of version \(version), made by a newer halcyon; this one knows version \(IndexSchema.version)"
            return Failure(code: SQLITE_AUTH, message: message)
        }

        /// The index was made by a newer halcyon. Nothing in its folder is changed then.
        var isNewer: Bool { kind == SQLITE_AUTH }

        /// The index was made by an older halcyon.
        var isOlder: Bool { code == SQLITE_SCHEMA && message.hasPrefix("it is of version") }

        /// The file lacks the tables or columns of ours: another process is just making it, or was stopped while it did, or
        /// somebody else made it.
        var isForeign: Bool {
            guard [SQLITE_ERROR, SQLITE_SCHEMA].contains(kind) else { return false }
            return ["no such", "duplicate column name"].contains { message.hasPrefix($0) }
                || message.contains(" has no column named ")
        }
    }

    /// Owned; closed with the object.
    private let handle: OpaquePointer

    /// Opens the file, making it when `creates`.
    init(path: String, creates: Bool) throws(Failure) {
        if let kind = try? Files.kind(path), kind != .file {
            throw Failure(code: SQLITE_NOTADB, message: "\(path) is not a file")
        }
        guard Self.isReady else { throw Failure(code: SQLITE_NOMEM, message: "out of memory") }
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creates ? SQLITE_OPEN_CREATE : 0)
        let code = sqlite3_open_v2(path, &opened, flags, HL_SQLITE_FILES)
        guard code == SQLITE_OK, let opened else {
            defer { sqlite3_close_v2(opened) }
            throw opened.map { Failure(code, of: $0) } ?? Failure(code: code, message: "out of memory")
        }
        // Without permission to write, SQLite opens for reading and says nothing.
        if creates, sqlite3_db_readonly(opened, "main") == 1 {
            defer { sqlite3_close_v2(opened) }
            throw Failure(
                code: SQLITE_READONLY, message: "\(path) cannot be written", system: Failure.refusal(of: opened))
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.longestValue)
        hl_sqlite_guard(handle)
    }

    /// The most bytes of one value or row. No entry has as many; what has more comes from damage, and is not made room for.
    private static let longestValue: Int32 = 16 << 20

    private init(_ handle: OpaquePointer, frozen: State) {
        (self.handle, self.frozen) = (handle, frozen)
    }

    deinit { sqlite3_close_v2(handle) }

    /// `true` when the library could be prepared, once for all connections.
    private static let isReady = hl_sqlite_prepare() == SQLITE_OK

    /// Distrusts what has been read since this was last asked if the memory that the connection shares with other processes
    /// lost something: somebody cut its file short. The connection is of no use then.
    ///
    /// - Parameter thoroughly: See `hl_sqlite_is_sound`.
    func checkMemory(thoroughly: Bool = true) throws(Failure) {
        if (thoroughly ? hl_sqlite_is_sound(handle) : hl_sqlite_is_whole(handle)) == 0 { throw .cutMemory }
    }

    /// `false` when the memory that the connection shares with others turns out to contradict the log; then
    /// ``checkMemory()`` throws too. Called in a transaction for writing that has written nothing.
    func checksLogIndex() -> Bool { hl_sqlite_check_log_index(handle) != 0 }

    /// How far the log was when it was last looked at.
    private var position: LogPosition?

    /// `true` when the log of changes is less far than it was at the last ``noteLog()``: somebody has cut it, and what was in the
    /// rest is lost.
    var isLogOlder: Bool {
        guard let position, let now = LogPosition(of: self) else { return false }
        return !now.follows(position)
    }

    /// Notes how far the log of changes is; returns what ``isLogOlder`` was.
    @discardableResult
    func noteLog() -> Bool {
        let isOlder = isLogOlder
        position = LogPosition(of: self) ?? position
        return isOlder
    }

    /// How far the log of changes is. It never goes back.
    private struct LogPosition {
        private let log: UInt32
        private let frames: UInt32

        /// `nil` when the connection has no log, or another process just begins a new one.
        init?(of database: SQLiteDatabase) {
            var (log, frames): (UInt32, UInt32) = (0, 0)
            guard hl_sqlite_log_position(database.handle, &log, &frames) != 0 else { return nil }
            (self.log, self.frames) = (log, frames)
        }

        /// `true` when SQLite can have come from `other` to here: the numbers of logs follow one another. The first of a file
        /// is drawn by lot when something is written; until then it is 0.
        func follows(_ other: LogPosition) -> Bool {
            if other.log == 0, other.frames == 0 { return true }
            let logs = log &- other.log
            return logs == 0 ? frames >= other.frames : logs < 1 << 20
        }
    }

    /// How far the log of changes is copied into the file, which whoever has written does after the write is over.
    struct LogCopying {
        private var (begun, done): (UInt32, UInt32) = (0, 0)

        init(of database: SQLiteDatabase) { _ = hl_sqlite_log_copying(database.handle, &begun, &done) }

        /// `true` when a part of it may have been copied after `other` was looked at.
        func mayHaveGoneOn(since other: LogCopying) -> Bool { begun != other.begun || other.done != other.begun }
    }

    /// `true` when the connection keeps all others out: it is closed at once.
    private(set) var isAlone = false
    /// The states of the file and of its log for a connection that takes the file for one that nobody changes.
    private var frozen: State?

    private struct State: Equatable {
        let main: FileStamp?
        let log: FileStamp?
        init(_ path: String) { (main, log) = (FileStamp(path: path), FileStamp(path: path + "-wal")) }
    }

    /// `false` when the connection does not see what has been written since it was opened.
    func isCurrent(_ path: String) -> Bool { frozen.map { $0 == State(path) } ?? true }

    /// A connection for reading, also where nothing can be written. A log of changes that is not yet merged can then only be
    /// read while nobody else has the index open.
    static func reading(_ path: String) throws(Failure) -> SQLiteDatabase {
        do throws(Failure) {
            let database = try SQLiteDatabase(path: path, creates: false)
            _ = try database.number("PRAGMA user_version")
            return database
        } catch {
            guard error.isUnwritable, !error.isCutMemory, FileStamp(path: path) != nil else { throw error }
            // A log that cannot be looked at may hold the latest changes.
            guard let log = try? FileStamp.existing(path + "-wal")?.size ?? 0 else { throw error }
            let hasLog = log > 0
            guard let database = hasLog ? alone(path) : immutable(path) else { throw error }
            return database
        }
    }

    /// A connection that excludes all others: it shares no memory with them, which would take a file of its own.
    private static func alone(_ path: String) -> SQLiteDatabase? {
        guard let database = try? SQLiteDatabase(path: path, creates: false) else { return nil }
        database.isAlone = true
        guard (try? database.execute("PRAGMA locking_mode = EXCLUSIVE")) != nil,
            (try? database.number("PRAGMA user_version")) != nil
        else { return nil }
        return database
    }

    /// A connection that takes the file for one that nobody changes: it needs no files beside it. Of use until somebody does
    /// change it, for the reason to open it so may have been a fault of the moment; see ``isCurrent(_:)``.
    private static func immutable(_ path: String) -> SQLiteDatabase? {
        let state = State(path)
        guard state.log?.size ?? 0 == 0 else { return nil }
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
        guard sqlite3_open_v2(FileURL.text(path) + "?immutable=1", &opened, flags, nil) == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            return nil
        }
        return SQLiteDatabase(opened, frozen: state)
    }

    /// Runs statements that return nothing.
    func execute(_ sql: String) throws(Failure) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// Prepares a statement that is used many times.
    func prepare(_ sql: String) throws(Failure) -> SQLiteStatement {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { throw Failure(code: SQLITE_MISUSE, message: "empty statement") }
        return SQLiteStatement(statement)
    }

    /// The number in the first row of a query; 0 if there is none.
    func number(_ sql: String) throws(Failure) -> Int {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    /// The first column of all rows of a query.
    func texts(_ sql: String) throws(Failure) -> [String] {
        let statement = try prepare(sql)
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(0) ?? "") }
        return texts
    }

    private func check(_ code: Int32) throws(Failure) { if code != SQLITE_OK { throw Failure(code, of: handle) } }
}

extension SQLiteDatabase.Failure {
    /// The failure of the last call of a connection.
    init(_ code: Int32, of connection: OpaquePointer?) {
        let lacksLocks = [SQLITE_BUSY, SQLITE_PROTOCOL].contains(code & 0xFF) && errno == ENOLCK
        // Whatever it says then.
        if let connection, hl_sqlite_is_sound(connection) == 0 {
            self = .cutMemory
            return
        }
        self.init(
            code: code, message: String(cString: sqlite3_errmsg(connection)), lacksLocks: lacksLocks,
            system: code & 0xFF == SQLITE_READONLY ? Self.refusal(of: connection) : sqlite3_system_errno(connection))
    }

    /// The `errno` with which the system refuses to have the file of a connection, or its folder, written; 0 if it does not.
    static func refusal(of connection: OpaquePointer?) -> Int32 {
        guard let name = sqlite3_db_filename(connection, "main") else { return 0 }
        let path = String(cString: name)
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        for place in [path, folder] where faccessat(AT_FDCWD, place, W_OK, AT_EACCESS) != 0 { return errno }
        return 0
    }
}

extension SQLiteDatabase.Failure: StorageProblem {
    package var reason: String {
        let cause = isFault && system != 0 ? " (\(String(cString: strerror(system))))" : ""
        return "the index says: \(message)\(cause)."
    }

    package var hint: String? {
        isNewer ? "Use halcyon of one version for a folder, or give this one another with --cache-dir." : nil
    }

    /// The `errno` with the same cause.
    package var systemCode: Int32 {
        switch code & 0xFF {
        case SQLITE_FULL: ENOSPC
        case SQLITE_NOMEM: ENOMEM
        case SQLITE_READONLY: system == 0 ? EROFS : system
        case SQLITE_CANTOPEN: system == 0 ? EACCES : system
        case SQLITE_IOERR: system == 0 ? EIO : system
        case SQLITE_BUSY, SQLITE_PROTOCOL: lacksLocks ? ENOLCK : EBUSY
        default: 0
        }
    }
}
