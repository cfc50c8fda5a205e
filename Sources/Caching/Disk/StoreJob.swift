internal import Glibc
internal import HTTPSemantics
internal import ImageErrors
internal import Platform
internal import Synchronization

/// One image on its way into the disk tier. Its bytes have been written to a draft, which one transaction of the index names
/// and enters.
final class StoreJob: Sendable {
    typealias Stored = DiskStorage.Stored
    typealias End = @Sendable (Result<Stored, any Error>) -> Void

    let disk: DiskStorage
    let request: StoreRequest
    let name: Digest
    let fileExtension: String
    let configuration: DiskStorage.Configuration
    let isPersonal: Bool
    let queue: WorkQueue
    let draft: StorageFolder.Draft
    /// `true` when the image is entered as a link, if there is a file with the same bytes.
    let seeksTwin: Bool
    /// Whether a file that the entry has, in that state, has the bytes of the draft; `nil` when it was not read.
    let check: (stamp: FileStamp, isSound: Bool)?
    let end: End

    /// The largest file that is hashed within the transaction, which others wait for, in bytes.
    private static let hashedAtOnce = 256 << 10

    private var fileName: String { StorageFolder.fileName(name.hex, fileExtension) }
    var path: String { disk.folder.blob(fileName) }
    /// The most bytes that may be lent; 0 for no bound.
    var lentShare: Int { disk.lentShare.load(ordering: .relaxed) }

    /// Writes the bytes to a draft.
    init(
        _ content: DiskStorage.Content, _ request: StoreRequest, _ fileExtension: String, in disk: DiskStorage,
        _ queue: WorkQueue, end: @escaping End
    ) throws {
        (self.disk, self.request, self.fileExtension, self.queue) = (disk, request, fileExtension, queue)
        configuration = disk.configuration
        name = disk.name(of: request.key)
        try disk.evictor.keepSpaceFree(for: content, floor: configuration.freeSpaceFloor)
        let draft = try disk.folder.write(
            content, for: StorageFolder.fileName(name.hex, fileExtension), syncs: configuration.syncsToDisk)
        isPersonal = request.origin.http.map(HTTPMetadata.isPersonal) ?? false
        self.draft = draft
        self.end = { result in
            _ = draft.path.withCString { unlink($0) }
            end(result)
        }
        (seeksTwin, check) = (true, nil)
        if isPersonal { StorageFolder.markPersonal(draft.path) }
    }

    /// A job for the same store that looks for no twin any more.
    ///
    /// - Parameters:
    ///   - linked: A draft that is a link to the twin's file; `nil` when the job keeps its own.
    ///   - check: What was found out about the file that the entry has.
    private init(
        _ job: StoreJob, linked: StorageFolder.Draft? = nil, check: (stamp: FileStamp, isSound: Bool)? = nil
    ) {
        (disk, request, name, fileExtension) = (job.disk, job.request, job.name, job.fileExtension)
        (configuration, isPersonal, queue) = (job.configuration, job.isPersonal, job.queue)
        (seeksTwin, self.check) = (false, check)
        draft = linked ?? job.draft
        guard let linked else {
            end = job.end
            return
        }
        if isPersonal { StorageFolder.markPersonal(linked.path) }
        end = { [end = job.end] result in
            unlink(linked.path)
            end(result)
        }
    }

    /// Enters the draft, unless it is larger than the whole tier. This test is final: one before, by the size that was foretold,
    /// saves the draft.
    func start() {
        let (size, limit) = (draft.stamp.size, configuration.bytesLimit)
        if limit > 0, size > limit {
            guard request.allowsOversize, request.lease > 0 else {
                return end(.failure(DiskStorage.tooLarge(size, request.key)))
            }
            return end(Result { try placeForLease() })
        }
        enter()
    }

    // MARK: Entering

    /// The result of the transaction that enters the draft.
    private indirect enum Entering: Sendable {
        case entered(Commit)
        /// An entry with the same bytes; nothing was done.
        case twin(IndexRow)
        /// The path of the file that the entry has, in that state. It has the same bytes unless it is damaged; nothing was done.
        case unchecked(String, FileStamp)
    }

    private struct Commit: Sendable {
        let stored: Stored
        var evicted: [Evictor.Cleaned] = []
        /// `true` when files are to go now.
        var retiresFiles = false
        /// The entry as it was, if its file is another one.
        var replaced: IndexRow?
    }

