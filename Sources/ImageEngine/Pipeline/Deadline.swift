/// How long one caller waits for an image in all: in queues, for redirects, through retries and other sources.
struct Deadline: Sendable {
    /// Seconds in all; without end when nil.
    let seconds: Double?
    /// When the caller came, in nanoseconds of the engine's clock.
    let arrived: Int

    /// The deadline of a request that came at `now`, unless its caller says when it came.
    init(_ request: ImageRequest, at now: Int) {
        self.init(seconds: request.options.caller.deadline, arrived: request.caller.arrived ?? now)
    }

    init(seconds: Double?, arrived: Int) { (self.seconds, self.arrived) = (seconds, arrived) }

    /// The error of a request that takes too long, and the nanoseconds until then; `nil` when there is no end.
    func failure(_ url: String, at now: Int) -> (error: ImageError, nanoseconds: Int)? {
        guard let seconds, let rest = rest(at: now) else { return nil }
        return (.timedOut(url: url, option: "deadline", seconds: seconds), rest)
    }

    /// Nanoseconds that are left; nil when there is no end.
    func rest(at now: Int) -> Int? {
        // As long as an option can say: a day.
        seconds.map { seconds in
            seconds > 0 ? max(0, Int(min(seconds, 86_400) * 1e9) - (now - arrived)) : 0
        }
    }
}
