internal import Platform
internal import Synchronization

/// A bounded, least-recently-used store of values held in memory.
///
/// Costs are in bytes. When a value passes ``Configuration/costLimit``, the least recently used values go until
/// ``Configuration/preferredCost`` is reached, so that a full storage does not purge at every store; a value costlier
/// than the whole limit is not kept. An expired value is a miss and goes when it is met.
///
/// Callable from any thread. Every call takes one lock, does no I/O and never suspends.
public final class MemoryStorage<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The limits of a storage.
    public struct Configuration: Sendable, Equatable {
        /// Whether anything is held at all; true by default.
        public var isEnabled = true
        /// The most the storage may hold, in bytes; 100 MiB by default, 0 for nothing.
        public var costLimit = 100 << 20
        /// What a purge leaves, in bytes; 60 MiB by default.
        public var preferredCost = 60 << 20
        /// The most values; 0 (the default) for no limit.
        public var countLimit = 0
        /// The most one value may cost, in bytes; nil, the default, for a tenth of ``costLimit``.
        public var entryCostLimit: Int?
        /// How long a value lives; 300 s by default.
        public var expiration = StorageExpiration.seconds(300)
        /// What an access does to that: begins it anew by default (sliding); `none` is absolute.
        public var extending = ExpirationExtension.cacheTime
        /// Whether a purged value is found again as long as somebody in the process still holds it; true by default.
        public var isWeaklyRetaining = true

        /// The default limits.
        public init() {}
    }

    private struct Entry: Sendable {
        var value: Value
        var expires: Int
        let lifetime: Int
    }

    private let settings: Mutex<Configuration>
    private let now: @Sendable () -> Int
    private let entries = Mutex(LRUList<Key, Entry>())

    /// An empty storage.
    ///
    /// - Parameter now: Nanoseconds of a clock that never goes back.
    public init(_ configuration: Configuration = Configuration(), now: @escaping @Sendable () -> Int) {
        settings = Mutex(configuration)
        self.now = now
    }

    /// The limits in force.
    public var configuration: Configuration { settings.withLock { $0 } }

    /// Changes the limits from now on; what is over them goes at once.
    public func configure(_ configuration: Configuration) {
        settings.withLock { $0 = configuration }
        entries.withLock { entries in
            if !configuration.isEnabled { entries.removeAll() }
            while entries.totalCost > configuration.costLimit, entries.removeOldest() != nil {}
            while configuration.countLimit > 0, entries.count > configuration.countLimit {
                guard entries.removeOldest() != nil else { return }
            }
        }
    }

    /// Returns the value for `key` and marks it most recently used.
    ///
    /// - Parameter extending: What the access does to the value's life; the storage's own setting when nil.
    /// - Returns: `nil` if the value was never stored, has expired, or was evicted.
    /// - Complexity: O(1).
    public func value(for key: Key, extending: ExpirationExtension? = nil) -> Value? {
        let now = now()
        let extending = extending ?? configuration.extending
        return entries.withLock { entries in
            guard let entry = entries.use(key) else { return nil }
            guard entry.expires > now else {
                entries.remove(key)
                return nil
            }
            switch extending {
            case .none: break
            case .cacheTime:
                if entry.lifetime != .max { entries.modify(key) { $0.expires = now &+ entry.lifetime } }
            case .expiration(let expiration):
                entries.modify(key) { $0.expires = Self.end(now, Self.nanoseconds(expiration)) }
            }
            return entry.value
        }
    }

    /// Returns the value for `key` without counting as a use.
    public func peek(_ key: Key) -> Value? {
        let now = now()
        return entries.withLock { entries in
            guard let entry = entries.peek(key), entry.expires > now else { return nil }
            return entry.value
        }
    }

    /// Stores `value`, replacing any earlier value for `key`.
    ///
    /// - Parameters:
    ///   - cost: The size of `value`, in bytes.
    ///   - expiration: How long it lives; the storage's own setting when nil.
    /// - Returns: false if it was not kept, because it is costlier than the limit or expired from the start.
    /// - Complexity: O(1), and O(*n*) in the number of values that a purge removes.
    @discardableResult
    public func store(
        _ value: Value, for key: Key, cost: Int, expiration: StorageExpiration? = nil
    ) -> Bool {
        let configuration = configuration
        let lifetime = Self.nanoseconds(expiration ?? configuration.expiration)
        let now = now()
        let entry = Entry(value: value, expires: Self.end(now, lifetime), lifetime: lifetime)
        return entries.withLock { entries in
            guard configuration.isEnabled, cost <= configuration.costLimit, lifetime > 0 else {
                entries.remove(key)
                return false
            }
            entries.insert(entry, for: key, cost: cost)
            if entries.totalCost > configuration.costLimit {
                let goal = max(min(configuration.preferredCost, configuration.costLimit), cost)
                while entries.totalCost > goal, entries.removeOldest() != nil {}
            }
            if configuration.countLimit > 0 {
                while entries.count > configuration.countLimit, entries.removeOldest() != nil {}
            }
            return true
        }
    }

    /// Removes the value for `key` and returns it.
    @discardableResult
    public func remove(_ key: Key) -> Value? {
        entries.withLock { $0.remove(key)?.value }
    }

    /// Removes the values whose keys match, and returns how many there were.
    ///
    /// - Complexity: O(*n*).
    @discardableResult
    public func removeAll(where matches: @Sendable (Key, Value) -> Bool) -> Int {
        entries.withLock { entries in
            let keys = entries.keys.filter { key in entries.peek(key).map { matches(key, $0.value) } ?? false }
            for key in keys { entries.remove(key) }
            return keys.count
        }
    }

    /// Removes everything and returns what there was.
    @discardableResult
    public func removeAll() -> (count: Int, cost: Int) {
        entries.withLock { entries in
            defer { entries.removeAll() }
            return (entries.count, entries.totalCost)
        }
    }

    /// How many values are held and what they cost, in bytes.
    public var totals: (count: Int, cost: Int) { entries.withLock { ($0.count, $0.totalCost) } }

    /// The most the storage may hold, in bytes.
    public var costLimit: Int { configuration.costLimit }

    /// The keys from the most to the least recently used; O(*n*), for tests and inspection.
    public var keys: [Key] { entries.withLock { $0.keys } }

    private static func nanoseconds(_ expiration: StorageExpiration) -> Int {
        expiration.lifetime(at: wallSeconds()).map { $0 * 1_000_000_000 } ?? .max
    }

    private static func end(_ now: Int, _ lifetime: Int) -> Int {
        lifetime == .max ? .max : now &+ lifetime
    }
}
