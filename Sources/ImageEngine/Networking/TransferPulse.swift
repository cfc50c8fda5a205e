internal import Synchronization

/// Whether a transfer is waiting for its server, and how much that has sent: what those who share it go by.
final class TransferPulse: Sendable {
    private let running = Atomic(false)
    private let received = Atomic(0)

    /// Whether it waits for the server, and not for a turn or somebody's word.
    var isRunning: Bool { running.load(ordering: .relaxed) }

    /// Bytes that have come, headers included.
    var bytes: Int { received.load(ordering: .relaxed) }

    /// A request has been sent, or is gone on with.
    func start() { running.store(true, ordering: .relaxed) }

    /// Bytes came.
    func beat(_ count: Int) { received.add(count, ordering: .relaxed) }

    /// A request is over, or waits for us.
    func stop() { running.store(false, ordering: .relaxed) }
}
