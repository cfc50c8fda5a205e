public import ImageEngine
public import JSONRPC
internal import Platform
internal import Synchronization

/// The Model Context Protocol over an image engine: tools and resources for agents. See <https://modelcontextprotocol.io>.
public final class MCPServer: RequestHandler {
    /// The settings of a server.
    public struct Configuration: Sendable {
        /// The name of the cache.
        public var cache = CacheRegistry.defaultName
        /// The folders below which local pictures are read and files are saved.
        public var roots: [String] = []
        /// The largest result, in bytes of JSON.
        public var maxResultBytes = 1 << 20
        /// The version of the program.
        public var version = ""

        /// The defaults, without any folder.
        public init() {}
    }

    static let discover = "server/discover"

    /// The methods, all of which are requests.
    private enum Method: String, CaseIterable {
        case initialize
        case ping
        case discover = "server/discover"
        case listTools = "tools/list"
        case callTool = "tools/call"
        case listResources = "resources/list"
        case listTemplates = "resources/templates/list"
        case readResource = "resources/read"
    }

    /// What a client may tell a model about the tools as a whole.
    private static let instructions = """
        Look at pictures from the web or the project without loading them whole: view_image shows one at a size you choose, \
        image_info tells what a file is, compare_images finds what changed between two screenshots, contact_sheet shows a \
        folder in one look. Local paths work below the folders that the user allowed, and are relative to the first.
        """

    let gallery: Gallery
    private let serverInfo: JSONLiteral
    private let maxResultBytes: Int
    private let session = Mutex(MCPVersion.newestWithSession)
    private let hasEnded = Atomic(false)
    private let onInputEnd = EventHook<Void>()

    /// A server over an engine.
    ///
    /// - Throws: ``RootError`` for a root that is not a folder.
    public init(manager: ImageManager, _ configuration: Configuration) throws(RootError) {
        gallery = Gallery(
            manager: manager, cacheName: configuration.cache, roots: try WorkspaceRoots(configuration.roots),
            maxResultBytes: configuration.maxResultBytes)
        maxResultBytes = configuration.maxResultBytes
        serverInfo = [
            "name": "halcyon", "title": "Halcyon: pictures for agents", "version": .string(configuration.version),
        ]
    }

    /// MCP has no id that is null. See ``RequestHandler``.
    public var answersNull: Bool { false }

    /// Sets what is done when the client has closed its end; see ``inputEnded()``.
    public func use(onInputEnd: @escaping @Sendable () -> Void) { self.onInputEnd.set(onInputEnd) }

    /// Starts no more requests. See ``RequestHandler``.
    public func inputEnded() {
        hasEnded.store(true, ordering: .relaxed)
        onInputEnd.report()
    }

    /// Answers a request; notifications need no answer. See ``RequestHandler``.
    public func handle(
        _ method: String, params: JSONView?, message: MessageContext, result: inout JSONWriter
    ) -> Disposition {
        guard message.id != nil else { return .answered }
        guard !hasEnded.load(ordering: .relaxed) else { return .failed(.serverCancelled) }
        guard let known = Method(rawValue: method) else {
            return .failed(.noSuchMethod(method, among: Method.allCases.map(\.rawValue)))
        }
        do {
            let request = try MCPRequest(params, method: method, session: session.withLock { $0 })
            return try answer(known, params, request, &result)
        } catch {
            return .failed(error)
        }
    }

    private func answer(
        _ method: Method, _ params: JSONView?, _ request: MCPRequest, _ result: inout JSONWriter
    ) throws(RPCError) -> Disposition {
        let reply = MCPReply(version: request.version, serverInfo: serverInfo)
        switch method {
        case .initialize:
            let version = MCPVersion.session(params?.member("protocolVersion")?.string)
            session.withLock { $0 = version }
            MCPReply(version: version, serverInfo: serverInfo)
                .write(to: &result) { result in
                    result.field("protocolVersion", version.rawValue)
                    Self.writeCapabilities(to: &result)
                    result.key("serverInfo")
                    serverInfo.write(to: &result)
                    result.field("instructions", Self.instructions)
                }
        case .ping: reply.write(to: &result) { _ in }
        case .discover:
            reply.write(to: &result, keptFor: 3600) { result in
                result.key("supportedVersions")
                result.array { names in MCPVersion.names.forEach { names.write($0) } }
                Self.writeCapabilities(to: &result)
                result.field("instructions", Self.instructions)
            }
        case .listTools:
            try Self.refuseCursor(params)
            reply.write(to: &result, keptFor: 3600) { result in
                result.key("tools")
                result.array { tools in Tool.all.forEach { $0.write(to: &tools) } }
            }
        case .listTemplates:
            try Self.refuseCursor(params)
            reply.write(to: &result, keptFor: 3600) { result in
                result.key("resourceTemplates")
                result.array { $0.object { ResourceURI.writeTemplate(to: &$0) } }
            }
        case .callTool: return try call(params, request, reply)
        case .listResources:
            let cursor = try Self.cursor(params)
            return deferred { [gallery, maxResultBytes] call in
                // An entry of the list takes less than that.
                let limit = min(max(maxResultBytes / 1024, 1), 100)
                let page = try await gallery.list(ListQuery(limit: limit, cursor: cursor))
                call.respond { writer in
                    reply.write(to: &writer, keptFor: 0) { result in
                        result.key("resources")
                        result.array { list in
                            for entry in page.entries { gallery.uri(of: entry)?.writeResource(entry, to: &list) }
                        }
                        if let next = page.next { result.field("nextCursor", String(next)) }
                    }
                }
            }
        case .readResource:
            guard let text = params?.member("uri")?.string else {
                throw .invalidParams("\"uri\" must be a string.", param: "uri")
            }
            return deferred { [gallery] call in try await gallery.read(text, for: call, reply) }
        }
        return .answered
    }

