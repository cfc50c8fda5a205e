internal import Glibc
internal import HTTPSemantics
package import ImageErrors
package import ImageFormats
internal import Platform
internal import Synchronization

extension DiskStorage {
    /// What is to be stored, and how.
    package struct Order: Sendable {
        package let key: CacheKey
        package let header: ImageHeader
        package var origin = ImageOrigin()
        /// How long it lives; the storage's own setting when nil.
        package var expiration: StorageExpiration?
        /// The extension of the file; by the storage's setting when nil.
        package var fileExtension: String?
        /// Whether an image that is there is replaced.
        package var overwrites = true
        /// What the caller wants kept with the image: a JSON object.
        package var metadata: String?
        /// For how many seconds its path is lent out.
        package var lease = 0.0
        /// Whether an image larger than the limit is placed for the time of its lease, and is no entry.
        package var allowsOversize = false

        /// What is to be stored, and how.
        package init(
            key: CacheKey, header: ImageHeader, origin: ImageOrigin = ImageOrigin(),
            expiration: StorageExpiration? = nil, fileExtension: String? = nil, overwrites: Bool = true,
            metadata: String? = nil, lease: Double = 0.0, allowsOversize: Bool = false
        ) {
            self.key = key
            self.header = header
            self.origin = origin
            self.expiration = expiration
            self.fileExtension = fileExtension
            self.overwrites = overwrites
            self.metadata = metadata
            self.lease = lease
            self.allowsOversize = allowsOversize
        }
    }

    /// What ``store(_:_:)`` did.
    struct Stored: Sendable {
        let record: ImageRecord
        /// false if an image was there that was not to be replaced: then it is that one.
        let isNew: Bool
        /// Whether it is there for its lease only.
        var isTransient = false
    }

    /// What the transaction of a store ended in.
    private struct Commit: Sendable {
        let stored: Stored
        var evicted: [Cleaned] = []
        /// Whether files are to go now.
        var leavesFiles = false
    }

    /// An image whose bytes have been written, and that is yet to be named and entered.
    private struct Draft: Sendable {
        var file: StorageFolder.Draft
        let order: Order
        let digest: Digest
        let fileExtension: String
        let configuration: Configuration
        let isPersonal: Bool

        var fileName: String { StorageFolder.fileName(digest.hex, fileExtension) }
    }

    /// How far an image is stored before the index is asked.
    private enum Beginning {
        case draft(Draft)
        case stored(Stored)
    }

    /// Stores an image and returns its record once the file is at its place and the index knows it.
    func store(_ content: Content, _ order: Order) throws(ImageError) -> Stored {
        try BlockingWait.wait { queue, then in store(content, order, in: queue, then: then) }.get()
    }

    /// Stores an image: writes its bytes here, and leaves the rest to whoever writes into the index now.
    ///
    /// - Parameters:
    ///   - queue: Where it goes on when there is more to do than others should wait for.
    ///   - then: Is told the record, once: when the file is at its place and the index knows it. It must not wait, for
    ///     other stores do.
    func store(
        _ content: Content, _ order: Order, in queue: WorkQueue,
        then: @escaping @Sendable (Result<Stored, ImageError>) -> Void
    ) {
        let beginning: Beginning
        do throws(ImageError) {
            beginning = try begin(content, order)
        } catch {
            return then(.failure(error))
        }
        switch beginning {
        case .stored(let stored): then(.success(stored))
        case .draft(let draft):
            finish(draft, in: queue) { [self] result in
                _ = draft.file.path.withCString { unlink($0) }
                then(result.mapError { ImageError.storage($0, folder: folder.path) })
            }
        }
    }

