public import ImageErrors

/// The rule by which a failed download is retried.
public struct RetryStrategy: Hashable, Sendable {
    /// The growth of the pauses between retries.
    public enum Interval: Hashable, Sendable {
        /// A constant pause in seconds.
        case seconds(Double)
        /// The pause in seconds before the first retry, doubled before each further one.
        case exponential(Double)
    }

    /// The maximum number of retries.
    public var maxRetries: Int
    /// The pause before each retry.
    public var interval: Interval

    /// The longest pause, in seconds.
    public static let longestDelay = 60.0

    /// No retries. The default.
    public static let never = RetryStrategy(maxRetries: 0, interval: .seconds(1))

    /// Creates a strategy of up to `maxRetries` retries.
    public init(maxRetries: Int, interval: Interval) {
        (self.maxRetries, self.interval) = (maxRetries, interval)
    }

    /// The pause before retry number `attempt`, counted from 1, in seconds. `nil`: no retry, because the retries are
    /// used up or the error would come again.
    public func delay(before attempt: Int, after error: ImageError) -> Double? {
        guard attempt <= maxRetries, error.isRetryable else { return nil }
        let seconds =
            switch interval {
            case .seconds(let seconds): seconds
            case .exponential(let seconds): seconds * Double(UInt64(1) << UInt64(min(max(attempt - 1, 0), 30)))
            }
        // The comparison makes NaN no pause.
        return seconds > 0 ? min(seconds, Self.longestDelay) : 0
    }

    /// The pause with jitter: a growing pause is shortened at random by up to half, so that clients that failed
    /// together do not return together. It is never shorter than the server asked for.
    ///
    /// - Returns: `nil` also when the server asked for more than ``longestDelay``.
    package func delay(
        before attempt: Int, after error: ImageError, using generator: inout some RandomNumberGenerator
    ) -> Double? {
        guard var seconds = delay(before: attempt, after: error) else { return nil }
        if case .exponential = interval { seconds *= Double.random(in: 0.5...1, using: &generator) }
        guard let wanted = error.retryAfter else { return seconds }
        return wanted <= Self.longestDelay ? max(seconds, wanted) : nil
    }
}
