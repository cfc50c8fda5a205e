internal import ImageEngine
internal import ImageRecipes
internal import JSONRPC

extension Method {
    /// Every method of the server, in the order of `protocol/openrpc.json`.
    static let all: [Method] = image + downloads + cache + maintenance + configuration + events + server

    /// The names of the methods that are requests.
    static let requestNames = all.filter { !$0.isNotification }.map(\.name)

    /// Methods about the server itself.
    static let server: [Method] = [
        Method(
            "ping", "Answers null: shows that the server is alive, and its latency. Parameters are ignored.",
            isLenient: true
        ) { _ in
            .now(NullResult())
        },
        Method("rpc.discover", "Returns this document.") { _ in .now(DiscoverReply()) },
        Method(
            "initialize",
            "Introduces the client; optional. Other members that clients of language servers send are ignored.",
            isLenient: true,
            Param<ProcessNumber?>("processId", "The client's process; the server ends when it does.", default: nil),
            Param<InitializationOptions?>(
                "initializationOptions", "Settings of caches; flags and the environment come before them.", default: nil
            ),
            Param<ClientCapabilities?>(
                "capabilities", "What the client can do; delegates in it names the questions it answers.", default: nil
            )
        ) { invocation, process, options, capabilities in
            try invocation.server.initialize(
                watching: process?.number, settings: options?.layer, asking: capabilities?.questions ?? [])
            return .now(
                InitializeReply(limits: invocation.server.limits, codec: invocation.server.manager.codec))
        },
        notification("initialized", "Says that the client has read the reply to initialize.") { _ in .now(NullResult())
        },
        Method("shutdown", "Ends the session: only exit may follow.", isLenient: true) { invocation in
            invocation.server.shutDown()
            return .now(NullResult())
        },
        notification("exit", "Ends the process: with code 0 after shutdown, else 1.") { invocation in
            .exit(invocation.server.exitCode)
        },
        notification("$/setTrace", "Accepted and without effect: the server sends no trace.") { _ in
            .now(NullResult())
        },
        // The connection executes the two cancellations before any method is looked up; they are listed here for the
        // document.
        notification(
            "$/cancelRequest", "Cancels a request, which is answered with −32800.",
            Param<AnyValue>("id", "The id of the request.")
        ) { _, _ in .now(NullResult()) },
        notification(
            "notifications/cancelled", "Cancels a request, which is then not answered at all.",
            Param<AnyValue>("requestId", "The id of the request.")
        ) { _, _ in .now(NullResult()) },
    ]

    /// Methods on events.
    static let events: [Method] = [
        subscribing("subscribe", "Subscribes to events, which then come as notifications.") { $0.add($1) },
        subscribing("unsubscribe", "Ends subscriptions: none of these events comes after the answer.") {
            $0.remove($1)
        },
    ]

    private static func subscribing(
        _ name: String, _ summary: String, _ change: @escaping @Sendable (Subscriptions, [String]) -> Void
    ) -> Method {
        Method(name, summary, Param<EventNames>("events", "The names of the events.")) {
            invocation, events -> Outcome<SubscriptionReply> in
            let subscriptions = invocation.server.subscriptions
            change(subscriptions, events.names)
            invocation.server.updateActivityMonitor()
            return .now(SubscriptionReply(events: subscriptions.names))
        }
    }

    private static func notification<each P: WireValue>(
        _ name: String, _ summary: String, _ params: repeat Param<each P>,
        handler: @escaping @Sendable (Invocation, repeat each P) throws -> Outcome<NullResult>
    ) -> Method {
        Method(name, summary, isNotification: true, isLenient: true, repeat each params, handler: handler)
    }
}

/// The reply to `initialize`.
struct InitializeReply: WireObject {
    let limits: ConnectionLimits
    /// The formats that the codec worker supports; `nil` without a worker.
    let formats: CodecFormats?

    init(limits: ConnectionLimits, codec: CodecPool) {
        self.limits = limits
        formats = codec.isAvailable ? codec.formats : nil
    }

    static let name = "InitializeResult"

    /// The names of the capabilities that every server has: methods, recognised formats and features.
    static var capabilities: [String] {
        Method.requestNames.map { "method.\($0)" }
            + ImageFormatNames.all.map { "format.\($0).recognise" }
            + Event.all.map(\.capability) + Delegation.all.map(\.capability)
            + ["framing.lines", "framing.content-length", "progress", "cancellation"]
    }

    /// The names of the additional capabilities of a server with a codec worker.
    static func codecCapabilities(_ formats: CodecFormats) -> [String] {
        ["processors"] + ImageProcessor.names.map { "processor.\($0)" }
            + formats.decoded.map { "format.\($0.rawValue).decode" }
            + formats.encoded.map { "format.\($0.rawValue).encode" }
    }

    static let fields: [WireField<InitializeReply>] = [
        WireField(
            "serverInfo", "Name and version of the server.",
            ["type": "object", "properties": ["name": String.schema, "version": String.schema]]
        ) {
            _ = $0
            $1.key("serverInfo")
            $1.object { writer in
                writer.field("name", "halcyon")
                writer.field("version", ImageServer.version)
            }
        },
        WireField("protocolVersion", "The version of the protocol.", String.schema) {
            _ = $0
            $1.field("protocolVersion", ImageServer.protocolVersion)
        },
        WireField(
            "capabilities", "What the server can do, by name; test for these names, not for versions.",
            ["type": "object", "additionalProperties": true]
        ) {
            let names = capabilities + ($0.formats.map(codecCapabilities) ?? [])
            $1.key("capabilities")
            $1.object { writer in
                for name in names {
                    writer.key(name)
                    writer.write(true)
                }
            }
        },
        WireField(
            "limits", "The limits of the connection.", ["type": "object", "additionalProperties": ["type": "integer"]]
        ) {
            let limits = $0.limits
            $1.key("limits")
            limits.write(to: &$1)
        },
    ]
}

extension ConnectionLimits {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("messageBytes", messageBytes)
            writer.field("batchCount", batchCount)
            writer.field("batchBytes", batchBytes)
            writer.field("outputLimit", outputBytes)
            writer.field("nesting", JSONDocument.maximumDepth)
            writer.field("requestsInFlight", requestsInFlight)
            writer.field("maxInlineBytes", ImageServer.maxInlineBytes)
        }
    }
}