    /// Names the draft and enters it in one transaction of the index.
    private func enter() {
        let (checksum, number) = (draft.checksum, name.rowNumber)
        disk.index.writeTogether(
            syncs: configuration.syncsToDisk, servesOthers: queue.servesOthers, patience: request.patience
        ) { [self] writer -> Entering in
            let twin = try writer.twin(checksum.rowNumber, besides: number)
            if seeksTwin, let twin, twin.checksum == checksum, twin.byteCount == draft.stamp.size { return .twin(twin) }
            return try commit(writer, twin: twin)
        } then: { [self] result in
            switch result {
            case .failure(let failure as SQLiteDatabase.Failure)
            where failure.isBusy && request.isLentWhenHeld && request.lease > 0:
                end(Result { try lendDraft(failure) })
            case .failure(let error): end(.failure(error))
            case .success(.entered(let commit)): conclude(commit)
            // Hashing and linking happen outside the transaction, for nobody should wait for that.
            case .success(.twin(let twin)): queue.submit { [self] in enter(as: twin) }
            case .success(.unchecked(let path, let stamp)):
                queue.submit { [self] in
                    let isSound = (try? disk.folder.checksum(of: path)) == draft.checksum
                    StoreJob(self, check: (stamp, isSound)).enter()
                }
            }
        }
    }

    /// Enters the draft with the file of another entry that has the same bytes; with its own where there can be no link.
    ///
    /// Hard links cost readers nothing, and a file of ours is never written in place, so none of them can change with
    /// another.
    private func enter(as twin: IndexRow) {
        do {
            let linked = try disk.folder.linkedDraft(of: disk.folder.blob(twin.fileName), fileName)
            // The checksum is that of the file as it is now: a damaged one is not passed on.
            let isSound = linked?.checksum == draft.checksum
            if let linked, !isSound { unlink(linked.path) }
            StoreJob(self, linked: isSound ? linked : nil).enter()
        } catch {
            end(.failure(error))
        }
    }

    /// Names the draft and enters it, within a transaction.
    ///
    /// - Parameter twin: The entry that has, or seems to have, the same bytes.
    private func commit(_ writer: IndexWriter, twin: IndexRow?) throws -> Entering {
        if let old = request.successorOf, old.path != nil, try writer.row(of: old) == nil {
            throw ImageError.notCached(key: request.key.key)
        }
        try disk.folder.makeWay(to: path)
        // What was used before comes before it in the order of use.
        try disk.touches.flush(into: writer)
        var (row, twin) = (try newRow(writer), twin)
        let (old, isThere) = try previous(row, &twin, writer)
        if let old, old.name == name, let kept = try keepingFile(of: old, row, writer) { return kept }
        let isShared =
            twin.map { FileStamp(path: disk.folder.blob($0.fileName))?.inode == draft.stamp.inode } ?? false
        // Equal bytes in a file of their own count on their own.
        if let twin { if isShared { row.allocated = twin.allocated } else { row.content = row.number } }
        let evicted = try disk.evictor.makeRoom(
            for: row, isShared: isShared, replacing: old, limit: configuration.bytesLimit, writer)
        let path = try place(&row, oldPath: old.map { disk.folder.blob($0.fileName) }, writer)
        let stored = try enter(row, at: path, draft.stamp, isNew: !isThere, writer)
        var commit = Commit(stored: stored, evicted: evicted, retiresFiles: !evicted.isEmpty)
        if let old, disk.folder.blob(old.fileName) != path {
            try disk.evictor.retireFile(of: old, writer)
            (commit.retiresFiles, commit.replaced) = (true, old)
        }
        return .entered(commit)
    }

    /// The entry of the draft, with the extension that its file may have now.
    private func newRow(_ writer: IndexWriter) throws -> IndexRow {
        let now = disk.clock.now
        let life = disk.life(request.expiration)
        var row = IndexRow(
            name: name, key: request.key.indexed, identifier: request.key.indexedIdentifier,
            fileExtension: try freeExtension(writer, share: lentShare), header: request.header,
            byteCount: draft.stamp.size, allocated: draft.stamp.allocated,
            checksum: draft.checksum, origin: request.origin, storedAt: now, expiresAt: life.end(from: now),
            life: life, modified: draft.stamp.modified, content: draft.checksum.rowNumber)
        row.origin.facts.timing = request.header.timing
        return row
    }

