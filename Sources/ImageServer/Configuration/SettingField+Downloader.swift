internal import ImageEngine
internal import JSONRPC

extension SettingField<ImageDownloader.Configuration> {
    /// The settings of the downloader that clients may change while it runs, in the order of the documentation.
    static let downloader = ServerSetting.all.compactMap(\.downloaderField) + withoutFlags

    /// The settings of the downloader that are no settings of the process.
    static let withoutFlags: [SettingField] = [
        value(
            "hostRules",
            "What is added to requests to certain hosts, unless the request sets it itself: headers, authorization, a client certificate. Secrets are not shown.",
            \.hostRules),
        value(
            "urlRewrites",
            "Requests for URLs that begin with from go to to instead; the first rule that matches applies.",
            \.urlRewrites),
    ]

    /// A number of seconds above 0, at most `high`.
    static func seconds(
        _ name: String, _ summary: String, upTo high: Int, _ place: SettingPlace<Settings, Double>
    ) -> SettingField {
        let schema: JSONLiteral = ["type": "number", "exclusiveMinimum": 0, "maximum": .integer(high)]
        return SettingField(name: name, summary: summary, schema: schema) { (view) throws(Mismatch) in
            guard let seconds = view.number, seconds > 0, seconds <= Double(high) else {
                throw .expected("a number above 0, at most \(high)", view)
            }
            return { $0[keyPath: place] = seconds }
        } value: {
            $0[keyPath: place].literal
        }
    }
}

extension ImageDownloader.Configuration {
    /// The rules for hosts in the type that JSON is read into.
    fileprivate var hostRules: HostRules {
        get { HostRules(rules: rules.hosts) }
        set { rules.hosts = newValue.rules }
    }

    /// The rewrites of URLs in the type that JSON is read into.
    fileprivate var urlRewrites: URLRewrites {
        get { URLRewrites(rewrites: rules.rewrites) }
        set { rules.rewrites = newValue.rewrites }
    }
}

/// The `downloader` part of a change.
struct DownloaderSettings: WireValue {
    let change: DownloaderChange

    static var schema: JSONLiteral { .schema("DownloaderSettings") { settingsSchema(SettingField.downloader) } }

    static func decode(_ view: JSONView) throws(Mismatch) -> DownloaderSettings {
        guard view.isObject else { throw .expected("an object", view) }
        var change = DownloaderChange()
        try change.read(view, SettingField.downloader, nil)
        return DownloaderSettings(change: change)
    }
}
