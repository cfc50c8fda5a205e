public import ImageEngine

/// Where a setting may come from, the weakest first.
public enum SettingSource: String, Sendable, CaseIterable, Comparable {
    /// Nobody said anything.
    case `default`
    /// The configuration file.
    case file
    /// The client, by `initialize`.
    case initialize
    /// A variable `HALCYON_…`.
    case environment
    /// The command line.
    case flag
    /// The client, by `configure`.
    case configure

    /// Whether the right one comes first.
    public static func < (one: SettingSource, other: SettingSource) -> Bool {
        (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }
}

/// What every source says about the caches, and what comes of it: a plain value.
public struct SettingSources: Sendable {
    private var layers: [SettingSource: CacheLayer] = [:]

    /// No source says anything.
    public init() {}

    /// What one source says.
    public subscript(source: SettingSource) -> CacheLayer {
        get { layers[source] ?? CacheLayer() }
        set { layers[source] = newValue }
    }

    /// The caches that some source names.
    public var names: Set<String> { Set(layers.values.flatMap(\.caches.keys)) }

    /// The settings of the cache called `name`, or when nil of one that nobody names. The folder is empty unless a
    /// source has one.
    public func settings(of name: String?) -> ImageCache.Configuration {
        var settings = ImageCache.Configuration(folder: "")
        for (_, layer) in sorted { layer.change(of: name).apply(to: &settings) }
        return settings
    }

    /// The settings of the caches that some source names.
    public var named: [String: ImageCache.Configuration] {
        Dictionary(uniqueKeysWithValues: names.map { ($0, settings(of: $0)) })
    }

    /// The settings of the downloader: those of `base`, but for what some source says.
    public func downloader(
        _ base: ImageDownloader.Configuration = ImageDownloader.Configuration()
    ) -> ImageDownloader.Configuration {
        var settings = base
        for (_, layer) in sorted { layer.downloader.apply(to: &settings) }
        return settings
    }

    /// The configuration of the process: that of `base`, but for what some source says.
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
