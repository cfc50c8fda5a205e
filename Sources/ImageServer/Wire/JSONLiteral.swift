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

    /// The schema of an object that has all members of `required`, and may have others. Former names are not required.
    static func object(
        ofAll required: [(String, JSONLiteral)], ofSome optional: [(String, JSONLiteral)] = []
    ) -> JSONLiteral {
        [
            "type": "object", "properties": .object(required + optional),
            "required": .array(required.filter { !$0.1.isFormerMember }.map { .string($0.0) }),
        ]
    }

    /// The schema of a member that may be left out: null says the same. Generators of clients know it by `x-omittable`.
    var orNull: JSONLiteral { nullable.adding([("x-omittable", true)]) }

    private var nullable: JSONLiteral {
        if case .object(let members) = self, members.contains(where: { $0.0 == "oneOf" }) {
            return .object(
                members.map { name, value in
                    guard name == "oneOf", case .array(let kinds) = value else { return (name, value) }
                    return (name, .array(kinds + [["type": "null"]]))
                })
        }
        guard case .object(let members) = self, let type = members.first(where: { $0.0 == "type" })?.1 else {
            if case .boolean = self { return self }
            return ["oneOf": [self, ["type": "null"]]]
        }
        if case .array = type { return self }
        return .object(
            members.map { name, value in
                switch (name, value) {
                case ("type", _): return (name, [value, "null"])
                case ("enum", .array(let values)): return (name, .array(values + [.null]))
                default: return (name, value)
                }
            })
    }

    /// The names of the members that an object of this schema may have.
    var memberNames: [String] {
        switch self {
        case .object(let members):
            members.flatMap { name, value in
                guard name == "properties", case .object(let properties) = value else {
                    return ["oneOf", "$ref"].contains(name) ? value.memberNames : []
                }
                return properties.map(\.0)
            }
        case .array(let schemas): schemas.flatMap(\.memberNames)
        case .reference(let schema): schema.definition().memberNames
        case .string, .integer, .number, .boolean, .null: []
        }
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
