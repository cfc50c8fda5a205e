internal import Glibc
internal import ImageErrors
internal import Platform
internal import Synchronization

/// Removes entries of a cache: the least recently used to keep a limit, and the expired ones. A few at a time, so that a store
/// of another process never waits long.
///
/// An entry that has not expired is evicted:
/// - by a store that would exceed the limit, which makes just enough room in its own transaction
///   (``makeRoom(for:isShared:replacing:limit:_:)``);
/// - after that store in the background, down to the configured part of the limit (`purgeRatio`), so that the next stores find
///   room (``purge(sparing:)``);
/// - by a limit that was lowered, by cleaning, and by an index that was made anew (``keepLimit()``);
/// - by a store that would leave less free space on the disk than is configured (``keepSpaceFree(for:floor:)``);
/// - by a store that finds the disk full (``makeSpace(for:)``).
///
/// The file of an entry goes in a transaction of its own (``removeDueFiles()``): if it went at once and the transaction
/// failed, the entry would be there without it. A file that is lent stays until its lease ends.
struct Evictor: Sendable {
    let disk: DiskStorage

    /// An entry that was taken out.
    struct Cleaned: Sendable, Equatable {
        let hash: String
        /// `nil` where the index does not know it.
        let key: String?
        let bytes: Int
    }

    // MARK: The limit

    /// Removes the least recently used images until the configured part of the limit is left. Lent images stay.
    ///
    /// - Parameter number: The entry that was just stored; it is not removed.
    func purge(sparing number: Int64? = nil) {
        disk.wantsPurge.store(true, ordering: .sequentiallyConsistent)
        // A thread that purges already does it once more, with the settings as they are then.
        while disk.wantsPurge.load(ordering: .sequentiallyConsistent),
            disk.isPurging.compareExchange(expected: false, desired: true, ordering: .sequentiallyConsistent).exchanged
        {
            while disk.wantsPurge.exchange(false, ordering: .sequentiallyConsistent) { purgeOnce(sparing: number) }
            disk.isPurging.store(false, ordering: .sequentiallyConsistent)
        }
    }

    /// Purges if the cache is over its limit: one that was lowered, or that came with the configuration.
    func keepLimit() {
        let limit = disk.configuration.bytesLimit
        if limit > 0, let totals = try? disk.index.totals(), totals.bytes > limit { purge() }
    }

    private func purgeOnce(sparing number: Int64?) {
        disk.touches.flush()
        let configuration = disk.configuration
        guard configuration.bytesLimit > 0 else { return }
        let ratio = min(max(configuration.purgeRatio, 0), 1)
        try? evict(to: Int(Double(configuration.bytesLimit) * ratio), sparing: number)
        // A limit that was lowered holds for lent images too: their files stay as long as the leases last.
        try? evict(to: configuration.bytesLimit, sparing: number, takesLent: true)
    }

    /// Removes the least recently used images until `goal` bytes are left.
    func evict(to goal: Int, sparing number: Int64? = nil, takesLent: Bool = false) throws {
        var pass = Pass(goal: goal, sparing: number, takesLent: takesLent, slice: 32)
        var isOver = false
        while !isOver {
            let (end, isDone) = try disk.index.write { [pass] writer in
                _ = try removeDueFiles(64, writer)
                var pass = pass
                let isDone = try evict(&pass, writer)
                return (pass, isDone)
            }
            if !end.removed.isEmpty { disk.onClean(end.removed, .sizeLimit) }
            // Less than a slice: nothing more can go.
            isOver = isDone || end.removed.count < end.slice
            pass.position = end.position
            // Others wait for the index too.
            if !isOver { usleep(200) }
        }
        try removeDueFiles()
    }

    /// The state of one pass over the entries in the order of their use.
    private struct Pass: Sendable {
        /// The bytes to go down to.
        var goal: Int
        /// An entry that is left alone.
        var sparing: Int64?
        /// The most bytes of files without entries, kept for their leases, that count too.
        var lentShare = 0
        /// `true` when lent entries go too; their files stay until their leases end.
        var takesLent = false
        /// The most entries to take out in one go.
        var slice = Int.max
        /// The last use that was looked at.
        var position: Int64 = .min
        /// `true` as long as all entries up to there are lent.
        var isAllLent = true
        var removed: [Cleaned] = []

