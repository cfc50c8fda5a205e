internal import CLinux
internal import Glibc
internal import ImageEngine
internal import JSONRPC
internal import Logging
internal import MCP
internal import Platform
internal import Synchronization

/// One run of the server, from claiming the descriptors to the exit code.
struct ServeSession {
    /// A protocol that clients speak.
    enum Face {
        /// Ours.
        case methods
        /// That of agents.
        case tools(MCPServer.Configuration)

        /// What a person who starts the program at a terminal is told.
        fileprivate var hint: String {
            switch self {
            case .methods:
                "halcyon answers JSON-RPC 2.0, one request a line; try {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} or halcyon --help."
            case .tools:
                "halcyon mcp speaks the Model Context Protocol and is started by an agent; see halcyon help mcp."
            }
        }
    }

    let settings: ServerSettings
    var face = Face.methods

    /// Serves until the input ends; returns the exit code.
    func run() throws -> Int32 {
        guard let streams = StandardStreams.claim() else {
            throw StartFailure(description: "Standard input and output must be open: halcyon speaks on them.")
        }
        StderrLog.install(level: settings.configuration.logLevel, file: settings.configuration.logFile)
        let logger = Logger(label: "halcyon")
        if isatty(streams.input) == 1 { printToStderr(face.hint) }

        let assembly = try ServerAssembly(settings)
        for problem in settings.fileProblems { logger.warning("\(problem)") }
        try DescriptorReserve.take()
        let metrics = settings.configuration.metrics.map { MetricsFile($0, assembly.server) }
        let counters = CountersFile(settings.configuration.cacheDir ?? "", assembly.server)
        let processExit = ProcessExit(assembly.manager, metrics, counters)
        let signals = blockSignals()
        let onSignal: @Sendable (Connection) -> Void = { connection in
            let number = hl_signal_read(signals)
            logger.debug("stopped by signal", metadata: ["signal": "\(number)"])
            processExit.begin()
            connection.stop()
            processExit.end(code: 128 + number)
        }
        let onFailure: @Sendable (String) -> Void = {
            logger.error("\($0)")
            processExit.hasFailed.store(true, ordering: .relaxed)
        }
        let onGone: @Sendable () -> Void = {
            logger.debug("the client is gone")
            processExit.end(code: 1)
        }
        let connection: Connection
        switch face {
        case .methods:
            connection = assembly.connection(
                input: streams.input, output: streams.output, framing: settings.configuration.framing,
                watching: [(signals, onSignal)], watchProcess: { process in watch(process, processExit) },
                onFailure: onFailure, onGone: onGone)
        case .tools(let configuration):
            let server: MCPServer
            do {
                server = try MCPServer(manager: assembly.manager, configuration)
            } catch { throw StartFailure(description: error.description) }
            let agent = Connection(
                input: streams.input, output: streams.output, framing: .lines, limits: assembly.limits,
                handler: server, tap: assembly.tap, watching: [(signals, onSignal)], onFailure: onFailure,
                onGone: onGone)
            server.use { [weak agent] in
                startThread { [agent] in Self.end(agent, processExit) }
            }
            connection = agent
        }
        metrics?.start()
        counters.start()
        let code = connection.run()
        processExit.waitIfBegun()
        metrics?.write()
        counters.end()
        assembly.manager.flush()
        return code
    }

    /// Ends the process of an agent's server soon after its input, as hosts expect: what is nearly done is still answered.
    private static func end(_ connection: Connection?, _ processExit: ProcessExit) {
        usleep(400_000)
        for call in connection?.openCalls ?? [] { call.abandon() }
        usleep(200_000)
        processExit.end(code: processExit.hasFailed.load(ordering: .relaxed) ? 1 : 0)
    }

    /// Blocks the signals that end the process, and returns a descriptor that they are read from instead. Where there is none,
    /// −1, they end the process at once, as they do without a handler.
    private func blockSignals() -> Int32 {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let descriptor = hl_signalfd(&signals)
        if descriptor < 0 { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
        return descriptor
    }
}

/// Ends the process when the process with that number ends.
private func watch(_ process: Int32, _ processExit: ProcessExit) {
    // The end of the input tells it too, as a rule, where there can be no thread.
    _ = startOptionalThread {
        // The descriptor, to wait for, is not to be had in some sandboxes, or for now. `kill` may not be allowed either, but
        // says whether there is such a process.
        while kill(process, 0) == 0 || errno != ESRCH {
            var place = pollfd(fd: hl_pidfd_open(process), events: Int16(POLLIN), revents: 0)
            if place.fd < 0 {
                poll(nil, 0, 2000)
                continue
            }
            while poll(&place, 1, -1) < 0, errno == EINTR {}
            break
        }
        processExit.end(code: 1)
    }
}

/// Ends the process from any thread, whatever the thread that reads does.
private final class ProcessExit: Sendable {
    private let manager: ImageManager
    private let metrics: MetricsFile?
    private let counters: CountersFile
    private let hasBegun = Atomic(false)
    /// `true` when the input could not be read, or the output not be written.
    let hasFailed = Atomic(false)

    init(_ manager: ImageManager, _ metrics: MetricsFile?, _ counters: CountersFile) {
        (self.manager, self.metrics, self.counters) = (manager, metrics, counters)
    }

    /// Marks the end of the process as begun: its exit code no longer changes, even when the input ends.
    func begin() { hasBegun.store(true, ordering: .sequentiallyConsistent) }

    /// Ends the process at once. Images that were answered as stored are stored; bodies that may be resumed are kept, and other
    /// unfinished files stay hidden.
    func end(code: Int32) {
        begin()
        // Keeping what has come of the bodies takes milliseconds, and longer only on a machine with much to do.
        end(code, within: 1_000_000)
        manager.downloader.interrupt()
        // Flushing the last uses may wait for the lock of another process.
        end(code, within: 150_000)
        metrics?.write()
        counters.end()
        manager.flush()
        _exit(code)
    }

    /// Ends the process after so many microseconds, whatever it then does.
    private func end(_ code: Int32, within microseconds: UInt32) {
        _ = startOptionalThread {
            usleep(microseconds)
            _exit(code)
        }
    }

    /// Waits for the end of the process when it has begun.
    func waitIfBegun() {
        while hasBegun.load(ordering: .sequentiallyConsistent) { pause() }
    }
}
