internal import Platform
internal import RemoteStorage

/// The services that the stages of one engine share: settings, caches, the downloader, codec workers, running jobs and
/// counters. A stage is a value around these services.
final class EngineServices: Sendable {
    /// The number of threads that may wait for the disk at the same time, besides those of surveys.
    static let diskThreads = 8

    let configuration: EngineConfiguration
    let caches: CacheRegistry
    let downloader: ImageDownloader
    let codec: CodecPool
    /// The place of the tier that several machines share.
    let remoteSlot: RemoteSlot
    /// Runs work that may wait for the disk.
    let pool = BlockingPool(threads: diskThreads)
    /// The work that requests share.
    let jobs = JobTable()
    let counts = EngineCounts()
    let failures: FailureMemory
    let scopes: RequestScopes
    let lookup: CacheLookup
    let changes = EventHook<ImageChange>()
    let activity = EventHook<Int>()
    let remoteChanges = EventHook<RemoteChange>()
    /// The limit on bytes of users' files that have been read and wait to be stored together with others.
    let readAhead = Allowance(bytes: 4 << 20)
    /// The stores that are answered before they are done.
    let unawaited = Backlog()

    init(_ configuration: EngineConfiguration) {
        let clock = configuration.clock
        self.configuration = configuration
        failures = FailureMemory(clock: clock)
        caches = CacheRegistry(configuration, pool: pool, failures: failures, counts: counts)
        codec = CodecPool(configuration.codec, now: clock.monotonic)
        downloader = ImageDownloader(
            configuration.downloader,
            accept: codec.isAvailable ? CodecFormats.accept : TransportSettings.anyImage,
            now: clock.monotonic,
            activity: { [activity] in activity.report($0) },
            spool: SpoolPlace(
                makePath: { [spool = caches.spool] in try spool.partialPath() }, resume: ResumeFolder(caches.spool),
                names: SharedLines(caches.spool, name: "names"), observer: ScanMap()))
        scopes = RequestScopes(downloader)
        remoteSlot = RemoteSlot(configuration, pool: pool, changes: remoteChanges)
        lookup = CacheLookup(configuration, caches, scopes, counts)
    }

    var spool: StorageFolder { caches.spool }

    /// The tier that several machines share; `nil` when there is none, and in a recording, which has no requests to it.
    var remote: RemoteTier? { downloader.recorder == nil ? remoteSlot.tier : nil }

    /// The time in nanoseconds, from a monotonic clock.
    var now: Int { configuration.clock.monotonic() }
}
