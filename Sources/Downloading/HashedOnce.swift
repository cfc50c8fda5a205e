/// A value that is hashed once, and compared in full only with those of the same hash: it may be a whole request with its
/// options. A reference, for it is held in many places at once.
package struct HashedOnce<Value: Hashable & Sendable>: Hashable, Sendable {
    private final class Box: Sendable {
        let value: Value
        let hash: Int

        init(_ value: Value) {
            self.value = value
            hash = value.hashValue
        }
    }

    private let box: Box

    init(_ value: Value) { box = Box(value) }

    /// The value.
    package var value: Value { box.value }

    package static func == (one: HashedOnce, other: HashedOnce) -> Bool {
        one.box === other.box || one.box.hash == other.box.hash && one.box.value == other.box.value
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(box.hash) }
}
