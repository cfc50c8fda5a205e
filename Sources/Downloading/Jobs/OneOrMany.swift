/// Things by key, of which there is mostly one: that is kept without a table of its own.
///
/// Every change and look-up takes the same time, however many there are.
struct OneOrMany<Key: Hashable, Value> {
    /// The thing that there is, while there has been no other beside it.
    private var only: (key: Key, value: Value)?
    private var table: [Key: Value] = [:]

    /// None.
    init() {}

    /// How many there are.
    var count: Int { only == nil ? table.count : 1 }

    /// Whether there are none.
    var isEmpty: Bool { count == 0 }

    /// The thing of a key; setting nil takes it out.
    subscript(key: Key) -> Value? {
        get {
            guard let only else { return table.isEmpty ? nil : table[key] }
            return only.key == key ? only.value : nil
        }
        set {
            if let first = only {
                if first.key == key {
                    only = newValue.map { (key, $0) }
                } else if let newValue {
                    table = [first.key: first.value, key: newValue]
                    only = nil
                }
            } else if table.isEmpty {
                only = newValue.map { (key, $0) }
            } else {
                table[key] = newValue
            }
        }
    }

    /// Takes the thing of a key out.
    mutating func removeValue(forKey key: Key) -> Value? {
        guard let value = self[key] else { return nil }
        self[key] = nil
        return value
    }

    /// Calls `body` with each thing, in no order.
    func forEach(_ body: (Value) -> Void) {
        if let only { return body(only.value) }
        for (_, value) in table { body(value) }
    }

    /// All keys, in no order.
    var keys: [Key] { only.map { [$0.key] } ?? Array(table.keys) }
}

extension OneOrMany: Sendable where Key: Sendable, Value: Sendable {}
