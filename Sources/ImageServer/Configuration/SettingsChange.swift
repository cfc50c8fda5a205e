public import ImageEngine
internal import JSONRPC

/// The settings of a cache that one source names.
public typealias CacheChange = SettingsChange<ImageCache.Configuration>

/// The settings of the downloader that one source names.
public typealias DownloaderChange = SettingsChange<ImageDownloader.Configuration>

/// A change of some settings: a plain value. Settings that it does not name stay as they are.
public struct SettingsChange<Settings: Sendable>: Sendable {
    struct Step: Sendable {
        /// Sets one value.
        typealias Action = @Sendable (inout Settings) -> Void

        let path: String
        let set: Action
    }

    /// The steps in the order they take effect, one for each path.
    private var steps: [Step] = []

    /// Makes a change that names nothing.
    public init() {}

    /// `true` when no setting is named.
    public var isEmpty: Bool { steps.isEmpty }

    /// Returns `true` when the setting at `path`, such as `disk.purgeRatio`, is named.
    public func names(_ path: String) -> Bool { steps.contains { $0.path == path } }

    /// Adds a setting. It replaces an earlier one of the same path.
    mutating func set(_ path: String, _ set: @escaping Step.Action) {
        steps.removeAll { $0.path == path }
        steps.append(Step(path: path, set: set))
    }

    /// Adds the settings of another change. Those replace settings of the same paths here.
    public mutating func add(_ other: SettingsChange) {
        for step in other.steps { set(step.path, step.set) }
    }

    /// Applies the change to settings.
    public func apply(to settings: inout Settings) {
        for step in steps { step.set(&settings) }
    }
}

extension SettingsChange where Settings: DefaultedSettings {
    /// Reads the members of an object by a table of settings.
    ///
    /// - Parameter group: The first part of the paths of these settings.
    mutating func read(
        _ view: JSONView, _ fields: [SettingField<Settings>], _ group: String?
    ) throws(Mismatch) {
        try view.forEachMember { (name, value) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            if isIgnored(name) { return }
            guard let field = fields.first(where: { $0.name == name }) else {
                throw .unknown(name, among: fields.map(\.name), what: "setting")
            }
            if value.isNull, !field.isNullable { return }
            let path = group.map { "\($0).\(name)" } ?? name
            do throws(Mismatch) { set(path, try field.decode(value)) } catch { throw error.within(name) }
        }
    }
}

/// The schema of an object of settings, all of which are optional.
func settingsSchema<Settings>(_ fields: [SettingField<Settings>]) -> JSONLiteral {
    let properties = fields.map { field in
        (
            field.name,
            JSONLiteral.object([("description", .string(field.summary)), ("default", field.fallback)])
                .merging(field.isNullable ? field.schema : field.schema.orNull)
        )
    }
    return [
        "type": "object", "properties": .object(properties), "additionalProperties": false,
        "patternProperties": ["^(_|x-)": true],
    ]
}
