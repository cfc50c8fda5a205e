/// A value that goes along with an identity and is no part of it.
struct Uncompared<Value: Sendable>: Hashable, Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }

    static func == (one: Uncompared, other: Uncompared) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
