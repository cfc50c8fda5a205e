internal import JSONRPC

/// A parameter of a tool: one value for its schema and for the check of what a model gives.
struct ToolParameter: Sendable {
    enum Kind: Sendable {
        case text
        case integer(ClosedRange<Int>)
        case flag
        case choice([String])
        case texts(most: Int)
        /// A rectangle in whole pixels.
        case region
    }

    let name: String
    let kind: Kind
    let description: String
    var isRequired = false

    static let regionMembers = ["x", "y", "width", "height"]
    /// The largest coordinate, far beyond any picture.
    static let longestSide = 1_000_000

    /// The schema in `tools/list`.
    var schema: JSONLiteral {
        var members: [(String, JSONLiteral)]
        switch kind {
        case .text: members = [("type", "string")]
        case .integer(let range):
            members = [
                ("type", "integer"), ("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound)),
            ]
        case .flag: members = [("type", "boolean")]
        case .choice(let names): members = [("type", "string"), ("enum", .array(names.map { .string($0) }))]
        case .texts(let most):
            members = [
                ("type", "array"), ("items", ["type": "string"]), ("minItems", 1), ("maxItems", .integer(most)),
            ]
        case .region:
            let properties = Self.regionMembers.map { ($0, ["type": "integer"] as JSONLiteral) }
            members = [
                ("type", "object"), ("properties", .object(properties)),
                ("required", .array(Self.regionMembers.map { .string($0) })),
            ]
        }
        return .object(members + (description.isEmpty ? [] : [("description", .string(description))]))
    }
}

/// The arguments of one call, checked against the parameters of the tool.
struct ToolArguments: Sendable {
    private enum Value: Sendable {
        case text(String)
        case integer(Int)
        case flag(Bool)
        case texts([String])
        case region(PixelRegion)
    }

    private var values: [String: Value] = [:]

    /// - Throws: −32602 for an argument that is missing, unknown or not of its kind.
    init(_ view: JSONView?, _ parameters: [ToolParameter]) throws(RPCError) {
        if let view {
            guard view.kind == .object else {
                throw .invalidParams(
                    "\"arguments\" must be an object, not \(view.kind.article).", param: "arguments")
            }
            try view.forEachMember { (name, value) throws(RPCError) in
                let name = String(decoding: name, as: UTF8.self)
                guard let parameter = parameters.first(where: { $0.name == name }) else {
                    throw Self.unknown(name, parameters)
                }
                values[name] = try Self.value(value, parameter)
            }
        }
        for parameter in parameters where parameter.isRequired && values[parameter.name] == nil {
            throw .invalidParams("The argument \"\(parameter.name)\" is missing.", param: parameter.name)
        }
    }

    func text(_ name: String) -> String? { if case .text(let text)? = values[name] { text } else { nil } }
    func integer(_ name: String) -> Int? { if case .integer(let number)? = values[name] { number } else { nil } }
    func flag(_ name: String) -> Bool { if case .flag(let flag)? = values[name] { flag } else { false } }
    func texts(_ name: String) -> [String]? { if case .texts(let texts)? = values[name] { texts } else { nil } }
    func region(_ name: String) -> PixelRegion? { if case .region(let region)? = values[name] { region } else { nil } }

    private static func unknown(_ name: String, _ parameters: [ToolParameter]) -> RPCError {
        let names = parameters.map(\.name)
        let nearest = nearestName(to: name, in: names)
        let hint =
            nearest.map { "did you mean \"\($0)\"?" }
            ?? (names.isEmpty ? "there are none." : "there are \(names.joined(separator: ", ")).")
        return .invalidParams(
            "\"\(name.excerpt)\" is not an argument of this tool; \(hint)", param: name.excerpt, suggestion: nearest)
    }

    private static func value(_ view: JSONView, _ parameter: ToolParameter) throws(RPCError) -> Value {
        func wrong(_ expected: String) -> RPCError {
            let number = view.integer.map(String.init) ?? view.number?.description
            let received = view.string.map { "\"\($0.excerpt)\"" } ?? number ?? view.kind.article
            return .invalidParams(
                "\"\(parameter.name)\" must be \(expected), not \(received).", param: parameter.name,
                expected: expected, received: received)
        }
        switch parameter.kind {
        case .text:
            guard let text = view.string else { throw wrong("a string") }
            return .text(text)
        case .integer(let range):
            guard let number = view.integer, range.contains(number) else {
                throw wrong("an integer from \(range.lowerBound) to \(range.upperBound)")
            }
            return .integer(number)
        case .flag:
            guard let flag = view.boolean else { throw wrong("true or false") }
            return .flag(flag)
        case .choice(let names):
            guard let text = view.string, names.contains(text) else {
                throw wrong("one of \(names.joined(separator: ", "))")
            }
            return .text(text)
        case .texts(let most):
            guard view.kind == .array, (1...most).contains(view.count) else {
                throw wrong("an array of 1 to \(most) strings")
            }
            var texts: [String] = []
            for index in 0..<view.count {
                guard let text = view.element(index)?.string else { throw wrong("an array of strings") }
                texts.append(text)
            }
            return .texts(texts)
        case .region:
            guard view.kind == .object, let x = view.member("x")?.integer, let y = view.member("y")?.integer,
                let width = view.member("width")?.integer, let height = view.member("height")?.integer,
                [x, y].allSatisfy({ (0...ToolParameter.longestSide).contains($0) }),
                [width, height].allSatisfy({ (1...ToolParameter.longestSide).contains($0) })
            else { throw wrong("an object with the integers x, y, width and height, in pixels") }
            return .region(PixelRegion(x: x, y: y, width: width, height: height))
        }
    }
}

/// A rectangle of whole pixels.
struct PixelRegion: Equatable, Sendable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int

    /// The part within a picture of that size; `nil` when there is none.
    func clamped(width: Int, height: Int) -> PixelRegion? {
        guard x < width, y < height else { return nil }
        return PixelRegion(x: x, y: y, width: min(self.width, width - x), height: min(self.height, height - y))
    }
}
