/// Values by key, of which there is mostly one: that one needs no table.
///
/// Every change and look-up takes O(1).
struct OneOrMany<Key: Hashable, Value> {
    private var table: [Key: Value] = [:]
    /// The value, as long as there has been no other beside it.
    private var only: (key: Key, value: Value)?

    /// Creates an empty collection.
    init() {}

    /// The number of values.
    var count: Int { only == nil ? table.count : 1 }

    /// `true` when there is no value.
    var isEmpty: Bool { count == 0 }

    /// Any of the values.
    var first: Value? { only?.value ?? table.first?.value }

    /// The value of a key. Setting `nil` removes it.
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

    /// Calls `body` with each key and value, in no order.
    func forEach(_ body: (Key, Value) -> Void) {
        if let only { return body(only.key, only.value) }
        for (key, value) in table { body(key, value) }
    }
}

extension OneOrMany: Sendable where Key: Sendable, Value: Sendable {}
