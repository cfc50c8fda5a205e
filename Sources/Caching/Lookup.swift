/// The result of a look-up that need not wait.
package enum Lookup<Value: Sendable>: Sendable {
    case found(Value)
    case missing
    /// Finding out takes waiting: the index and the folder do not agree, another process holds the index, or other folders
    /// must be searched.
    case unsettled

    /// The result of a look-up that has waited.
    init(_ value: Value?) { self = value.map { .found($0) } ?? .missing }

    /// The value, unless it is missing or not known.
    package var value: Value? { if case .found(let value) = self { value } else { nil } }

    /// `true` when there certainly is no value.
    package var isMissing: Bool { if case .missing = self { true } else { false } }

    func map<Other>(_ transform: (Value) -> Other) -> Lookup<Other> {
        switch self {
        case .found(let value): .found(transform(value))
        case .missing: .missing
        case .unsettled: .unsettled
        }
    }
}
