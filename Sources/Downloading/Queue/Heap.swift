/// Values at places that are used again. Thousands may be there, and a table would have a hash and room to spare for each.
struct Slots<Value: Sendable>: Sendable {
    /// All values, and what was left at the free places.
    var values: [Value] = []
    private var free: [Int32] = []

    var count: Int { values.count - free.count }

    subscript(place: Int) -> Value {
        _read { yield values[place] }
        _modify { yield &values[place] }
    }

    /// Adds a value. Returns its place.
    mutating func insert(_ value: Value) -> Int {
        let place = free.popLast().map { Int($0) } ?? values.count
        if place < values.count { values[place] = value } else { values.append(value) }
        return place
    }

    /// Frees a place, and leaves another value there.
    mutating func remove(_ place: Int, leaving rest: Value) {
        values[place] = rest
        free.append(Int32(place))
    }
}

/// A value in ``Slots`` that may be in a ``Heap``.
protocol HeapMember: Sendable {
    /// Its position in the heap; −1 while it is in none.
    var position: Int32 { get set }
    /// `true` when it comes before another one.
    func isBefore(_ other: Self) -> Bool
}

/// A binary heap of the places of values, of which the first comes before the others. The values know their positions in it.
///
/// Every change takes O(log n).
struct Heap<Member: HeapMember>: Sendable {
    private var places: [Int32] = []

    /// The place of the first value.
    var first: Int? { places.first.map { Int($0) } }

    /// Adds the value at a place, or moves it to where it belongs now.
    mutating func insert(_ place: Int, in members: inout Slots<Member>) {
        if members[place].position < 0 {
            places.append(Int32(place))
            members[place].position = Int32(places.count - 1)
        }
        move(Int32(place), from: Int(members[place].position), &members)
    }

    /// Removes the value at a place, if it is in the heap.
    mutating func remove(_ place: Int, in members: inout Slots<Member>) {
        let position = Int(members[place].position)
        guard position >= 0 else { return }
        members[place].position = -1
        let last = places.removeLast()
        if last != place { move(last, from: position, &members) }
    }

    /// Restores the order after several values have changed.
    mutating func sort(in members: inout Slots<Member>) {
        places.sort { members[Int($0)].isBefore(members[Int($1)]) }
        for (position, place) in places.enumerated() { members[Int(place)].position = Int32(position) }
    }

    /// Puts a value at the position where it belongs, beginning at one that is free for it.
    private mutating func move(_ place: Int32, from start: Int, _ members: inout Slots<Member>) {
        var position = start
        while position > 0, members[Int(place)].isBefore(members[Int(places[(position - 1) / 2])]) {
            put(places[(position - 1) / 2], at: position, &members)
            position = (position - 1) / 2
        }
        while true {
            var (first, next) = (place, position)
            for child in 2 * position + 1...2 * position + 2
            where child < places.count && members[Int(places[child])].isBefore(members[Int(first)]) {
                (first, next) = (places[child], child)
            }
            put(first, at: position, &members)
            if next == position { return }
            position = next
        }
    }

    private mutating func put(_ place: Int32, at position: Int, _ members: inout Slots<Member>) {
        places[position] = place
        members[Int(place)].position = Int32(position)
    }
}
