internal import CJansson
internal import Glibc

/// A JSON text parsed by jansson; the only owner of the tree.
///
/// The tree is read through ``JSONView`` values, which the compiler prevents from outliving the document, and is freed
/// with the document. The parser refuses duplicate keys, lone surrogates, NUL in keys, integers beyond signed 64 bits,
/// other numbers beyond those of IEEE 754 with 64 bits, and nesting beyond ``maximumDepth``; `\u0000` inside a string
/// value is accepted.
public struct JSONDocument: ~Copyable {
    /// The deepest nesting accepted: jansson's own compile-time limit.
    public static let maximumDepth = 2048

    private let tree: UnsafeMutablePointer<json_t>

    /// Parses one JSON value of any kind.
    ///
    /// - Throws: ``JSONSyntaxError`` with the position and the reason.
    /// - Complexity: O(*n*), byte by byte: about 10 ns per byte; a tenth of that for long plain strings.
    public init(parsing text: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
        // jansson treats a NUL as the end of the text and would accept anything after it.
        if let base = text.baseAddress, let nul = memchr(base, 0, text.count) {
            throw JSONSyntaxError("A NUL byte is in the text", at: UnsafeRawPointer(nul) - base)
        }
        if let strings = LongStrings(of: text), let tree = Self.parse(strings) {
            self.tree = tree
            return
        }
        var error = json_error_t()
        guard let tree = Self.parse(text, &error) else {
            throw text.isEmpty ? JSONSyntaxError("The message is empty", at: 0) : JSONSyntaxError(error)
        }
        self.tree = tree
    }

    private static func parse(
        _ text: UnsafeRawBufferPointer, _ error: inout json_error_t
    ) -> UnsafeMutablePointer<json_t>? {
        guard let start = text.baseAddress?.assumingMemoryBound(to: CChar.self) else { return nil }
        let flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL
        return json_loadb(start, text.count, Int(flags), &error)
    }

    /// The tree of a text with its long strings put back; `nil` if the text has any error.
    private static func parse(_ strings: LongStrings) -> UnsafeMutablePointer<json_t>? {
        var error = json_error_t()
        guard let tree = strings.rest.withUnsafeBytes({ parse($0, &error) }) else { return nil }
        if strings.insert(into: tree) { return tree }
        json_decref(tree)
        return nil
    }

    /// Parses JSON held in an array; see ``init(parsing:)-(UnsafeRawBufferPointer)``.
    public init(parsing text: [UInt8]) throws(JSONSyntaxError) {
        var document: JSONDocument?
        var failure: JSONSyntaxError?
        text.withUnsafeBytes { bytes in
            do throws(JSONSyntaxError) { document = try JSONDocument(parsing: bytes) } catch { failure = error }
        }
        guard let document = consume document else { throw failure ?? JSONSyntaxError("Not JSON", at: 0) }
        self = document
    }

    deinit { json_decref(tree) }

    /// The value at the top of the document.
    public var root: JSONView {
        @_lifetime(borrow self)
        get { JSONView(tree, of: self) }
    }

}

/// The reason why a text is not accepted as JSON.
public struct JSONSyntaxError: Error, Equatable, CustomStringConvertible {
    /// The reason, without a full stop.
    public let reason: String
    /// The offset of the error, in bytes from the start of the text.
    public let offset: Int
    /// `true` when the text may be valid JSON and has something that is not accepted.
    public let isValid: Bool

    init(_ reason: String, at offset: Int, isValid: Bool = false) {
        (self.reason, self.offset, self.isValid) = (reason, offset, isValid)
    }

    fileprivate init(_ error: json_error_t) {
        var bytes = withUnsafeBytes(of: error.text) { Array($0) }
        // The parser leaves its code in the last byte.
        let code = UInt32(bytes.popLast() ?? 0)
        let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        let offset = Int(error.position)
        switch code {
        case json_error_numeric_overflow.rawValue:
            self.init(
                text.contains("integer")
                    ? "It has an integer beyond signed 64 bits; send it as a string"
                    : "It has a number that no 64-bit floating-point number can hold",
                at: offset, isValid: true)
        case json_error_duplicate_key.rawValue:
            self.init("It has an object in which a name stands twice: \(text)", at: offset, isValid: true)
        case json_error_stack_overflow.rawValue:
            self.init("It is nested deeper than \(JSONDocument.maximumDepth) levels", at: offset, isValid: true)
        case json_error_null_byte_in_key.rawValue:
            self.init("It has an object with NUL in a name", at: offset, isValid: true)
        default: self.init(text, at: offset)
        }
    }

    /// One sentence with the reason and the position.
    public var description: String {
        "The message is \(isValid ? "not accepted" : "not valid JSON"): \(reason) (at byte \(offset))."
    }
}
