/// A binary heap of items by rank, the lowest first. It also finds and moves an item by its name.
///
/// Every change takes O(log n).
struct RankedHeap<ID: Hashable & Sendable, Rank: Comparable & Sendable>: Sendable {
    private var items: [(id: ID, rank: Rank)] = []
    private var places: [ID: Int] = [:]

    var count: Int { items.count }
    var isEmpty: Bool { items.isEmpty }
    func contains(_ id: ID) -> Bool { places[id] != nil }
    /// The item of the lowest rank.
    var first: (id: ID, rank: Rank)? { items.first }

    /// Adds an item, or changes its rank.
    mutating func insert(_ id: ID, _ rank: Rank) {
        guard let place = places[id] else {
            places[id] = items.count
            items.append((id, rank))
            return rise(from: items.count - 1)
        }
        items[place].rank = rank
        restoreOrder(at: place)
    }

    /// Removes an item, if it is in the heap.
    mutating func remove(_ id: ID) {
        guard let place = places.removeValue(forKey: id) else { return }
        let last = items.removeLast()
        guard place < items.count else { return }
        items[place] = last
        places[last.id] = place
        restoreOrder(at: place)
    }

    /// Changes the rank of every item.
    mutating func rerank(_ rank: (ID) -> Rank) {
        for place in items.indices { items[place].rank = rank(items[place].id) }
        for place in items.indices.reversed() { sink(from: place) }
    }

    private mutating func restoreOrder(at place: Int) {
        if place > 0, items[place].rank < items[(place - 1) / 2].rank {
            rise(from: place)
        } else {
            sink(from: place)
        }
    }

    private mutating func rise(from start: Int) {
        var place = start
        while place > 0, items[place].rank < items[(place - 1) / 2].rank {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink(from start: Int) {
        var place = start
        while true {
            var lowest = place
            for child in 2 * place + 1...2 * place + 2 where child < items.count {
                if items[child].rank < items[lowest].rank { lowest = child }
            }
            guard lowest != place else { return }
            swap(place, lowest)
            place = lowest
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        items.swapAt(one, other)
        places[items[one].id] = one
        places[items[other].id] = other
    }
}
