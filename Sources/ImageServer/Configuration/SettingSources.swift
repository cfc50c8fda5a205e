public import ImageEngine

/// A source of settings. The cases are in the order of precedence, the weakest first.
public enum SettingSource: String, Sendable, CaseIterable, Comparable {
    /// No source names the setting.
    case `default`
    /// The configuration file.
    case file
    /// The client in `initialize`.
    case initialize
    /// A variable `HALCYON_…` of the environment.
    case environment
    /// The command line.
    case flag
    /// The client in `configure`.
    case configure

    /// Returns `true` when `other` takes precedence over `one`.
    public static func < (one: SettingSource, other: SettingSource) -> Bool {
        (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }
}

/// The settings that every source names, and the settings in force: a plain value.
public struct SettingSources: Sendable {
    private var layers: [SettingSource: CacheLayer] = [:]
    /// The settings of a cache where no source names them.
    package var base = ImageCache.Configuration(folder: "")

    /// Makes a value in which no source names a setting.
    public init() {}

    /// The settings that one source names.
    public subscript(source: SettingSource) -> CacheLayer {
        get { layers[source] ?? CacheLayer() }
        set { layers[source] = newValue }
    }

    /// The names of the caches that a source has settings for.
    public var names: Set<String> { Set(layers.values.flatMap(\.caches.keys)) }

    /// The settings of the cache called `name`, or when `nil` of a cache that no source names. The folder is empty unless
    /// a source names it.
    public func settings(of name: String?) -> ImageCache.Configuration {
        var settings = base
        for (_, layer) in sorted { layer.change(of: name).apply(to: &settings) }
        return settings
    }

    /// The settings of the caches that a source names, by name.
    public var named: [String: ImageCache.Configuration] {
        Dictionary(uniqueKeysWithValues: names.map { ($0, settings(of: $0)) })
    }

    /// The settings of the downloader: those of `base`, replaced by those that a source names.
    public func downloader(
        _ base: ImageDownloader.Configuration = ImageDownloader.Configuration()
    ) -> ImageDownloader.Configuration {
        var settings = base
        for (_, layer) in sorted { layer.downloader.apply(to: &settings) }
        return settings
    }

    /// The configuration of the process: that of `base`, replaced by the settings that a source names.
    package func configuration(_ base: ServerConfiguration) -> ServerConfiguration {
        var configuration = base
        configuration.engine.defaults = settings(of: nil)
        configuration.engine.caches = named
        configuration.engine.downloader = downloader(base.engine.downloader)
        for (_, layer) in sorted { layer.process.apply(to: &configuration) }
        return configuration
    }

    /// The source of one setting of the process or of the downloader.
    func source(of name: String) -> SettingSource {
        sorted.last { $0.layer.process.names(name) || $0.layer.downloader.names(name) }?.source ?? .default
    }

    /// The source of one setting of a cache, such as `disk.purgeRatio`.
    public func source(of path: String, in name: String?) -> SettingSource {
        sorted.last { $0.layer.change(of: name).names(path) }?.source ?? .default
    }

    private var sorted: [(source: SettingSource, layer: CacheLayer)] {
        layers.sorted { $0.key < $1.key }.map { (source: $0.key, layer: $0.value) }
    }
}
