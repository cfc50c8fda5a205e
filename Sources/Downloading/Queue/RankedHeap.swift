internal import Platform

/// Things by rank, the lowest first: a binary heap that also finds and moves each thing by its name.
///
/// Every change takes a number of steps that grows with the logarithm of the count.
struct RankedHeap<ID: Hashable & Sendable, Rank: Comparable & Sendable>: Sendable {
    private var items: [(id: ID, rank: Rank)] = []
    private var places: [ID: Int] = [:]

    /// How many there are.
    var count: Int { items.count }
    /// Whether there are none.
    var isEmpty: Bool { items.isEmpty }
    /// Whether a thing is there.
    func contains(_ id: ID) -> Bool { places[id] != nil }
    /// The one of the lowest rank.
    var first: (id: ID, rank: Rank)? { items.first }

    /// Adds a thing, or gives it another rank.
    mutating func insert(_ id: ID, _ rank: Rank) {
        guard let place = places[id] else {
            places[id] = items.count
            items.append((id, rank))
            return rise(from: items.count - 1)
        }
        items[place].rank = rank
        settle(place)
    }

    /// Takes a thing out, if it is there.
    mutating func remove(_ id: ID) {
        guard let place = places.removeValue(forKey: id) else { return }
        let last = items.removeLast()
        guard place < items.count else { return }
        items[place] = last
        places[last.id] = place
        settle(place)
    }

    /// Gives every thing another rank.
    mutating func rank(_ rank: (ID) -> Rank) {
        for place in items.indices { items[place].rank = rank(items[place].id) }
        for place in items.indices.reversed() { sink(from: place) }
    }

    private mutating func settle(_ place: Int) {
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
