/// What the transfers of one transport share, confined to its thread.
final class TransferBook {
    /// The names that they have met.
    var names = NameMemory()
    /// The sockets that they have opened.
    var sockets = OpenSockets()
    private var heads: [Transfer] = []

    /// Has a head judged when libcurl has read it.
    func note(_ transfer: Transfer) { heads.append(transfer) }

    /// The transfers whose heads have come whole.
    func takeHeads() -> [Transfer] {
        defer { heads = [] }
        return heads
    }
}