        func isReached(_ writer: IndexWriter) throws -> Bool {
            let totals = try writer.totals()
            return totals.bytes + min(totals.lent, lentShare) <= goal
        }
    }

    /// Takes entries out until the goal is reached, or the slice is full, or none is left.
    ///
    /// - Returns: `true` when the goal is reached.
    private func evict(_ pass: inout Pass, _ writer: IndexWriter) throws -> Bool {
        var count = 0
        let now = disk.clock.boot
        if !pass.takesLent {
            let start = try disk.evictionPosition.withLock { try $0.start(at: now, writer) }
            pass.position = max(pass.position, start)
        }
        // Mostly one is enough; when many are needed, more are read at a time.
        var step = 1
        while try !pass.isReached(writer) {
            let victims = try writer.leastRecentlyUsed(step, after: pass.position)
            step = min(2 * step, 32)
            if victims.isEmpty { return false }
            for victim in victims {
                pass.position = victim.use
                disk.considerations.add(1, ordering: .relaxed)
                let rest = pass.takesLent ? 0 : victim.row.map { disk.lending.rest(of: $0.lease) } ?? 0
                if rest > 0, pass.isAllLent {
                    disk.evictionPosition.withLock { $0.pass(victim, rest: rest, at: now) }
                }
                if victim.number == pass.sparing, rest == 0 { pass.isAllLent = false }
                if victim.number == pass.sparing || rest > 0 { continue }
                try takeOut(victim, writer).map { pass.removed.append($0) }
                disk.evictions.add(1, ordering: .relaxed)
                count += 1
                if try pass.isReached(writer) { return true }
                if count == pass.slice { return false }
            }
        }
        return true
    }

    /// Takes out so much that the limit holds when an entry comes in: the least recently used first, lent entries last.
    ///
    /// - Parameters:
    ///   - isShared: `true` when its file is that of another entry.
    ///   - old: The entry that it replaces.
    func makeRoom(
        for row: IndexRow, isShared: Bool, replacing old: IndexRow?, limit: Int, _ writer: IndexWriter
    ) throws -> [Cleaned] {
        guard limit > 0 else { return [] }
        // A file that is replaced under another name stays if it is lent.
        let staysOld = old.map { $0.fileName != row.fileName && disk.lending.isLent($0.lease) } ?? false
        /// The bytes that may be there beside the entry; changes when those go that share its bytes or the old ones.
        func goal() throws -> Int {
            let isStillShared = try isShared && writer.twin(row.content, besides: row.number) != nil
            var growth = isStillShared ? 0 : row.byteCount
            if let old, !staysOld, try writer.twin(old.content, besides: old.number) == nil { growth -= old.byteCount }
            return limit - growth
        }
        // Files that stay for their leases take room on the disk too; but half of the limit is for images.
        var pass = Pass(goal: try goal(), sparing: row.number, lentShare: limit / 2)
        // Where there are more, the leases of some are over.
        if try writer.totals().lent <= pass.lentShare, try pass.isReached(writer) { return [] }
        _ = try removeDueFiles(64, writer)
        writer.onFailure { disk.evictionPosition.withLock { $0 = EvictionPosition() } }
        var isRoom = false
        for takesLent in [false, true] where !isRoom {
            // The second time lent entries too: needed only for an image that is larger than half of the limit.
            if takesLent { (pass.takesLent, pass.lentShare, pass.position) = (true, 0, .min) }
            repeat {
                isRoom = try evict(&pass, writer)
                let next = try goal()
                if next == pass.goal { break }
                pass.goal = next
            } while true
        }
        guard isRoom else {
            throw ImageError.limitExceeded(
                limit: "bytesLimit",
                reason: "the disk tier has no room for its \(row.byteCount) bytes", source: row.key)
        }
        return pass.removed
    }

