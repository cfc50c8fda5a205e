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

    @Option(help: "Which download of equal priority starts first: fifo (the default) or lifo.")
    var downloadOrder: String?

    @Option(help: "Downloads started a second, after a burst; 0 for no limit, the default.")
    var downloadsPerSecond: String?

    @Option(help: "Downloads started a second from one host, after a burst; 0 for no limit, the default.")
    var downloadsPerSecondPerHost: String?

    @Option(help: "How many downloads start at once before that limit counts. Default: 25.")
    var downloadBurst: String?

    @Option(help: "Seconds to wait for the next bytes of a download. Default: 15.")
    var timeout: String?

    @Option(help: "Milliseconds of downloads before activity is told. Default: 1000.")
    var activationDelay: String?

    @Option(help: "Milliseconds without downloads before their end is told. Default: 170.")
    var completionDelay: String?

    @Option(help: "Seconds from one cleaning of the caches to the next, at rest; 0 for never. Default: 120.")
    var cleanInterval: String?

    @Option(help: "Seconds to wait for the client's answer to a question about a download. Default: 10.")
    var delegateTimeout: String?

    @Option(help: "The User-Agent header of downloads. Default: halcyon and its version.")
    var userAgent: String?

    @Option(help: "The only hosts to load from, with commas: names, addresses or *.example.com. Default: any.")
    var allowedHosts: String?

    @Option(help: "The only schemes to load from, with commas. Default: http,https,file,data.")
    var allowedSchemes: String?

    @Option(
        help:
            "Which networks to load from: noCrossover (no redirect or name leads further inside, the default), public or any."
    )
    var networkPolicy: String?

    @Option(help: "A proxy's URL, or none. Default: as http_proxy, https_proxy and no_proxy say.")
    var proxy: String?

    @Option(help: "A file of certificates (PEM) of authorities to trust.")
    var caFile: String?

    @Option(help: "A file with the certificate (PEM) to show to servers that ask for one.")
    var clientCertificate: String?

    @Option(help: "The file of its private key (PEM). Default: the same file.")
    var clientKey: String?

    @Option(help: "Hosts whose certificates are not checked, with commas: names or *.example.com. Default: none.")
    var trustedHosts: String?

    @Option(help: "A file of cookies (Netscape format) to send to the hosts they are for. Default: none.")
    var cookieFile: String?

    @Option(help: "A netrc file to find credentials in. Default: none.")
    var netrc: String?

    @Flag(help: "Load nothing from the network, and answer whatever is stored, also when its time is over.")
    var offline = false

    @Option(help: "The codec worker, which processes images. Default: halcyon-codec beside halcyon.")
    var codec: String?

    @Option(help: "What is logged to stderr: trace, debug, info, notice, warning (the default), error or critical.")
    var logLevel: String?

    @Option(help: "A file that the log is appended to, instead of stderr.")
    var logFile: String?

    @Option(help: "A folder to record the run in: both directions of the protocol, and every download.")
    var mirror: String?

    @Option(
        help: "A folder of such a recording: downloads come from there, not from the network, and so does the time.")
    var replay: String?

    /// The settings of this run.
    ///
    /// - Parameter fallbacks: What counts as given when it is not.
    func settings(besides fallbacks: [ServerSetting: String] = [:]) throws -> ServerSettings {
        let given: [(ServerSetting, String?)] = [
            (.cacheDir, cacheDir), (.framing, framing), (.memoryLimit, memoryLimit), (.diskLimit, diskLimit),
            (.durability, durability), (.maxDownloadsPerHost, maxDownloadsPerHost),
            (.maxConcurrentDownloads, maxConcurrentDownloads), (.downloadOrder, downloadOrder),
            (.downloadsPerSecond, downloadsPerSecond), (.downloadsPerSecondPerHost, downloadsPerSecondPerHost),
            (.downloadBurst, downloadBurst), (.timeout, timeout),
            (.activationDelay, activationDelay), (.completionDelay, completionDelay), (.cleanInterval, cleanInterval),
            (.delegateTimeout, delegateTimeout), (.userAgent, userAgent),
            (.allowedHosts, allowedHosts), (.allowedSchemes, allowedSchemes), (.networkPolicy, networkPolicy),
            (.proxy, proxy), (.caFile, caFile),
            (.clientCertificate, clientCertificate), (.clientKey, clientKey), (.trustedHosts, trustedHosts),
            (.cookieFile, cookieFile), (.netrc, netrc), (.offline, offline ? "true" : nil), (.codec, codec),
            (.logLevel, logLevel), (.logFile, logFile), (.mirror, mirror), (.replay, replay),
        ]
        let texts = given.compactMap { setting, text in text.map { (setting, $0) } }
        return try ServerSettings(
            given: fallbacks.merging(texts) { _, given in given }, file: config)
    }
}
