/// The wait of a failed download for the network: a plain value.
///
/// It waits only when this machine has no network at all, because otherwise the problem is the server's. It waits once,
/// however often the download fails.
struct ConnectivityWait: Sendable, Equatable {
    /// The next step.
    enum Step: Sendable, Equatable {
        /// Retries at once.
        case retry
        /// Checks for a network again after that number of nanoseconds.
        case look(after: Int)
        /// Fails.
        case giveUp
    }

    /// The time between checks for a network, in nanoseconds.
    static let interval = 250_000_000

    /// The longest wait, in seconds; `nil` for none.
    let limit: Double?
    private var end: Int?
    private var hasWaited = false

    /// A wait of up to `limit` seconds; `nil` for none.
    init(limit: Double?) { self.limit = limit }

    /// `true` when a missing network may cause the failure.
    static func concerns(_ error: ImageError) -> Bool {
        switch error {
        case .connectionFailed, .timedOut(_, "timeout", _): true
        default: false
        }
    }

    /// The step after a failure, and after each wait.
    ///
    /// - Parameter now: The time in nanoseconds, from a monotonic clock.
    mutating func next(hasNetwork: Bool, at now: Int) -> Step {
        guard let limit, limit > 0, !hasWaited else { return .giveUp }
        guard let end else {
            if hasNetwork { return .giveUp }
            end = now + Int(min(limit, 86_400) * 1e9)
            return next(hasNetwork: false, at: now)
        }
        if hasNetwork || now >= end { hasWaited = true }
        if hasNetwork { return .retry }
        return now >= end ? .giveUp : .look(after: min(Self.interval, end - now))
    }
}