    /// With this many bytes above the configured floor, free space is not checked again for files that are written in a row.
    private static let ampleSpace = 64 << 20

    /// With this many files above it, their number is not checked again.
    private static let ampleFiles = 1024

    /// The number of files that are left for the index.
    private static let filesOfIndex = 4

    /// The bytes that stay free on a disk; `configured` if that is not `nil`.
    func floor(of space: StorageFolder.Space, _ configured: Int?) -> Int {
        // The index needs room too: a transaction takes some pages of its log.
        configured ?? max(min(space.total / 100, 256 << 20), min(space.total / 8, 128 << 10))
    }

    /// Keeps the disk from running full: takes images out first, if that is enough.
    ///
    /// - Throws: ``SystemError`` when there would be less space left than configured.
    func keepSpaceFree(for content: DiskStorage.Content, floor configured: Int?) throws {
        // Files that are written in a row are small, and one of them tells that there is room for all.
        guard configured != 0, !Afterwards.hasSeen(disk), let space = disk.freeSpace() else { return }
        let floor = floor(of: space, configured)
        let size = StorageFolder.size(of: content)
        let missing = size + floor - space.available
        guard missing > -Self.ampleSpace || space.files < Self.ampleFiles else {
            disk.limitLending(to: .max)
            return Afterwards.noteSeen(disk)
        }
        let known = try disk.index.totals()
        let bytes = known.bytes + known.lent
        // Each file may need a folder too.
        let isShort = space.files < Self.ampleFiles && known.count > 0
        let roomOfFiles = isShort ? bytes / known.count * (max(0, space.files - Self.filesOfIndex) / 2) : .max
        disk.limitLending(to: bytes + max(0, min(space.available - floor, roomOfFiles)))
        guard space.files > Self.filesOfIndex else {
            throw SystemError(ENOSPC, "make another file on the disk of", disk.folder.path)
        }
        guard missing > 0 else { return }
        // The log of the index gives its space up before images do.
        disk.index.shrinkLog()
        if let space = disk.freeSpace(), space.available - floor >= size { return }
        let totals = try disk.index.totals()
        // More the second time: an eviction is written into the log first.
        for extra in [0, min(space.total / 16, 64 << 10)] where totals.bytes >= missing {
            try evict(to: max(0, totals.bytes - missing - extra))
            disk.index.shrinkLog()
            IndexReserve(folder: disk.folder).keep()
            if let space = disk.freeSpace(), space.available - floor >= size { return }
        }
        throw SystemError(ENOSPC, "leave \(floor) bytes free (freeSpaceFloor) on the disk of", disk.folder.path)
    }

    // MARK: Expiry

    /// Removes every entry whose time is over.
    ///
    /// - Parameter isCancelled: Asked between two slices.
    func removeExpired(isCancelled: () -> Bool) throws -> [Cleaned] {
        var removed: [Cleaned] = []
        disk.flushTouches()
        while !isCancelled() {
            let slice = try disk.index.write { writer in
                try writer.expired(at: disk.clock.now, 64).map { try takeOut($0, writer) }
            }
            let cleaned = slice.compactMap(\.self)
            if !cleaned.isEmpty { disk.onClean(cleaned, .expired) }
            removed += cleaned
            if slice.count < 64 { break }
            usleep(200)
        }
        try removeDueFiles()
        return removed
    }

    // MARK: Entries and files

    /// Removes an entry; its file goes later.
    func takeOut(_ entry: IndexUse, _ writer: IndexWriter) throws -> Cleaned? {
        defer { disk.touches.forget(entry.number) }
        if let row = entry.row { try retireFile(of: row, writer) }
        try writer.remove(entry.number)
        return entry.row.map {
            Cleaned(hash: $0.name.hex, key: $0.key.isEmpty ? nil : $0.key, bytes: $0.byteCount)
        }
    }

