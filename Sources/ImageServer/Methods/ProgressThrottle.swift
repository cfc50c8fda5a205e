/// Which reports of progress are sent: a plain value.
///
/// At most one in ``interval``, and only when something has grown.
struct ProgressThrottle: Sendable {
    /// A tenth of a second, in nanoseconds.
    static let interval = 100_000_000

    private var lastTime: Int?
    private var lastReceived = 0

    /// Whether to send a report of `received` bytes at `now`, in nanoseconds of a clock that never goes back.
    mutating func admits(_ received: Int, now: Int) -> Bool {
        guard received > lastReceived else { return false }
        if let lastTime, now - lastTime < Self.interval { return false }
        lastTime = now
        lastReceived = received
        return true
    }

    /// Seconds from `now` until a report may be sent.
    func wait(at now: Int) -> Double {
        Double(max((lastTime.map { $0 + Self.interval } ?? now) - now, 0)) / 1e9
    }
}
