internal import Platform

/// The speed check of a transfer, by received bytes and time.
///
/// Silence ends a caller's wait after its `timeout`. So does a trickle: a minimum of bytes has to arrive in each span of
/// two timeouts, because otherwise a server that sends a byte now and then could occupy a slot forever. Long before that
/// the transfer counts as stalled, and others may run beside it.
struct TransferPace: Sendable {
    /// What one caller accepts, or several alike.
    struct Patience: Hashable, Sendable {
        /// The longest silence, in seconds.
        let timeout: Double
        /// The minimum speed over two timeouts. 0: none.
        let minBytesPerSecond: Double
    }

    enum Verdict: Sendable, Equatable {
        /// The wait continues. Check again at this time, in nanoseconds.
        case continues(until: Int)
        /// The limit of an option was exceeded after this number of seconds.
        case timedOut(option: String, seconds: Double)
        /// The wait for the end of a discarded body is over.
        case discardEnded
    }

    /// The bytes in the current span of two timeouts.
    private struct Span: Sendable {
        /// The time of the first check, or the end of the last pause.
        let began: Int
        var end: Int
        var bytes = 0
    }

    /// The longest wait for the end of a discarded body, in nanoseconds. A new connection costs about as much.
    static let discardSpan = 200_000_000

    /// The time without significant bytes after which a transfer counts as stalled, in nanoseconds.
    static let stallSpan = 1_000_000_000

    private var spans = OneOrMany<Patience, Span>()
    private var lastActivity: Int
    private var bytes = 0
    private var isPaused = false
    private let leastBytesToContinue: Int
    private var stallEnd: Int
    private var stallBytes = 0
    /// `true` when almost nothing arrived for ``stallSpan``, and perhaps nothing ever will.
    private(set) var isStalled = false
    private var end: Int?

    /// Creates the check of a transfer that begins at `now`, in nanoseconds of a monotonic clock, and counts as stalled below
    /// a speed.
    init(minBytesPerSecond: Double, now: Int) {
        lastActivity = now
        // Capped: falling below a stricter limit than the size of an honest server's head is no sign of a stall.
        leastBytesToContinue = max(1, Int(min(minBytesPerSecond, 100)))
        stallEnd = now + Self.stallSpan
    }

    mutating func received(_ count: Int, at now: Int) {
        lastActivity = now
        bytes += count
        stallBytes += count
        if stallBytes >= leastBytesToContinue {
            isStalled = false
            (stallEnd, stallBytes) = (now + Self.stallSpan, 0)
        }
    }

    /// Stops the clock while the server waits for this side.
    mutating func pause() { isPaused = true }

    /// Starts the clock again when the transfer waits for the server.
    mutating func resume(at now: Int) {
        isPaused = false
        lastActivity = now
        spans = OneOrMany()
        (stallEnd, stallBytes) = (now + Self.stallSpan, 0)
    }

    /// Limits the wait for the rest of the body, because it is discarded.
    mutating func discard(at now: Int) { end = now + Self.discardSpan }

    /// Checks now whether the transfer is stalled, or its end was waited for long enough.
    mutating func verdict(at now: Int) -> Verdict {
        if let end, now >= end { return .discardEnded }
        if isPaused { return .continues(until: end ?? .max) }
        if now >= stallEnd {
            isStalled = true
            (stallEnd, stallBytes) = (now + Self.stallSpan, 0)
        }
        return .continues(until: min(stallEnd, end ?? .max))
    }

    /// Checks the speed now for a caller, who waits since the first check.
    mutating func verdict(at now: Int, for patience: Patience) -> Verdict {
        if isPaused { return .continues(until: .max) }
        let length = Int(2 * patience.timeout * 1e9)
        var span = spans[patience] ?? Span(began: now, end: now + length, bytes: bytes)
        let silence = max(lastActivity, span.began) + Int(patience.timeout * 1e9)
        if now >= silence { return .timedOut(option: "timeout", seconds: patience.timeout) }
        if now >= span.end {
            if Double(bytes - span.bytes) < patience.minBytesPerSecond * 2 * patience.timeout {
                return .timedOut(option: "minBytesPerSecond", seconds: 2 * patience.timeout)
            }
            (span.end, span.bytes) = (now + length, bytes)
        }
        spans[patience] = span
        return .continues(until: min(silence, span.end))
    }
}
