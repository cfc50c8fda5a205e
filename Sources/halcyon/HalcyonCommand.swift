internal import ArgumentParser
internal import ImageServer
internal import JSONRPC
internal import Terminal

/// The command line of the program.
struct HalcyonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halcyon",
        abstract: "Downloads, caches and resizes images for any program: JSON-RPC 2.0 on standard input and output.",
        discussion: "Without a subcommand it serves. Send one JSON-RPC request a line, or Content-Length frames.",
        version: ImageServer.version + (sourceCommit.map { " (\($0))" } ?? ""),
        subcommands: [ServeCommand.self],
        groupedSubcommands: [
            CommandGroup(name: "Images", subcommands: [GetCommand.self, PrefetchCommand.self]),
            CommandGroup(
                name: "The cache",
                subcommands: [
                    ListCommand.self, InfoCommand.self, RemoveCommand.self, SizeCommand.self, CleanCommand.self,
                    VerifyCommand.self, StatsCommand.self, RemoteCommand.self,
                ]),
            CommandGroup(name: "Agents", subcommands: [MCPCommand.self]),
            CommandGroup(
                name: "The program",
                subcommands: [
                    CallCommand.self, DiscoverCommand.self, ConfigCommand.self, DoctorCommand.self,
                    CompletionsCommand.self, ManualCommand.self,
                ]),
        ],
        defaultSubcommand: ServeCommand.self)
}

extension HalcyonCommand {
    /// Throws for a command that there is none of: the server, which is started without one, would take it for a flag of its own.
    static func check(_ words: [String]) throws {
        guard let word = words.first, !word.hasPrefix("-") else { return }
        if word == "help" { return try check(Array(words.dropFirst())) }
        let names = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        if names.contains(word) { return }
        let command = word.contains("://") ? "halcyon get \(word.forTerminal)" : nearestName(to: word, in: names)
        let likely = command.map { "; did you mean \"\($0)\"?" } ?? "."
        throw ValidationError("There is no command \"\(word.forTerminal)\"\(likely) halcyon --help lists all.")
    }
}

/// Answers requests until the input ends.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Answer JSON-RPC 2.0 on standard input and output (the default).")

    @OptionGroup var options: ServeOptions
}

/// Prints the OpenRPC document of the protocol.
struct DiscoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover", abstract: "Print the OpenRPC document, as protocol/openrpc.json holds it.")

    func run() throws { try printToStdout(OpenRPCDocument.text) }
}
