internal import Platform

/// Values in the order of their last use: a plain value with O(1) for everything.
///
/// The nodes lie in one array and are linked by index; freed nodes are used again.
struct LRUList<Key: Hashable, Value> {
    fileprivate struct Node {
        var key: Key
        var value: Value?
        var cost: Int
        var isLight: Bool
        var later: Int
        var earlier: Int
    }

    private static var none: Int { -1 }

    private var nodes: [Node] = []
    private var places: [Key: Int] = [:]
    private var free: [Int] = []
    private var mostRecentlyUsed = none
    /// The place of the least recently used value; ``none`` when there is none.
    private(set) var leastRecentlyUsed = none

    private(set) var totalCost = 0
    /// The sum of the costs of light values; see ``MemoryStorage/Configuration/lightLimit``.
    private(set) var lightCost = 0

    var count: Int { places.count }

    /// The value for `key`, its order unchanged.
    func peek(_ key: Key) -> Value? { places[key].flatMap { nodes[$0].value } }

    /// Makes the value for `key` the most recently used; `use` may change it in place, but not its cost.
    mutating func use<Answer>(_ key: Key, _ use: (inout Value) -> Answer) -> Answer? {
        guard let place = places[key], var value = nodes[place].value.take() else { return nil }
        if place != mostRecentlyUsed {
            unlink(place)
            linkAsMostRecentlyUsed(place)
        }
        defer { nodes[place].value = value }
        return use(&value)
    }

    /// Sets the value for `key`, which becomes the most recently used. An earlier value's cost is taken back first.
    mutating func insert(_ value: Value, for key: Key, cost: Int, isLight: Bool = false) {
        if isLight { lightCost += cost }
        let place = free.last ?? nodes.count
        if let old = places.updateValue(place, forKey: key) {
            places[key] = old
            totalCost += cost - nodes[old].cost
            if nodes[old].isLight { lightCost -= nodes[old].cost }
            (nodes[old].value, nodes[old].cost, nodes[old].isLight) = (value, cost, isLight)
            unlink(old)
            return linkAsMostRecentlyUsed(old)
        }
        let node = Node(
            key: key, value: value, cost: cost, isLight: isLight, later: Self.none, earlier: Self.none)
        if free.popLast() == nil { nodes.append(node) } else { nodes[place] = node }
        totalCost += cost
        linkAsMostRecentlyUsed(place)
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        unlink(place)
        totalCost -= nodes[place].cost
        if nodes[place].isLight { lightCost -= nodes[place].cost }
        free.append(place)
        defer { nodes[place].value = nil }
        return nodes[place].value
    }

    typealias Removed = (key: Key, value: Value, cost: Int, isLight: Bool)

    mutating func removeLeastRecentlyUsed() -> Removed? {
        leastRecentlyUsed == Self.none ? nil : removeValue(at: leastRecentlyUsed)
    }

    /// Removes the first light value from `place` on, towards those that were used later, and moves the place on.
    mutating func removeLight(from place: inout Int) -> Removed? {
        while place != Self.none {
            let found = place
            place = nodes[found].later
            if nodes[found].isLight { return removeValue(at: found) }
        }
        return nil
    }

    private mutating func removeValue(at place: Int) -> Removed? {
        let (key, cost, isLight) = (nodes[place].key, nodes[place].cost, nodes[place].isLight)
        return remove(key).map { (key, $0, cost, isLight) }
    }

    /// The number of places for ``removeAll(at:where:)``: at least ``count``, and never fewer until all values are
    /// removed.
    var placeCount: Int { nodes.count }

    /// Removes the values that match among some of the places, and returns them.
    ///
    /// - Complexity: O(*places*), so that a long list can be gone through in slices.
    mutating func removeAll(at places: Range<Int>, where matches: (Key, Value) -> Bool) -> [Value] {
        var removed: [Value] = []
        for place in places.clamped(to: nodes.indices) {
            guard let value = nodes[place].value, matches(nodes[place].key, value) else { continue }
            remove(nodes[place].key)
            removed.append(value)
        }
        return removed
    }

    /// The keys from the most to the least recently used.
    var keys: [Key] {
        var keys: [Key] = []
        var place = mostRecentlyUsed
        while place != Self.none {
            keys.append(nodes[place].key)
            place = nodes[place].earlier
        }
        return keys
    }

    private mutating func unlink(_ place: Int) {
        let (later, earlier) = (nodes[place].later, nodes[place].earlier)
        if later != Self.none { nodes[later].earlier = earlier } else { mostRecentlyUsed = earlier }
        if earlier != Self.none { nodes[earlier].later = later } else { leastRecentlyUsed = later }
    }

    private mutating func linkAsMostRecentlyUsed(_ place: Int) {
        nodes[place].later = Self.none
        nodes[place].earlier = mostRecentlyUsed
        if mostRecentlyUsed != Self.none { nodes[mostRecentlyUsed].later = place } else { leastRecentlyUsed = place }
        mostRecentlyUsed = place
    }
}

extension LRUList: Sendable where Key: Sendable, Value: Sendable {}
extension LRUList.Node: Sendable where Key: Sendable, Value: Sendable {}
