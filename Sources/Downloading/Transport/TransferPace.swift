internal import Platform

/// Whether a transfer still comes along, by the bytes that came and the time: a plain value.
///
/// Silence ends it after `timeout`. So does a drip: in each span of two timeouts at least so many bytes a second have to
/// come, or a server that sends one byte now and then would hold a slot for ever (C4). Long before that it is stalled:
/// others may run beside it meanwhile.
struct TransferPace: Sendable {
    /// What is to be done with a transfer.
    enum Verdict: Sendable, Equatable {
        /// It goes on; look again then, in nanoseconds.
        case goesOn(until: Int)
        /// An option has ended it, after so many seconds.
        case timedOut(option: String, seconds: Double)
        /// Nobody waits any longer for the rest of a body that nobody wants.
        case isLetGo
    }

    /// How long the body of an answer that leads elsewhere is waited for, in nanoseconds: a new connection costs about
    /// as much.
    static let patience = 200_000_000

    /// After how long without bytes worth counting it is stalled, in nanoseconds.
    static let stallSpan = 1_000_000_000

    private let timeout: Double
    /// How many bytes have to come in a span; 0 for any.
    private let least: Double
    private let span: Int
    private var lastActivity: Int
    private var spanEnd: Int
    private var spanBytes = 0
    private var isHeld = false
    private let leastToGetOn: Int
    private var stallEnd: Int
    private var stallBytes = 0
    /// Whether hardly anything came for ``stallSpan``: it may be that nothing will.
    private(set) var isStalled = false
    private var end: Int?

    /// - Parameters:
    ///   - timeout: The seconds of silence that end it.
    ///   - minBytesPerSecond: The slowest that is put up with; 0 for no such limit.
    ///   - now: In nanoseconds of a clock that never goes back.
    init(timeout: Double, minBytesPerSecond: Double, now: Int) {
        self.timeout = timeout
        span = Int(2 * timeout * 1e9)
        least = minBytesPerSecond * 2 * timeout
        lastActivity = now
        spanEnd = now + span
        // Of a stricter limit than a head that honest servers send it is no sign.
        leastToGetOn = max(1, Int(min(minBytesPerSecond, 100)))
        stallEnd = now + Self.stallSpan
    }

    /// Bytes came.
    mutating func received(_ count: Int, at now: Int) {
        lastActivity = now
        spanBytes += count
        stallBytes += count
        if stallBytes >= leastToGetOn {
            isStalled = false
            (stallEnd, stallBytes) = (now + Self.stallSpan, 0)
        }
    }

    /// It waits for us: the server cannot help it.
    mutating func hold() { isHeld = true }

    /// It waits for the server again.
    mutating func release(at now: Int) {
        isHeld = false
        lastActivity = now
        (spanEnd, spanBytes) = (now + span, 0)
        (stallEnd, stallBytes) = (now + Self.stallSpan, 0)
    }

    /// What still comes is of no use.
    mutating func lose(at now: Int) { end = now + Self.patience }

    /// What is to be done now.
    mutating func verdict(at now: Int) -> Verdict {
        if let end, now >= end { return .isLetGo }
        if isHeld { return .goesOn(until: end ?? .max) }
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
        return .goesOn(until: min(silence, spanEnd, stallEnd, end ?? .max))
    }
}
