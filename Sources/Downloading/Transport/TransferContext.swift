internal import CCurl
internal import Platform

/// The state that all transfers of one transport share, confined to its thread.
final class TransferContext {
    /// The host names resolved so far, with the classes of their addresses.
    var names = ResolvedNames()
    /// The sockets opened by the transfers.
    var sockets = OpenSockets()
    private var heads: [Transfer] = []
    private var receivers: [Transfer] = []
    /// The number of bytes received over TLS that were of no use to a transfer.
    private let intake = UnsafeMutablePointer<hc_intake>.allocate(capacity: 1)

    /// The maximum number of useless bytes over a connection in one turn. An honest server sends a few bytes more than
    /// the body; one that sends frames without content would occupy the thread forever.
    private static let uselessLimit = 16 << 20

    init() {
        var empty = hc_intake()
        empty.limit = Self.uselessLimit
        intake.initialize(to: empty)
    }

    deinit { intake.deallocate() }

    /// `true` when a connection was closed in this turn because it delivered only useless bytes.
    var hasFlood: Bool { intake.pointee.is_exceeded != 0 }

    /// Counts the bytes received over a transfer's connection.
    func countInput(_ easy: UnsafeMutableRawPointer) { hc_set_intake(easy, intake) }

    /// Subtracts bytes that were of use.
    func countUseful(_ count: Int) { hc_take_off(intake, count) }

    /// Begins a turn of the thread.
    func beginTurn() { hc_begin_intake(intake) }

    /// Adds a transfer whose head is checked as soon as libcurl has read it.
    func addHead(_ transfer: Transfer) { heads.append(transfer) }

    /// Adds a transfer that has received bytes in this turn.
    func addReceiver(_ transfer: Transfer) { receivers.append(transfer) }

    /// Returns the transfers that have received bytes, and clears the list.
    func removeReceivers() -> [Transfer] {
        defer { receivers = [] }
        return receivers
    }

    /// Returns the transfers whose heads are complete, and clears the list.
    func removeHeads() -> [Transfer] {
        defer { heads = [] }
        return heads
    }
}