    private static func writeCapabilities(to result: inout JSONWriter) {
        result.key("capabilities")
        result.object { capabilities in
            for name in ["tools", "resources"] {
                capabilities.key(name)
                capabilities.object { _ in }
            }
        }
    }

    // MARK: Tools

    private func call(
        _ params: JSONView?, _ request: MCPRequest, _ reply: MCPReply
    ) throws(RPCError) -> Disposition {
        guard let name = params?.member("name")?.string else {
            throw .invalidParams("\"name\" must be the name of a tool.", param: "name")
        }
        guard let tool = Tool.all.first(where: { $0.name == name }) else {
            let names = Tool.all.map(\.name)
            let likely = nearestName(to: name, in: names).map { "did you mean \"\($0)\"?" }
            throw .invalidParams(
                "There is no tool \"\(name.excerpt)\"; \(likely ?? "there are \(names.joined(separator: ", ")).")",
                param: "name")
        }
        let arguments = try ToolArguments(params?.member("arguments"), tool.parameters)
        return deferred { [gallery, maxResultBytes] call in
            let progress = request.progressToken.map { ToolProgress(call, $0) }
            let outcome: ToolOutcome
            do {
                outcome = try await Self.outcome(
                    try await tool.run(arguments, gallery, progress), for: call, gallery)
            } catch let error as CancellationError {
                throw error
            } catch {
                outcome = ToolOutcome(failure: ToolFailure(error))
            }
            progress?.end()
            call.respond { outcome.write(to: &$0, reply, limit: maxResultBytes) }
        }
    }

    /// The result of a tool, once there is room for it. One that is made waits for that in its turn: for a client that does
    /// not read, no more are made.
    private static func outcome(_ step: ToolStep, for call: Call, _ gallery: Gallery) async throws -> ToolOutcome {
        @Sendable func whenRoom(_ outcome: ToolOutcome) async throws -> ToolOutcome {
            try await call.waitForRoom(for: min(outcome.byteCount, gallery.maxResultBytes))
            return outcome
        }
        switch step {
        case .done(let outcome): return try await whenRoom(outcome)
        case .making(let make): return try await gallery.making.run { try await whenRoom(try await make()) }
        }
    }

    /// A request that is answered by a task, which is cancelled with it.
    private func deferred(_ work: @escaping @Sendable (Call) async throws -> Void) -> Disposition {
        .deferred { call in
            let task = Task {
                do {
                    try await work(call)
                } catch let error as RPCError {
                    call.fail(error)
                } catch is CancellationError {
                    call.fail(.requestCancelled)
                } catch let error as ImageError {
                    call.fail(.internalError(error.description))
                } catch {
                    call.fail(.internalError("Something went wrong inside the server: \(error)."))
                }
            }
            call.onCancel { task.cancel() }
        }
    }

    // MARK: Cursors

    /// The place of a page of resources.
    private static func cursor(_ params: JSONView?) throws(RPCError) -> Int64 {
        guard let view = params?.member("cursor") else { return 0 }
        guard let cursor = view.string.flatMap(Int64.init), cursor > 0 else {
            throw .invalidParams("\"cursor\" must be the nextCursor of a page.", param: "cursor")
        }
        return cursor
    }

    /// Lists that are short have one page.
    private static func refuseCursor(_ params: JSONView?) throws(RPCError) {
        if params?.member("cursor") != nil {
            throw .invalidParams("\"cursor\" must be left out: there is one page.", param: "cursor")
        }
    }
}