    /// Records that the file of an entry goes: at once, or when its lease ends.
    func retireFile(of row: IndexRow, _ writer: IndexWriter) throws {
        try retire(row.fileName, bytes: row.byteCount, writer)
    }

    /// Records that a file goes: at once, or when its lease ends.
    func retire(_ fileName: String, bytes: Int, _ writer: IndexWriter) throws {
        // One whose file is gone leaves nothing.
        let isThere = (try? FileStamp.existing(disk.folder.blob(fileName)) != nil) ?? true
        let rest = isThere ? try restOfLease(fileName, writer) : 0
        try writer.retire(fileName, bytes: bytes, until: rest > 0 ? disk.clock.now + rest : 0)
    }

    /// The rest of the lease of a file that leaves its entry, or has left it, in seconds; 0 for none. A file of another format
    /// may share its number, and the lease is that one's if it is in the entry now.
    private func restOfLease(_ file: String, _ writer: IndexWriter) throws -> Int {
        guard let lease = LeaseNumber(fileName: file), case let rest = disk.lending.rest(of: lease), rest > 0,
            let name = Digest(fileName: file)
        else { return 0 }
        guard let entry = try writer.row(name), entry.fileName != file else { return rest }
        return entry.lease == lease ? 0 : rest
    }

    /// Removes the files without entries whose time has come; what cannot be removed is tried again by the next one.
    func removeDueFiles() throws {
        var isOver = try !disk.index.exists
        while !isOver { isOver = try disk.index.writeTogether { try removeDueFiles(64, $0).isOver } }
    }

    /// Removes the files without entries whose time has come, as far as that can be done without waiting.
    ///
    /// - Parameters:
    ///   - replaced: An entry as it was before its file became another one. Until others could see that, its path may have been
    ///     lent for longer.
    ///   - then: Called with the failure of a file that could not be removed.
    func removeDueFiles(
        in queue: WorkQueue, retiring replaced: IndexRow? = nil, then: @escaping @Sendable (SystemError?) -> Void
    ) {
        disk.index.writeTogether(servesOthers: queue.servesOthers) { writer in
            if let replaced, try writer.row(replaced.number)?.fileName != replaced.fileName {
                try retireFile(of: replaced, writer)
            }
            return try removeDueFiles(64, writer)
        } then: { result in
            // Who holds the index for too long removes them as he goes on: they are noted.
            guard let round = try? result.get() else { return then(nil) }
            if round.isOver { then(round.failure) } else { removeDueFiles(in: queue, then: then) }
        }
    }

    /// Removes up to `limit` files that have no entries and are not lent. One that cannot be removed keeps no other.
    ///
    /// - Returns: `true` when there are no more that can be removed, and the failure of one that could not.
    private func removeDueFiles(_ limit: Int, _ writer: IndexWriter) throws -> (isOver: Bool, failure: SystemError?) {
        let files = try writer.dueFiles(at: disk.clock.now, limit)
        guard !files.isEmpty else { return (true, nil) }
        var (stuck, failure) = (0, SystemError?.none)
        try writer.confirm()
        // Renamed before the leases are looked at: a reader that lends it in between either does not find it, or its lease
        // is seen.
        let aside = try disk.folder.partialPath("evicted")
        for (file, until) in files.map({ ($0.name, $0.until) }) {
            let path = disk.folder.blob(file)
            // Not one that a link leads to.
            let isReachable = (try? disk.folder.checkPlace(of: file)) != nil
            if isReachable, rename(path, aside) == 0 {
                let rest = until == LentFile.atOnce ? 0 : try restOfLease(file, writer)
                if rest > 0, rename(aside, path) == 0 {
                    let size = FileStamp(path: path)?.size ?? 0
                    try writer.retire(file, bytes: size, until: disk.clock.now + rest)
                    continue
                }
                unlink(aside)
            } else if isReachable, errno != ENOENT {
                (stuck, failure) = (stuck + 1, SystemError(errno, "remove", path))
                continue
            }
            try writer.forget(file: file)
        }
        return (files.count < limit || stuck == files.count, failure)
    }
}
