internal import CSQLite
internal import Glibc
internal import HTTPSemantics
internal import Platform

/// The connection for writing. Its methods are called within ``CacheIndex/write(syncs:_:)``.
final class IndexWriter: IndexReading {
    /// The inode of the index file.
    let inode: UInt64?
    /// `true` when the folder may hold images that the index does not know.
    private(set) var isAdopting: Bool
    private let files: IndexFiles
    private var folder: StorageFolder { files.folder }
    private let lending: Lending
    /// See ``IndexConnection/unprovenTimes(_:since:)``.
    let unprovenTimes: ClosedRange<Int>?
    let connection: IndexConnection
    private let log: EntryLog
    private var isSynced = false
    /// The numbers of the entries that this transaction has written or removed, one for each change; `nil` for all entries.
    private var changed: [Int64]? = []
    /// `true` when there may be files without entries. There are none as a rule, and then none is looked for.
    private var mayHaveRetired = true
    /// The state of the files after the last transaction, and what SQLite counts of others' by then.
    private var seen: (mark: IndexMark, version: Int, copying: SQLiteDatabase.LogCopying)?
    /// `true` when somebody changed the files between the last two transactions, and SQLite does not know of it, or replaced
    /// them by older ones.
    private(set) var wasChanged = false
    private let clock: CacheClock
    /// The bytes that SQLite leaves its log after it was copied.
    private let logLimit: Int
    /// Take back what the transaction did outside of the index.
    private var undos: [() -> Void] = []

    /// `true` when this connection has made the index, in a folder without images.
    let isNew: Bool

