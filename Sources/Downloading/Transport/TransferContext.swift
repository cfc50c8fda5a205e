internal import CCurl
internal import Platform

/// What the transfers of one transport share, confined to its thread.
final class TransferContext {
    /// The names that they have met.
    var names = ResolvedNames()
    /// The sockets that they have opened.
    var sockets = OpenSockets()
    private var heads: [Transfer] = []
    private var moved: [Transfer] = []
    /// What has come over TLS without being of use to a transfer.
    private let intake = UnsafeMutablePointer<hc_intake>.allocate(capacity: 1)

    /// The most of no use to anybody that may come over a connection in a turn. An honest server sends a few bytes more than
    /// the body has; one that sends nothing but frames without content would keep the thread for ever.
    private static let uselessLimit = 16 << 20

    init() {
        var empty = hc_intake()
        empty.limit = Self.uselessLimit
        intake.initialize(to: empty)
    }

    deinit { intake.deallocate() }

    /// Whether a connection had to be closed in this turn, for it brought nothing of use.
    var hasFlood: Bool { intake.pointee.is_exceeded != 0 }

    /// Has a connection count what comes over it.
    func watch(_ easy: UnsafeMutableRawPointer) { hc_set_intake(easy, intake) }

    /// Takes note of what was of use.
    func used(_ count: Int) { hc_take_off(intake, count) }

    /// Begins a turn of the thread.
    func beginTurn() { hc_begin_intake(intake) }

    /// Has a head judged when libcurl has read it.
    func note(_ transfer: Transfer) { heads.append(transfer) }

    /// Has a transfer settled to which bytes have come.
    func noteMoved(_ transfer: Transfer) { moved.append(transfer) }

    /// The transfers to which bytes have come.
    func takeMoved() -> [Transfer] {
        defer { moved = [] }
        return moved
    }

    /// The transfers whose heads have come whole.
    func takeHeads() -> [Transfer] {
        defer { heads = [] }
        return heads
    }
}
