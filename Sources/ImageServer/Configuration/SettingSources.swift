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
        one.rank < other.rank
    }

    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The settings that every source names, and the settings in force: a plain value.
public struct SettingSources: Sendable {
    /// By the rank of their sources.
    private var layers = SettingSource.allCases.map { _ in CacheLayer() }
    /// The settings of a cache where no source names them.
    package var base = ImageCache.Configuration(folder: "")

    /// Makes a value in which no source names a setting.
    public init() {}

    /// The settings that one source names.
    public subscript(source: SettingSource) -> CacheLayer {
        get { layers[source.rank] }
        set { layers[source.rank] = newValue }
    }

    /// The names of the caches that a source has settings for.
    public var names: Set<String> { Set(layers.flatMap { $0.caches.keys }) }

    /// The settings of the cache called `name`, or when `nil` of a cache that no source names. The folder is empty unless
    /// a source names it.
    public func settings(of name: String?) -> ImageCache.Configuration {
        var settings = base
        for layer in layers { layer.change(of: name).apply(to: &settings) }
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
        for layer in layers { layer.downloader.apply(to: &settings) }
        return settings
    }

    /// The options of requests that leave them out, as the sources name them.
    var options: DefaultOptions {
        layers.reduce(into: DefaultOptions()) { $0.add($1.options) }
    }

    /// The configuration of the process: that of `base`, replaced by the settings that a source names.
    package func configuration(_ base: ServerConfiguration) -> ServerConfiguration {
        var configuration = base
        configuration.engine.defaults = settings(of: nil)
        configuration.engine.caches = named
        configuration.engine.downloader = downloader(base.engine.downloader)
        for layer in layers { layer.process.apply(to: &configuration) }
        return configuration
    }

    /// The source of one setting of the process or of the downloader.
    func source(of name: String) -> SettingSource {
        last { $0.process.names(name) || $0.downloader.names(name) }
    }

    /// The source of one of the default options.
    func source(ofOption name: String) -> SettingSource { last { $0.options.names(name) } }

    /// The source of one setting of a cache, such as `disk.purgeRatio`.
    public func source(of path: String, in name: String?) -> SettingSource {
        last { $0.change(of: name).names(path) }
    }

    private func last(where names: (CacheLayer) -> Bool) -> SettingSource {
        layers.lastIndex(where: names).map { SettingSource.allCases[$0] } ?? .default
    }
}
