internal import ImageEngine
internal import JSONRPC
internal import Platform

/// A Swift value that is the result of a method.
protocol WireResult: Sendable {
    /// The name of the result in the documentation.
    static var name: String { get }
    /// The JSON Schema of the result.
    static var schema: JSONLiteral { get }
    /// Writes the result as one JSON value.
    func write(to writer: inout JSONWriter)
}

/// One field of a result: its name, its description, its schema and its encoder.
struct WireField<Root: Sendable>: Sendable {
    let name: StaticString
    let summary: String
    let schema: JSONLiteral
    /// The former name of the field, under which it is written too.
    let renamed: RenamedMember?
    /// `true` when the field may be missing.
    let isOptional: Bool
    /// `true` when the field may differ between two results of the same record.
    let isVolatile: Bool
    let write: @Sendable (borrowing Root, inout JSONWriter) -> Void

    init(
        _ name: StaticString, _ summary: String, _ schema: JSONLiteral, isOptional: Bool = false,
        isVolatile: Bool = false, write: @escaping @Sendable (borrowing Root, inout JSONWriter) -> Void
    ) {
        self.init(name, nil, summary, schema, isOptional, isVolatile, write)
    }

    /// A field that is written under two names.
    init(
        _ renamed: RenamedMember, _ summary: String, _ schema: JSONLiteral, isOptional: Bool = false,
        write: @escaping @Sendable (borrowing Root, inout JSONWriter) -> Void
    ) {
        self.init(renamed.name, renamed, summary, schema, isOptional, false, write)
    }

    private init(
        _ name: StaticString, _ renamed: RenamedMember?, _ summary: String, _ schema: JSONLiteral, _ isOptional: Bool,
        _ isVolatile: Bool, _ write: @escaping @Sendable (borrowing Root, inout JSONWriter) -> Void
    ) {
        self.name = name
        self.renamed = renamed
        self.summary = summary
        self.schema = schema
        self.isOptional = isOptional
        self.isVolatile = isVolatile
        self.write = write
    }

    /// The properties of the field in the schema of its object.
    fileprivate var properties: [(String, JSONLiteral)] {
        var properties = renamed?.properties(schema) ?? [(name.description, schema)]
        properties[0].1 = schema.adding([("description", .string(summary))])
        return properties
    }
}

/// Fields that hold one value.
extension WireField {
    static func count(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (Root) -> Int
    ) -> WireField { WireField(name, summary, countSchema) { $1.field(name, value($0)) } }

    static func count(
        _ member: RenamedMember, _ summary: String, _ value: @escaping @Sendable (Root) -> Int
    ) -> WireField { WireField(member, summary, countSchema) { $1.field(member, value($0)) } }

    static func countOrNull(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (Root) -> Int?
    ) -> WireField { WireField(name, summary, countOrNullSchema) { $1.field(name, value($0)) } }

    static func flag(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (Root) -> Bool
    ) -> WireField { WireField(name, summary, flagSchema) { $1.field(name, value($0)) } }

    static func text(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (Root) -> String
    ) -> WireField { WireField(name, summary, textSchema) { $1.field(name, value($0)) } }

    static func textOrNull(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (Root) -> String?
    ) -> WireField { WireField(name, summary, textOrNullSchema) { $1.field(name, value($0)) } }

    /// - Parameter value: Seconds of Unix time.
    static func date(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (Root) -> Int?
    ) -> WireField { WireField(name, summary, dateOrNullSchema) { $1.field(name, value($0).map(ISO8601.text)) } }
}

extension WireField {
    /// The same field of a larger result that contains this one as `part`.
    func within<Outer>(_ part: @escaping @Sendable (borrowing Outer) -> Root) -> WireField<Outer> {
        WireField<Outer>(name, renamed, summary, schema, isOptional, isVolatile) { write(part($0), &$1) }
    }
}

/// A result that is an object described by a table of fields.
protocol WireObject: WireResult {
    static var fields: [WireField<Self>] { get }
}

extension WireObject {
    static var schema: JSONLiteral { .schema(name) { definition } }

    /// The schema that ``schema`` refers to, generated from the table.
    private static var definition: JSONLiteral {
        let required = fields.filter { !$0.isOptional }.map { JSONLiteral.string($0.name.description) }
        return [
            "type": "object", "properties": .object(fields.flatMap(\.properties)), "required": .array(required),
        ]
    }

    func write(to writer: inout JSONWriter) {
        writer.object { Self.fields.write(self, to: &$0) }
    }
}

extension Array {
    /// Writes the fields of a result. By their places: a loop over the fields would copy the texts and the schema of each.
    func write<Root>(_ result: borrowing Root, to writer: inout JSONWriter) where Element == WireField<Root> {
        for place in indices { self[place].write(result, &writer) }
    }
}

/// The result of methods that answer `null`.
struct NullResult: WireResult {
    static let name = "Null"
    static let schema: JSONLiteral = ["type": "null"]

    func write(to writer: inout JSONWriter) { writer.writeNull() }
}
