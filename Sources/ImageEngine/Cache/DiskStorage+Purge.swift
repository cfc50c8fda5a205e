internal import Glibc
internal import Synchronization

/// How far an eviction is.
struct Eviction: Sendable {
    /// The bytes to go down to.
    let goal: Int
    /// An entry that is left alone.
    var sparing: Int64?
    /// Whether files without entries, kept for their leases, count too.
    var countsLent = false
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
        countsLent = false
        position = .min
    }
}

extension DiskStorage {
    /// Removes the least recently used images until the configured part of the limit is left, a few at a time, so
    /// that a store of another process never waits long. Images that are lent out stay.
    ///
    /// - Parameter number: An entry that has only just come in.
    func purge(sparing number: Int64? = nil) {
        guard isPurging.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
        defer { isPurging.store(false, ordering: .relaxed) }
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
    }

    /// Takes entries out until the goal is reached, or the slice is full, or none is left.
    ///
    /// - Returns: Whether the goal is reached.
    func evict(_ eviction: inout Eviction, _ writer: CacheIndex.Writer) throws -> Bool {
        func isReached() throws -> Bool {
            let totals = try writer.totals()
            return totals.bytes + (eviction.countsLent ? totals.lent : 0) <= eviction.goal
        }
        var count = 0
        while try !isReached() {
            let victims = try writer.leastRecentlyUsed(32, after: eviction.position)
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

    /// Removes an entry and, unless it is lent out, its file.
    func takeOut(_ entry: CacheIndex.Writer.Used, _ writer: CacheIndex.Writer) throws -> Cleaned? {
        defer { touches.forget(entry.number) }
        guard let row = entry.row else {
            try writer.remove(entry.number)
            return nil
        }
        if try !lendIfNeeded(row, writer) { unlink(folder.blob(row.fileName)) }
        try writer.remove(entry.number)
        return Cleaned(hash: row.name.hex, key: row.key.isEmpty ? nil : row.key, bytes: row.byteCount)
    }

    /// Keeps the file of an entry that goes, if it is lent out.
    func lendIfNeeded(_ row: CacheIndex.Row, _ writer: CacheIndex.Writer) throws -> Bool {
        let rest = lending.rest(of: row.number)
        guard rest > 0 else { return false }
        try writer.lend(row.fileName, bytes: row.byteCount, until: clock.now + rest)
        return true
    }
}
