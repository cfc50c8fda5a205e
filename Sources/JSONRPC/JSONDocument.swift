internal import CJansson
internal import Glibc

/// A JSON text parsed by jansson; the only owner of the tree.
///
/// The tree is read through ``JSONView`` values, which the compiler prevents from outliving the document, and is freed
/// with the document. The parser refuses duplicate keys, lone surrogates, NUL in keys, integers beyond 64 bits and
/// nesting beyond ``maximumDepth``; `\u0000` inside a string value is accepted.
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
            throw JSONSyntaxError(text.isEmpty ? "The message is empty" : Self.reason(error), at: Int(error.position))
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

    private static func reason(_ error: json_error_t) -> String {
        withUnsafeBytes(of: error.text) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// The reason why a text is not accepted as JSON.
public struct JSONSyntaxError: Error, Equatable, CustomStringConvertible {
    /// The parser's reason, without a full stop.
    public let reason: String
    /// The offset of the error, in bytes from the start of the text.
    public let offset: Int

    init(_ reason: String, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// One sentence with the reason and the position.
    public var description: String { "The message is not valid JSON: \(reason) (at byte \(offset))." }
}
