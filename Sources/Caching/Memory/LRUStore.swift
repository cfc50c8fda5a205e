internal import Platform

/// The values of a ``MemoryStorage``, and weak references to those that it had to let go: a plain value.
struct LRUStore<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
    struct Entry: Sendable {
        var value: Value
        /// In nanoseconds of the storage's clock.
        var expires: Int
        let life: EntryLife
    }

    /// A value that had to go while it was in use.
    struct Evicted: Sendable {
        weak let value: Value?
        let expires: Int
        let life: EntryLife
        let cost: Int
        let isLight: Bool
    }

    /// The most dead weak references beside those that were alive at the last look.
    static var deadLimit: Int { 64 }

    var configuration: MemoryStorage<Key, Value>.Configuration
    var entries = LRUList<Key, Entry>()
    var evicted: [Key: Evicted] = [:]
    /// At this many weak references the dead ones are thrown away.
    private var pruneCount = deadLimit

    init(configuration: MemoryStorage<Key, Value>.Configuration) { self.configuration = configuration }

    /// Purges values over the limits, the least recently used first, and returns them.
    ///
    /// The value used last stays as long as it fits, even when it is above what a purge should leave.
    mutating func shrink() -> [Value] {
        var gone: [Value] = []
        if entries.lightCost > configuration.lightLimit {
            // A quarter at once, for the others are passed by each time.
            let goal = configuration.lightLimit / 4 * 3
            var place = entries.leastRecentlyUsed
            while entries.lightCost > goal, evict(entries.removeLight(from: &place), &gone) {}
        }
        if entries.totalCost > configuration.costLimit {
            let goal = min(configuration.preferredCost, configuration.costLimit)
            while entries.totalCost > goal, entries.count > 1 || entries.totalCost > configuration.costLimit,
                evict(entries.removeLeastRecentlyUsed(), &gone)
            {}
        }
        if configuration.countLimit > 0 {
            while entries.count > configuration.countLimit, evict(entries.removeLeastRecentlyUsed(), &gone) {}
        }
        return gone
    }

    private mutating func evict(_ removed: consuming LRUList<Key, Entry>.Removed?, _ gone: inout [Value]) -> Bool {
        guard var victim = removed.take() else { return false }
        // A value that nobody else holds would only be a dead reference.
        if configuration.isWeaklyRetaining, !isKnownUniquelyReferenced(&victim.value.value) {
            if evicted.count >= pruneCount { prune() }
            evicted[victim.key] = Evicted(
                value: victim.value.value, expires: victim.value.expires, life: victim.value.life,
                cost: victim.cost, isLight: victim.isLight)
        }
        gone.append(victim.value.value)
        return true
    }

    /// Takes back an evicted value that is still alive, for `use`; its life goes on where it was.
    mutating func revive(_ key: Key, _ now: Int, _ use: (inout Entry) -> Value?) -> Value? {
        guard !evicted.isEmpty, let found = evicted.removeValue(forKey: key), let value = found.value,
            found.expires > now, found.cost <= configuration.costLimit
        else { return nil }
        var entry = Entry(value: value, expires: found.expires, life: found.life)
        defer {
            entries.insert(entry, for: key, cost: found.cost, isLight: found.isLight)
            _ = shrink()
        }
        return use(&entry)
    }

    /// Forgets the values that nobody holds any more.
    mutating func prune() {
        evicted = evicted.filter { $0.value.value != nil }
        pruneCount = evicted.count + Self.deadLimit
    }

    /// Removes everything; the values held are returned.
    mutating func removeAll() -> LRUList<Key, Entry> {
        let old = entries
        self = LRUStore(configuration: configuration)
        return old
    }
}
