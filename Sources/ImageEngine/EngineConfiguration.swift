internal import CLinux
public import Platform
package import RemoteStorage

/// The settings of an engine.
public struct EngineConfiguration: Sendable {
    /// The folder that contains the folders of the caches.
    public var cacheRoot: String
    /// The settings of caches that have none of their own; their folder has no effect.
    public var defaults = ImageCache.Configuration(folder: "")
    /// The settings of single caches, by name. An empty folder means the one with the cache's name in ``cacheRoot``.
    public var caches: [String: ImageCache.Configuration] = [:]
    /// `true` when folders of caches may be other users', or a group's whose members trust each other.
    public var sharedFolders = false
    /// `true` when no request loads anything from the network.
    public var offline = false
    /// The settings of the downloader.
    public var downloader = ImageDownloader.Configuration()
    /// The time between cleanings of the caches when the engine is idle, in seconds. Default: 120; 0 means never.
    public var cleanInterval = 120.0
    /// The settings of the tier that several machines share.
    package var remote = RemoteTier.Configuration()
    /// The settings of the codec workers, which process images.
    public var codec = CodecPool.Configuration()
    /// The clocks.
    public var clock = EngineClock.system
    /// Returns `true` when this machine has a network; replaced in tests.
    var hasNetwork: @Sendable () -> Bool = { hl_has_network() != 0 }

    /// The default settings under a folder.
    public init(cacheRoot: String) { self.cacheRoot = cacheRoot }

    /// Lowers default limits to what the machine has: the memory tier takes an eighth of the memory that a container may use at
    /// most, a codec worker half of it.
    package mutating func fit(_ machine: MachineLimits) {
        guard let memory = machine.memory else { return }
        defaults.memory.costLimit = min(defaults.memory.costLimit, memory / 8)
        defaults.memory.preferredCost = min(defaults.memory.preferredCost, memory / 8 / 5 * 3)
        codec.memoryBytes = min(codec.memoryBytes, memory / 2)
    }
}
