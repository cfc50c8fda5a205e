internal import ArgumentParser

/// The flags of the server. Each may also be set in the environment, as `HALCYON_` and its name in capitals, and in
/// the configuration file.
struct ServeOptions: ParsableArguments {
    @Option(
        help:
            "The configuration file. Default: $XDG_CONFIG_HOME/halcyon/config.json, else under ~/.config, if it is there."
    )
    var config: String?

    @Option(help: "The folder of all caches. Default: $XDG_CACHE_HOME/halcyon, else ~/.cache/halcyon.")
    var cacheDir: String?

    @Option(help: "How messages are told apart: auto (the default), lines or content-length.")
    var framing: String?

    @Option(help: "The most the memory tier of each cache may hold, in bytes. Default: 104857600.")
    var memoryLimit: String?

    @Option(help: "The most each disk tier may take, in bytes; 0 for no limit. Default: 2147483648.")
    var diskLimit: String?

    @Option(help: "When a store is done: process (the system has the bytes, the default) or disk (the disk has them).")
    var durability: String?

    @Option(help: "Downloads at once from one host. Default: 4.")
    var maxDownloadsPerHost: String?

    @Option(help: "Downloads at once in all. Default: 64.")
    var maxConcurrentDownloads: String?

    @Option(help: "Seconds from one cleaning of the caches to the next, at rest; 0 for never. Default: 120.")
    var cleanInterval: String?

    @Flag(help: "Load nothing from the network, and answer whatever is stored, also when its time is over.")
    var offline = false

    @Option(help: "What is logged to stderr: trace, debug, info, notice, warning (the default), error or critical.")
    var logLevel: String?

    @Option(help: "A file that the log is appended to, instead of stderr.")
    var logFile: String?

    /// The settings of this run.
    func settings() throws -> ServerSettings {
        let given: [(ServerSetting, String?)] = [
            (.cacheDir, cacheDir), (.framing, framing), (.memoryLimit, memoryLimit), (.diskLimit, diskLimit),
            (.durability, durability), (.maxDownloadsPerHost, maxDownloadsPerHost),
            (.maxConcurrentDownloads, maxConcurrentDownloads), (.cleanInterval, cleanInterval),
            (.offline, offline ? "true" : nil), (.logLevel, logLevel),
            (.logFile, logFile),
        ]
        let texts = given.compactMap { setting, text in text.map { (setting, $0) } }
        return try ServerSettings(given: Dictionary(uniqueKeysWithValues: texts), file: config)
    }
}
