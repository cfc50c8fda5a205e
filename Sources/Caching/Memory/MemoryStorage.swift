internal import Platform
internal import Synchronization

/// A bounded, least-recently-used store of values held in memory.
///
/// Costs are in bytes. When the sum passes ``Configuration/costLimit``, the least recently used values go until
/// ``Configuration/preferredCost`` is reached, so that a full storage does not purge at every store; the value used last
/// stays as long as it fits. A value costlier than one may be is not kept. An expired value is a miss and goes when it
/// is met.
///
/// A light value is had again quickly. Such have a limit of their own, ``Configuration/lightLimit``, above which the least
/// recently used of them go.
///
/// A value that a purge takes while somebody else still holds it is remembered by a weak reference, and is back at the next
/// lookup (SDWebImage's `shouldUseWeakMemoryCache`).
///
/// Callable from any thread. Every call takes one lock, does no I/O and never suspends.
public final class MemoryStorage<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
    private typealias Store = LRUStore<Key, Value>

    private let now: @Sendable () -> Int
    private let state: Mutex<Store>

    /// An empty storage.
    ///
    /// - Parameter now: Nanoseconds of a clock that never goes back.
    public init(_ configuration: Configuration = Configuration(), now: @escaping @Sendable () -> Int) {
        state = Mutex(Store(configuration: configuration))
        self.now = now
    }

    /// The settings in force.
    public var configuration: Configuration { state.withLock { $0.configuration } }

    /// Changes the settings. Values that they leave no room for go at once, the least recently used first; lives that have
    /// begun keep their length.
    public func configure(_ configuration: Configuration) {
        // Here and below, what goes together is released outside the lock, for that takes time; a single value, and what makes
        // room for one that comes back, within it.
        _ = state.withLock { state -> (LRUList<Key, Store.Entry>, [Value]) in
            state.configuration = configuration
            if !configuration.isWeaklyRetaining { state.evicted = [:] }
            if configuration.holdsAnything { return (LRUList(), state.shrink()) }
            return (state.removeAll(), [])
        }
    }

    // MARK: Looking up

    /// Returns the value for `key` and marks it most recently used.
    ///
    /// - Parameter extending: The effect of the access on the value's life; the storage's own setting when `nil`.
    /// - Returns: `nil` if the value was never stored, has expired, or was evicted and is held by nobody.
    /// - Complexity: O(1).
    public func value(for key: Key, extending: ExpirationExtension? = nil) -> Value? {
        let now = now()
        return state.withLock { state in
            let extending = extending ?? state.configuration.extending
            let use = { (entry: inout Store.Entry) -> Value? in
                guard entry.expires > now else { return nil }
                switch extending {
                case .none: break
                case .cacheTime: entry.expires = entry.life.end(from: now) ?? entry.expires
                case .expiration(let expiration):
                    entry.expires = min(Self.life(expiration, now).end(from: now) ?? .max, entry.life.limit ?? .max)
                }
                return entry.value
            }
            guard let used = state.entries.use(key, use) else { return state.revive(key, now, use) }
            if used == nil { state.entries.remove(key) }
            return used
        }
    }

    /// Returns the value for `key` without counting as a use.
    public func peek(_ key: Key) -> Value? {
        let now = now()
        return state.withLock { state in
            if let entry = state.entries.peek(key) { return entry.expires > now ? entry.value : nil }
            return state.evicted.isEmpty ? nil : state.evicted[key].flatMap { $0.expires > now ? $0.value : nil }
        }
    }

    // MARK: Storing

    /// Stores `value`, replacing any earlier value for `key`, which is gone even when the new one is not kept.
    ///
    /// - Parameters:
    ///   - cost: The size of `value`, in bytes.
    ///   - expiration: Its life; the storage's own setting when `nil`.
    ///   - isLight: `true` for a light value; the limit of a single value does not count for it.
    /// - Complexity: O(1), and O(*n*) in the number of values that a purge removes.
    @discardableResult
    public func store(
        _ value: Value, for key: Key, cost: Int, expiration: StorageExpiration? = nil, isLight: Bool = false
    ) -> MemoryAdmission {
        let now = now()
        return state.withLock { state -> (MemoryAdmission, [Value]) in
            if !state.evicted.isEmpty { state.evicted[key] = nil }
            let life = Self.life(expiration ?? state.configuration.expiration, now)
            let end = life.end(from: now) ?? .max
            var admission = state.configuration.admission(cost: cost, isLight: isLight)
            if admission == .kept, end <= now { admission = .expired }
            guard admission == .kept else {
                state.entries.remove(key)
                return (admission, [])
            }
            let entry = Store.Entry(value: value, expires: end, life: life)
            state.entries.insert(entry, for: key, cost: cost, isLight: isLight)
            return (.kept, state.shrink())
        }.0
    }

    // MARK: Removing

    /// Removes the value for `key` and returns it.
    @discardableResult
    public func remove(_ key: Key) -> Value? {
        let now = now()
        return state.withLock { state in
            let evicted = state.evicted.isEmpty ? nil : state.evicted.removeValue(forKey: key)
            if let entry = state.entries.remove(key) { return entry.value }
            return evicted.flatMap { $0.expires > now ? $0.value : nil }
        }
    }

    /// Removes the values whose keys match, and returns their number.
    ///
    /// - Complexity: O(*n*).
    @discardableResult
    public func removeAll(where matches: @Sendable (Key, Value) -> Bool) -> Int {
        let now = now()
        return state.withLock { state -> (Int, [Store.Entry]) in
            let places = 0..<state.entries.placeCount
            let removed = state.entries.removeAll(at: places) { key, entry in matches(key, entry.value) }
            let evicted = state.evicted
            var count = removed.count
            for (key, entry) in evicted {
                guard let value = entry.value, matches(key, value) else { continue }
                state.evicted[key] = nil
                if entry.expires > now { count += 1 }
            }
            return (count, removed)
        }.0
    }

    /// Removes everything and returns what there was.
    @discardableResult
    public func removeAll() -> (count: Int, cost: Int) {
        let removed = state.withLock { $0.removeAll() }
        return (removed.count, removed.totalCost)
    }

    /// Removes expired values and returns their number.
    ///
    /// - Parameter limit: The number of values that are looked at under one lock, so that a sweep is in nobody's way.
    /// - Complexity: O(*n*).
    @discardableResult
    public func removeExpired(limit: Int = 1000) -> Int {
        let step = max(limit, 1)
        var (count, place, isOver) = (0, 0, false)
        while !isOver {
            let now = now()
            let (removed, places) = state.withLock { state in
                let removed = state.entries.removeAll(at: place..<(place + step)) { $1.expires <= now }
                return (removed, state.entries.placeCount)
            }
            count += removed.count
            place += step
            isOver = place >= places
        }
        state.withLock { $0.prune() }
        return count
    }

    // MARK: Inspecting

    /// The number of values held, and their cost in bytes.
    public var totals: (count: Int, cost: Int) { state.withLock { ($0.entries.count, $0.entries.totalCost) } }

    /// The most the storage may hold, in bytes; 0 when it is to hold nothing.
    public var costLimit: Int { state.withLock { $0.configuration.holdsAnything ? $0.configuration.costLimit : 0 } }

    /// The keys from the most to the least recently used; O(*n*), for tests and inspection.
    public var keys: [Key] { state.withLock { $0.entries.keys } }

    /// The number of weak references, dead ones included.
    var weakCount: Int { state.withLock { $0.evicted.count } }

    private static func life(_ expiration: StorageExpiration, _ now: Int) -> EntryLife {
        EntryLife(expiration, now: now, wall: wallSeconds(), second: 1_000_000_000)
    }
}
