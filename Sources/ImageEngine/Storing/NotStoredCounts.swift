internal import Logging
internal import Synchronization

/// The numbers of loaded images that should have been stored and were not, by reason.
final class NotStoredCounts: Sendable {
    private let counts = Mutex<[NotStoredReason: Int]>([:])

    var all: [NotStoredReason: Int] { counts.withLock { $0 } }

    /// Counts an image that was not stored.
    ///
    /// - Parameter unawaited: The cache and the hash of an image whose result no caller receives. It names the image in
    ///   the log, because URLs are private.
    func note(_ reason: NotStoredReason, unawaited: @autoclosure () -> (cache: String, hash: String)?) {
        if reason == .notAsked { return }
        counts.withLock { $0[reason, default: 0] += 1 }
        guard let (cache, hash) = unawaited() else { return }
        Logger(label: "halcyon.images").warning(
            "an image was not stored, and nobody waits for it",
            metadata: ["cache": "\(cache)", "image": "\(hash)", "reason": "\(reason.rawValue)"])
    }
}
