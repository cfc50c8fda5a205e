internal import CCurl

/// The sockets of one transport by the ports of their near ends, which is what libcurl tells of a connection that it is
/// about to use.
struct OpenSockets {
    /// Those over which nothing has been asked yet.
    private var fresh: Set<Int32> = []
    private var used: [Int32: Int32] = [:]

    /// Notes a socket that was made.
    mutating func opened(_ socket: Int32) { fresh.insert(socket) }

    /// Forgets a socket that is about to be closed.
    mutating func closed(_ socket: Int32) {
        guard fresh.remove(socket) == nil, let port = used.first(where: { $0.value == socket })?.key else { return }
        used[port] = nil
    }

    /// Whether the server has said something over the connection at a port since its last answer was read. Whoever asks
    /// means to use the connection.
    mutating func hasUnaskedInput(at port: Int32) -> Bool {
        if let socket = used[port] { return hc_has_input(socket) != 0 }
        if let socket = fresh.first(where: { hc_local_port($0) == port }) {
            fresh.remove(socket)
            used[port] = socket
        }
        return false
    }
}
