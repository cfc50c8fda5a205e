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

    static var document: JSONLiteral {
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
            "x-limits": limits,
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
        if !method.isNotification {
            members.append(
                ("result", ["name": .string(method.resultName), "schema": method.resultSchema]))
            members.append(("errors", .array(errors.map { ["$ref": .string("#/components/errors/\($0.0)")] })))
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

    private static var schemas: [(String, JSONLiteral)] {
        [
            ("ImageOptions", ImageOptions.definition), ("Expiration", StorageExpiration.definition),
            ("Processor", ImageProcessor.definition), (ProbeReply.name, ProbeReply.definition),
            (ImageReply.name, ImageReply.definition), (StoreReply.name, StoreReply.definition),
            (DownloadReply.name, DownloadReply.definition), (PrefetchReply.name, PrefetchReply.definition),
            (StoppedReply.name, StoppedReply.definition), (ChangedReply.name, ChangedReply.definition),
            (CancelledReply.name, CancelledReply.definition),
            (ForgottenReply.name, ForgottenReply.definition), (PauseReply.name, PauseReply.definition),
            (FailuresReply.name, FailuresReply.definition), (ExplainReply.name, ExplainReply.definition),
            (EntryReply.name, EntryReply.definition), (ListReply.name, ListReply.definition),
            (CleanReply.name, CleanReply.definition), (VerifyReply.name, VerifyReply.definition),
            (RemoveReply.name, RemoveReply.definition),
            (IsCachedReply.name, IsCachedReply.definition), (CachePathReply.name, CachePathReply.definition),
            (SizeReply.name, SizeReply.definition), (ClearReply.name, ClearReply.definition),
            (MemoryChange.name, MemoryChange.definition), (DiskChange.name, DiskChange.definition),
            (InitializationOptions.name, InitializationOptions.definition),
            (DownloaderSettings.name, DownloaderSettings.definition),
            (ConfigureReply.name, ConfigureReply.definition), (SettingsReply.name, SettingsReply.definition),
            (CachesReply.name, CachesReply.definition),
            (SubscriptionReply.name, SubscriptionReply.definition),
            (StatsReply.name, StatsReply.definition), (LatencyReply.name, LatencyReply.definition),
            (InitializeReply.name, InitializeReply.definition),
        ]
    }

    private static let errors: [(String, JSONLiteral)] = [
        ("invalidParams", ["code": -32602, "message": "A parameter is missing, unknown, or of the wrong kind."]),
        ("internalError", ["code": -32603, "message": "Something went wrong inside the server."]),
        ("requestCancelled", ["code": -32800, "message": "The request was cancelled."]),
        ("serverCancelled", ["code": -32802, "message": "The server is shutting down."]),
        ("badData", ["code": 10000, "message": "The bytes are no image the engine can read, or are cut off."]),
        ("notModified", ["code": 10001, "message": "A 304 came to a request that carried no validator."]),
        ("invalidStatusCode", ["code": 10002, "message": "The server answered with a status that is not accepted."]),
        ("notCached", ["code": 10003, "message": "Only the cache was to be asked, and it has nothing."]),
        (
            "processingFailed",
            ["code": 10004, "message": "A processor could not do its work, or there is no codec worker."]
        ),
        ("limitExceeded", ["code": 10005, "message": "A limit was passed; data.limit names it."]),
        (
            "dataModifyingFailed",
            ["code": 10006, "message": "What was downloaded is not what dataModifier takes it for."]
        ),
        ("invalidURL", ["code": 20000, "message": "The text is no URL that may be loaded."]),
        ("connectionFailed", ["code": 20001, "message": "The server could not be reached, or left early."]),
        ("timedOut", ["code": 20002, "message": "Nothing came for too long, or the whole took too long."]),
        ("tlsFailed", ["code": 20003, "message": "The certificate or the handshake failed."]),
        (
            "forbiddenAddress",
            ["code": 20004, "message": "The configuration does not allow the host or the network."]
        ),
        (
            "downloadCancelledBeforeStarting",
            ["code": 30000, "message": "The client, asked about the request, wanted none to be sent."]
        ),
        ("storageFailed", ["code": 40000, "message": "The cache folder cannot be used; data.hint says what to do."]),
    ]

    private static var limits: JSONLiteral {
        let limits = ConnectionLimits()
        return [
            "messageBytes": .integer(limits.messageBytes), "batchCount": .integer(limits.batchCount),
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
}