    /// Opens the index, and makes or upgrades it if need be.
    init(_ files: IndexFiles, clock: CacheClock, lending: Lending) throws(Failure) {
        (self.files, self.lending, self.clock) = (files, lending, clock)
        let folder = files.folder
        let database = try SQLiteDatabase(path: files.path, creates: true)
        let found = try database.number("PRAGMA user_version")
        guard (0...IndexSchema.version).contains(found) else { throw .ofVersion(found, in: database) }
        chmod(files.path, folder.fileMode)
        let reserve = IndexReserve(folder: folder)
        let pages = reserve.logPages
        logLimit = pages << 12
        try database.execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = \(logLimit);"
                + "PRAGMA wal_autocheckpoint = \(pages);")
        var isNew = false
        if found < IndexSchema.version {
            let adopts = found == 0 && (try? folder.shards.isEmpty) != true ? "UPDATE totals SET adopting = 1;" : ""
            do {
                try database.execute("BEGIN IMMEDIATE;")
                // Another process may have done it meanwhile.
                if try database.number("PRAGMA user_version") == found {
                    try database.execute(IndexSchema.upgrade(from: found) + adopts)
                    isNew = found == 0 && adopts.isEmpty
                }
                try database.execute("COMMIT;")
            } catch {
                try? database.execute("ROLLBACK")
                throw error
            }
        }
        self.isNew = isNew
        inode = try? files.inode
        connection = IndexConnection(database)
        isAdopting = try connection.folderState() == IndexSchema.Folder.adopting
        log = EntryLog(folder: folder)
        let anchor = try connection.anchor()
        if let anchor { clock.follow(anchor) }
        unprovenTimes = try connection.unprovenTimes(clock, since: anchor)
        try setUnprovenTimes(unprovenTimes)
        try setAnchor(clock.anchor)
        reserve.keep()
    }

    /// Copies the log of changes into the index and gives up the log's space, unless somebody reads or writes.
    func shrinkLog() throws {
        let database = connection.database
        if try database.number("PRAGMA wal_checkpoint(RESTART)") != 0 { throw Failure.locked }
        // Its own work is no change by others.
        if let seen { self.seen = (mark, seen.version, SQLiteDatabase.LogCopying(of: database)) }
        // This begins the log anew, and cuts it off. Left to another process, as by `TRUNCATE`, it would get a number that is
        // drawn by lot, which looks like that of an older one.
        try database.execute("PRAGMA journal_size_limit = 0")
        defer { try? database.execute("PRAGMA journal_size_limit = \(logLimit)") }
        _ = try transaction(syncs: false) { try $0.noteWriting() }
    }

    /// Takes back what was done outside of the index if the transaction fails or nobody sees it: the latest first, and before
    /// anybody else may write.
    func onFailure(_ undo: @escaping () -> Void) { undos.append(undo) }

    /// Runs `body` in one transaction.
    ///
    /// - Returns: `nil` when another process has put the index aside: then nobody sees what was written, if it was.
    func transaction<Value>(syncs: Bool, _ body: (IndexWriter) throws -> Value) throws -> Value? {
        if syncs != isSynced {
            try connection.database.execute("PRAGMA synchronous = \(syncs ? "FULL" : "NORMAL")")
            isSynced = syncs
        }
        changed = []
        try connection.run(.begin)
        // Under the lock: nobody else writes.
        let before = mark
        guard isInPlace(before) else {
            try connection.database.execute("ROLLBACK")
            return nil
        }
        do {
            // A newer halcyon may have upgraded it.
            if try connection.first(.schema, read: { $0.integer(0) }) != IndexSchema.version {
                try IndexSchema.check(connection.database)
            }
            let version = try connection.first(.version) { $0.integer(0) } ?? 0
            let copying = SQLiteDatabase.LogCopying(of: connection.database)
            wasChanged =
                connection.database.noteLog()
                || seen.map { seen in
                    seen.version == version && seen.mark != before
                        && !(before.isCopied(from: seen.mark) && copying.mayHaveGoneOn(since: seen.copying))
                } ?? false
            seen = (before, version, copying)
            // What is written behind a gap in the log is lost with it.
            if wasChanged, !checksLogIndex() { throw Failure.cutMemory }
            let state = try connection.first(.state) { ($0.integer(0), $0.integer(1) != 0) }
            mayHaveRetired = state?.1 ?? true
            if state?.0 == IndexSchema.Folder.clearing {
                try confirm()
                // Under the lock that every store holds: no new file can be among the old ones.
                try folder.setBlobsAside()
                try setState(IndexSchema.Folder.known)
            }
            let value = try body(self)
            // Before it counts: a record without its entry says nothing.
            log.write(inode: before.entryLog.inode)
            if log.isOverdue { log.noteEntries(try totals().count) }
            let commit = try connection.statement(.commit)
            // Before and after it counts: others have been told of it also when this process is killed in between.
            noteChanges()
            if syncs { try BlockingPool.waiting { try commit.run() } } else { try commit.run() }
            noteChanges()
            let after = mark
            seen = (after, version, SQLiteDatabase.LogCopying(of: connection.database))
            connection.database.noteLog()
            // Only what is known to be another one: what was committed names the files that would be taken back.
            let isSeen = isInPlace(after) || !after.index.isKnown
            if !isSeen { undos.reversed().forEach { $0() } }
            undos.removeAll(keepingCapacity: true)
            return isSeen ? value : nil
        } catch {
            undos.reversed().forEach { $0() }
            undos = []
            log.discard()
            try? connection.database.execute("ROLLBACK")
            // A part of it may be in the files.
            seen?.mark = mark
            throw error
        }
    }

    /// `true` when the index is the file at its place, which is not empty.
    private func isInPlace(_ mark: IndexMark) -> Bool {
        mark.index.size > 0 && mark.index.inode == inode
    }

    /// Throws if what has been read in the transaction may not be so; see ``SQLiteDatabase/checkMemory(thoroughly:)``. The
    /// transaction itself fails then anyway: this is for what cannot be taken back, before it is done.
    func confirm() throws(Failure) { try connection.database.checkMemory() }

    /// See ``SQLiteDatabase/isLogOlder``.
    var isLogOlder: Bool { connection.database.isLogOlder }

    /// See ``SQLiteDatabase/checksLogIndex()``.
    func checksLogIndex() -> Bool { connection.database.checksLogIndex() }

    private var mark: IndexMark { IndexMark(of: files, bootNumber: clock.bootNumber) }

    /// `true` when the ``EntryLog`` has become too long.
    var wantsNewLog: Bool { log.isOverdue }

    /// See ``EntryLog/failureCount``.
    func takeLogFailures() -> Int {
        defer { log.failureCount = 0 }
        return log.failureCount
    }

    private func setState(_ state: Int) throws(Failure) {
        try connection.database.execute("UPDATE totals SET adopting = \(state)")
        isAdopting = state == IndexSchema.Folder.adopting
    }

    // MARK: Entries

    func row(_ number: Int64) throws(Failure) -> IndexRow? { try find(number).row }

    /// The entry named `name`.
    func row(_ name: Digest) throws(Failure) -> IndexRow? {
        try row(name.rowNumber).flatMap { $0.name == name ? $0 : nil }
    }

    /// The entry of an image, if it is there as it was found.
    func row(of record: ImageRecord) throws(Failure) -> IndexRow? {
        guard let name = record.name, let stamp = record.stamp, let row = try row(name),
            row.modified == stamp.modified, row.storedAt == record.storedAt
        else { return nil }
        return row
    }

    /// The entry with `number`, and `true` when there is any: also one that says what no version of ours would write.
    func find(_ number: Int64) throws(Failure) -> (row: IndexRow?, isThere: Bool) {
        let found = try connection.first(.find, number, read: IndexRow.init)
        return (found ?? nil, found != nil)
    }

    /// Adds or replaces an entry, the most recently used from now on.
    ///
    /// - Parameters:
    ///   - usedAt: The time of the last use; that of storing when `nil`.
    ///   - isNew: `true` when there is none yet. SQLite then need not be able to undo half of it, which costs as much as the
    ///     rest.
    func put(
        _ row: IndexRow, metadata: String? = nil, usedAt: Int? = nil, isNew: Bool = false
    ) throws(Failure) {
        try write(isNew ? .insert : .upsert, EntryRecord(row: row, metadata: metadata), usedAt: usedAt ?? row.storedAt)
        noteChange(of: row.number)
    }

    /// Writes an entry and its record; its place in the order of use stays.
    func correct(_ record: EntryRecord, usedAt: Int) throws(Failure) { try write(.correct, record, usedAt: usedAt) }

    private func write(_ statement: IndexStatement, _ record: EntryRecord, usedAt: Int) throws(Failure) {
        let row = record.row
        let (header, origin, facts) = (row.header, row.origin, row.origin.facts)
        let bytes = record.bytes
        let mark = EntryRecord.mark(of: bytes)
        // In the order of the columns of IndexSchema.
        let entry = try connection.statement(statement)
        entry.bind(row.number, row.name)
        entry.bindNext(row.key)
        entry.bindNext(row.identifier)
        entry.bindNext(row.fileExtension)
        entry.bindNext(header.format.rawValue)
        entry.bindNext(header.width)
        entry.bindNext(header.height)
        entry.bindNext(header.frameCount)
        entry.bindNext(row.byteCount)
        entry.bindNext(row.allocated)
        entry.bind(row.checksum)
        entry.bindNext(origin.url)
        entry.bindNext(origin.etag)
        entry.bindNext(origin.lastModified)
        entry.bindNext(row.storedAt)
        entry.bindNext(row.expiresAt)
        entry.bindNext(row.life.number)
        entry.bindNext(row.modified)
        entry.bindNext(Int(row.content))
        entry.bindNext(origin.http)
        entry.bindNext(facts.preview)
        entry.bindNext(facts.timing?.text)
        entry.bindNext(facts.sourceMark)
        entry.bindNext(facts.exactness)
        entry.bindNext(facts.verdict?.rawValue)
        entry.bindNext(header.orientation)
        entry.bindNext(header.hasAlpha.map { $0 ? 1 : 0 })
        entry.bindNext(URLParts.host(of: origin.url ?? row.key))
        entry.bindNext(record.metadata)
        entry.bindNext(usedAt)
        entry.bindNext(Int(mark))
        entry.bindNext(row.lifeMark)
        try entry.run()
        log.add(bytes, mark: mark)
        if mayHaveRetired { try forget(file: row.fileName) }
    }

    func remove(_ number: Int64) throws(Failure) {
        try connection.run(.delete, number)
        noteChange(of: number)
    }

    /// Has all processes ask the index once more for an image that they have in memory, or know to be missing.
    private func noteChange(of number: Int64) { changed?.append(number) }

    /// The mark that an entry has when this transaction has been committed, unless it changes the entry once more.
    func mark(of number: Int64) -> ChangeMark {
        lending.changeMark(of: number).after(2 * (changed?.count { $0 == number } ?? 0))
    }

    private func noteChanges() {
        if changed?.isEmpty != true { lending.noteChanges(of: changed) }
    }

    /// Removes entries that cannot be read.
    ///
    /// - Throws: A failure of a damaged index when some of them stay: then it is begun anew from the folder's files.
    func removeUnreadable(_ numbers: [Int64]) throws(Failure) {
        for number in numbers { try remove(number) }
        if try unreadable().isEmpty { return }
        throw Failure(code: SQLITE_CORRUPT, message: "it has entries that can neither be read nor removed")
    }

    /// Another entry with the content that `content` numbers.
    func twin(_ content: Int64, besides number: Int64) throws(Failure) -> IndexRow? {
        try connection.first(.twin, content, number, read: IndexRow.init) ?? nil
    }

    /// Gives the entry a content of its own, or one that it shares.
    func setContent(_ content: Int64, of number: Int64) throws(Failure) {
        try connection.run(.setContent, number, content)
    }

    func totals() throws(Failure) -> CacheIndex.Totals {
        if let found = try connection.first(.sums, read: CacheIndex.Totals.init), found.isSane { return found }
        // Somebody else wrote into the index: what follows must not be decided by that.
        try sumUp()
        return try connection.first(.sums, read: CacheIndex.Totals.init) ?? CacheIndex.Totals()
    }

    /// Makes the sums true again.
    func sumUp() throws(Failure) { try connection.database.execute(IndexSchema.summing) }

    func removeAll() throws(Failure) {
        log.remove()
        try connection.database.execute(IndexSchema.emptying)
        (changed, isAdopting) = (nil, false)
    }

    // MARK: Use and life

    /// Up to `limit` entries that were last used after the use numbered `use`, the least recently used first.
    func leastRecentlyUsed(_ limit: Int, after use: Int64) throws(Failure) -> [IndexUse] {
        try connection.all(.leastRecentlyUsed, limit, use, read: IndexUse.init)
    }

    /// Up to `limit` entries that have expired at `moment`.
    func expired(at moment: Int, _ limit: Int) throws(Failure) -> [IndexUse] {
        try connection.all(.expired, moment, limit, read: IndexUse.init)
    }

    /// The number of the latest use.
    func latestUse() throws(Failure) -> Int64 { try connection.first(.latest) { Int64($0.integer(0)) } ?? 0 }

    /// Makes an entry the least recently used of all.
    func demote(_ number: Int64) throws(Failure) { try connection.run(.demote, number) }

    /// Makes the entry the most recently used, and moves its expiry if the touch does; unless it was stored anew meanwhile.
    ///
    /// - Parameter use: The number of the use.
    func touch(_ number: Int64, _ touch: TouchLog.Touch, use: Int64, at moment: Int) throws(Failure) {
        if touch.movesExpiry {
            try connection.run(.prolong, number, touch.modified, touch.storedAt, use, moment, touch.expiresAt)
        } else {
            try connection.run(.touch, number, touch.modified, touch.storedAt, use, moment)
        }
    }

    /// Writes an entry anew that is there, with its metadata, and makes it the most recently used.
    func revive(_ row: IndexRow, at moment: Int) throws(Failure) {
        try put(row, metadata: details(row.number)?.metadata, usedAt: moment)
    }

    /// Writes an entry anew that is there, with its metadata; its place in the order of use stays.
    func correct(_ row: IndexRow) throws(Failure) {
        let details = try details(row.number)
        try correct(EntryRecord(row: row, metadata: details?.metadata), usedAt: details?.usedAt ?? row.storedAt)
    }

    /// Sets the times of storing of entries that have to be proven; see ``IndexConnection/unprovenTimes(_:since:)``.
    func setUnprovenTimes(_ times: ClosedRange<Int>?) throws(Failure) {
        try connection.run(.setUnproven, times?.lowerBound ?? 1, times?.upperBound ?? 0)
    }

    /// Appends the record of an entry to the log once more.
    func log(_ record: EntryRecord) throws(Failure) {
        try noteWriting()
        let bytes = record.bytes
        log.add(bytes, mark: EntryRecord.mark(of: bytes))
    }

    /// Ends the adoption: every image in the folder has an entry.
    func endAdopting() throws(Failure) { try setState(IndexSchema.Folder.known) }

    /// Writes something, so that other processes see who has changed the files of the index in this transaction.
    func noteWriting() throws(Failure) { try setAnchor(clock.anchor) }

    /// Records the moment, so that the cache's time goes on from it after a restart of the machine.
    func setAnchor(_ anchor: CacheClock.Anchor) throws(Failure) {
        try connection.run(.setAnchor, anchor.bootNumber, anchor.boot, anchor.wall, anchor.time)
    }

    // MARK: Files without entries

    /// Records that a file has no entry any more and goes at `moment`; see ``LentFile/until``. What has been removed stays so,
    /// whatever its leases say.
    func retire(_ fileName: String, bytes: Int, until moment: Int) throws(Failure) {
        // Replacing would not run the trigger that keeps the sum.
        try connection.run(.forgetLease, fileName, LentFile.atOnce)
        try connection.run(.retire, fileName, bytes, moment)
        mayHaveRetired = true
        // That the file is there for a while does not say that it has an entry.
        if let name = Digest(fileName: fileName) { noteChange(of: name.rowNumber) }
    }

    /// Up to `limit` files whose time has come at `moment`, or is too far away to be true.
    func dueFiles(at moment: Int, _ limit: Int) throws(Failure) -> [LentFile] {
        try connection.all(.dueFiles, moment, limit, moment + Lending.longest + 1, read: LentFile.init)
    }

    /// The number of files that are kept for leases at `moment`.
    func lentCount(at moment: Int) throws(Failure) -> Int {
        try connection.first(.lentCount, moment) { $0.integer(0) } ?? 0
    }

    /// The number of entries whose files are lent, as `isLent` says.
    func count(where isLent: (LeaseNumber) -> Bool) throws(Failure) -> Int {
        try connection.all(.extensions) { row in
            let fileNumber = LeaseNumber.fileNumber(in: row.text(1) ?? "")
            return isLent(LeaseNumber(Int64(row.integer(0)), fileNumber: fileNumber)) ? () : nil
        }.count
    }

    /// The files without entries whose names begin with `hex`.
    func files(of hex: String) throws(Failure) -> [String] {
        try connection.all(.filesOf, hex, hex + "g") { $0.text(0) }
    }

    /// Records that a file has gone, or has an entry again.
    func forget(file fileName: String) throws(Failure) { try connection.run(.forgetFile, fileName) }
}
