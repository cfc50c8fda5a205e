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

    /// The members of a region, and the least of each. One that is too large ends at the edge of the picture.
    static let regionMembers: [(name: StaticString, least: Int)] = [("x", 0), ("y", 0), ("width", 1), ("height", 1)]

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
            let properties = Self.regionMembers.map { name, least in
                ("\(name)", ["type": "integer", "minimum": .integer(least)] as JSONLiteral)
            }
            members = [
                ("type", "object"), ("properties", .object(properties)),
                ("required", .array(Self.regionMembers.map { .string("\($0.name)") })),
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

    /// The error of a value that is not as it must be.
    ///
    /// - Parameters:
    ///   - name: The argument, or a member of it.
    ///   - received: What it is; in place of the value itself.
    private static func wrong(
        _ name: String, _ view: JSONView, _ expected: String, received: String? = nil
    ) -> RPCError {
        let number = view.integer.map(String.init) ?? view.number?.description
        let value = view.string.map { "\"\($0.excerpt)\"" } ?? number ?? view.kind.article
        let received = received ?? value
        return .invalidParams(
            "\"\(name)\" must be \(expected), not \(received).", param: name, expected: expected, received: received)
    }

    private static func value(_ view: JSONView, _ parameter: ToolParameter) throws(RPCError) -> Value {
        let name = parameter.name
        switch parameter.kind {
        case .text:
            guard let text = view.string else { throw wrong(name, view, "a string") }
            return .text(text)
        case .integer(let range):
            guard let number = view.integer, range.contains(number) else {
                throw wrong(name, view, "an integer from \(range.lowerBound) to \(range.upperBound)")
            }
            return .integer(number)
        case .flag:
            guard let flag = view.boolean else { throw wrong(name, view, "true or false") }
            return .flag(flag)
        case .choice(let names):
            guard let text = view.string, names.contains(text) else {
                throw wrong(name, view, "one of \(names.joined(separator: ", "))")
            }
            return .text(text)
        case .texts(let most): return .texts(try texts(view, name, most: most))
        case .region: return .region(try region(view, name))
        }
    }

    private static func texts(_ view: JSONView, _ name: String, most: Int) throws(RPCError) -> [String] {
        let expected = "an array of 1 to \(most) strings"
        guard view.kind == .array else { throw wrong(name, view, expected) }
        guard (1...most).contains(view.count) else {
            throw wrong(name, view, expected, received: "one of \(view.count)")
        }
        var texts: [String] = []
        for index in 0..<view.count {
            guard let element = view.element(index) else { break }
            guard let text = element.string else { throw wrong("\(name)[\(index)]", element, "a string") }
            texts.append(text)
        }
        return texts
    }

    private static func region(_ view: JSONView, _ name: String) throws(RPCError) -> PixelRegion {
        let expected = "an object with the integers x, y, width and height, in pixels"
        guard view.kind == .object else { throw wrong(name, view, expected) }
        var numbers: [Int] = []
        for (member, least) in ToolParameter.regionMembers {
            guard let value = view.member(member) else {
                throw wrong(name, view, expected, received: "one without \(member)")
            }
            guard let number = value.integer, number >= least else {
                throw wrong("\(name).\(member)", value, "an integer from \(least)")
            }
            numbers.append(number)
        }
        return PixelRegion(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
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
