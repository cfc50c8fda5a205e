internal import CSQLite
internal import Glibc
internal import Logging
internal import Platform
internal import Synchronization

/// The index of one cache folder, shared by all processes on it: the entries, their sizes, lives and last uses.
///
/// It can be made again from the folder: a damaged one is put aside and begun anew. A connection for reading and one for
/// writing are kept open, so that a lookup never waits for a store. Sums are kept by triggers, hence O(1). The order of use
/// is a running number, not a time.
final class CacheIndex: Sendable {
    typealias Failure = SQLiteDatabase.Failure

    struct Totals: Equatable, Sendable {
        var count = 0
        var bytes = 0
        var allocated = 0
        /// Bytes of files that have no entry any more and are kept for a lease.
        var lent = 0
    }

    let clock: CacheClock
    private let folder: StorageFolder
    let files: IndexFiles
    private let lending: Lending
    let reader = Mutex<IndexReader?>(nil)
    let survey = Mutex<IndexReader?>(nil)
    let writer = Mutex<IndexWriter?>(nil)
    /// The writes that may share a transaction; as many as leave it short.
    let commits = GroupCommit<SharedWrite>(limit: 32)
    /// Called when the index was begun in a folder that had images already, until ``endAdopting(of:)``. Must not wait.
    let onAdopting = EventHook<Void>()
    /// Called before a connection is opened, by any thread. Must not wait.
    let onOpening = EventHook<Void>()
    /// Called when SQLite finds that somebody has changed the files, by any thread. Must not wait.
    let onDamage = EventHook<Void>()
    private let changed = Atomic(false)
    private let newLog = Atomic(false)
    /// The number of times that records could not be appended to the ``EntryLog`` since it was last written anew.
    let logFailures = Atomic(0)
    /// The entries that have to be proven; see ``IndexConnection/unprovenTimes(_:since:)``.
    let unproven = UnprovenEntries()
    private let unready = Atomic(false)
    /// Rises when an adoption begins and when it ends; see ``isAdopting``.
    private let adoptions = Atomic(0)
    let readable = Atomic(false)
    private let newer = Atomic(false)
    /// The inode of the latest index that this process has made in a folder without images; 0 for none.
    private let made = Atomic<UInt64>(0)
    /// `true` from a wait for another process that was in vain until the index could be written.
    let isWriteHeld = Atomic(false)
    /// `true` from such a wait until the index could be read.
    let isReadHeld = Atomic(false)

    /// An index whose file is made at the first write.
    ///
    /// - Parameter clock: Goes by the anchor in the index once that is opened.
    init(folder: StorageFolder, clock: CacheClock, lending: Lending) {
        files = IndexFiles(in: folder)
        (self.folder, self.clock, self.lending) = (folder, clock, lending)
    }

    /// `true` when the folder may hold images that the index does not know.
    var isAdopting: Bool { adoptionMark % 2 == 1 }

    /// Changes when the folder begins to hold images that the index may not know, and when it knows all of them: an image
    /// that was not found meanwhile may be there.
    var adoptionMark: Int { adoptions.load(ordering: .sequentiallyConsistent) }

    /// Ends the adoption: every image in the folder has an entry.
    ///
    /// - Parameter generation: The ``Lending/generation`` in which the folder's files began to be entered.
    /// - Returns: `false` when the index has been opened anew since: it may be another one, which lacks those entered before.
    func endAdopting(of generation: Int) throws -> Bool {
        do {
            return try write { writer in
                guard self.lending.generation == generation else { return false }
                try writer.endAdopting()
                // Before the next one can be begun.
                self.setAdopting(false)
                return true
            }
        } catch {
            setAdopting(true)
            throw error
        }
    }

    private func setAdopting(_ isAdopting: Bool) {
        let mark = adoptionMark
        guard (mark % 2 == 1) != isAdopting else { return }
        _ = adoptions.compareExchange(expected: mark, desired: mark + 1, ordering: .sequentiallyConsistent)
    }

    private func beginAdopting() {
        setAdopting(true)
        onAdopting.report()
    }

    /// `true` when the file is there, but no index yet, or one of an older version: a write changes that.
    var isUnready: Bool { unready.load(ordering: .relaxed) }

    /// `true` when the latest lookup found the connection for reading open, and its file in its place.
    var isOpen: Bool { readable.load(ordering: .relaxed) }

    /// `true` when the latest use of the index found one that a newer halcyon has made: nothing in the folder may be changed.
    var isNewer: Bool { newer.load(ordering: .relaxed) }

    /// `true` for the file of an index that this process has made: all that is in it has been written since.
    func hasMade(_ file: IndexMark.File) -> Bool { file.inode != 0 && file.inode == made.load(ordering: .relaxed) }

