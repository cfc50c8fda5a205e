internal import Platform

/// The `id` of a request, echoed with its type and value unchanged.
public enum RequestID: Hashable, Sendable {
    /// A string.
    case string(String)
    /// A number without fraction, within 64 bits.
    case integer(Int)
    /// Any other token, stored as the JSON text to echo: a fraction, or an id recovered from a refused message.
    case literal(String)
    /// An explicit `null`. It identifies no request: it cannot be cancelled, and several may be in flight.
    case null

    /// `true` when both are echoed as the same bytes.
    public static func == (one: RequestID, other: RequestID) -> Bool {
        switch (one, other) {
        case (.string(let one), .string(let other)), (.literal(let one), .literal(let other)):
            ExactText(one) == ExactText(other)
        case (.integer(let one), .integer(let other)): one == other
        case (.null, .null): true
        default: false
        }
    }

    /// Hashes the echoed bytes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .string(let text), .literal(let text): ExactText(text).hash(into: &hasher)
        case .integer(let number): hasher.combine(number)
        case .null: hasher.combine(0)
        }
    }

    /// Reads an id; `nil` when the value is of a kind that is not allowed as an id.
    package init?(_ view: JSONView) {
        switch view.kind {
        case .string: self = .string(view.string ?? "")
        case .integer: self = .integer(view.integer ?? 0)
        case .real: self = .literal((view.number ?? 0).description)
        case .null: self = .null
        case .object, .array, .boolean: return nil
        }
    }

    /// The same number written in the other way, `5` and `5.0`: a client that names a request later may write it so.
    var twin: RequestID? {
        switch self {
        case .integer(let number): .literal(Double(number).description)
        case .literal(let text): Double(text).flatMap { Int(exactly: $0) }.map { .integer($0) }
        case .string, .null: nil
        }
    }

    /// Writes the id unchanged.
    public func write(to writer: inout JSONWriter) {
        switch self {
        case .string(let text): writer.write(text)
        case .integer(let number): writer.write(number)
        case .literal(let json): writer.writeRaw(json)
        case .null: writer.writeNull()
        }
    }
}
