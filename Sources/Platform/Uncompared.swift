/// A value that goes along with an identity and is no part of it.
package struct Uncompared<Value: Sendable>: Hashable, Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }

    package static func == (one: Uncompared, other: Uncompared) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}
