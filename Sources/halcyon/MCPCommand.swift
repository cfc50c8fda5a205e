internal import ArgumentParser
internal import ImageServer
internal import MCP

/// Serves agents until the input ends.
struct MCPCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "Serve AI agents: the Model Context Protocol on standard input and output.",
        discussion: """
            An agent can view, compare and save pictures. It reaches public addresses only, unless --network-policy says \
            otherwise, and local files only below the folders that --root names. \
            --framing, --activate-after, --complete-after and --delegate-timeout have no effect here.
            """)

    @Option(
        name: .customLong("root"),
        help: "A folder below which the agent may read pictures and save files; may be repeated.",
        completion: .directory)
    var roots: [String] = []

    @OptionGroup var place: CacheOption

    @Option(
        name: .customLong("max-result-bytes"),
        help:
            "The largest result, in bytes of JSON, from 16384, such as 500kB: pictures are made smaller until they fit."
    )
    var maxResultBytes = "1MiB"

    @OptionGroup var options: ServeOptions

    /// The largest result; `nil` when the text is no size in the range.
    private var limit: Int? {
        ByteSize.bytes(maxResultBytes).flatMap { (16_384...(1 << 30)).contains($0) ? $0 : nil }
    }

    func validate() throws {
        if limit == nil {
            throw ValidationError("--max-result-bytes takes a size from 16384 to 1GiB, not '\(maxResultBytes)'.")
        }
    }

    func run() throws {
        var configuration = MCPServer.Configuration()
        if let cache = place.cache { configuration.cache = cache }
        configuration.roots = roots
        if let limit { configuration.maxResultBytes = limit }
        configuration.version = ImageServer.version
        let session = ServeSession(settings: try options.agentSettings(), face: .tools(configuration))
        let code = try session.run()
        if code != 0 { throw ExitCode(code) }
    }
}
