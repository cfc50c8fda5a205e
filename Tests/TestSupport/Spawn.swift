import CTestSupport
import Foundation
import Glibc

/// Starting processes that inherit three descriptors and nothing else.
public enum Spawn {
    /// Writing to a process that has ended is an error here, not the end of the tests.
    static let ignoresBrokenPipes: Bool = {
        Glibc.signal(SIGPIPE, SIG_IGN)
        return true
    }()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: The program, looked up in `PATH` unless it is a path, and its arguments.
    ///   - descriptors: What becomes 0, 1 and 2 of the process; nil for a closed one. Closed here afterwards.
    ///   - directory: Where it runs; here when nil.
    ///   - environment: Added to a copy of ours that has no proxies and no settings of the server.
    static func start(
        _ words: [String], descriptors: [Int32?], directory: String? = nil, environment: [String: String] = [:]
    ) throws -> pid_t {
        _ = ignoresBrokenPipes
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (place, descriptor) in descriptors.enumerated() {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(place))
            } else {
                posix_spawn_file_actions_addclose(&actions, Int32(place))
            }
        }
        if let directory { hl_spawn_in_directory(&actions, directory) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        // The threads of the concurrency runtime block signals, and a process inherits that from the one that starts it.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("HALCYON_") }
        variables["SWIFT_BACKTRACE"] = "enable=no"
        // Not the configuration of whoever runs the tests.
        variables["XDG_CONFIG_HOME"] = "/nonexistent"
        for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            variables[name] = nil
        }
        variables.merge(environment) { $1 }
        var argv = words.map { strdup($0) } + [nil]
        var envp = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            argv.forEach { free($0) }
            envp.forEach { free($0) }
        }
        var process: pid_t = 0
        let code = posix_spawnp(&process, words[0], &actions, &attributes, &argv, &envp)
        for descriptor in Set(descriptors.compactMap(\.self)) where descriptor > 2 { close(descriptor) }
        guard code == 0 else {
            throw PatienceExhausted(description: "\(words[0]) cannot be started: \(String(cString: strerror(code)))")
        }
        return process
    }
}

/// A program that runs to its end, with what it printed.
public struct Command: Sendable {
    /// The exit code, or minus the signal that killed it.
    public let status: Int32
    /// What it wrote to stdout.
    public let output: [UInt8]
    /// What it wrote to stderr.
    public let errors: String

    /// Runs a line of shell, where `$HALCYON` is the server under test.
    ///
    /// - Parameter input: What it finds on stdin.
    public static func shell(
        _ line: String, input: [UInt8] = [], directory: String? = nil, environment: [String: String] = [:]
    ) throws -> Command {
        let (scratch, stdin) = (try TemporaryFolder(), "stdin")
        try Data(input).write(to: URL(fileURLWithPath: scratch.path + "/" + stdin))
        let paths = ["stdin", "stdout", "stderr"].map { scratch.path + "/" + $0 }
        let descriptors = [
            open(paths[0], O_RDONLY | O_CLOEXEC),
            open(paths[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0o600),
            open(paths[2], O_WRONLY | O_CREAT | O_CLOEXEC, 0o600),
        ]
        let process = try Spawn.start(
            ["timeout", "60", "sh", "-c", line], descriptors: descriptors, directory: directory,
            environment: ["HALCYON": ServerProcess.binary].merging(environment) { $1 })
        let status = Spawn.wait(for: process)
        let (output, errors) = (
            try Data(contentsOf: URL(fileURLWithPath: paths[1])), try Data(contentsOf: URL(fileURLWithPath: paths[2]))
        )
        return Command(status: status, output: [UInt8](output), errors: String(decoding: errors, as: UTF8.self))
    }

    /// The output without the space around it.
    public var text: String { String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) }

    /// The lines of the output, each parsed.
    public var lines: [JSON] {
        get throws { try output.split(separator: UInt8(ascii: "\n")).map { try JSON(Array($0)) } }
    }
}

extension Spawn {
    /// Starts a program that has nothing to read or to say.
    public static func background(_ words: [String]) throws -> pid_t {
        try start(
            words, descriptors: [open("/dev/null", O_RDONLY | O_CLOEXEC), open("/dev/null", O_WRONLY | O_CLOEXEC), 2])
    }

    /// Waits for a process to end: its exit code, or minus the signal that killed it.
    ///
    /// One that does not end within 60 s is killed, so that a hang becomes a failure.
    public static func wait(for process: pid_t) -> Int32 {
        var status: Int32 = 0
        var patience = 60_000
        while true {
            let ended = waitpid(process, &status, patience > 0 ? WNOHANG : 0)
            if ended == process || (ended < 0 && errno != EINTR) { break }
            patience -= 1
            if patience == 0 { kill(process, SIGKILL) }
            usleep(1000)
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    /// Whether a process runs: it is there and has not ended unreaped.
    public static func isRunning(_ process: pid_t) -> Bool {
        guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let name = stat.range(of: ") ", options: .backwards)
        else { return false }
        return !["Z", "X"].contains(String(stat[name.upperBound...].prefix(1)))
    }
}
