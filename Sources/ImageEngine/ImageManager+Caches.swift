internal import Glibc
internal import Platform
internal import Synchronization

/// The caches of an engine: those that are open, and what the others will be like.
struct CacheTable: Sendable {
    let root: String
    var defaults: ImageCache.Configuration
    var configured: [String: ImageCache.Configuration]
    var opened: [String: ImageCache] = [:]

    init(_ configuration: ImageManager.Configuration) {
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

extension ImageManager {
    /// Whether `name` can be the name of a cache: 1…64 letters, digits, `-`, `_` and `.`, not beginning with a dot.
    public static func isCacheName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && !name.hasPrefix(".")
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// The settings in force of a cache, open or not, with its folder.
    public func settings(of name: String) -> ImageCache.Configuration {
        caches.withLock { $0.settings(of: name) }
    }

    /// Changes the settings of one cache from now on, open or not.
    ///
    /// - Parameter settings: An empty folder is the one that the cache has or would have.
    /// - Returns: The settings in force.
    /// - Throws: ``FolderInUse`` if the cache is open in another folder; nothing is changed then.
    @discardableResult
    public func configure(
        _ name: String, _ settings: ImageCache.Configuration
    ) throws(FolderInUse) -> ImageCache.Configuration {
        try caches.withLock { caches throws(FolderInUse) in
            try caches.check(name, folder: settings.disk.folder)
            caches.configured[name] = settings
            // Within the lock, so that of two changes the later one stays.
            caches.opened[name]?.configure(settings)
            noteResumeLimit(caches)
            return caches.settings(of: name)
        }
    }

    /// Has what is kept of bodies that broke off follow the limit of the cache where they are.
    private func noteResumeLimit(_ caches: CacheTable) {
        let limit = caches.settings(of: Self.defaultCacheName).disk.bytesLimit
        spool.resumeLimit.store(ResumeFolder.bytesLimit(beside: limit), ordering: .relaxed)
    }

    /// Changes the settings of one cache from now on, open or not, beginning from those in force.
    ///
    /// - Returns: The settings in force.
    /// - Throws: ``FolderInUse`` if the cache is open in another folder; nothing is changed then.
    @discardableResult
    public func configure(
        _ name: String, _ change: (inout ImageCache.Configuration) -> Void
    ) throws(FolderInUse) -> ImageCache.Configuration {
        var settings = settings(of: name)
        change(&settings)
        return try configure(name, settings)
    }

    /// Changes the settings of all caches from now on: of those named, and of the others.
    ///
    /// - Throws: ``FolderInUse`` if a cache is open in another folder; nothing is changed then.
    public func configureAll(
        defaults: ImageCache.Configuration, caches named: [String: ImageCache.Configuration]
    ) throws(FolderInUse) {
        try caches.withLock { caches throws(FolderInUse) in
            for (name, settings) in named { try caches.check(name, folder: settings.disk.folder) }
            caches.defaults = defaults
            caches.configured = named
            for (name, cache) in caches.opened { cache.configure(named[name] ?? defaults) }
            noteResumeLimit(caches)
        }
    }

    /// The caches that are open or have settings of their own, and those whose folders lie under the root, by name.
    ///
    /// Reads one folder.
    public var knownCaches: [KnownCache] {
        let found = Self.cacheFolders(in: configuration.cacheRoot)
        return caches.withLock { caches in
            let names = Set(caches.opened.keys).union(caches.configured.keys).union(found)
            return names.sorted().map { name in
                KnownCache(name: name, isOpen: caches.opened[name] != nil, settings: caches.settings(of: name))
            }
        }
    }

    /// The names of the folders in `root` that look like caches.
    private static func cacheFolders(in root: String) -> [String] {
        guard let folder = opendir(root) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard isCacheName(name) else { continue }
            if ["CACHEDIR.TAG", "index.sqlite"].contains(where: { access("\(root)/\(name)/\($0)", F_OK) == 0 }) {
                names.append(name)
            }
        }
        return names
    }
}
