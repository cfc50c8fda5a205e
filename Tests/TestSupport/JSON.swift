import JSONRPC

/// A JSON value as tests look at it, parsed by jansson.
public indirect enum JSON: Equatable, Sendable {
    case object([String: JSON])
    case array([JSON])
    case string(String)
    case integer(Int)
    case real(Double)
    case boolean(Bool)
    case null

    /// Parses a text.
    public init(_ text: [UInt8]) throws {
        let document = try JSONDocument(parsing: text)
        self = JSON(document.root)
    }

    /// Parses a text.
    public init(_ text: String) throws { try self.init(Array(text.utf8)) }

    /// Copies what a view shows.
    public init(_ view: JSONView) {
        switch view.kind {
        case .object:
            var members: [String: JSON] = [:]
            view.forEachMember { name, value in members[String(decoding: name, as: UTF8.self)] = JSON(value) }
            self = .object(members)
        case .array:
            var elements: [JSON] = []
            for index in 0..<view.count {
                if let element = view.element(index) { elements.append(JSON(element)) }
            }
            self = .array(elements)
        case .string: self = .string(view.string ?? "")
        case .integer: self = .integer(view.integer ?? 0)
        case .real: self = .real(view.number ?? 0)
        case .boolean: self = .boolean(view.boolean ?? false)
        case .null: self = .null
        }
    }

    /// The member called `name`; nil when there is none.
    public subscript(name: String) -> JSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The element at `index`; nil when there is none.
    public subscript(index: Int) -> JSON? {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
    }

    /// The text of a string.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The value of an integer.
    public var integer: Int? { if case .integer(let number) = self { number } else { nil } }
    /// The number, when it was written with a fraction or an exponent.
    public var real: Double? { if case .real(let number) = self { number } else { nil } }
    /// The value of a boolean.
    public var boolean: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    /// The elements of an array.
    public var elements: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
    /// The members of an object.
    public var members: [String: JSON]? { if case .object(let members) = self { members } else { nil } }

    /// The text of the value, by the writer under test elsewhere.
    public var text: String {
        var writer = JSONWriter()
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Writes the value.
    public func write(to writer: inout JSONWriter) {
        switch self {
        case .object(let members):
            writer.object { writer in
                for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                    writer.key(name)
                    value.write(to: &writer)
                }
            }
        case .array(let elements): writer.array { writer in elements.forEach { $0.write(to: &writer) } }
        case .string(let text): writer.write(text)
        case .integer(let number): writer.write(number)
        case .real(let number): writer.write(number)
        case .boolean(let flag): writer.write(flag)
        case .null: writer.writeNull()
        }
    }
}
