internal import ImageEngine
internal import Logging

extension ServerSetting {
    /// Every setting of the process, in the order of the help and of `halcyon config`. A new one is added here only.
    package static let all = storage + downloads + times + network + process

    /// Every setting under each name that sets it: a former name before the name itself, which so counts within a source
    /// that has both.
    package static let accepted = all.flatMap { $0.former + [$0] }

    /// The setting with that name in the configuration file.
    static func named(_ name: String) -> ServerSetting? { accepted.first { $0.name == name } }

    private static let storage = [
        ServerSetting(
            "cacheDir", .folder, "The folder in which each cache has a folder of its own.",
            default: "$XDG_CACHE_HOME/halcyon, else ~/.cache/halcyon", \.cacheDir),
        ServerSetting(
            "sharedFolders", .boolean,
            "Use cache folders that belong to other users or to a group; their users trust each other.",
            \.engine.sharedFolders),
        ServerSetting(
            "framing", .framing, "The framing of messages; auto detects it from the first bytes.", \.framing),
        ServerSetting(
            "memoryLimit", .bytes(0...ByteSize.maximum),
            "The largest size of the memory tier of each cache, in bytes or as 500MB or 2GiB; 0 keeps nothing in memory.",
            caches: \.memory.costLimit
        ) { $0.limitMemory(to: $1) },
        ServerSetting(
            "diskLimit", .bytes(0...ByteSize.maximum),
            "The largest size of the disk tier of each cache, in bytes or as 500MB or 2GiB; 0 for no limit.",
            caches: \.disk.bytesLimit
        ) { $0.limitDisk(to: $1) },
        ServerSetting(
            "outputLimit", .bytes(1 ... .max),
            "The largest size of answers that are made and not yet read by the client, in bytes or as 500MB or 2GiB.",
            \.outputLimit),
        ServerSetting(
            "durability", .choice,
            "The guarantee of a completed store: the system has the bytes (process) or the disk has them (disk).",
            caches: \.durability
        ) { $0.setDurability($1) },
    ]

    /// The largest number in the settings of the downloader: more makes no difference, and clocks can count that many seconds.
    private static let largest = 1_000_000_000

    /// The settings that `configure` has too, within the same bounds, described there in the words that the generated clients
    /// repeat.
    private static let downloads = [
        ServerSetting(
            "maxDownloadsPerHost", 1...largest, "The largest number of downloads from one host at the same time.",
            downloader: \.maxDownloadsPerHost),
        ServerSetting(
            "maxConcurrentDownloads", 1...largest, "The largest number of downloads at the same time.",
            downloader: \.maxConcurrentDownloads),
        ServerSetting(
            "downloadOrder", .choice,
            "The order in which downloads of equal priority start: the oldest (fifo) or the newest (lifo) first.",
            downloader: \.order
        ) { .value($0, "The order of downloads of equal priority: the oldest (fifo) or the newest (lifo) first.", $2) },
        ServerSetting(
            "downloadsPerSecond", 0...largest,
            "The number of downloads that may start per second after a first burst; 0 for no limit.",
            downloader: \.startsPerSecond),
        ServerSetting(
            "downloadsPerSecondPerHost", 0...largest,
            "The number of downloads from one host that may start per second after a first burst; 0 for no limit.",
            summary: "The same for one host; 0 for no limit.", downloader: \.startsPerSecondPerHost),
        ServerSetting(
            "downloadBurst", 1...largest,
            "The number of downloads that may start at once before the limits per second apply.", downloader: \.burst),
        ServerSetting(
            "timeout", .seconds(upTo: largest),
            "The longest wait for the next bytes of a download, in seconds, unless a request sets its own.",
            downloader: \.timeout
        ) { .seconds($0, "Seconds to wait for the next bytes, unless a request says otherwise.", upTo: largest, $2) },
    ]

    private static let times = [
        ServerSetting(
            "activateAfter", .seconds(atLeast: 0),
            "The time that downloads run before clients are told of activity, in seconds.",
            former: ("activationDelay", .milliseconds), \.activateAfter),
        ServerSetting(
            "completeAfter", .seconds(atLeast: 0),
            "The time without downloads before clients are told of the end of activity, in seconds.",
            former: ("completionDelay", .milliseconds), \.completeAfter),
        ServerSetting(
            "cleanInterval", .seconds(atLeast: 0),
            "The time between two cleanings of the caches while the server is idle, in seconds; 0 for never.",
            \.engine.cleanInterval),
        ServerSetting(
            "delegateTimeout", .seconds(atLeast: 1),
            "The longest wait for the client's answer to a question about a download, in seconds.", \.delegateTimeout),
    ]

