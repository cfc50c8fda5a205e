internal import Platform

/// Values in the order of their last use: a plain value with O(1) for everything.
///
/// The nodes lie in one array and are linked by index; freed nodes are used again.
struct LRUList<Key: Hashable, Value> {
    fileprivate struct Node {
        var key: Key
        var value: Value?
        var cost: Int
        var newer: Int
        var older: Int
    }

    private static var none: Int { -1 }

    private var nodes: [Node] = []
    private var places: [Key: Int] = [:]
    private var free: [Int] = []
    private var newest = none
    private var oldest = none

    /// The sum of the costs.
    private(set) var totalCost = 0

    var count: Int { places.count }

    /// The value for `key`, its order unchanged.
    func peek(_ key: Key) -> Value? { places[key].flatMap { nodes[$0].value } }

    /// The value for `key`, which becomes the most recently used.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if place != newest {
            unlink(place)
            linkNewest(place)
        }
        return nodes[place].value
    }

    /// Changes the value for `key` in place, its order and cost unchanged.
    mutating func modify(_ key: Key, _ change: (inout Value) -> Void) {
        guard let place = places[key], var value = nodes[place].value else { return }
        nodes[place].value = nil
        change(&value)
        nodes[place].value = value
    }

    /// Sets the value for `key`, which becomes the most recently used. An earlier value's cost is taken back first.
    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        remove(key)
        let node = Node(key: key, value: value, cost: cost, newer: Self.none, older: Self.none)
        let place = free.popLast() ?? nodes.count
        if place < nodes.count { nodes[place] = node } else { nodes.append(node) }
        places[key] = place
        totalCost += cost
        linkNewest(place)
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        unlink(place)
        totalCost -= nodes[place].cost
        free.append(place)
        defer { nodes[place].value = nil }
        return nodes[place].value
    }

    /// Removes the least recently used value.
    mutating func removeOldest() -> (key: Key, value: Value, cost: Int)? {
        guard oldest != Self.none else { return nil }
        let (key, cost) = (nodes[oldest].key, nodes[oldest].cost)
        return remove(key).map { (key, $0, cost) }
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
        var place = newest
        while place != Self.none {
            keys.append(nodes[place].key)
            place = nodes[place].older
        }
        return keys
    }

    private mutating func unlink(_ place: Int) {
        let node = nodes[place]
        if node.newer != Self.none { nodes[node.newer].older = node.older } else { newest = node.older }
        if node.older != Self.none { nodes[node.older].newer = node.newer } else { oldest = node.newer }
    }

    private mutating func linkNewest(_ place: Int) {
        nodes[place].newer = Self.none
        nodes[place].older = newest
        if newest != Self.none { nodes[newest].newer = place } else { oldest = place }
        newest = place
    }
}

extension LRUList: Sendable where Key: Sendable, Value: Sendable {}
extension LRUList.Node: Sendable where Key: Sendable, Value: Sendable {}