    /// Writes the bytes of an image, unless one is there that is not to be replaced.
    private func begin(_ content: Content, _ order: Order) throws(ImageError) -> Beginning {
        let digest = name(of: order.key)
        let fileExtension = order.fileExtension ?? fileExtension(for: order.key, order.header.format)
        guard StorageFolder.isExtension(fileExtension) else {
            throw .storageFailed(
                reason: "\"\(fileExtension.excerpt)\" cannot be the extension of a file.",
                hint: "Use letters and digits.")
        }
        let configuration = configuration
        if !order.overwrites, let found = try occupant(of: order.key, lease: order.lease) {
            return .stored(Stored(record: found, isNew: false))
        }
        do {
            try keepSpaceFree(for: content, configuration)
            let fileName = StorageFolder.fileName(digest.hex, fileExtension)
            let file = try folder.write(content, for: fileName, syncs: configuration.syncsToDisk)
            var isLeft = true
            defer { if isLeft { unlink(file.path) } }
            let isPersonal = order.origin.http.map(HTTPMetadata.isPersonal) ?? false
            if isPersonal { StorageFolder.markPersonal(file.path) }
            let size = file.stamp.size
            if configuration.bytesLimit > 0, size > configuration.bytesLimit {
                if order.allowsOversize, order.lease > 0 { return .stored(try pass(file, order, digest, fileName)) }
                throw Self.tooLarge(size, order.key)
            }
            // Before others can see the entry, or they might take it out first.
            if order.lease > 0 { lending.lend(digest.rowNumber, for: order.lease) }
            isLeft = false
            return .draft(
                Draft(
                    file: file, order: order, digest: digest, fileExtension: fileExtension,
                    configuration: configuration, isPersonal: isPersonal))
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }

    /// The error of an image that is larger than the whole tier.
    package static func tooLarge(_ byteCount: Int, _ key: CacheKey) -> ImageError {
        .limitExceeded(
            limit: "bytesLimit", reason: "its \(byteCount) bytes are more than the disk tier may hold in all",
            source: key.key)
    }

    /// Names the draft and enters it.
    ///
    /// - Parameter seeksTwin: Whether it is entered as a link, if there is a file with the same bytes.
    private func finish(
        _ draft: Draft, in queue: WorkQueue, seeksTwin: Bool = true,
        then: @escaping @Sendable (Result<Stored, any Error>) -> Void
    ) {
        enter(draft, in: queue, seeksTwin: seeksTwin) { [self] result in
            switch result {
            case .failure(let error): then(.failure(error))
            case .success(.entered(let commit)): conclude(draft, commit, in: queue, then: then)
            case .success(.twin(let twin)):
                // Hashing and linking happen outside the transaction, for nobody should wait for that.
                queue.submit { [self] in finish(draft, as: twin, in: queue, then: then) }
            }
        }
    }

    /// Enters the draft with the file of another entry that has the same bytes; with its own where there can be no link.
    private func finish(
        _ draft: Draft, as twin: CacheIndex.Row, in queue: WorkQueue,
        then: @escaping @Sendable (Result<Stored, any Error>) -> Void
    ) {
        var shared = draft
        do {
            guard let file = try sharedDraft(with: twin, for: draft.file, draft.fileName) else {
                return finish(draft, in: queue, seeksTwin: false, then: then)
            }
            shared.file = file
        } catch {
            return then(.failure(error))
        }
        if draft.isPersonal { StorageFolder.markPersonal(shared.file.path) }
        finish(shared, in: queue, seeksTwin: false) { [path = shared.file.path] result in
            unlink(path)
            then(result)
        }
    }

    /// What follows when an image has been entered.
    private func conclude(
        _ draft: Draft, _ commit: Commit, in queue: WorkQueue,
        then: @escaping @Sendable (Result<Stored, any Error>) -> Void
    ) {
        if commit.stored.isNew { lending.noteStore(draft.digest.rowNumber) }
        let end = { @Sendable [self] in
            if !commit.evicted.isEmpty { onClean(commit.evicted, .sizeLimit) }
            let purges =
                !commit.evicted.isEmpty && draft.configuration.purgeRatio < 1 && !isPurging.load(ordering: .relaxed)
            let collects = !hasCollected.exchange(true, ordering: .relaxed)
            guard purges || collects else { return then(.success(commit.stored)) }
            // Not in the midst of others' stores, whatever is made of the work.
            queue.submit { [self] in
                if purges { background { [self] in purge(sparing: draft.digest.rowNumber) } }
                if collects { background { [self] in collectLeftovers() } }
                then(.success(commit.stored))
            }
        }
        let syncNames = { @Sendable [self] in
            guard draft.configuration.syncsToDisk else { return end() }
            queue.submit { [self] in
                do { try folder.syncNames(of: folder.blob(draft.fileName)) } catch { return then(.failure(error)) }
                end()
            }
        }
        if commit.leavesFiles { removeLeft(in: queue, then: syncNames) } else { syncNames() }
    }

    /// Places an image that is too large for the cache where its file would be, for the time of its lease. What the key
    /// had before goes: it is older.
    private func pass(
        _ draft: StorageFolder.Draft, _ order: Order, _ digest: Digest, _ fileName: String
    ) throws -> Stored {
        lending.lend(digest.rowNumber, for: order.lease)
        let path = folder.blob(fileName)
        try index.write { writer in
            if let old = try writer.row(digest.rowNumber), old.name == digest {
                if old.fileName != fileName { try self.leave(old, writer) }
                try writer.remove(old.number)
            }
            try self.place(draft, at: path, replaces: FileStamp(path: path) != nil, writer)
            try writer.leave(
                fileName, bytes: draft.stamp.size, until: self.clock.now + self.lending.rest(of: digest.rowNumber))
            writer.hasDeparture = true
        }
        let record = ImageRecord(
            key: order.key, header: order.header, byteCount: draft.stamp.size, path: path, origin: order.origin,
            storedAt: clock.now, lifetime: nil, expiresAt: clock.now, stamp: draft.stamp, checksum: draft.checksum,
            clock: clock)
        return Stored(record: record, isNew: true, isTransient: true)
    }

    /// The image that is not to be replaced: the cache's own, else that of a folder of others. Another process may store
    /// one yet, which shows itself in the transaction.
    private func occupant(of key: CacheKey, lease: Double) throws(ImageError) -> ImageRecord? {
        switch try lookIntoIndex(key, lease: lease) {
        case .found(let record): record
        case .missing: readOnlyRecord(for: key)
        case .unsettled: try settle(key, lease: lease)
        }
    }

    /// What a transaction found when it was to enter a draft.
    private enum Entering: Sendable {
        case entered(Commit)
        /// An entry with the same bytes; nothing was done.
        case twin(CacheIndex.Row)
    }

    /// Names the draft and enters it in one transaction of the index.
    ///
    /// - Parameter seeksTwin: Whether an entry with the same bytes is looked for. If there is one, nothing is done.
    private func enter(
        _ draft: Draft, in queue: WorkQueue, seeksTwin: Bool,
        then: @escaping @Sendable (Result<Entering, any Error>) -> Void
    ) {
        let (file, number) = (draft.file, draft.digest.rowNumber)
        index.writeTogether(
            syncs: draft.configuration.syncsToDisk, servesOthers: queue.servesOthers,
            { [self] writer -> Entering in
                let twin = try writer.twin(file.checksum.rowNumber, besides: number)
                if seeksTwin, let twin, twin.checksum == file.checksum, twin.byteCount == file.stamp.size {
                    return .twin(twin)
                }
                return .entered(try commit(draft, writer, twin: twin))
            }, then: then)
    }

    /// Gives a draft its name, within a transaction; if that fails, all is as it was.
    private func place(
        _ draft: StorageFolder.Draft, at path: String, replaces: Bool, _ writer: CacheIndex.Writer
    ) throws {
        let placed = try folder.place(draft.path, at: path, replaces: replaces)
        writer.onFailure { [folder] in folder.takeBack(placed, draft, from: path) }
    }

    /// Names the draft and enters it, within a transaction.
    ///
    /// - Parameter twin: The entry that has, or seems to have, the same bytes.
    private func commit(
        _ pending: Draft, _ writer: CacheIndex.Writer, twin: CacheIndex.Row?
    ) throws -> Commit {
        let (draft, order, digest, configuration) = (
            pending.file, pending.order, pending.digest, pending.configuration
        )
        let fileExtension = pending.fileExtension
        let now = clock.now
        let lifetime = (order.expiration ?? configuration.expiration).lifetime(at: clock.wallNow)
        var row = CacheIndex.Row(
            name: digest, key: order.key.indexed, identifier: order.key.identifier, fileExtension: fileExtension,
            header: order.header, byteCount: draft.stamp.size, allocated: draft.stamp.allocated,
            checksum: draft.checksum, origin: order.origin, storedAt: now, expiresAt: lifetime.map { now + $0 },
            lifetime: lifetime, modified: draft.stamp.modified, content: draft.checksum.rowNumber)
        let path = folder.blob(row.fileName)
        var (old, isThere) = try writer.look(row.number)
        var twin = twin
        if old == nil, writer.isAdopting {
            // While an index is begun anew an image may be there without an entry.
            _ = try adopt(order.key, digest, writer)
            (old, isThere) = try writer.look(row.number)
            twin = try writer.twin(row.content, besides: row.number)
        }
        if let old, old.name == digest {
            let oldPath = folder.blob(old.fileName)
            let stamp = FileStamp(path: oldPath)
            let isThere = stamp?.modified == old.modified && stamp?.size == old.byteCount
            if let stamp, isThere, !order.overwrites, !isExpired(old) {
                return Commit(stored: Stored(record: record(order.key, old, oldPath, stamp), isNew: false))
            }
            if let stamp, isThere, try isTheSame(row, as: old, at: oldPath) {
                // Nothing but its age is new: the file stays, and so do the bytes that others share with it.
                row.modified = old.modified
                row.allocated = old.allocated
                row.content = old.content
                try writer.put(row, metadata: order.metadata)
                return Commit(stored: Stored(record: record(order.key, row, path, stamp), isNew: true))
            }
        }
        let isShared = twin.map { FileStamp(path: folder.blob($0.fileName))?.inode == draft.stamp.inode } ?? false
        // Equal bytes in a file of their own count on their own.
        if twin != nil, !isShared { row.content = row.number }
        let evicted = try makeRoom(for: row, isShared: isShared, replacing: old, configuration, writer)
        try place(draft, at: path, replaces: old?.fileName == row.fileName, writer)
        try writer.put(row, metadata: order.metadata, isNew: !isThere)
        var commit = Commit(stored: Stored(record: record(order.key, row, path, draft.stamp), isNew: true))
        commit.evicted = evicted
        commit.leavesFiles = !evicted.isEmpty
        if let old, old.fileName != row.fileName {
            try leave(old, writer)
            commit.leavesFiles = true
        }
        return commit
    }

    /// Whether nothing of an entry but its age would change.
    private func isTheSame(_ row: CacheIndex.Row, as old: CacheIndex.Row, at path: String) throws -> Bool {
        row.checksum == old.checksum && row.fileExtension == old.fileExtension
            && row.origin.lasting == old.origin.lasting
            && row.lifetime == old.lifetime && (try? folder.checksum(of: path)) == row.checksum
    }

    /// Another name for a file of ours that has the same bytes; nil if there is none.
    ///
    /// Hard links cost readers nothing, and a file of ours is never written in place, so none of them can change
    /// with another.
    private func sharedDraft(
        with twin: CacheIndex.Row, for draft: StorageFolder.Draft, _ fileName: String
    ) throws -> StorageFolder.Draft? {
        // Its checksum is that of the file as it is now: what is damaged is not passed on.
        guard let linked = try folder.linkedDraft(of: folder.blob(twin.fileName), fileName) else { return nil }
        if linked.checksum == draft.checksum { return linked }
        unlink(linked.path)
        return nil
    }

    // MARK: Room

    /// Takes out so much that the limit holds when the entry comes in: the longest unused first; what is lent out
    /// last, and then its file stays until its lease ends.
    private func makeRoom(
        for row: CacheIndex.Row, isShared: Bool, replacing old: CacheIndex.Row?, _ configuration: Configuration,
        _ writer: CacheIndex.Writer
    ) throws -> [Cleaned] {
        guard configuration.bytesLimit > 0 else { return [] }
        /// What may be there beside what comes in; it changes when those go that share its bytes or the old ones.
        func goal() throws -> Int {
            let isStillShared = try isShared && writer.twin(row.content, besides: row.number) != nil
            var growth = isStillShared ? 0 : row.byteCount
            if let old, try writer.twin(old.content, besides: old.number) == nil { growth -= old.byteCount }
            return configuration.bytesLimit - growth
        }
        var eviction = Eviction(goal: try goal(), sparing: row.number)
        // What stays for its lease takes room on the disk too; but half of the limit is for images.
        eviction.lentShare = configuration.bytesLimit / 2
        let totals = try writer.totals()
        if totals.bytes + min(totals.lent, eviction.lentShare) <= eviction.goal { return [] }
        _ = try removeLeft(64, writer)
        // Who goes is judged by the uses up to now.
        try touches.flush(into: writer)
        var isRoom = false
        for lends in [false, true] where !isRoom {
            if lends { eviction.begin(lends: true) }
            repeat {
                isRoom = try evict(&eviction, writer)
                let next = try goal()
                if next == eviction.goal { break }
                eviction.goal = next
            } while true
        }
        guard isRoom else {
            throw ImageError.limitExceeded(
                limit: "bytesLimit", reason: "the disk tier has no room for its \(row.byteCount) bytes",
                source: row.key)
        }
        return eviction.removed
    }

    /// So many bytes more than what must stay free are room for all that is written together.
    private static let ampleSpace = 64 << 20

    /// Sees to it that the disk does not run full: takes images out first, if that is enough.
    ///
    /// - Throws: ``SystemError`` when there would be less space left than configured.
    private func keepSpaceFree(for content: Content, _ configuration: Configuration) throws {
        // Files that are written together are small, and one of them tells that there is room for all.
        guard configuration.freeSpaceFloor != 0, !Afterwards.hasSeen(self), let space = freeSpace() else { return }
        let floor = configuration.freeSpaceFloor ?? min(space.total / 100, 256 << 20)
        let missing = StorageFolder.size(of: content) + floor - space.available
        guard missing > -Self.ampleSpace else { return Afterwards.noteSeen(self) }
        guard missing > 0 else { return }
        let totals = try index.totals()
        if totals.bytes >= missing {
            try evict(to: totals.bytes - missing)
            if let space = freeSpace(), space.available - floor >= StorageFolder.size(of: content) { return }
        }
        throw SystemError(ENOSPC, "leave \(floor) bytes free (freeSpaceFloor) on the disk of", folder.path)
    }
}
