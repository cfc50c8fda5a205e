/// The attempts at one source of an image, and the time of the next one: a plain value.
struct SourceTries: Sendable {
    /// The step after a failed attempt.
    enum Next: Sendable, Equatable {
        /// Starts the next attempt after that number of seconds.
        case attempt(after: Double)
        /// Checks for a network again after that number of nanoseconds.
        case lookForNetwork(after: Int)
        /// Makes no further attempt.
        case giveUp
    }

    /// The failed attempts, in order.
    private(set) var failures: [ImageError.Attempt] = []
    /// The time when the deadline of the request passes, in nanoseconds; no attempt is waited for that would begin then.
    var deadline: Int?
    private let retry: RetryStrategy
    private var connectivity: ConnectivityWait
    /// The number of attempts that failed without a network; they do not count towards the limit of the options.
    private var uncounted = 0

    init(_ options: NetworkOptions) {
        retry = options.retry
        connectivity = ConnectivityWait(limit: options.waitForConnectivity)
    }

    /// Notes a failed attempt.
    ///
    /// - Parameter now: The time in nanoseconds, from a monotonic clock.
    mutating func failed(
        _ attempt: ImageError.Attempt, hasNetwork: Bool, at now: Int, using generator: inout some RandomNumberGenerator
    ) -> Next {
        failures.append(attempt)
        guard ConnectivityWait.concerns(attempt.error) else { return retried(at: now, using: &generator) }
        return looked(hasNetwork: hasNetwork, at: now, using: &generator)
    }

    /// Notes the result of the check that ``Next/lookForNetwork(after:)`` asked for.
    mutating func looked(
        hasNetwork: Bool, at now: Int, using generator: inout some RandomNumberGenerator
    ) -> Next {
        switch connectivity.next(hasNetwork: hasNetwork, at: now) {
        case .look(let nanoseconds): return .lookForNetwork(after: nanoseconds)
        case .giveUp: return retried(at: now, using: &generator)
        case .retry:
            uncounted = 1
            return .attempt(after: 0)
        }
    }

    private func retried(at now: Int, using generator: inout some RandomNumberGenerator) -> Next {
        guard let last = failures.last,
            let delay = retry.delay(before: failures.count - uncounted, after: last.error, using: &generator),
            deadline.map({ now + Int(delay * 1e9) < $0 }) ?? true
        else { return .giveUp }
        return .attempt(after: delay)
    }
}
