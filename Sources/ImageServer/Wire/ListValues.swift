internal import ImageEngine
internal import JSONRPC

/// The number of entries in a page.
struct PageSize: WireValue {
    let count: Int

    static var schema: JSONLiteral { ["type": "integer", "minimum": 1, "maximum": 1000] }

    static func decode(_ view: JSONView) throws(Mismatch) -> PageSize {
        PageSize(count: try wholeNumber(view, from: 1, to: 1000))
    }
}

/// The start of a page: a text that only `list` itself creates.
struct Cursor: WireValue {
    let number: Int64

    static var schema: JSONLiteral { ["type": ["string", "null"]] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Cursor {
        guard let text = view.string, let number = Int64(text), number >= 0 else {
            throw .text("a cursor that list returned", view)
        }
        return Cursor(number: number)
    }
}

/// The name of an image format.
struct FormatName: WireValue {
    let format: ImageFormat

    static var schema: JSONLiteral {
        ["type": "string", "enum": .array(ImageFormat.allCases.map { .string($0.rawValue) })]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> FormatName {
        if let format = view.string.flatMap(ImageFormat.init(rawValue:)) { return FormatName(format: format) }
        throw .noneOf(ImageFormat.allCases.map(\.rawValue), view)
    }
}

/// A duration in seconds that is not negative.
struct Seconds: WireValue {
    let count: Double

    static var schema: JSONLiteral { ["type": "number", "minimum": 0] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Seconds {
        guard let count = view.number, count >= 0 else { throw .expected("a number of seconds, 0 or more", view) }
        return Seconds(count: count)
    }
}
