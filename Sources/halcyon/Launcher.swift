internal import ArgumentParser
internal import CLinux
internal import Glibc
internal import ImageServer

/// Reads the command line and runs the server or a command.
enum Launcher {
    /// Runs the process and returns its exit code.
    static func run() -> Int32 {
        StandardStreams.occupy()
        hl_tune_allocator()
        hl_hide_memory()
        raiseDescriptorLimit()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        do {
            let words = try ProgramArguments.all
            // The parser costs a quarter of the time of a start.
            if let options = ServeOptions(plain: words) { return try ServeSession(settings: options.settings()).run() }
            try HalcyonCommand.check(words)
            let command = try HalcyonCommand.parseAsRoot(words)
            if let serve = command as? ServeCommand {
                return try ServeSession(settings: serve.options.settings()).run()
            }
            var other = command
            try other.run()
            return 0
        } catch {
            return report(error)
        }
    }

    /// Raises the limit of open descriptors to 4,096, enough for a thousand connections, as far as the system allows.
    private static func raiseDescriptorLimit() {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return }
        let wanted = min(limit.rlim_max, 4096)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = wanted
        setrlimit(files, &limit)
    }

    private static func report(_ error: any Error) -> Int32 {
        // The command has already printed the error.
        if let code = error as? ExitCode { return code.rawValue }
        let code = HalcyonCommand.exitCode(for: error)
        let message = HalcyonCommand.fullMessage(for: error)
        if code.isSuccess {
            do { try printToStdout(Array((message + "\n").utf8)) } catch { return report(error) }
            return 0
        }
        if let failure = error as? StartFailure {
            complain("\(failure)")
            return 1
        }
        tell(message)
        return 2
    }
}
