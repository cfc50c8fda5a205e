internal import JSONRPC

/// A small JSON value in source code, for schemas and descriptions.
indirect enum JSONLiteral: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByFloatLiteral,
    ExpressibleByNilLiteral
{
    case object([(String, JSONLiteral)])
    case array([JSONLiteral])
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    /// The text that refers to a schema of the document's components.
    case reference(SchemaReference)
    case null

    init(stringLiteral value: String) { self = .string(value) }
    init(integerLiteral value: Int) { self = .integer(value) }
    init(floatLiteral value: Double) { self = .number(value) }
    init(booleanLiteral value: Bool) { self = .boolean(value) }
    init(arrayLiteral elements: JSONLiteral...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSONLiteral)...) { self = .object(elements) }
    init(nilLiteral: ()) { self = .null }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .object(let members):
            writer.object { writer in
                for (name, value) in members {
                    writer.key(name)
                    value.write(to: &writer)
                }
            }
        case .array(let elements):
            writer.array { writer in
                for element in elements { element.write(to: &writer) }
            }
        case .string(let text): writer.write(text)
        case .integer(let number): writer.write(number)
        case .number(let number): writer.write(number)
        case .boolean(let flag): writer.write(flag)
        case .reference(let schema): writer.write("#/components/schemas/\(schema.name)")
        case .null: writer.writeNull()
        }
    }

    /// The object with further members; anything else unchanged.
    func adding(_ members: [(String, JSONLiteral)]) -> JSONLiteral {
        guard case .object(let own) = self else { return self }
        return .object(own + members)
    }

    /// A reference to a schema that stands once in the components of the document, under a name.
    static func schema(_ name: String, _ definition: @escaping @Sendable () -> JSONLiteral) -> JSONLiteral {
        ["$ref": .reference(SchemaReference(name: name, definition: definition))]
    }
}

/// A schema of the document's components.
struct SchemaReference: Sendable {
    let name: String
    let definition: @Sendable () -> JSONLiteral
}
