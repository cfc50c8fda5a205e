internal import ImageEngine
internal import JSONRPC
internal import Platform

/// A Swift value that a parameter or option can have in the protocol.
protocol WireValue: Sendable {
    /// The JSON Schema of the value.
    static var schema: JSONLiteral { get }
    /// Reads the value.
    static func decode(_ view: JSONView) throws(Mismatch) -> Self
}

/// The error for a value in the protocol that is not valid.
struct Mismatch: Error {
    /// The parameter and the path to the value inside it: `options.retry.maxRetries`.
    var path: String
    var message: String
    var expected: String?
    var received: String?
    var suggestion: String?
    /// The unknown name, if that is what is wrong, and the kind of thing that it should name.
    var unknown: (name: String, what: String)?

    /// The value is of another kind, or none of those allowed. The message shows a number or a short text.
    static func expected(_ expected: String, _ view: borrowing JSONView) -> Mismatch {
        mustBe(expected, not: received(view))
    }

    private static func received(_ view: borrowing JSONView) -> String {
        if let text = view.string {
            return text.utf8.count <= 40 ? text.quoted : "a string of \(text.utf8.count) bytes"
        }
        return view.integer.map(String.init) ?? view.number.map(\.shortest) ?? kind(of: view)
    }

    /// The value is of another kind; the message does not show it, because it may be a secret.
    static func kind(_ expected: String, _ view: borrowing JSONView) -> Mismatch {
        mustBe(expected, not: view.kind.article)
    }

    private static func mustBe(_ expected: String, not received: String, _ suggestion: String? = nil) -> Mismatch {
        Mismatch(
            path: "", message: "must be \(expected), not \(received)", expected: expected, received: received,
            suggestion: suggestion)
    }

    /// The kind of a value and the names of its members, for the error about it.
    private static func kind(of view: borrowing JSONView) -> String {
        guard view.kind == .object else { return view.kind.article }
        if view.count == 0 { return "an empty object" }
        var names: [String] = []
        view.forEachMember { (name, _) throws(Never) in
            if names.count < 4 { names.append("\"\(String(decoding: name.prefix(40), as: UTF8.self))\"") }
        }
        return "an object with \(view.count > 4 ? "\(view.count) members" : names.joined(separator: " and "))"
    }

    /// The value is not the expected text.
    static func text(_ expected: String, _ view: borrowing JSONView) -> Mismatch {
        noneOf([], view, wanted: expected)
    }

    /// The value is not one of a few words.
    ///
    /// - Parameter wanted: The description of the accepted values, when there are others than the words.
    static func noneOf(_ names: [String], _ view: borrowing JSONView, wanted: String? = nil) -> Mismatch {
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        let expected = wanted ?? (names.count == 1 ? list : "one of \(list)")
        return mustBe(expected, not: received(view), view.string.flatMap { nearestName(to: $0, in: names) })
    }

    /// The object has an unknown member.
    ///
    /// - Parameter elsewhere: Other names, and what each has to be instead: where it is known, or what it is called here.
    static func unknown(
        _ name: String, among names: [String], elsewhere: [(name: String, instead: String)] = [], what: String
    ) -> Mismatch {
        func instead(of name: String?) -> String? { elsewhere.first { $0.name == name }?.instead }
        let nearest =
            instead(of: name) ?? nearestName(to: name, in: names)
            ?? instead(of: nearestName(to: name, in: elsewhere.map(\.name)))
        let list = names.isEmpty ? "there are none" : "the \(what)s are \(names.joined(separator: ", "))"
        let hint = nearest.map { "did you mean \"\($0)\"?" } ?? "\(list)."
        return Mismatch(
            path: name.excerpt, message: "is not a known \(what); \(hint)", suggestion: nearest,
            unknown: (name: name.excerpt, what: what))
    }

    func within(_ name: String) -> Mismatch {
        var outer = self
        outer.path = path.isEmpty ? name.excerpt : "\(name.excerpt).\(path)"
        return outer
    }

