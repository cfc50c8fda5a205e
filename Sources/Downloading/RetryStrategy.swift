public import ImageErrors

/// Whether and when a failed download is tried again: a plain value.
public struct RetryStrategy: Hashable, Sendable {
    /// How the pause before a retry grows.
    public enum Interval: Hashable, Sendable {
        /// The same number of seconds each time.
        case seconds(Double)
        /// This many seconds before the first retry, doubled before each further one.
        case exponential(Double)
    }

    /// How many times a failed download is tried again.
    public var maxRetries: Int
    /// The pause before each.
    public var interval: Interval

    /// The longest pause, in seconds.
    public static let longestDelay = 60.0

    /// No retry, the default.
    public static let never = RetryStrategy(maxRetries: 0, interval: .seconds(1))

    /// A strategy of up to `maxRetries` retries.
    public init(maxRetries: Int, interval: Interval) {
        self.maxRetries = maxRetries
        self.interval = interval
    }

    /// The pause before retry number `attempt` (1 is the first), in seconds; nil when it should not be tried again:
    /// the retries are used up, or the error would come again.
    public func delay(before attempt: Int, after error: ImageError) -> Double? {
        guard attempt <= maxRetries, error.isRetryable else { return nil }
        let seconds =
            switch interval {
            case .seconds(let seconds): seconds
            case .exponential(let seconds): seconds * Double(UInt64(1) << UInt64(min(max(attempt - 1, 0), 30)))
            }
        // Written so that NaN is no pause at all.
        return seconds > 0 ? min(seconds, Self.longestDelay) : 0
    }

    /// The same pause as it is kept: one that grows is shortened by up to half, by chance, so that those who failed
    /// together do not come back together; and it is never shorter than the server asked for.
    ///
    /// - Returns: nil also when the server asked for more than ``longestDelay``.
    package func delay(
        before attempt: Int, after error: ImageError, using generator: inout some RandomNumberGenerator
    ) -> Double? {
        guard var seconds = delay(before: attempt, after: error) else { return nil }
        if case .exponential = interval { seconds *= Double.random(in: 0.5...1, using: &generator) }
        guard let wanted = error.retryAfter else { return seconds }
        return wanted <= Self.longestDelay ? max(seconds, wanted) : nil
    }
}
