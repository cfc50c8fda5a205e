/// The total time that one caller waits for an image, including queues, redirects, retries and other sources.
struct Deadline: Sendable {
    /// The total time in seconds; `nil` for no deadline.
    let seconds: Double?
    /// The arrival time of the request, in nanoseconds of the engine's clock.
    let arrived: Int

    /// The deadline of a request; it arrived at `now` unless its caller states another time.
    init(_ request: ImageRequest, at now: Int) {
        self.init(seconds: request.options.caller.deadline, arrived: request.caller.arrived ?? now)
    }

    init(seconds: Double?, arrived: Int) { (self.seconds, self.arrived) = (seconds, arrived) }

    /// The error of a missed deadline, and the remaining nanoseconds; `nil` when there is no deadline.
    func failure(_ url: String, at now: Int) -> (error: ImageError, nanoseconds: Int)? {
        guard let seconds, let rest = rest(at: now) else { return nil }
        return (.timedOut(url: url, option: "deadline", seconds: seconds), rest)
    }

    /// The remaining nanoseconds; `nil` when there is no deadline.
    func rest(at now: Int) -> Int? {
        // A day is the largest value of the option.
        seconds.map { seconds in
            seconds > 0 ? max(0, Int(min(seconds, 86_400) * 1e9) - (now - arrived)) : 0
        }
    }
}
