/// A small JSON value in source code, for schemas and descriptions.
package indirect enum JSONLiteral: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
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

    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(arrayLiteral elements: JSONLiteral...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONLiteral)...) { self = .object(elements) }
    package init(nilLiteral: ()) { self = .null }

    /// A copy of a parsed value.
    package init(_ view: JSONView) {
        switch view.kind {
        case .object:
            var members: [(String, JSONLiteral)] = []
            view.forEachMember { (name, value) throws(Never) in
                members.append((String(decoding: name, as: UTF8.self), JSONLiteral(value)))
            }
            self = .object(members)
        case .array:
            var elements: [JSONLiteral] = []
            for index in 0..<view.count {
                if let element = view.element(index) { elements.append(JSONLiteral(element)) }
            }
            self = .array(elements)
        case .string: self = .string(view.string ?? "")
        case .integer: self = .integer(view.integer ?? 0)
        case .real: self = .number(view.number ?? 0)
        case .boolean: self = .boolean(view.boolean ?? false)
        case .null: self = .null
        }
    }

    package func write(to writer: inout JSONWriter) {
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
    package func adding(_ members: [(String, JSONLiteral)]) -> JSONLiteral {
        guard case .object(let own) = self else { return self }
        return .object(own + members)
    }
}

/// A schema of the document's components.
package struct SchemaReference: Sendable {
    package let name: String
    package let definition: @Sendable () -> JSONLiteral

    /// The schema of that name.
    package init(name: String, definition: @escaping @Sendable () -> JSONLiteral) {
        (self.name, self.definition) = (name, definition)
    }
}
