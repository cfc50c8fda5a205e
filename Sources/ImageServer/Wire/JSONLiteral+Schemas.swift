internal import JSONRPC

extension JSONLiteral {
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

    /// A list of strings.
    static func texts(_ list: [String]) -> JSONLiteral { .array(list.map { .string($0) }) }

    /// The members of `schema` before ours.
    func merging(_ schema: JSONLiteral) -> JSONLiteral {
        guard case .object(let members) = self else { return self }
        return schema.adding(members)
    }
}
