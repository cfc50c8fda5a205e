internal import Synchronization

/// Counts the bytes of finished downloads that are in memory and not used up yet, for all bodies of one ``SpoolPlace``.
///
/// Downloads may be faster than the disk that their images are stored on. Above the limit, further bodies are collected in
/// files, so that what waits to be stored takes no memory, and the writing slows the downloads down.
package final class BodyMemory: Sendable {
    /// The number of bytes from which on bodies are collected in files.
    static let limit = 32 << 20

    private let held = Atomic(0)

    /// `true` when further bodies are collected in files.
    var isUsedUp: Bool { held.load(ordering: .relaxed) >= Self.limit }

    func add(_ bytes: Int) { held.add(bytes, ordering: .relaxed) }

    func subtract(_ bytes: Int) { held.subtract(bytes, ordering: .relaxed) }
}
