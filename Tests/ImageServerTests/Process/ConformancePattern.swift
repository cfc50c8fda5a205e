import Foundation
import TestSupport

/// What a message should look like; see `protocol/conformance/README.md`.
struct ConformancePattern {
    let pattern: JSON

    /// Where `value` differs, as a sentence; nil when it matches.
    func mismatch(_ value: JSON, at place: String = "the message") -> String? {
        switch pattern {
        case .object(let members):
            if members.count == 1, let (name, argument) = members.first, name.hasPrefix("$") {
                return special(name, argument, value) ? nil : differs(value, at: place)
            }
            guard let actual = value.members else { return differs(value, at: place) }
            for (name, inner) in members.sorted(by: { $0.key < $1.key }) {
                let place = "\(place).\(name)"
                if inner["$absent"] == .boolean(true) {
                    if let found = actual[name] { return "\(place) should not be there, and is \(found.text)" }
                    continue
                }
                guard let found = actual[name] else { return "\(place) is missing" }
                if let problem = ConformancePattern(pattern: inner).mismatch(found, at: place) { return problem }
            }
            return nil
        case .array(let elements):
            guard let actual = value.elements, actual.count == elements.count else { return differs(value, at: place) }
            for (index, (inner, found)) in zip(elements, actual).enumerated() {
                let inner = ConformancePattern(pattern: inner)
                if let problem = inner.mismatch(found, at: "\(place)[\(index)]") { return problem }
            }
            return nil
        default: return value == pattern ? nil : differs(value, at: place)
        }
    }

    private func special(_ name: String, _ argument: JSON, _ value: JSON) -> Bool {
        switch name {
        case "$any": return true
        case "$type": return Self.types(of: value).contains(argument.string ?? "")
        case "$regex":
            guard let text = value.string, let pattern = argument.string else { return false }
            return text.range(of: pattern, options: .regularExpression) != nil
        case "$length":
            let length = value.elements?.count ?? value.string?.count ?? value.members?.count
            return length != nil && length == argument.integer
        default: return false
        }
    }

    private static func types(of value: JSON) -> [String] {
        switch value {
        case .object: ["object"]
        case .array: ["array"]
        case .string: ["string"]
        case .integer: ["integer", "number"]
        case .real: ["number"]
        case .boolean: ["boolean"]
        case .null: ["null"]
        }
    }

    private func differs(_ value: JSON, at place: String) -> String {
        "\(place) should be \(pattern.text), and is \(value.text.prefix(500))"
    }
}
