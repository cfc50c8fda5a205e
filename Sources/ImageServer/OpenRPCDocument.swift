internal import ImageEngine
internal import ImageRecipes
internal import JSONRPC

/// The description of the protocol in OpenRPC 1.3.2, generated from the table of methods.
public enum OpenRPCDocument {
    /// The document with one value per line, as in `protocol/openrpc.json`.
    public static var text: [UInt8] {
        var writer = JSONWriter(indented: true)
        document.write(to: &writer)
        return writer.bytes + Array("\n".utf8)
    }

    static var document: JSONLiteral { plain.describingMembers() }

    private static var plain: JSONLiteral {
        [
            "openrpc": "1.3.2",
            "info": [
                "title": "Halcyon", "version": .string(ImageServer.version),
                "description":
                    "An image engine that any program can spawn: downloads, caches and measures images over JSON-RPC 2.0 on standard input and output.",
            ],
            "methods": .array(Method.all.map(describe)),
            "components": [
                "schemas": .object(schemas), "errors": .object(errors),
            ],
            "x-limits": limits, "x-formats": .array(ImageFormatNames.facts),
            "x-events": .array(
                Event.all.map { event in
                    [
                        "name": .string(event.name.description), "summary": .string(event.summary),
                        "params": event.params,
                    ]
                }),
            "x-clientMethods": .array(
                Delegation.all.map { delegation in
                    [
                        "name": .string(delegation.name.description), "summary": .string(delegation.summary),
                        "params": delegation.params, "result": delegation.result,
                    ]
                }),
        ]
    }

    private static func describe(_ method: Method) -> JSONLiteral {
        var members: [(String, JSONLiteral)] = [
            ("name", .string(method.name)), ("summary", .string(method.summary)), ("paramStructure", "either"),
            ("params", .array(method.params.map(describe))),
        ]
        if method.isLenient { members.append(("x-lenient", true)) }
        if !method.anyOf.isEmpty { members.append(("x-anyOf", .array(method.anyOf.map { .string($0) }))) }
        if method.isNotification { members.append(("x-notification", true)) }
        if method.name == "store" { members.append(("x-oneOf", ["data", "path"])) }
        if !method.isNotification {
            members.append(
                ("result", ["name": .string(method.resultName), "schema": method.resultSchema]))
            members.append(
                (
                    "errors",
                    .array(MethodErrors.names(of: method).map { ["$ref": .string("#/components/errors/\($0)")] })
                ))
        }
        return .object(members)
    }

    private static func describe(_ param: ParameterDescription) -> JSONLiteral {
        var schema = param.schema
        // The JSON Schema drafts of OpenRPC ignore other keywords beside a reference.
        if let fallback = param.fallback, case .object(let members) = schema, members.first?.0 != "$ref" {
            schema = schema.adding([("default", fallback)])
        }
        return [
            "name": .string(param.name.description), "summary": .string(param.summary),
            "required": .boolean(param.isRequired), "schema": schema,
        ]
    }

    /// Every schema that the document refers to, by name, in the order of the first references.
    private static var schemas: [(String, JSONLiteral)] {
        var found: [(String, JSONLiteral)] = []
        var names: Set<String> = []
        func add(_ literal: JSONLiteral) {
            switch literal {
            case .object(let members): for member in members { add(member.1) }
            case .array(let elements): for element in elements { add(element) }
            case .reference(let schema):
                guard names.insert(schema.name).inserted else { return }
                let definition = schema.definition()
                found.append((schema.name, definition))
                add(definition)
            case .string, .integer, .number, .boolean, .null: break
            }
        }
        for method in Method.all {
            for param in method.params { add(param.schema) }
            add(method.resultSchema)
        }
        return found
    }

    private static let errors: [(String, JSONLiteral)] =
        [
            ("invalidParams", ["code": -32602, "message": "A parameter is missing, unknown, or of the wrong type."]),
            ("internalError", ["code": -32603, "message": "Something went wrong inside the server."]),
            ("requestCancelled", ["code": -32800, "message": "The request was cancelled."]),
            ("serverCancelled", ["code": -32802, "message": "The server is shutting down."]),
        ] + ErrorCode.allCases.map { ("\($0)", ["code": .integer($0.rawValue), "message": .string($0.summary)]) }

    private static var limits: JSONLiteral {
        let limits = ConnectionLimits()
        return [
            "messageBytes": .integer(limits.messageBytes), "batchCount": .integer(limits.batchCount),
            "batchBytes": .integer(limits.batchBytes), "outputLimit": .integer(limits.outputBytes),
            "nesting": .integer(JSONDocument.maximumDepth), "requestsInFlight": .integer(limits.requestsInFlight),
            "maxInlineBytes": .integer(ImageServer.maxInlineBytes),
        ]
    }
}

/// The reply to `rpc.discover`.
struct DiscoverReply: WireResult {
    static let name = "OpenRPC document"
    static let schema: JSONLiteral = ["type": "object"]

    func write(to writer: inout JSONWriter) { OpenRPCDocument.document.write(to: &writer) }
}

/// The names of the recognised formats.
enum ImageFormatNames {
    static let all = ImageFormat.allCases.map(\.rawValue)

    /// The facts about each, for the tables of formats.
    static var facts: [JSONLiteral] {
        let made = CodecFormats().encoded
        return CodecFormats().decoded.map { format in
            var members: [(String, JSONLiteral)] = [
                ("name", .string(format.rawValue)), ("mimeType", .string(format.mimeType)),
                ("reads", .string(format.pictures.rawValue)),
            ]
            if let written = made.first(where: { $0.rawValue == format.rawValue }) {
                members.append(("writes", facts(written)))
            }
            return .object(members)
        }
    }

    private static func facts(_ format: EncodedFormat) -> JSONLiteral {
        .object(
            [
                ("frames", .boolean(format.isAnimated)), ("alpha", .boolean(format.hasAlpha)),
                ("sixteenBits", .boolean(format.hasSixteenBits)), ("profile", .boolean(format.hasProfile)),
                ("lossless", .boolean(format.isLossless)),
            ] + (format.isLossy ? [("quality", .integer(format.quality))] : []))
    }
}
