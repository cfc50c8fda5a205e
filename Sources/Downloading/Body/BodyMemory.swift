internal import Synchronization

/// Counts the bytes of finished downloads that are in memory and not used up yet, for all bodies of one ``SpoolPlace``.
///
/// Downloads may be faster than the disk that their images are stored on. Above the limit downloads start one at a time; see
/// ``DownloadQueue/start(at:isHeldBack:)``.
package final class BodyMemory: Sendable {
    /// The number of bytes from which on downloads are held back.
    static let limit = 32 << 20

    private let held = Atomic(0)

    /// `true` when downloads are held back.
    var isUsedUp: Bool { held.load(ordering: .relaxed) >= Self.limit }

    func add(_ bytes: Int) { held.add(bytes, ordering: .relaxed) }

    func subtract(_ bytes: Int) { held.subtract(bytes, ordering: .relaxed) }
}
