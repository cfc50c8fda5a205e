/// The rate limit of progress reports, as a plain value.
///
/// At most one report per ``interval``, and only with a higher amount than before.
struct ProgressThrottle: Sendable {
    /// The minimum time between two reports, in nanoseconds: a tenth of a second.
    static let interval = 100_000_000

    private var lastTime: Int?
    private var lastReceived = 0

    /// `true` when a report of `received` bytes may be sent at `now`, in nanoseconds of a monotonic clock.
    mutating func admits(_ received: Int, now: Int) -> Bool {
        guard received > lastReceived else { return false }
        if let lastTime, now - lastTime < Self.interval { return false }
        lastTime = now
        lastReceived = received
        return true
    }

    /// The number of seconds from `now` until a report may be sent.
    func wait(at now: Int) -> Double {
        Double(max((lastTime.map { $0 + Self.interval } ?? now) - now, 0)) / 1e9
    }
}
