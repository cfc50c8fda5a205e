internal import CCurl

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

    /// Adds a new socket.
    mutating func opened(_ socket: Int32) { fresh.insert(socket) }

    /// Removes a socket that is about to be closed.
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
