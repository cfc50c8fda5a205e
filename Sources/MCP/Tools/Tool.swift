internal import JSONRPC

/// How far a tool has come once it has what it needs.
enum ToolStep: Sendable {
    case done(ToolOutcome)
    /// The pictures are loaded, and what is made of them takes memory and processor time: only a few tools do it at once.
    case making(@Sendable () async throws -> ToolOutcome)
}

/// A tool: its parameters, the members of its result, and its work, as one value that the list, validation and calls read.
struct Tool: Sendable {
    /// What a tool does to its surroundings, as hints for the user's consent.
    struct Effects: Sendable {
        var isReadOnly = true
        /// `true` when something may be replaced or removed.
        var isDestructive = false
        /// `true` when a second call with the same arguments changes nothing more.
        var isIdempotent = true
        /// `true` when it may load something from the web.
        var isOpen = true
    }

    let name: String
    let title: String
    let description: String
    let parameters: [ToolParameter]
    /// The members of the structured result with their schemas.
    let output: [ResultMember]
    let effects: Effects
    let run: @Sendable (ToolArguments, Gallery, ToolProgress?) async throws -> ToolStep

    /// All tools, in an order that never changes.
    static let all = [
        viewImage, imageInfo, saveImage, compareImages, contactSheet, listImages, removeImage, cacheSize,
    ]

    /// Writes the tool as a member of `tools/list`.
    func write(to list: inout JSONWriter) {
        let properties = parameters.map { ($0.name, $0.schema) }
        let required = parameters.filter(\.isRequired).map { JSONLiteral.string($0.name) }
        let results = output.map { ($0.name, $0.schema) }
        let certain = output.filter { !$0.isOptional }.map { JSONLiteral.string($0.name) }
        let tool: JSONLiteral = [
            "name": .string(name), "title": .string(title), "description": .string(description),
            "inputSchema": [
                "type": "object", "properties": .object(properties), "required": .array(required),
                "additionalProperties": false,
            ],
            "outputSchema": ["type": "object", "properties": .object(results), "required": .array(certain)],
            "annotations": [
                "readOnlyHint": .boolean(effects.isReadOnly), "destructiveHint": .boolean(effects.isDestructive),
                "idempotentHint": .boolean(effects.isIdempotent), "openWorldHint": .boolean(effects.isOpen),
            ],
        ]
        tool.write(to: &list)
    }
}

/// A member of a structured result.
typealias ResultMember = (name: String, schema: JSONLiteral, isOptional: Bool)

/// The schemas of the members of results.
enum ResultSchema {
    static let text: JSONLiteral = ["type": "string"]
    static let count: JSONLiteral = ["type": "integer"]
    static let number: JSONLiteral = ["type": "number"]
    static let flag: JSONLiteral = ["type": "boolean"]
    /// An array of objects whose members the tool's text explains.
    static let objects: JSONLiteral = ["type": "array", "items": ["type": "object"]]
}
