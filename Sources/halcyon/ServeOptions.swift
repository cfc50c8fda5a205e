internal import ArgumentParser
internal import Glibc
internal import JSONRPC
internal import Logging

/// The flags of the server. Each may also be set in the environment, as `HALCYON_` and its name in capitals.
struct ServeOptions: ParsableArguments {
    @Option(help: "The folder of all caches. Default: $XDG_CACHE_HOME/halcyon, else ~/.cache/halcyon.")
    var cacheDir: String?

    @Option(help: "How messages are told apart: auto, lines or content-length.")
    var framing = "auto"

    @Option(help: "The most the memory tier may hold, in bytes.")
    var memoryLimit = 100 << 20

    @Option(help: "The most each disk tier may take, in bytes; 0 for no limit.")
    var diskLimit = 2 << 30

    @Option(help: "When a store is done: process (the system has the bytes) or disk (the disk has them).")
    var durability = "process"

    @Option(help: "Downloads at once from one host.")
    var maxDownloadsPerHost = 4

    @Option(help: "Downloads at once in all.")
    var maxConcurrentDownloads = 64

    @Option(help: "What is logged to stderr: trace, debug, info, notice, warning, error or critical.")
    var logLevel = "warning"

    @Option(help: "A file that the log is appended to, instead of stderr.")
    var logFile: String?

    /// The options when the command line is empty: defaults and environment.
    static func defaults() throws -> ServeOptions {
        var options = ServeOptions.blank
        try options.applyEnvironment(given: [])
        try options.validate()
        return options
    }

    /// Option values cannot be read before they are parsed, so every one is set here again.
    private static var blank: ServeOptions {
        var options = ServeOptions()
        options.cacheDir = nil
        options.framing = "auto"
        options.memoryLimit = 100 << 20
        options.diskLimit = 2 << 30
        options.durability = "process"
        options.maxDownloadsPerHost = 4
        options.maxConcurrentDownloads = 64
        options.logLevel = "warning"
        options.logFile = nil
        return options
    }

    /// Takes from the environment what the command line did not give.
    ///
    /// - Parameter given: The arguments of the command line.
    mutating func applyEnvironment(given arguments: [String]) throws {
        func value(_ flag: String) -> String? {
            if arguments.contains(where: { $0 == "--\(flag)" || $0.hasPrefix("--\(flag)=") }) { return nil }
            let name = "HALCYON_" + flag.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
            guard let text = getenv(name), text.pointee != 0 else { return nil }
            return String(cString: text)
        }
        func number(_ flag: String) throws -> Int? {
            guard let text = value(flag) else { return nil }
            guard let number = Int(text) else {
                throw ValidationError("The environment's value \"\(text)\" for --\(flag) is no integer.")
            }
            return number
        }
        cacheDir = value("cache-dir") ?? cacheDir
        framing = value("framing") ?? framing
        memoryLimit = try number("memory-limit") ?? memoryLimit
        diskLimit = try number("disk-limit") ?? diskLimit
        durability = value("durability") ?? durability
        maxDownloadsPerHost = try number("max-downloads-per-host") ?? maxDownloadsPerHost
        maxConcurrentDownloads = try number("max-concurrent-downloads") ?? maxConcurrentDownloads
        logLevel = value("log-level") ?? logLevel
        logFile = value("log-file") ?? logFile
    }

    func validate() throws {
        guard framing == "auto" || MessageFraming(rawValue: framing) != nil else {
            throw ValidationError("--framing must be auto, lines or content-length, not \"\(framing)\".")
        }
        guard ["process", "disk"].contains(durability) else {
            throw ValidationError("--durability must be process or disk, not \"\(durability)\".")
        }
        guard Logger.Level(rawValue: logLevel) != nil else {
            throw ValidationError(
                "--log-level must be one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        guard memoryLimit >= 0, diskLimit >= 0 else { throw ValidationError("A limit must not be negative.") }
        guard maxDownloadsPerHost > 0, maxConcurrentDownloads > 0 else {
            throw ValidationError("There must be room for at least one download.")
        }
    }

    /// The folder of all caches, as an absolute path.
    func cacheRoot() throws -> String {
        if let cacheDir, !cacheDir.isEmpty { return cacheDir }
        if let base = getenv("XDG_CACHE_HOME").map({ String(cString: $0) }), base.hasPrefix("/") {
            return base + "/halcyon"
        }
        guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else {
            throw StartFailure(
                description: "There is no home folder to keep the cache in: name a folder with --cache-dir.")
        }
        return home + "/.cache/halcyon"
    }
}