    /// `true` when there is an index file.
    var exists: Bool { get throws { try files.inode != nil } }

    /// `true` when somebody is known to have changed the index's files since ``noteCheck()``, and SQLite does not know of it.
    var isChanged: Bool { changed.load(ordering: .relaxed) }

    /// Notes that a check of the folder begins: what has been changed until now is what it looks for.
    func noteCheck() { changed.store(false, ordering: .relaxed) }

    /// ``isChanged``, after another look at the files. Waits for other writers. O(n) in the frames of the log.
    func wasChangedByOthers() throws -> Bool {
        try write { if !$0.checksLogIndex() { noteChange() } }
        return isChanged
    }

    /// `true` when the ``EntryLog`` should be written anew.
    var wantsNewLog: Bool { newLog.load(ordering: .relaxed) || logFailures.load(ordering: .relaxed) > 0 }

    /// Ends the time in which entries have to be proven: all have been.
    func endProving() throws {
        try write { try $0.setUnprovenTimes(nil) }
        unproven.set(nil)
    }

    func noteTransaction(of writer: IndexWriter) {
        if writer.wasChanged { noteChange() }
        newLog.store(writer.wantsNewLog, ordering: .relaxed)
        logFailures.add(writer.takeLogFailures(), ordering: .relaxed)
    }

    // MARK: Reading

    /// The entry with `number`.
    ///
    /// - Parameter patience: The longest wait for other processes, in seconds.
    /// - Complexity: One B-tree lookup, O(log *n*).
    func row(_ number: Int64, patience: Double = patience) throws -> IndexRow? {
        try reading(or: nil, patience: patience) { reader in
            if let row = try reader.row(number) { return row }
            // It may be in what the log has lost.
            let isOlder = reader.noteLog() || writer.withLockIfAvailable { $0?.isLogOlder } == true
            if isOlder { noteChange() }
            return nil
        }
    }

    /// The entry with `number`, as an inspection reads it.
    func details(_ number: Int64) throws -> IndexDetails? { try reading(or: nil) { try $0.details(number) } }

    /// Up to four entries with the content that `content` numbers.
    func twins(_ content: Int64) throws -> [IndexRow] { try reading(or: []) { try $0.twins(content) } }

    /// The entries with `key` that processors made, or that belong to one user.
    func variants(of key: String) throws -> [IndexRow] { try reading(or: []) { try $0.variants(of: key) } }

    /// Sums over all entries, in O(1).
    ///
    /// - Parameter patience: The longest wait for other processes, in seconds.
    func totals(patience: Double = patience) throws -> Totals {
        try reading(or: Totals(), patience: patience) { try $0.totals() }
    }

    /// Runs `body`, and again after a moment as long as files beside the index are cut short, replaced or removed meanwhile,
    /// by others or because the last connection was just closed.
    private func withWholeMemory<Value>(_ body: () throws -> Value) throws -> Value {
        for pause: UInt32 in [1_000, 10_000, 50_000, 200_000] {
            do { return try notingNewer(body) } catch let failure as Failure
                where failure.isCutMemory || failure.isGone
            {
                distrust(failure)
                closeAll()
                usleep(pause)
            }
        }
        return try notingNewer(body)
    }

    /// Notes that somebody has changed the files, as a failure of SQLite says. The connections that follow know nothing of how
    /// far the log was: it may be an older one by now.
    private func distrust(_ failure: Failure) { if !failure.isForeign { noteChange() } }

    /// Notes that somebody has changed the files, and has the folder checked.
    private func noteChange() { if !changed.exchange(true, ordering: .relaxed) { onDamage.report() } }

