internal import Glibc
internal import Synchronization

extension DiskStorage {
    /// Removes the least recently used images until half the limit is left, a few at a time, so that a store of
    /// another process never waits long. Images handed out a moment ago stay.
    func purge(sparing number: Int64) {
        guard isPurging.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
        defer { isPurging.store(false, ordering: .relaxed) }
        touches.flush()
        let recent = touches.recent(since: now() - Self.handOutGrace).union([number])
        let goal = configuration.bytesLimit / 2
        var isDone = false
        while !isDone {
            do {
                isDone = try index.write { writer in
                    var bytes = try writer.totals().bytes
                    let victims = try writer.leastRecentlyUsed(32 + recent.count).filter { !recent.contains($0.number) }
                    for victim in victims.prefix(32) where bytes > goal {
                        _ = self.discard(victim)
                        try writer.remove(victim.number)
                        bytes -= victim.byteCount
                        self.evictions.add(1, ordering: .relaxed)
                    }
                    return victims.isEmpty || bytes <= goal
                }
            } catch { return }
        }
    }

    /// Removes the file of a row; false if there was none.
    func discard(_ row: CacheIndex.Row) -> Bool {
        unlink(folder.blob(row.name.hex, row.fileExtension)) == 0
    }
}
