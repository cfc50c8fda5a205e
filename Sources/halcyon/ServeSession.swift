internal import CLinux
internal import Glibc
internal import ImageEngine
internal import JSONRPC
internal import Logging
internal import Platform
internal import Synchronization

/// One run of the server: from claiming the descriptors to the exit code.
struct ServeSession {
    let settings: ServerSettings

    /// Serves until the input ends; returns the exit code.
    func run() throws -> Int32 {
        guard let streams = StandardStreams.claim() else {
            throw StartFailure(description: "Standard input and output must be open: halcyon speaks on them.")
        }
        StderrLog.install(level: settings.configuration.logLevel, file: settings.configuration.logFile)
        let logger = Logger(label: "halcyon")
        if isatty(streams.input) == 1 {
            printToStderr(
                "halcyon answers JSON-RPC 2.0, one request a line; try {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} or halcyon --help."
            )
        }

        let assembly = try ServerAssembly(settings)
        for problem in settings.fileProblems { logger.warning("\(problem)") }
        let departure = Departure(assembly.manager)
        let signals = blockSignals()
        let connection = assembly.connection(
            input: streams.input, output: streams.output, framing: settings.configuration.framing,
            watching: [
                (
                    signals,
                    { @Sendable connection in
                        let number = hl_signal_read(signals)
                        logger.debug("stopped by signal", metadata: ["signal": "\(number)"])
                        departure.begin()
                        connection.stop()
                        departure.leave(code: 128 + number)
                    }
                )
            ],
            watchProcess: { process in watch(process, departure) },
            onGone: {
                logger.debug("the client is gone")
                departure.leave(code: 1)
            })
        let code = connection.run()
        departure.waitIfBegun()
        assembly.manager.flush()
        return code
    }

    /// Signals that end the process come through a descriptor, and interrupt nothing.
    private func blockSignals() -> Int32 {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        return hl_signalfd(&signals)
    }
}

/// Ends the process when another one has ended.
private func watch(_ process: Int32, _ departure: Departure) {
    let descriptor = hl_pidfd_open(process)
    guard descriptor >= 0 else {
        // No such process: it has ended already. Other failures tell nothing.
        if errno == ESRCH { departure.leave(code: 1) }
        return
    }
    startThread {
        var place = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&place, 1, -1) < 0, errno == EINTR {}
        departure.leave(code: 1)
    }
}

/// Ends the process from the side, while the thread that reads may be anywhere.
private final class Departure: Sendable {
    private let manager: ImageManager
    private let hasBegun = Atomic(false)

    init(_ manager: ImageManager) { self.manager = manager }

    /// From here on the exit code is settled, even if the input ends meanwhile.
    func begin() { hasBegun.store(true, ordering: .sequentiallyConsistent) }

    /// Ends the process at once. Whatever was answered as stored is stored; what is being written is never seen half.
    func leave(code: Int32) {
        begin()
        // Writing down the last uses may wait for another process's lock; a moment is what we have.
        startThread {
            usleep(150_000)
            _exit(code)
        }
        manager.flush()
        _exit(code)
    }

    /// Lets a departure that has begun end the process.
    func waitIfBegun() {
        while hasBegun.load(ordering: .sequentiallyConsistent) { pause() }
    }
}
