internal import CLinux
public import Platform

/// The settings of an engine.
public struct EngineConfiguration: Sendable {
    /// The folder under which every cache has its own.
    public var cacheRoot: String
    /// The settings of every cache that has none of its own; the folder in it does not count.
    public var defaults = ImageCache.Configuration(folder: "")
    /// The settings of single caches, by name. An empty folder is the one called like the cache, under
    /// ``cacheRoot``.
    public var caches: [String: ImageCache.Configuration] = [:]
    /// `true` when nothing is loaded from the network, whoever asks.
    public var offline = false
    /// The downloader.
    public var downloader = ImageDownloader.Configuration()
    /// The time from one cleaning of the caches to the next when nothing else is to do, in seconds; 120 by default, 0 for
    /// never.
    public var cleanInterval = 120.0
    /// The workers that make pictures of others.
    public var codec = CodecPool.Configuration()
    /// The clocks.
    public var clock = EngineClock.system
    /// `true` when this machine has a network; another answer in tests.
    var hasNetwork: @Sendable () -> Bool = { hl_has_network() != 0 }

    /// The default settings under a folder.
    public init(cacheRoot: String) { self.cacheRoot = cacheRoot }
}
