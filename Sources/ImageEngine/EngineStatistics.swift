/// Counters since the start of the process.
public struct EngineStatistics: Sendable, Equatable {
    /// Images answered from memory.
    public let memoryHits: Int
    /// Images answered from disk.
    public let diskHits: Int
    /// Images that no cache had.
    public let misses: Int
    /// Callers that joined work under way.
    public let merged: Int
    /// Downloads that ended well.
    public let downloads: Int
    /// Images that another process had downloaded while this one waited for it.
    public let sharedDownloads: Int
    /// Downloads that failed or were cancelled.
    public let failedDownloads: Int
    /// Bytes of bodies received.
    public let downloadedBytes: Int
    /// Downloads under way.
    public let runningDownloads: Int
    /// Those of them whose servers say nothing: others may run beside them.
    public let stalledDownloads: Int
    /// Downloads waiting for their turn, or for another process that downloads the same.
    public let waitingDownloads: Int
    /// Images evicted from disk for their size.
    public let evictions: Int
    /// Images taken out because their files had been changed behind our back.
    public let damagedFiles: Int
    /// Failures that are remembered, and repeated without asking.
    public let rememberedFailures: Int
    /// Loaded images that no tier keeps although they were to be kept, by reason.
    public let notStored: [NotStoredReason: Int]

    /// The counters as they are now.
    init(_ engine: EngineServices) {
        let (counts, load, answers) = (engine.downloader.counts, engine.downloader.load, engine.counts.answers)
        let caches = engine.caches.opened
        (memoryHits, diskHits, misses) = (answers.memory, answers.disk, answers.none)
        (merged, downloads) = (engine.jobs.mergedCount + counts.merged, counts.finished)
        sharedDownloads = engine.counts.sharedDownloads.load(ordering: .relaxed)
        (failedDownloads, downloadedBytes) = (counts.failed, counts.bytes)
        (runningDownloads, stalledDownloads) = (load.running, load.stalled)
        waitingDownloads = load.waiting + engine.counts.waitingClaims.load(ordering: .relaxed)
        evictions = caches.reduce(0) { $0 + $1.disk.evictionCount }
        damagedFiles = caches.reduce(0) { $0 + $1.disk.damageCount }
        rememberedFailures = engine.failures.count
        notStored = engine.counts.notStored.all
    }
}
