internal import Logging
internal import Synchronization

/// Counts what an engine does. Callable from any thread.
final class EngineCounts: Sendable {
    private let memoryHits = Atomic(0)
    private let diskHits = Atomic(0)
    private let misses = Atomic(0)
    /// The number of answers that another process downloaded while this one waited.
    let sharedDownloads = Atomic(0)
    /// The number of downloads that wait for another process.
    let waitingClaims = Atomic(0)
    /// The number of downloads that wait for another machine.
    let waitingForMachines = Atomic(0)
    /// The bytes of images that were let go because their answers have to wait, since memory was last given back.
    let bytesAside = Atomic(0)
    private let notStoredCounts = Mutex<[NotStoredReason: Int]>([:])

    /// The numbers of loaded images that should have been stored and were not, by reason.
    var notStored: [NotStoredReason: Int] { notStoredCounts.withLock { $0 } }

    func count(_ type: CacheType) {
        switch type {
        case .memory: memoryHits.add(1, ordering: .relaxed)
        case .disk: diskHits.add(1, ordering: .relaxed)
        // The tier counts them itself.
        case .remote: break
        case .none: misses.add(1, ordering: .relaxed)
        }
    }

    func count(_ loaded: Result<ImageResult, any Error>) {
        switch loaded {
        case .success(let image): count(image.cacheType)
        case .failure(let error): if error is ImageError { count(.none) }
        }
    }

    /// Counts an image that was not stored.
    ///
    /// - Parameter unawaited: The cache and the hash of an image whose result no caller receives. It names the image in
    ///   the log, because URLs are private.
    func count(_ reason: NotStoredReason, unawaited: @autoclosure () -> (cache: String, hash: String)?) {
        if reason == .notAsked { return }
        notStoredCounts.withLock { $0[reason, default: 0] += 1 }
        guard let (cache, hash) = unawaited() else { return }
        Logger(label: "halcyon.images").warning(
            "an image was not stored, and nobody waits for it",
            metadata: ["cache": "\(cache)", "image": "\(hash)", "reason": "\(reason.rawValue)"])
    }

    /// The numbers of answers from memory, from disk, and of images that no cache had.
    var answers: (memory: Int, disk: Int, none: Int) {
        (
            memoryHits.load(ordering: .relaxed), diskHits.load(ordering: .relaxed), misses.load(ordering: .relaxed)
        )
    }
}