    /// The error for the client.
    var error: RPCError {
        let end = message.last.map { ".?".contains($0) } == true ? "" : "."
        return .invalidParams(
            "\"\(path)\" \(message)\(end)", param: path, expected: expected, received: received, suggestion: suggestion)
    }
}

extension String: WireValue {
    static var schema: JSONLiteral { ["type": "string"] }

    static func decode(_ view: JSONView) throws(Mismatch) -> String {
        guard let value = view.string else { throw .expected("a string", view) }
        return value
    }
}

extension Bool: WireValue {
    static var schema: JSONLiteral { ["type": "boolean"] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Bool {
        guard let value = view.boolean else { throw .expected("a boolean", view) }
        return value
    }
}

extension Optional: WireValue where Wrapped: WireValue {
    static var schema: JSONLiteral { Wrapped.schema }

    static func decode(_ view: JSONView) throws(Mismatch) -> Wrapped? {
        view.isNull ? nil : try Wrapped.decode(view)
    }
}

/// A key of a cache: any text except the empty one.
struct KeyText: WireValue {
    let text: String

    static var schema: JSONLiteral { ["type": "string", "minLength": 1] }

    static func decode(_ view: JSONView) throws(Mismatch) -> KeyText {
        guard let text = view.string, !text.isEmpty else {
            throw view.kind == .string
                ? Mismatch(
                    path: "", message: "must not be empty", expected: "a string that is not empty",
                    received: "an empty string")
                : .expected("a string", view)
        }
        return KeyText(text: text)
    }
}

/// The path of a file, absolute or relative.
struct PathText: WireValue {
    let text: String

    static var schema: JSONLiteral { KeyText.schema }

    static func decode(_ view: JSONView) throws(Mismatch) -> PathText {
        let text = try KeyText.decode(view).text
        // The system would read no further.
        guard !text.utf8.contains(0) else { throw .text("a path, which has no NUL character", view) }
        return PathText(text: text)
    }
}

/// Bytes as base64.
struct Base64Bytes: WireValue {
    let bytes: [UInt8]

    static var schema: JSONLiteral { ["type": "string", "contentEncoding": "base64"] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Base64Bytes {
        guard let decoded = view.withUTF8({ Base64.decode($0) }) else { throw .expected("a string of base64", view) }
        guard let bytes = decoded else {
            throw Mismatch(path: "", message: "is not base64", expected: "a string of base64", received: "other text")
        }
        return Base64Bytes(bytes: bytes)
    }
}

/// The parts of the image that a result should contain.
enum ResultForm: String, NamedValue {
    case path, data, both, none, dataUrl, pixels

    var needsBytes: Bool { self == .data || self == .both || self == .dataUrl }

    var needs: ImageNeeds {
        switch self {
        case .path: [.file]
        case .data, .dataUrl: [.bytes]
        case .both: [.file, .bytes]
        case .none, .pixels: []
        }
    }
}

/// A value that is one of a few names.
protocol NamedValue: WireValue, RawRepresentable<String>, CaseIterable {}

extension NamedValue {
    static var schema: JSONLiteral { ["type": "string", "enum": .array(allCases.map { .string($0.rawValue) })] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Self {
        // Not by the raw value alone: a type may have cases that are not for callers, and leaves them out of all cases.
        if let name = view.string, let value = allCases.first(where: { $0.rawValue == name }) { return value }
        throw .noneOf(allCases.map(\.rawValue), view)
    }
}

/// Any value, which is ignored.
struct AnyValue: WireValue {
    static var schema: JSONLiteral { true }

    static func decode(_ view: JSONView) throws(Mismatch) -> AnyValue { AnyValue() }
}

/// The number of a process to watch.
struct ProcessNumber: WireValue {
    let number: Int32

    static var schema: JSONLiteral { ["type": "integer", "minimum": 1, "maximum": .integer(Int(Int32.max))] }

    static func decode(_ view: JSONView) throws(Mismatch) -> ProcessNumber {
        guard let number = view.integer, let number = Int32(exactly: number), number > 0 else {
            throw .expected("the number of a process", view)
        }
        return ProcessNumber(number: number)
    }
}
