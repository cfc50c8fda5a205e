internal import ArgumentParser
internal import Glibc
internal import ImageEngine
internal import JSONRPC
internal import Logging
internal import Platform
internal import Terminal

/// The server that a command runs inside its own process and uses, as any other client does, by the protocol.
struct Session: ~Copyable {
    let dialogue: Dialogue
    private let assembly: ServerAssembly
    private let connection: Connection
    private let near: Int32
    private let ended: Platform.Semaphore

    /// - Parameter loads: `true` for a command that loads images: what is missing for that is logged.
    init(_ settings: ServerSettings, loads: Bool = false) throws {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw StartFailure(description: "A socket cannot be made: \(String(cString: strerror(errno))).")
        }
        StderrLog.install(level: settings.configuration.logLevel, file: settings.configuration.logFile)
        let logger = Logger(label: "halcyon")
        if loads { for problem in settings.fileProblems { logger.warning("\(problem)") } }
        let assembly = try ServerAssembly(settings)
        let (near, far, ended) = (ends[0], ends[1], Platform.Semaphore())
        let output = fcntl(far, F_DUPFD_CLOEXEC, 3)
        let connection = assembly.connection(input: far, output: output, framing: .lines)
        startThread(stackSize: 8 << 20) {
            _ = connection.run()
            ended.signal()
        }
        dialogue = Dialogue(input: near, output: near)
        (self.assembly, self.connection) = (assembly, connection)
        self.near = near
        self.ended = ended
    }

    /// Closes the connection and has the engine write its unwritten state to disk.
    ///
    /// - Parameter cancels: `true` when nobody wants the answers that are still to come.
    consuming func end(cancels: Bool = false) {
        if cancels {
            connection.stop(grace: 0)
        } else {
            shutdown(near, Int32(SHUT_WR))
            ended.wait()
        }
        assembly.manager.flush()
    }
}

/// The options of all commands that use a cache.
struct SessionOptions: ParsableArguments {
    @OptionGroup var place: CacheOption

    /// The name of the cache; `nil` for the default one.
    var cache: String? { place.cache }

    @Flag(help: "Print JSON: results as the protocol has them, one a line.")
    var json = false

    @Flag(
        name: [.short, .long],
        help: "Log what the cache could not answer, each download, and what was not stored (--log-level debug)."
    )
    var verbose = false

    /// A server with the settings of a command; see ``Session/init(_:loads:)``. They are a group of the command itself,
    /// because ArgumentParser makes the options of a group within a group five times as often.
    func session(_ server: ServeOptions, loads: Bool = false) throws -> Session {
        try Session(server.commandSettings(isVerbose: verbose), loads: loads)
    }
}

/// The option that names a cache.
struct CacheOption: ParsableArguments {
    @Option(help: "The name of the cache. Default: default.")
    var cache: String?

    func validate() throws {
        guard let cache, !CacheRegistry.isName(cache) else { return }
        throw ValidationError("--cache takes 1 to 64 letters, digits, '-', '_' or '.', not \(cache.quoted).")
    }
}

/// The exit codes of commands: 0 when everything worked, 1 when something failed, 2 when the command line was wrong.
enum Ending {
    static let failed = ExitCode(1)
    static let misused = ExitCode(2)

    /// The exit code after an answer that is an error; 2 when the server refuses what the command line says.
    static func after(_ reply: Dialogue.Reply?) -> ExitCode {
        reply?.code == RPCError.invalidParamsCode ? misused : failed
    }
}
