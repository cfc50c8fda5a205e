internal import ImageRecipes
internal import JSONRPC

/// The compact text of processors, such as `resize:200x200/format:webp`, for command lines and URLs.
///
/// Steps are joined by `/`. A step is the name of a processor and, after a `:`, its parameters, joined by `,`. A parameter is
/// `name=value`; the name of a flag alone, for true; or a value alone, for the first member that has none yet and is no flag.
/// `WIDTHxHEIGHT` is a width and a height, of which one may be left out, `AxB` an object of two numbers, `a+b` a list, and
/// `outer.inner=value` a member of an object. Colours need no `#`. In values `%` and two digits are a byte, as in URLs.
///
/// Each step is turned into the JSON that it stands for, by the schema of its processor, and is then read as any other.
enum ProcessorText {
    static let example = "resize:200x200/format:webp"

    /// The steps of a text; an empty text has none.
    static func steps(_ text: String) throws(Mismatch) -> [ImageProcessor] {
        if text.isEmpty { return [] }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= ProcessorList.limit else { throw ProcessorList.tooMany(parts.count) }
        var steps: [ImageProcessor] = []
        for (index, part) in parts.enumerated() {
            do throws(Mismatch) { steps.append(try step(part)) } catch {
                var placed = error.within("\(index)")
                let place = text.distance(from: text.startIndex, to: part.startIndex) + 1
                placed.message = "in \"\(String(part).excerpt)\", at character \(place), \(error.message)"
                if let word = error.suggestion, !error.message.hasSuffix("?") {
                    placed.message += "; did you mean \"\(word)\"?"
                }
                throw placed
            }
        }
        return steps
    }

    private static func step(_ text: Substring) throws(Mismatch) -> ImageProcessor {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard !name.isEmpty else { throw Mismatch(path: "", message: "has no processor, as in \(example)") }
        guard let field = ProcessorField.named(name) else {
            throw .unknown(name, among: ProcessorField.all.map(\.name), what: "processor")
        }
        var parameters = StepParameters(field)
        do throws(Mismatch) {
            if parts.count > 1, !parts[1].isEmpty {
                for part in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
                    try parameters.take(part)
                }
            }
        } catch { throw error.within(name) }
        var writer = JSONWriter()
        JSONLiteral.object([(name, .object(parameters.members))]).write(to: &writer)
        let document: JSONDocument
        do { document = try JSONDocument(parsing: writer.bytes) } catch {
            throw Mismatch(path: name, message: error.reason)
        }
        return try ImageProcessor.decode(document.root)
    }
}

/// The parameters of one step, as the members of its JSON.
private struct StepParameters {
    private let field: ProcessorField
    private(set) var members: [(String, JSONLiteral)] = []

    init(_ field: ProcessorField) { self.field = field }

    private var names: [String] { field.members.map(\.name) }
    private func isGiven(_ name: String) -> Bool { members.contains { $0.0 == name } }

    /// Adds one parameter.
    mutating func take(_ text: Substring) throws(Mismatch) {
        guard !text.isEmpty else { throw Mismatch(path: "", message: "has an empty parameter") }
        if let sign = text.firstIndex(of: "=") {
            let path = text[..<sign].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            return try put(try decoded(text[text.index(after: sign)...]), at: path)
        }
        let word = try decoded(text)
        let flags = field.members.filter { ParameterSchema($0.schema).allows("boolean") }.map(\.name)
        if flags.contains(word) { return try put("true", at: [word]) }
        if names.contains("width"), names.contains("height"), !isGiven("width"), !isGiven("height"),
            let (width, height) = pair(word, mayLack: true)
        {
            if let width { members.append(("width", .number(width))) }
            if let height { members.append(("height", .number(height))) }
            return
        }
        guard let next = field.members.first(where: { !isGiven($0.name) && !flags.contains($0.name) }),
            nearestName(to: word, in: flags) == nil
        else { throw .unknown(word, among: names, what: "parameter") }
        try put(word, at: [next.name])
    }

    private mutating func put(_ text: String, at path: [String]) throws(Mismatch) {
        var properties = field.members.map { (name: $0.name, schema: ParameterSchema($0.schema)) }
        var schema = ParameterSchema(true)
        for (depth, name) in path.enumerated() {
            guard let found = properties.first(where: { $0.name == name }) else {
                var error = Mismatch.unknown(name, among: properties.map(\.name), what: "parameter")
                for outer in path[..<depth].reversed() { error = error.within(outer) }
                throw error
            }
            schema = found.schema
            properties = schema.properties
        }
        guard let more = members.inserting(schema.value(of: text), at: path[...]) else {
            throw Mismatch(path: path.joined(separator: "."), message: "is given twice")
        }
        members = more
    }