    private static let network = [
        ServerSetting(
            "userAgent", .headerValue, "The User-Agent header of downloads.", default: "halcyon/ and its version",
            \.engine.downloader.userAgent),
        ServerSetting(
            "allowedHosts", .hosts,
            "The only hosts to load from, separated by commas: names, addresses, or patterns such as *.example.com.",
            default: "any", \.engine.downloader.policy.allowedHosts),
        ServerSetting(
            "allowedSchemes", .schemes,
            "The only URL schemes to load from, separated by commas; leave out file when others choose the URLs.",
            \.engine.downloader.policy.allowedSchemes),
        ServerSetting(
            "networkPolicy", .choice,
            """
            The networks to load from: only public ones (public), all (any), or private ones and this machine too, but \
            not by a redirect or by a name that used to have a public address (noCrossover).
            """,
            \.engine.downloader.policy.reach),
        ServerSetting(
            "proxy", .proxy, "The URL of a proxy, or none to use no proxy.",
            default: "as http_proxy, https_proxy, all_proxy and no_proxy say", \.engine.downloader.proxy),
        ServerSetting(
            "caFile", .file, "A file with the certificates (PEM) of the authorities to trust.",
            default: "the authorities that libcurl trusts", withoutFile: "Downloads that need it fail",
            \.engine.downloader.tls.caFile),
        ServerSetting(
            "clientCertificate", .file, "A file with the certificate (PEM) to present to servers that ask for one.",
            withoutFile: "Downloads that need it fail", \.engine.downloader.tls.clientCertificate),
        ServerSetting(
            "clientKey", .file, "A file with the private key (PEM) of the client certificate.",
            default: "the file of the client certificate", withoutFile: "Downloads that need it fail",
            \.engine.downloader.tls.clientKey),
        ServerSetting(
            "trustedHosts", .hosts,
            "The hosts whose certificates are not checked, separated by commas: names or *.example.com.",
            \.engine.downloader.tls.trustedHosts),
        ServerSetting(
            "cookieFile", .file, "A file of cookies (Netscape format) to send to the hosts and paths they belong to.",
            withoutFile: "Downloads go without it", \.engine.downloader.cookieFile),
        ServerSetting(
            "netrc", .file, "A netrc file with the credentials of hosts.", withoutFile: "Downloads go without it",
            \.engine.downloader.netrc),
        ServerSetting(
            "remote", .remote,
            "The URL of a tier that several machines share: S3, an HTTP server or Redis; empty for none.",
            \.engine.remote.url),
        ServerSetting(
            "remoteMode", .choice, "The use of the remote tier: to be read, written or both.", \.engine.remote.mode),
        ServerSetting(
            "remoteTimeout", .remoteSeconds,
            "The longest time that a request waits for the remote tier, in seconds; then it is left out for a while.",
            \.engine.remote.timeout),
        ServerSetting(
            "remoteMaxBytes", .bytes(0...ByteSize.maximum),
            "The largest image in the remote tier, in bytes or as 500MB or 2GiB.", \.engine.remote.maxBytes),
        ServerSetting(
            "offline", .boolean,
            "Load nothing from the network; stored images are answered even when they have expired.",
            \.engine.offline),
    ]

    private static let process = [
        ServerSetting(
            "codec", .file, "The codec worker, the program that processes images.",
            default: "halcyon-codec beside halcyon", \.engine.codec.executable),
        ServerSetting("logLevel", .choice, "The lowest level of messages in the log.", \.logLevel),
        ServerSetting(
            "logFile", .file, "The file that the log is appended to.", default: "standard error", \.logFile),
        ServerSetting(
            "metrics", .file,
            "The file that the server writes its counters to for Prometheus, every 15 seconds and at the end; %p in it stands for the number of the process.",
            \.metrics),
        ServerSetting(
            "mirror", .folder,
            "The folder to record the run in: both directions of the protocol, and every download.", \.mirror),
        ServerSetting(
            "replay", .folder,
            "The folder of a recording: downloads and the time come from it, not from the network and the clock.",
            \.replay),
    ]
}
