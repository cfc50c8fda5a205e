internal import ImageEngine
internal import JSONRPC

/// A question that the server sends the client as a request, if the client has declared that it answers it.
///
/// The option `delegates`, the capabilities and `rpc.discover` all read ``Delegation/all``.
struct Delegation: Sendable {
    /// The method of the request.
    let name: StaticString
    let question: DownloadDelegates.Question
    let summary: String
    /// The schema of the request's params.
    let params: JSONLiteral
    /// The schema of the client's result.
    let result: JSONLiteral

    static let all: [Delegation] = [modifyRequest, redirect, validateStatus, challenge]
    static let names = all.map(\.name.description)

    /// The name that clients test for: `delegate.downloader.modifyRequest`.
    var capability: String { "delegate." + name.description.split(separator: "/").joined(separator: ".") }

    static let modifyRequest = Delegation(
        name: "downloader/modifyRequest", question: .modifyRequest,
        summary:
            "How should this request be sent? Null sends nothing, and the download fails with downloadCancelledBeforeStarting.",
        params: object([
            ("url", textSchema), ("method", RequestMethod.schema), ("headers", HeaderFields.schema),
        ]), result: draft)

    static let redirect = Delegation(
        name: "downloader/redirect", question: .redirect,
        summary:
            "How should this redirect be followed? Null stops here, and the redirecting response itself is judged.",
        params: object(
            [("from", textSchema)] + RenamedMember.statusCode.properties(["type": "integer"]) + [
                ("url", textSchema), ("method", RequestMethod.schema), ("headers", HeaderFields.schema),
            ]), result: draft)

    static let validateStatus = Delegation(
        name: "downloader/validateStatus", question: .validateStatus,
        summary: "Is the body of this response wanted? Null decides by validStatusCodes.",
        params: object(
            [("url", textSchema)] + RenamedMember.statusCode.properties(["type": "integer"])
                + [("contentType", textOrNullSchema)]),
        result: orNull(object([("accept", flagSchema)])))

    static let challenge = Delegation(
        name: "downloader/challenge", question: .challenge,
        summary:
            "Which credentials should this server get? \"default\" continues as if not asked, \"cancel\" gives up.",
        params: object([
            ("url", textSchema), ("host", textSchema), ("realm", textOrNullSchema), ("scheme", textSchema),
            ("isProxy", flagSchema), ("failures", countSchema),
        ]),
        result: orNull(["oneOf": [["type": "string", "enum": ["default", "cancel"]], object([("use", credentials)])]]))

    // MARK: Schemas

    private static let draft: JSONLiteral = orNull([
        "type": "object",
        "properties": [
            "url": textSchema, "headers": HeaderFields.schema, "method": RequestMethod.schema,
            "body": RequestBody.schema,
        ],
        "additionalProperties": false,
    ])

    private static let credentials: JSONLiteral = [
        "oneOf": [object([("user", textSchema), ("password", textSchema)]), object([("bearer", textSchema)])]
    ]

    private static func object(_ members: [(String, JSONLiteral)]) -> JSONLiteral {
        .object(ofAll: members).adding([("additionalProperties", false)])
    }

    private static func orNull(_ schema: JSONLiteral) -> JSONLiteral { ["oneOf": [schema, ["type": "null"]]] }
}
