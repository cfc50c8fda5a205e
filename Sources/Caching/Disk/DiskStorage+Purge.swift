internal import Glibc
internal import Platform
internal import Synchronization

/// How far an eviction is.
struct Eviction: Sendable {
    /// The bytes to go down to.
    var goal: Int
    /// An entry that is left alone.
    var sparing: Int64?
    /// How many bytes of files without entries, kept for their leases, count too.
    var lentShare = 0
    /// Whether entries that are lent out go too; their files stay until then.
    var lends = false
    /// The most entries to take out in one go.
    var slice = Int.max
    /// The last use that was looked at.
    var position: Int64 = .min
    /// What was taken out.
    var removed: [DiskStorage.Cleaned] = []

    init(goal: Int, sparing: Int64? = nil) {
        self.goal = goal
        self.sparing = sparing
    }

    /// Begins once more from the longest unused.
    mutating func begin(lends: Bool) {
        self.lends = lends
        lentShare = 0
        position = .min
    }
}

extension DiskStorage {
    /// Removes the least recently used images until the configured part of the limit is left, a few at a time, so
    /// that a store of another process never waits long. Images that are lent out stay.
    ///
    /// - Parameter number: An entry that has only just come in.
    package func purge(sparing number: Int64? = nil) {
        wantsPurge.store(true, ordering: .sequentiallyConsistent)
        // Whoever is at it already does it once more, with the settings as they are then.
        while wantsPurge.load(ordering: .sequentiallyConsistent),
            isPurging.compareExchange(expected: false, desired: true, ordering: .sequentiallyConsistent).exchanged
        {
            while wantsPurge.exchange(false, ordering: .sequentiallyConsistent) { purgeOnce(sparing: number) }
            isPurging.store(false, ordering: .sequentiallyConsistent)
        }
    }

    /// Purges if the cache is over its limit: one that was lowered, or that came with the configuration.
    func keepLimit() {
        let limit = configuration.bytesLimit
        if limit > 0, let totals = try? index.totals(), totals.bytes > limit { purge() }
    }

    private func purgeOnce(sparing number: Int64?) {
        touches.flush()
        let configuration = configuration
        guard configuration.bytesLimit > 0 else { return }
        let ratio = min(max(configuration.purgeRatio, 0), 1)
        try? evict(to: Int(Double(configuration.bytesLimit) * ratio), sparing: number)
        // A limit that was lowered holds for what is lent out too: the files stay as long as the leases last.
        try? evict(to: configuration.bytesLimit, sparing: number, lends: true)
    }

    /// Removes the least recently used images until `goal` bytes are left, a few at a time.
    func evict(to goal: Int, sparing number: Int64? = nil, lends: Bool = false) throws {
        var isOver = false
        var start = Eviction(goal: goal, sparing: number)
        start.lends = lends
        start.slice = 32
        while !isOver {
            let state = start
            let (isDone, end) = try index.write { writer in
                _ = try self.removeLeft(64, writer)
                var eviction = state
                let isDone = try self.evict(&eviction, writer)
                return (isDone, eviction)
            }
            if !end.removed.isEmpty { onClean(end.removed, .sizeLimit) }
            // Less than a slice: nothing more can go.
            isOver = isDone || end.removed.count < start.slice
            start.position = end.position
            // Others wait for the index too.
            if !isOver { usleep(200) }
        }
        try removeLeft()
    }

    /// Takes entries out until the goal is reached, or the slice is full, or none is left.
    ///
    /// - Returns: Whether the goal is reached.
    func evict(_ eviction: inout Eviction, _ writer: CacheIndex.Writer) throws -> Bool {
        func isReached() throws -> Bool {
            let totals = try writer.totals()
            return totals.bytes + min(totals.lent, eviction.lentShare) <= eviction.goal
        }
        var count = 0
        // Mostly one is enough; who needs many gets more at a time.
        var step = 1
        while try !isReached() {
            let victims = try writer.leastRecentlyUsed(step, after: eviction.position)
            step = min(2 * step, 32)
            if victims.isEmpty { return false }
            for victim in victims {
                eviction.position = victim.use
                if victim.number == eviction.sparing { continue }
                if !eviction.lends, lending.isLent(victim.number) { continue }
                try takeOut(victim, writer).map { eviction.removed.append($0) }
                evictions.add(1, ordering: .relaxed)
                count += 1
                if try isReached() { return true }
                if count == eviction.slice { return false }
            }
        }
        return true
    }

    /// Removes an entry. Its file goes in a transaction of its own, by ``removeLeft()``: would it go at once and the
    /// transaction fail, the entry were there without it. If it is lent out, it goes when the lease ends.
    func takeOut(_ entry: CacheIndex.Writer.Used, _ writer: CacheIndex.Writer) throws -> Cleaned? {
        defer { touches.forget(entry.number) }
        guard let row = entry.row else {
            try writer.remove(entry.number)
            return nil
        }
        try leave(row, writer)
        try writer.remove(entry.number)
        return Cleaned(hash: row.name.hex, key: row.key.isEmpty ? nil : row.key, bytes: row.byteCount)
    }

    /// Notes that the file of an entry goes: at once, or when its lease ends.
    func leave(_ row: CacheIndex.Row, _ writer: CacheIndex.Writer) throws {
        let rest = lending.rest(of: row.number)
        try writer.leave(row.fileName, bytes: row.byteCount, until: rest > 0 ? clock.now + rest : 0)
        if rest > 0 { writer.hasDeparture = true }
    }

    /// Removes the files whose time has come, a few at a time.
    func removeLeft() throws {
        var isOver = !index.exists
        while !isOver { isOver = try index.writeTogether { try self.removeLeft(64, $0) } }
    }

    /// The same without waiting, as far as it can be done.
    ///
    /// - Parameter then: Is told when it is.
    func removeLeft(in queue: WorkQueue, then: @escaping @Sendable () -> Void) {
        index.writeTogether(servesOthers: queue.servesOthers) {
            try self.removeLeft(64, $0)
        } then: { [self] isOver in
            if case .success(false) = isOver { removeLeft(in: queue, then: then) } else { then() }
        }
    }

    /// Removes up to `limit` files that have no entries and are not lent out.
    ///
    /// - Returns: Whether there were no more.
    func removeLeft(_ limit: Int, _ writer: CacheIndex.Writer) throws -> Bool {
        let files = try writer.left(at: clock.now, limit)
        guard !files.isEmpty else { return true }
        // Out of sight first: who lends it out now has either seen it gone, or is seen to have lent it out.
        let aside = try folder.partialPath("evicted")
        for file in files {
            let path = folder.blob(file)
            let number = Digest(hex: file.prefix { $0 != "." })?.rowNumber
            if rename(path, aside) == 0 {
                if let number, lending.isLent(number), rename(aside, path) == 0 {
                    let size = FileStamp(path: path)?.size ?? 0
                    try writer.leave(file, bytes: size, until: clock.now + lending.rest(of: number))
                    continue
                }
                unlink(aside)
            } else if errno != ENOENT, errno != ENOTDIR {
                throw SystemError(errno, "remove", path)
            }
            try writer.settle(file)
        }
        return files.count < limit
    }
}
