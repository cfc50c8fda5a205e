internal import ImageEngine
internal import JSONRPC

/// Settings that have defaults.
protocol DefaultedSettings: Sendable {
    /// The settings when no source names any.
    static var unsaid: Self { get }
}

extension ImageCache.Configuration: DefaultedSettings {
    static var unsaid: ImageCache.Configuration { ImageCache.Configuration(folder: "") }
}

extension ImageDownloader.Configuration: DefaultedSettings {
    static var unsaid: ImageDownloader.Configuration { ImageDownloader.Configuration() }
}

/// One setting of a cache or of the downloader in JSON: its name, description, schema, decoding and encoding.
///
/// Decoding, replies, `halcyon config`, the OpenRPC document and its defaults all read ``memory``, ``disk`` and
/// ``downloader``.
struct SettingField<Settings: DefaultedSettings>: Sendable {
    let name: String
    let summary: String
    let schema: JSONLiteral
    /// `true` when null is a value. Otherwise null is the same as no setting.
    var isNullable = false
    let decode: @Sendable (JSONView) throws(Mismatch) -> SettingsChange<Settings>.Step.Action
    let value: @Sendable (Settings) -> JSONLiteral

    /// The default.
    var fallback: JSONLiteral { value(Settings.unsaid) }

    /// A setting whose type of value has its own form in JSON.
    static func value<Value: SettingValue>(
        _ name: String, _ summary: String, _ place: SettingPlace<Settings, Value>
    ) -> SettingField {
        SettingField(name: name, summary: summary, schema: Value.schema) { (view) throws(Mismatch) in
            let value = try Value.decode(view)
            return { $0[keyPath: place] = value }
        } value: {
            $0[keyPath: place].literal
        }
    }

    /// An integer from `low` to `high`.
    static func integer<Value: SettingNumber>(
        _ name: String, _ summary: String, from low: Int = 0, to high: Int = ByteSize.maximum,
        _ place: SettingPlace<Settings, Value>
    ) -> SettingField {
        let schema: JSONLiteral = ["type": "integer", "minimum": .integer(low), "maximum": .integer(high)]
        return SettingField(name: name, summary: summary, schema: schema) { (view) throws(Mismatch) in
            let value = try wholeNumber(view, from: low, to: high)
            return { $0[keyPath: place] = Value(value) }
        } value: {
            $0[keyPath: place].literal
        }
    }

    /// A number of bytes, at most ``ByteSize/maximum``. It is shown as an integer, as the schema says, and read as a text
    /// with a unit too; see ``ByteSize``.
    static func size(_ name: String, _ summary: String, _ place: SettingPlace<Settings, Int>) -> SettingField {
        let schema: JSONLiteral = ["type": "integer", "minimum": 0, "maximum": .integer(ByteSize.maximum)]
        return SettingField(name: name, summary: summary, schema: schema) { (view) throws(Mismatch) in
            let bytes = try byteCount(view)
            return { $0[keyPath: place] = bytes }
        } value: {
            .integer($0[keyPath: place])
        }
    }

    /// A number of bytes as ``size(_:_:_:)`` reads it, or null.
    static func sizeOrNull(_ name: String, _ summary: String, _ place: SettingPlace<Settings, Int?>) -> SettingField {
        let schema: JSONLiteral = ["type": ["integer", "null"], "minimum": 0, "maximum": .integer(ByteSize.maximum)]
        return SettingField(name: name, summary: summary, schema: schema, isNullable: true) {
            (view) throws(Mismatch) in
            let bytes = view.isNull ? nil : try byteCount(view)
            return { $0[keyPath: place] = bytes }
        } value: {
            $0[keyPath: place].map(JSONLiteral.integer) ?? .null
        }
    }

    /// Reads a number of bytes.
    static func byteCount(_ view: JSONView) throws(Mismatch) -> Int {
        guard let bytes = view.integer ?? view.string.flatMap(ByteSize.bytes), (0...ByteSize.maximum).contains(bytes)
        else {
            throw .expected("an integer from 0 to \(ByteSize.maximum), or a text such as \"500MB\" or \"2GiB\"", view)
        }
        return bytes
    }
}
