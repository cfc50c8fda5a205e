/// What the transfers of one transport share, confined to its thread.
final class TransferBook {
    /// The names that they have met.
    var names = NameMemory()
    /// The sockets that they have opened.
    var sockets = OpenSockets()
    private var heads: [Transfer] = []
    private var moved: [Transfer] = []

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