    /// Runs `body`, and says it once when a newer halcyon has made the index.
    private func notingNewer<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            let value = try body()
            if isNewer { newer.store(false, ordering: .relaxed) }
            return value
        } catch let failure as Failure where failure.isNewer {
            closeAll()
            if !newer.exchange(true, ordering: .relaxed) {
                Logger(label: "halcyon.cache").warning(
                    "the cache on disk is not used: \(failure.message)", metadata: ["folder": "\(folder.path)"])
            }
            throw failure
        }
    }

    private func reading<Value: Sendable>(
        or missing: Value, patience: Double = patience, _ body: @Sendable (IndexReader) throws -> Value?
    ) throws -> Value {
        try waiting(patience, for: .reading) { wait in
            try withWholeMemory { try readingMending(or: missing, wait, body) }
        }
    }

    private func readingMending<Value: Sendable>(
        or missing: Value, _ wait: Wait, _ body: @Sendable (IndexReader) throws -> Value?
    ) throws -> Value {
        // The inode of the file that was read last, should it turn out to be damaged.
        var damaged: UInt64?
        do {
            return try readingOnce(or: missing, &damaged, body)
        } catch let first as Failure where first.isCorruption || first.isForeign || first.isFault {
            var failure = first
            distrust(failure)
            close(reader)
            // A fault of the moment is over when it is opened anew, and is no reason to give up what is there.
            if !failure.isForeign {
                do { return try readingOnce(or: missing, &damaged, body) } catch let again as Failure {
                    failure = again
                }
            }
            // What connections of a process share goes with the last of them.
            if failure.isFault { closeAll() } else { close(reader) }
            if !failure.isForeign, !failure.isOlder { try putAside(damaged, after: failure, wait) }
        } catch let failure as Failure where failure.isUnopened {
            // Perhaps another process is just putting a damaged index aside: looked at again when that is done.
            _ = try lock(wait)
            return try readingOnce(or: missing, &damaged, body)
        } catch let failure as Failure where failure.isOlder {
            // The upgrade may take seconds: a lookup does not wait for it.
        }
        // Another thread may have opened one since this one looked.
        reader.withLock { reader in if reader == nil { unready.store(true, ordering: .relaxed) } }
        return missing
    }

    private func readingOnce<Value: Sendable>(
        or missing: Value, _ inode: inout UInt64?,
        _ body: @Sendable (IndexReader) throws -> Value?
    ) throws -> Value {
        try reader.withLock { slot in
            if let open = slot, try isInPlace(open) {
                inode = open.inode
                return try open.checked(body) ?? missing
            }
            slot = nil
            readable.store(false, ordering: .relaxed)
            try folder.claim()
            try folder.check("blobs")
            inode = try files.inode
            guard inode != nil else { return missing }
            prepareOpening()
            let fresh = try IndexReader(path: files.path, clock: clock)
            noteUnproven(fresh.unprovenTimes)
            let value = try fresh.checked(body) ?? missing
            if fresh.isAlone { return value }
            slot = fresh
            readable.store(true, ordering: .relaxed)
            noteOpening(isAdopting: fresh.isAdopting)
            return value
        }
    }

    /// `true` when a connection sees what is stored now. The folder may have been replaced, and another process may have put a
    /// damaged index aside: whoever did wrote a new file. The first of several lookups in a row looks for all of them.
    private func isInPlace(_ open: IndexReader) throws -> Bool {
        if Afterwards.hasSeen(open) { return true }
        guard try open.inode == files.inode, open.isCurrent(files.path) else { return false }
        Afterwards.noteSeen(open)
        return true
    }

    private func prepareOpening(isLocked: Bool = false) {
        onOpening.report()
        files.clearWay(isLocked: isLocked)
    }

    private func noteUnproven(_ times: ClosedRange<Int>?) { if let times { unproven.set(times) } }

    private func noteOpening(isAdopting: Bool) {
        unready.store(false, ordering: .relaxed)
        lending.noteOpening()
        if isAdopting { beginAdopting() }
    }

    /// Reads with a connection of its own, so that long work keeps no lookup waiting; `nil` when there is no index.
    func surveying<Value: Sendable>(_ body: @Sendable (IndexReader) throws -> Value) throws -> Value? {
        try waiting(Self.patience, for: .reading) { wait in try withWholeMemory { try surveyingMending(wait, body) } }
    }

    private func surveyingMending<Value: Sendable>(
        _ wait: Wait, _ body: @Sendable (IndexReader) throws -> Value
    ) throws -> Value? {
        let found = try files.inode
        do {
            return try surveyingOnce(body)
        } catch let failure as Failure
            where failure.isCorruption || failure.isForeign || failure.isOlder || failure.isFault || failure.isUnopened
        {
            // What connections of a process share goes with the last of them.
            if failure.isFault || failure.isForeign { closeAll() } else { close(survey) }
            if failure.isCorruption {
                // The same.
                do { return try surveyingOnce(body) } catch let again as Failure where again.isCorruption {
                    try putAside(found, after: again, wait)
                }
            }
            // A write makes it or upgrades it, and waits for the lock while another process puts a damaged one aside. One
            // that has what was there before in its memory would not.
            try writeMending(false, wait) { _ in }
            return try surveyingOnce(body)
        }
    }

    private func surveyingOnce<Value: Sendable>(_ body: @Sendable (IndexReader) throws -> Value) throws -> Value? {
        try survey.withLock { slot in
            let inode = try files.inode
            if let open = slot, open.inode == inode, open.isCurrent(files.path) {
                return try open.checked(thoroughly: true, body)
            }
            slot = nil
            try folder.claim()
            try folder.check("blobs")
            guard inode != nil else { return nil }
            prepareOpening()
            let fresh = try IndexReader(path: files.path, clock: clock)
            if !fresh.isAlone { slot = fresh }
            return try fresh.checked(thoroughly: true, body)
        }
    }

    /// Copies the log of changes into the index, as far as nobody reads; readers and writers go on meanwhile.
    func checkpoint() { _ = try? surveying { try $0.checkpoint() } }

    /// Copies the log of changes into the index, and gives up its space. Waits for readers and writers.
    func shrinkLog() {
        try? write { _ in }
        try? waiting(Self.patience, for: .writing) { _ in try writer.withLock { try $0?.shrinkLog() } }
    }

    // MARK: Writing

    /// Runs `body` in one transaction that excludes every other writer of every process.
    ///
    /// - Parameters:
    ///   - syncs: `true` to wait until the transaction has reached the disk.
    ///   - patience: The longest wait for other processes, in seconds.
    func write<Value: Sendable>(
        syncs: Bool = false, patience: Double = patience, _ body: @Sendable (IndexWriter) throws -> Value
    ) throws -> Value {
        try waiting(patience, for: .writing) { wait in try writeAtOnce(syncs, wait, body) }
    }

    /// Runs `body` in one transaction, without waiting.
    ///
    /// - Parameter wait: That of the caller, who tries it again.
    func writeAtOnce<Value: Sendable>(
        _ syncs: Bool, _ wait: Wait, _ body: @Sendable (IndexWriter) throws -> Value
    ) throws -> Value {
        try withWholeMemory { try writeMending(syncs, wait, body) }
    }

    private func writeMending<Value: Sendable>(
        _ syncs: Bool, _ wait: Wait, _ body: @Sendable (IndexWriter) throws -> Value
    ) throws -> Value {
        var found = try writer.withLock(\.?.inode) ?? files.inode
        do {
            return try writeOnce(syncs, wait, body)
        } catch let failure as Failure where failure.isFull {
            // What removes images needs a little space first.
            guard IndexReserve(folder: folder).release() else { throw failure }
        } catch let failure as Failure where failure.isCorruption || failure.isForeign || failure.isFault {
            distrust(failure)
            closeAll()
            if !failure.isForeign {
                // A fault of the moment is over when it is opened anew.
                found = try files.inode
                do { return try writeOnce(syncs, wait, body) } catch let again as Failure
                    where again.isCorruption || again.isCutOff
                { closeAll() }
            }
            try putAside(try found ?? files.inode, after: failure, wait)
        } catch let failure as Failure where failure.isReadOnly {
            // The connections of a process share the files beside the index: what one of them opened while nothing could be
            // written keeps the others from writing when it can.
            closeAll()
        }
        return try writeOnce(syncs, wait, body)
    }

    private func writeOnce<Value: Sendable>(
        _ syncs: Bool, _ wait: Wait, _ body: @Sendable (IndexWriter) throws -> Value
    ) throws -> Value {
        try writer.withLock { slot in
            // Another thread may have made it while this one waited.
            if let open = slot {
                do {
                    defer { noteTransaction(of: open) }
                    if let value = try open.transaction(syncs: syncs, body) { return value }
                } catch let failure as Failure where failure.isStuck {
                    // What kept this connection from writing may be over for the next one.
                    slot = nil
                    throw failure
                }
            }
            try folder.claim()
            // One process at a time: the first change of the journal's mode fails beside others.
            let lock = try lock(wait)
            defer { withExtendedLifetime(lock) {} }
            if lock != nil { mendCutOff() }
            slot = nil
            prepareOpening(isLocked: lock != nil)
            let fresh = try IndexWriter(files, clock: clock, lending: lending)
            slot = fresh
            if fresh.isNew { made.store(fresh.inode ?? 0, ordering: .relaxed) }
            noteUnproven(fresh.unprovenTimes)
            noteOpening(isAdopting: fresh.isAdopting)
            defer { noteTransaction(of: fresh) }
            if let value = try fresh.transaction(syncs: syncs, body) { return value }
            throw Failure(code: SQLITE_BUSY, message: "other processes put it aside again and again; try again")
        }
    }
}

extension CacheIndex.Totals {
    /// `true` when the sums can be true; what is calculated with them does not overflow.
    var isSane: Bool { [count, bytes, allocated, lent].allSatisfy((0...(1 << 60)).contains) }

    /// Reads a row of ``IndexStatement/sums``.
    init(_ statement: SQLiteStatement) {
        (count, bytes) = (statement.integer(0), statement.integer(1))
        (allocated, lent) = (statement.integer(2), statement.integer(3))
    }
}
