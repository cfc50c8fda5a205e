internal import CJansson

/// A borrowed view of one value of a ``JSONDocument``.
///
/// It cannot outlive its document (it is not escapable) and allocates only for the strings it returns.
public struct JSONView: ~Escapable {
    /// The kinds of JSON values.
    public enum Kind: String, Sendable {
        case object, array, string, integer, real, boolean, null
    }

    private let node: UnsafeMutablePointer<json_t>

    @_lifetime(borrow document)
    init(_ node: UnsafeMutablePointer<json_t>, of document: borrowing JSONDocument) { self.node = node }

    @_lifetime(copy parent)
    private init(_ node: UnsafeMutablePointer<json_t>, within parent: borrowing JSONView) { self.node = node }

    /// The kind of the value.
    public var kind: Kind {
        switch node.pointee.type {
        case JSON_OBJECT: .object
        case JSON_ARRAY: .array
        case JSON_STRING: .string
        case JSON_INTEGER: .integer
        case JSON_REAL: .real
        case JSON_TRUE, JSON_FALSE: .boolean
        default: .null
        }
    }

    /// `true` when the value is an object, or the empty array that languages with one kind of table write for an empty
    /// object.
    public var isObject: Bool { kind == .object || kind == .array && count == 0 }

    /// `true` when the value is `null`.
    public var isNull: Bool { node.pointee.type == JSON_NULL }

    /// The text of a string; `nil` for any other value.
    public var string: String? {
        guard node.pointee.type == JSON_STRING, let text = json_string_value(node) else { return nil }
        let length = json_string_length(node)
        return text.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
    }

    /// Calls `body` with the UTF-8 of a string, without a copy; `nil` if the value is not a string.
    public func withUTF8<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
        guard node.pointee.type == JSON_STRING, let text = json_string_value(node) else { return nil }
        return try body(UnsafeRawBufferPointer(start: text, count: json_string_length(node)))
    }

    /// The value of a whole number, also when it is written with a fraction, as `5.0`; `nil` for any other value.
    public var integer: Int? {
        switch node.pointee.type {
        case JSON_INTEGER: Int(json_integer_value(node))
        case JSON_REAL: Int(exactly: json_real_value(node))
        default: nil
        }
    }

    /// The value of any number; `nil` for any other value. Integers beyond 2^53 are rounded.
    public var number: Double? {
        switch node.pointee.type {
        case JSON_INTEGER: Double(json_integer_value(node))
        case JSON_REAL: json_real_value(node)
        default: nil
        }
    }

    /// The value of `true` or `false`; `nil` for any other value.
    public var boolean: Bool? {
        switch node.pointee.type {
        case JSON_TRUE: true
        case JSON_FALSE: false
        default: nil
        }
    }

    /// The number of elements or members; 0 for any other value.
    public var count: Int {
        switch node.pointee.type {
        case JSON_ARRAY: json_array_size(node)
        case JSON_OBJECT: json_object_size(node)
        default: 0
        }
    }

    /// The element at `index`; `nil` past the end or when the value is not an array.
    @_lifetime(copy self)
    public func element(_ index: Int) -> JSONView? {
        guard let element = json_array_get(node, index) else { return nil }
        return JSONView(element, within: self)
    }

    /// The member called `name`; `nil` when there is none.
    ///
    /// - Complexity: O(1).
    @_lifetime(copy self)
    public func member(_ name: StaticString) -> JSONView? {
        let text = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        guard let member = json_object_getn(node, text, name.utf8CodeUnitCount) else { return nil }
        return JSONView(member, within: self)
    }

    /// Calls `body` with every member of an object in the order they were written, until it throws.
    public func forEachMember<Failure: Error>(
        _ body: (_ name: UnsafeRawBufferPointer, _ value: JSONView) throws(Failure) -> Void
    ) throws(Failure) {
        var place = json_object_iter(node)
        while let current = place {
            if let name = json_object_iter_key(current), let value = json_object_iter_value(current) {
                let bytes = UnsafeRawBufferPointer(start: name, count: json_object_iter_key_len(current))
                try body(bytes, JSONView(value, within: self))
            }
            place = json_object_iter_next(node, current)
        }
    }
}