    /// The entry that a new one replaces, and `true` when its number is taken.
    ///
    /// - Parameter twin: Looked for again when entries were found meanwhile.
    private func previous(
        _ row: IndexRow, _ twin: inout IndexRow?, _ writer: IndexWriter
    ) throws -> (row: IndexRow?, isThere: Bool) {
        var found = try writer.find(row.number)
        if found.row == nil, disk.mayLackEntries(writer) {
            _ = try disk.repairer.adopt(request.key, writer)
            found = try writer.find(row.number)
            twin = try writer.twin(row.content, besides: row.number)
        }
        guard let other = found.row, other.name == name, !other.isEntry(of: request.key) else { return found }
        // Of a key that reads like this one with processors: an older version gave both one name.
        try disk.evictor.retireFile(of: other, writer)
        try writer.remove(other.number)
        return (nil, false)
    }

    /// Ends the store at an entry whose file is there and stays: one that is not to be replaced, or has the same bytes. This test
    /// is final, for it is within the transaction.
    private func keepingFile(of old: IndexRow, _ row: IndexRow, _ writer: IndexWriter) throws -> Entering? {
        let oldPath = disk.folder.blob(old.fileName)
        guard let stamp = try FileStamp.existing(oldPath), stamp.modified == old.modified, stamp.size == old.byteCount
        else { return nil }
        if !request.overwrites, !disk.isExpired(old) {
            let record = disk.record(request.key, old, oldPath, stamp, writer.mark(of: old.number))
            record.isLent = lend(old)
            return .entered(Commit(stored: Stored(record: record, isNew: false)))
        }
        guard isTheSame(row, as: old) else { return nil }
        if let check, check.stamp == stamp {
            if !check.isSound { return nil }
        } else {
            if stamp.size > Self.hashedAtOnce { return .unchecked(oldPath, stamp) }
            if (try? disk.folder.checksum(of: oldPath)) != row.checksum { return nil }
        }
        // Nothing but its age is new: the file stays, and so do the bytes that others share with it.
        var row = row
        (row.modified, row.allocated, row.content) = (old.modified, old.allocated, old.content)
        row.fileExtension = old.fileExtension
        return .entered(Commit(stored: try enter(row, at: oldPath, stamp, writer)))
    }

    /// Gives the draft the name of an entry's file, and returns its path. The entry gets another extension when the file that
    /// is replaced is lent meanwhile: whoever comes later sees the new one.
    private func place(_ row: inout IndexRow, oldPath: String?, _ writer: IndexWriter) throws -> String {
        let path = disk.folder.blob(row.fileName)
        let placed = try place(at: path, replaces: oldPath == path, writer)
        guard oldPath == path, disk.lending.isLent(row.lease) else { return path }
        disk.folder.takeBack(placed, draft, from: path)
        row.fileExtension = try freeExtension(writer, share: lentShare)
        let free = disk.folder.blob(row.fileName)
        _ = try place(at: free, replaces: false, writer)
        return free
    }

    /// Writes an entry, whose file is at its place, and lends it: before others can see the entry, or they might take it out
    /// first.
    private func enter(
        _ row: IndexRow, at path: String, _ stamp: FileStamp, isNew: Bool = false, _ writer: IndexWriter
    ) throws -> Stored {
        let isLent = lend(row)
        try writer.put(row, metadata: request.metadata, isNew: isNew)
        let record = disk.record(request.key, row, path, stamp, writer.mark(of: row.number))
        record.isLent = isLent
        return Stored(record: record, isNew: true)
    }

    /// `true` when nothing of an entry but its age would change, if its file is not damaged.
    private func isTheSame(_ row: IndexRow, as old: IndexRow) -> Bool {
        row.checksum == old.checksum && hasExtension(old) && row.origin.url == old.origin.url
            && row.origin.etag == old.origin.etag && row.origin.lastModified == old.origin.lastModified
            && row.life == old.life
    }

    /// Lends the path of an entry to the caller of the store; `false` when too much is lent.
    private func lend(_ row: IndexRow) -> Bool {
        request.lease <= 0 || disk.lend(row.lease, for: request.lease, bytes: row.byteCount)
    }