    /// The text with its percent-encoded bytes decoded.
    private func decoded(_ text: Substring) throws(Mismatch) -> String {
        var (bytes, rest) = ([UInt8](), text.utf8[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let code = String(decoding: rest.prefix(2), as: UTF8.self)
            guard code.utf8.count == 2, code.allSatisfy(\.isHexDigit), let value = UInt8(code, radix: 16)
            else { throw Mismatch(path: "", message: "has a % without two hexadecimal digits; write %25 for it") }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw Mismatch(path: "", message: "is not UTF-8 once its percent-encoded bytes are decoded")
        }
        return decoded
    }
}

/// The number of a text of digits, `.`, signs and an exponent; `nil` for any other text.
private func decimal(_ text: some StringProtocol) -> Double? {
    guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let value = Double(text), value.isFinite else {
        return nil
    }
    return value
}

/// The numbers of `AxB`; `nil` for any other text.
///
/// - Parameter mayLack: `true` when one of them may be left out.
private func pair(_ text: String, mayLack: Bool = false) -> (Double?, Double?)? {
    let parts = text.split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let numbers = parts.map { decimal($0) }
    for (part, number) in zip(parts, numbers) where number == nil && !(part.isEmpty && mayLack) { return nil }
    return numbers[0] == nil && numbers[1] == nil ? nil : (numbers[0], numbers[1])
}

extension [(String, JSONLiteral)] {
    /// The members with a value at a path added; `nil` when there is one already.
    fileprivate func inserting(_ value: JSONLiteral, at path: ArraySlice<String>) -> [(String, JSONLiteral)]? {
        guard let name = path.first else { return nil }
        guard let place = firstIndex(where: { $0.0 == name }) else {
            return self + [(name, path.count == 1 ? value : .object([].inserting(value, at: path.dropFirst()) ?? []))]
        }
        guard path.count > 1, case .object(let inner) = self[place].1,
            let more = inner.inserting(value, at: path.dropFirst())
        else { return nil }
        var copy = self
        copy[place].1 = .object(more)
        return copy
    }
}

/// The schema of a parameter, as the description of what a text may stand for.
private struct ParameterSchema {
    let schema: JSONLiteral

    init(_ schema: JSONLiteral) { self.schema = schema }

    private func member(_ name: String) -> JSONLiteral? {
        guard case .object(let members) = schema else { return nil }
        return members.first { $0.0 == name }?.1
    }

    private var alternatives: [ParameterSchema] {
        guard case .array(let kinds)? = member("oneOf") else { return [self] }
        return kinds.flatMap { ParameterSchema($0).alternatives }
    }

    /// `true` when values of that type are valid.
    func allows(_ type: String) -> Bool {
        alternatives.contains { kind in
            switch kind.member("type") {
            case .string(let name)?: name == type
            case .array(let names)?:
                names.contains { if case .string(let name) = $0 { name == type } else { false } }
            default: false
            }
        }
    }

    /// The members of the object that is valid.
    var properties: [(name: String, schema: ParameterSchema)] {
        for kind in alternatives {
            if case .object(let members)? = kind.member("properties") {
                return members.map { ($0.0, ParameterSchema($0.1)) }
            }
        }
        return []
    }

    /// The value that a text stands for. A text that stands for none is a string, which is refused when it is read.
    func value(of text: String) -> JSONLiteral {
        if allows("number"), let number = decimal(text) { return .number(number) }
        if allows("boolean"), text == "true" || text == "false" { return .boolean(text == "true") }
        if allows("array") { return .array(text.split(separator: "+").map { .string(String($0)) }) }
        let properties = properties
        if properties.count == 2, properties.allSatisfy({ $0.schema.allows("number") }),
            let (first, second) = pair(text), let first, let second
        {
            return .object([(properties[0].name, .number(first)), (properties[1].name, .number(second))])
        }
        if case .string("color")? = member("format"), RecipeColor(text) == nil, RecipeColor("#" + text) != nil {
            return .string("#" + text)
        }
        return .string(text)
    }
}
