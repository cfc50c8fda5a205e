/// The caches of an engine: those that are open, and the settings of the others.
struct CacheTable: Sendable {
    let root: String
    var defaults: ImageCache.Configuration
    var configured: [String: ImageCache.Configuration]
    var opened: [String: ImageCache] = [:]

    init(_ configuration: EngineConfiguration) {
        root = configuration.cacheRoot
        defaults = configuration.defaults
        configured = configuration.caches
    }

    /// The settings of a cache, open or not, with its folder.
    func settings(of name: String) -> ImageCache.Configuration {
        if let cache = opened[name] { return cache.configuration }
        if let own = configured[name] { return completed(own, name) }
        var settings = defaults
        settings.disk.folder = ""
        return completed(settings, name)
    }

    func completed(_ settings: ImageCache.Configuration, _ name: String) -> ImageCache.Configuration {
        var settings = settings
        if settings.disk.folder.isEmpty { settings.disk.folder = root + "/" + name }
        return settings
    }

    /// Refuses another folder for a cache that is open.
    func check(_ name: String, folder: String) throws(FolderInUse) {
        guard let cache = opened[name], !folder.isEmpty, cache.configuration.disk.folder != folder else { return }
        throw FolderInUse(cache: name, folder: cache.configuration.disk.folder)
    }
}

/// A cache cannot move to another folder, because it is open.
public struct FolderInUse: Error, Equatable, CustomStringConvertible {
    /// The name of the cache.
    public let cache: String
    /// The folder that it has.
    public let folder: String

    /// What happened and what to do about it.
    public var description: String {
        "The cache \"\(cache)\" is open in \(folder): name its folder before the cache is first used."
    }
}

/// A cache that an engine knows of.
public struct KnownCache: Sendable, Equatable {
    /// Its name.
    public let name: String
    /// Whether this process has used it.
    public let isOpen: Bool
    /// Its settings, with its folder.
    public let settings: ImageCache.Configuration
}
