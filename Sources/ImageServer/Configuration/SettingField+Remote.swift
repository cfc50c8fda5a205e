internal import JSONRPC
internal import RemoteStorage

extension RemoteTier.Configuration: DefaultedSettings {
    static var unsaid: RemoteTier.Configuration { RemoteTier.Configuration() }
}

extension SettingField<RemoteTier.Configuration> {
    /// The settings of the remote tier that clients may change while it runs, in the order of the documentation.
    static let remote: [SettingField] = [
        SettingField(
            name: "url", summary: "The URL of the tier; null for none. Credentials in it are not shown.",
            schema: ["type": ["string", "null"]], isNullable: true
        ) { (view) throws(Mismatch) in
            if view.isNull { return { $0.url = nil } }
            guard let text = view.string else { throw .expected("the URL of a remote tier", view) }
            let url: RemoteURL
            // The text may have a password in it, so it is not repeated.
            do throws(RemoteURL.Problem) { url = try RemoteURL(text) } catch {
                throw Mismatch(path: "", message: error.predicate)
            }
            return { $0.url = url }
        } value: {
            $0.url.map { .string($0.shown) } ?? .null
        },
        SettingField(
            name: "mode", summary: "Whether the tier is read, written or both.",
            schema: ["type": "string", "enum": .array(RemoteMode.allCases.map { .string($0.rawValue) })]
        ) { (view) throws(Mismatch) in
            guard let mode = view.string.flatMap(RemoteMode.init(rawValue:)) else {
                throw Mismatch.noneOf(RemoteMode.allCases.map(\.rawValue), view)
            }
            return { $0.mode = mode }
        } value: {
            .string($0.mode.rawValue)
        },
        SettingField(
            name: "timeout", summary: "The longest time that a request waits for the tier, in seconds.",
            schema: ["type": "number", "minimum": 0.001, "maximum": 60]
        ) { (view) throws(Mismatch) in
            guard let seconds = view.number, (0.001...60).contains(seconds) else {
                throw .expected("a number from 0.001 to 60", view)
            }
            return { $0.timeout = seconds }
        } value: {
            $0.timeout.literal
        },
        size("maxBytes", "The largest image in the tier, in bytes.", \.maxBytes),
    ]
}

/// The `remote` part of a change.
struct RemoteSettings: WireValue {
    let change: SettingsChange<RemoteTier.Configuration>

    static var schema: JSONLiteral { .schema("RemoteSettings") { settingsSchema(SettingField.remote) } }

    static func decode(_ view: JSONView) throws(Mismatch) -> RemoteSettings {
        guard view.isObject else { throw .expected("an object", view) }
        var change = SettingsChange<RemoteTier.Configuration>()
        try change.read(view, SettingField.remote, nil)
        return RemoteSettings(change: change)
    }
}
