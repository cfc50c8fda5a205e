internal import CCurl
internal import Platform

/// The state that all transfers of one transport share, confined to its thread.
final class TransferContext {
    let settings: TransportSettings
    /// The host names resolved so far, with the classes of their addresses.
    let names: ResolvedNames
    var sockets = OpenSockets()
    /// The transfers that have received bytes in this turn.
    var receivers: [Transfer] = []
    /// The number of bytes received over TLS that were of no use to a transfer.
    private let intake = UnsafeMutablePointer<hc_intake>.allocate(capacity: 1)

    init(_ settings: TransportSettings, names: ResolvedNames) {
        (self.settings, self.names) = (settings, names)
        var empty = hc_intake()
        // The maximum for a connection in one turn. An honest server sends a few bytes more than the body; one that sends
        // frames without content would occupy the thread forever.
        empty.limit = 16 << 20
        intake.initialize(to: empty)
    }

    deinit { intake.deallocate() }

    /// `true` when a connection was closed in this turn because it delivered only useless bytes.
    var hasFlood: Bool { intake.pointee.is_exceeded != 0 }

    /// Counts the bytes received over a transfer's connection.
    func countInput(_ easy: UnsafeMutableRawPointer) { hc_set_intake(easy, intake) }

    func countUseful(_ count: Int) { hc_take_off(intake, count) }

    func beginTurn() { hc_begin_intake(intake) }
}

/// The sockets of one transport, found by the two ends that libcurl reports for a connection that it is about to use.
struct OpenSockets {
    /// The two ends of a connection. The local port alone is not unique: the system assigns one to several connections
    /// as long as they lead to different places.
    struct Ends: Hashable {
        let nearPort: Int32
        /// The address as text, as libcurl writes it.
        let farAddress: String
        let farPort: Int32
    }

    /// The sockets that no request has used yet.
    private var fresh: Set<Int32> = []
    private var used: [Ends: Int32] = [:]

    mutating func opened(_ socket: Int32) { fresh.insert(socket) }

    mutating func closed(_ socket: Int32) {
        guard fresh.remove(socket) == nil, let ends = used.first(where: { $0.value == socket })?.key else { return }
        used[ends] = nil
    }

    /// `true` when the server has sent something over a connection since its last response was read. Also records that
    /// the connection is used.
    mutating func hasUnaskedInput(over ends: Ends) -> Bool {
        if let socket = used[ends] { return hc_has_input(socket) != 0 }
        if let socket = fresh.first(where: { hc_joins($0, ends.nearPort, ends.farAddress, ends.farPort) != 0 }) {
            fresh.remove(socket)
            used[ends] = socket
        }
        return false
    }
}
