/// The attempts at one source of an image, and when the next one starts: a plain value.
struct SourceTries: Sendable {
    /// What follows a failed attempt.
    enum Next: Sendable, Equatable {
        /// The next attempt, after so many seconds.
        case attempt(after: Double)
        /// Looks after so many nanoseconds whether this machine has a network again.
        case lookForNetwork(after: Int)
        /// No other attempt.
        case giveUp
    }

    /// The failed attempts, in order.
    private(set) var failures: [ImageError.Attempt] = []
    private let retry: RetryStrategy
    private var connectivity: ConnectivityWait
    /// The number of attempts that met no network: those are none of the attempts that the options allow.
    private var uncounted = 0

    init(_ options: NetworkOptions) {
        retry = options.retry
        connectivity = ConnectivityWait(limit: options.waitForConnectivity)
    }

    /// Notes a failed attempt.
    ///
    /// - Parameter now: In nanoseconds of a clock that never goes back.
    mutating func failed(
        _ attempt: ImageError.Attempt, hasNetwork: Bool, at now: Int, using generator: inout some RandomNumberGenerator
    ) -> Next {
        failures.append(attempt)
        guard ConnectivityWait.concerns(attempt.error) else { return retried(using: &generator) }
        return looked(hasNetwork: hasNetwork, at: now, using: &generator)
    }

    /// Notes whether there is a network, after ``Next/lookForNetwork(after:)``.
    mutating func looked(
        hasNetwork: Bool, at now: Int, using generator: inout some RandomNumberGenerator
    ) -> Next {
        switch connectivity.next(hasNetwork: hasNetwork, at: now) {
        case .look(let nanoseconds): return .lookForNetwork(after: nanoseconds)
        case .giveUp: return retried(using: &generator)
        case .retry:
            uncounted = 1
            return .attempt(after: 0)
        }
    }

    private func retried(using generator: inout some RandomNumberGenerator) -> Next {
        guard let last = failures.last,
            let delay = retry.delay(before: failures.count - uncounted, after: last.error, using: &generator)
        else { return .giveUp }
        return .attempt(after: delay)
    }
}
