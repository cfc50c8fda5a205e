internal import ImageEngine
internal import ImageRecipes
internal import JSONRPC

/// One processor in the protocol: its name, its description, its schema and its decoder.
struct ProcessorField: Sendable {
    let name: String
    let summary: String
    let schema: JSONLiteral
    /// The members and their schemas, in the order in which the compact text takes values without a name.
    let members: [(name: String, schema: JSONLiteral)]
    /// Uses in the compact text, of which pictures can be made.
    let examples: [String]
    private let read: @Sendable (JSONView) throws -> ImageProcessor

    init(
        _ name: String, _ summary: String, _ members: [(String, JSONLiteral)], required: [String] = [],
        examples: [String], _ read: @escaping @Sendable (JSONView) throws -> ImageProcessor
    ) {
        self.name = name
        self.summary = summary
        schema = ProcessorMember.object(members, required: required)
        self.members = members.map { ($0.0, $0.1) }
        self.examples = examples
        self.read = read
    }

    /// Every processor, in the order of the documentation.
    static let all = geometry + colours

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    static func named(_ name: String) -> ProcessorField? { byName[name] }

    func decode(_ view: JSONView) throws(Mismatch) -> ImageProcessor {
        try ProcessorMember.check(view, members.map(\.name))
        do { return try read(view) } catch let error as Mismatch { throw error } catch let error as RecipeError {
            throw Mismatch(error)
        } catch { throw .expected("the parameters of \(name)", view) }
    }

    typealias Member = ProcessorMember
}

extension Mismatch {
    /// The error for a value that a processor does not accept.
    init(_ error: RecipeError) {
        self.init(
            path: error.parameter, message: "must be \(error.expected), not \(error.received)",
            expected: error.expected, received: error.received)
    }
}