    /// The extension for the file, with a number before it as long as files without are lent: a path keeps its bytes as long
    /// as its lease lasts. And a file that is not lent gets no path whose lease runs, even if the lent file was removed: it
    /// would stay for that lease when it is replaced. Asked before the entry is lent to the caller of the store.
    ///
    /// - Parameter share: The most bytes that may be lent; 0 for no bound.
    func freeExtension(_ writer: IndexWriter, share: Int) throws -> String {
        var (free, number) = (fileExtension, UInt32(1))
        var lease = LeaseNumber(name.rowNumber, fileNumber: LeaseNumber.fileNumber(in: free))
        while disk.lending.isLent(lease), try !mayLend(lease, share: share) || isTaken(lease, by: free, writer) {
            number += 1
            free = fileExtension.isEmpty ? "\(number)" : "\(number).\(fileExtension)"
            lease = LeaseNumber(name.rowNumber, fileNumber: number)
        }
        return free
    }

    private func mayLend(_ lease: LeaseNumber, share: Int) -> Bool {
        request.lease > 0 && disk.lending.hasRoom(for: lease, bytes: draft.stamp.size, share: share)
    }

    /// `true` when the lease is that of a file which is there: with this extension, or with that of another format.
    private func isTaken(_ lease: LeaseNumber, by fileExtension: String, _ writer: IndexWriter) throws -> Bool {
        if try FileStamp.existing(disk.folder.blob(name.hex, fileExtension)) != nil { return true }
        let files = try [writer.row(name)?.fileName].compactMap(\.self) + writer.files(of: name.hex)
        return files.contains { LeaseNumber(fileName: $0) == lease }
    }

    /// `true` when an entry has the extension of this one, whichever number stands before it.
    private func hasExtension(_ old: IndexRow) -> Bool {
        if old.fileExtension == fileExtension { return true }
        let ending = fileExtension.isEmpty ? "" : "." + fileExtension
        return old.fileExtension.hasSuffix(ending) && Int(old.fileExtension.dropLast(ending.utf8.count)) != nil
    }

    /// Gives the draft its name, within a transaction; if that fails, all is as it was.
    func place(at path: String, replaces: Bool, _ writer: IndexWriter) throws -> StorageFolder.Placement {
        let (folder, draft) = (disk.folder, draft)
        let placed = try folder.place(draft.path, at: path, replaces: replaces)
        writer.onFailure { folder.takeBack(placed, draft, from: path) }
        return placed
    }

    /// Ends the store of an image that has been entered.
    private func conclude(_ commit: Commit) {
        if commit.stored.isNew, let stamp = commit.stored.record.stamp { disk.noteVerified(stamp) }
        let syncNames = { @Sendable [self] in
            guard configuration.syncsToDisk else { return clean(after: commit) }
            queue.submit { [self] in
                do { try disk.folder.syncNames(of: path) } catch { return end(.failure(error)) }
                clean(after: commit)
            }
        }
        guard commit.retiresFiles else { return syncNames() }
        disk.evictor.removeDueFiles(in: queue, retiring: commit.replaced, then: { _ in syncNames() })
    }

    /// Begins the cleaning that a store entails, and tells the result.
    private func clean(after commit: Commit) {
        if !commit.evicted.isEmpty { disk.onClean(commit.evicted, .sizeLimit) }
        let purges =
            !commit.evicted.isEmpty && configuration.purgeRatio < 1 && !disk.isPurging.load(ordering: .relaxed)
        let collects = !disk.hasCollected.exchange(true, ordering: .relaxed)
        let rewrites = disk.index.wantsNewLog && disk.beginsRewritingLog()
        guard purges || collects || rewrites else { return end(.success(commit.stored)) }
        // After the transaction that it shares with other stores, even if the work is done at once.
        queue.submit { [self] in
            if purges { _ = disk.background { [self] in disk.evictor.purge(sparing: name.rowNumber) } }
            // What finds no thread is tried again at the next store.
            if collects, !disk.background({ [disk] in _ = try? LeftoverCollector(disk: disk).run() }) {
                disk.hasCollected.store(false, ordering: .relaxed)
            }
            if rewrites, !disk.background({ [disk] in disk.rewriteLog() }) {
                disk.rewritesFrom.store(0, ordering: .relaxed)
            }
            end(.success(commit.stored))
        }
    }
}
