internal import CCurl

/// The sockets of one transport by what libcurl tells of a connection that it is about to use: its two ends.
struct OpenSockets {
    /// Where a connection leads from and to. The port of our end alone is not enough: the system gives one to several
    /// connections as long as they lead to different places.
    struct Ends: Hashable {
        let nearPort: Int32
        /// In digits, as libcurl has it.
        let farAddress: String
        let farPort: Int32
    }

    /// Those over which nothing has been asked yet.
    private var fresh: Set<Int32> = []
    private var used: [Ends: Int32] = [:]

    /// Notes a socket that was made.
    mutating func opened(_ socket: Int32) { fresh.insert(socket) }

    /// Forgets a socket that is about to be closed.
    mutating func closed(_ socket: Int32) {
        guard fresh.remove(socket) == nil, let ends = used.first(where: { $0.value == socket })?.key else { return }
        used[ends] = nil
    }

    /// Whether the server has said something over a connection since its last answer was read. Whoever asks means to use
    /// the connection.
    mutating func hasUnaskedInput(over ends: Ends) -> Bool {
        if let socket = used[ends] { return hc_has_input(socket) != 0 }
        if let socket = fresh.first(where: { hc_joins($0, ends.nearPort, ends.farAddress, ends.farPort) != 0 }) {
            fresh.remove(socket)
            used[ends] = socket
        }
        return false
    }
}
