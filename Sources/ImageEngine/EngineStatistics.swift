package import RemoteStorage

/// Counters since the start of the process.
public struct EngineStatistics: Sendable, Equatable {
    /// The number of images answered from memory.
    public let memoryHits: Int
    /// The number of images answered from disk.
    public let diskHits: Int
    /// The number of images that no cache had.
    public let misses: Int
    /// The number of callers that joined running work.
    public let merged: Int
    /// The number of successful downloads.
    public let downloads: Int
    /// The number of images that another process downloaded while this one waited for it.
    public let sharedDownloads: Int
    /// The number of downloads that failed or were cancelled.
    public let failedDownloads: Int
    /// The number of received body bytes.
    public let downloadedBytes: Int
    /// The number of running downloads.
    public let runningDownloads: Int
    /// The number of running downloads whose servers send nothing; others may run beside them.
    public let stalledDownloads: Int
    /// The number of downloads that wait for a slot, or for another process that downloads the same image.
    public let waitingDownloads: Int
    /// The number of images evicted from disk because the tier was full.
    public let evictions: Int
    /// The number of images removed because another program had changed their files.
    public let damagedFiles: Int
    /// The number of remembered failures, which are repeated without a new request.
    public let rememberedFailures: Int
    /// The number of loaded images that should have been stored and were not, by reason.
    public let notStored: [NotStoredReason: Int]

    /// The counters of the tier that several machines share; `nil` when there is none.
    package let remote: RemoteCounts?

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
        notStored = engine.counts.notStored
        remote = engine.remote?.counts
    }
}
