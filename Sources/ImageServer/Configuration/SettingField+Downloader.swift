public import ImageEngine
internal import JSONRPC

extension SettingField<ImageDownloader.Configuration> {
    /// The settings of the downloader that may change while it runs, in the order of the documentation.
    static let downloader: [SettingField] = [
        integer(
            "maxDownloadsPerHost", "Downloads at once from one host.", from: 1, to: 65_536, \.maxDownloadsPerHost),
        integer(
            "maxConcurrentDownloads", "Downloads at once in all.", from: 1, to: 65_536, \.maxConcurrentDownloads),
        value("downloadOrder", "Which of equal priority goes first: the oldest (fifo) or newest (lifo).", \.order),
        integer(
            "downloadsPerSecond", "Downloads started a second, after a first burst; 0 for no limit.", to: 1_000_000,
            \.wholeStartsPerSecond),
        integer(
            "downloadBurst", "How many may start at once before downloadsPerSecond counts.", from: 1, to: 1_000_000,
            \.burst),
        SettingField(
            name: "timeout", summary: "Seconds to wait for the next bytes, unless a request says otherwise.",
            schema: ["type": "number", "exclusiveMinimum": 0, "maximum": 86_400]
        ) { (view) throws(Mismatch) in
            guard let seconds = view.number, seconds > 0, seconds <= 86_400 else {
                throw .expected("a number above 0, at most 86400", view)
            }
            return { $0.timeout = seconds }
        } value: {
            Int(exactly: $0.timeout).map(JSONLiteral.integer) ?? .number($0.timeout)
        },
        value(
            "hostRules",
            "What is added to requests for some hosts, where they say nothing else: headers, authorization, a client certificate. Secrets are not shown.",
            \.hostRules),
        value(
            "urlRewrites", "Requests for URLs that begin with from go to to instead; the first counts.", \.urlRewrites),
    ]

    /// The names of those that have no flag.
    static let unflagged = ["hostRules", "urlRewrites"]
}

extension ImageDownloader.Configuration {
    /// ``startsPerSecond``, which is a whole number on the wire.
    fileprivate var wholeStartsPerSecond: Int {
        get { Int(startsPerSecond) }
        set { startsPerSecond = Double(newValue) }
    }

    /// ``rules`` as they stand on the wire.
    fileprivate var hostRules: HostRules {
        get { HostRules(rules: rules.hosts) }
        set { rules.hosts = newValue.rules }
    }

    /// ``rules`` as they stand on the wire.
    fileprivate var urlRewrites: URLRewrites {
        get { URLRewrites(rewrites: rules.rewrites) }
        set { rules.rewrites = newValue.rewrites }
    }
}

extension SettingsChange<ImageDownloader.Configuration> {
    /// Adds a setting of the process as flags and variables give it; nothing if it is none of the downloader's.
    ///
    /// - Parameter text: A value that has been checked.
    public mutating func set(_ name: String, text: String) {
        let number = Int(text) ?? 0
        switch name {
        case "maxDownloadsPerHost": set(name) { $0.maxDownloadsPerHost = number }
        case "maxConcurrentDownloads": set(name) { $0.maxConcurrentDownloads = number }
        case "downloadOrder":
            if let order = DownloadOrder(rawValue: text) { set(name) { $0.order = order } }
        case "downloadsPerSecond": set(name) { $0.startsPerSecond = Double(number) }
        case "downloadBurst": set(name) { $0.burst = number }
        case "timeout": set(name) { $0.timeout = Double(number) }
        default: break
        }
    }
}

/// The `downloader` part of a change.
struct DownloaderSettings: WireValue {
    let change: DownloaderChange

    static let name = "DownloaderSettings"
    static var schema: JSONLiteral { .schema(name) }
    static var definition: JSONLiteral { settingsSchema(SettingField.downloader) }

    static func decode(_ view: JSONView) throws(Mismatch) -> DownloaderSettings {
        guard view.kind == .object else { throw .expected("an object", view) }
        var change = DownloaderChange()
        try change.read(view, SettingField.downloader, nil)
        return DownloaderSettings(change: change)
    }
}
