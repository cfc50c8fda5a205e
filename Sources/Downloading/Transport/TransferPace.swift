internal import Platform

/// The speed check of a transfer, by received bytes and time.
///
/// Silence ends a transfer after `timeout`. So does a trickle: a minimum of bytes has to arrive in each span of two
/// timeouts, because otherwise a server that sends a byte now and then could occupy a slot forever. Long before that
/// the transfer counts as stalled, and others may run beside it.
struct TransferPace: Sendable {
    /// The result of a check.
    enum Verdict: Sendable, Equatable {
        /// The transfer continues. Check again at this time, in nanoseconds.
        case continues(until: Int)
        /// The limit of an option was exceeded after this number of seconds.
        case timedOut(option: String, seconds: Double)
        /// The wait for the end of a discarded body is over.
        case discardEnded
    }

    /// The longest wait for the end of a discarded body, in nanoseconds. A new connection costs about as much.
    static let discardSpan = 200_000_000

    /// The time without significant bytes after which a transfer counts as stalled, in nanoseconds.
    static let stallSpan = 1_000_000_000

    private let timeout: Double
    /// The minimum number of bytes in a span. 0: no minimum.
    private let least: Double
    private let span: Int
    private var lastActivity: Int
    private var spanEnd: Int
    private var spanBytes = 0
    private var isPaused = false
    private let leastBytesToContinue: Int
    private var stallEnd: Int
    private var stallBytes = 0
    /// `true` when almost nothing arrived for ``stallSpan``, and perhaps nothing ever will.
    private(set) var isStalled = false
    private var end: Int?

    /// - Parameters:
    ///   - timeout: The seconds of silence that end the transfer.
    ///   - minBytesPerSecond: The minimum speed. 0: none.
    ///   - now: The time of a monotonic clock, in nanoseconds.
    init(timeout: Double, minBytesPerSecond: Double, now: Int) {
        self.timeout = timeout
        span = Int(2 * timeout * 1e9)
        least = minBytesPerSecond * 2 * timeout
        lastActivity = now
        spanEnd = now + span
        // Capped: falling below a stricter limit than the size of an honest server's head is no sign of a stall.
        leastBytesToContinue = max(1, Int(min(minBytesPerSecond, 100)))
        stallEnd = now + Self.stallSpan
    }

    /// Records received bytes.
    mutating func received(_ count: Int, at now: Int) {
        lastActivity = now
        spanBytes += count
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
        (spanEnd, spanBytes) = (now + span, 0)
        (stallEnd, stallBytes) = (now + Self.stallSpan, 0)
    }

    /// Limits the wait for the rest of the body, because it is discarded.
    mutating func discard(at now: Int) { end = now + Self.discardSpan }

    /// Checks the speed now.
    mutating func verdict(at now: Int) -> Verdict {
        if let end, now >= end { return .discardEnded }
        if isPaused { return .continues(until: end ?? .max) }
        let silence = lastActivity + Int(timeout * 1e9)
        if now >= silence { return .timedOut(option: "timeout", seconds: timeout) }
        if now >= spanEnd {
            if Double(spanBytes) < least { return .timedOut(option: "minBytesPerSecond", seconds: 2 * timeout) }
            (spanEnd, spanBytes) = (now + span, 0)
        }
        if now >= stallEnd {
            isStalled = true
            (stallEnd, stallBytes) = (now + Self.stallSpan, 0)
        }
        return .continues(until: min(silence, spanEnd, stallEnd, end ?? .max))
    }
}
